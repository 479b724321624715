"""Shapes of what an inner graph computes, from the shapes of its inputs, without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lamella.errors import ShapeNotInferred
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.replace import substitute
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import constant
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.shape import HasStaticShape, Shape_i
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["infer_inner_shapes"]

Lengths = tuple[TensorVariable, ...]


def infer_inner_shapes(
    fgraph: FunctionGraph, inputs: Sequence[Variable[Any]], shapes: Sequence[Sequence[Any]]
) -> list[tuple[Variable[Any], ...]]:
    """Return the shapes of a graph's outputs, in terms of what stands for its inputs.

    Parameters
    ----------
    fgraph
        The graph.
    inputs
        The Variables that stand for its inputs.
    shapes
        Their shapes: int64 scalars.

    Returns
    -------
    list of tuple
        For each output its lengths. One that depends on values is an expression that computes these.
    """
    # The given lengths may themselves be computed from inputs of this or another inner graph, so other Variables stand for them meanwhile.
    stand_ins = [tuple([_length() for _ in lengths]) for lengths in shapes]
    known: dict[Variable[Any], Lengths] = dict(zip(fgraph.inputs, stand_ins, strict=True))
    for node in fgraph.order:
        known.update(zip(node.outputs, _inferred(node, known), strict=True))
    replaced: dict[Variable[Any], Variable[Any]] = dict(zip(fgraph.inputs, inputs, strict=True))
    for lengths, given in zip(stand_ins, shapes, strict=True):
        replaced.update(zip(lengths, [as_length(length) for length in given], strict=True))
    found = [_shape_of(out, known) for out in fgraph.outputs]
    flat = iter(substitute([length for lengths in found for length in lengths], replaced))
    return [tuple([next(flat) for _ in lengths]) for lengths in found]


def _length() -> TensorVariable:
    return TensorType("int64", ())()


def _shape_of(variable: Variable[Any], known: Mapping[Variable[Any], Lengths]) -> Lengths:
    if variable in known:
        return known[variable]
    kind = variable.type
    lengths = kind.shape if isinstance(kind, TensorType | HasStaticShape) else ()
    return tuple(
        [
            Shape_i(i)(variable) if length is None else constant(length, dtype="int64")
            for i, length in enumerate(lengths)
        ]
    )


def _inferred(node: Apply[Any], known: Mapping[Variable[Any], Lengths]) -> list[Lengths]:
    try:
        said = node.op.infer_shape(None, node, [_shape_of(v, known) for v in node.inputs])
    except ShapeNotInferred:
        return [_shape_of(out, {}) for out in node.outputs]
    return [
        tuple(
            [
                as_length(length) if own.is_constant is False else own
                for length, own in zip(lengths, _shape_of(out, {}), strict=True)
            ]
        )
        for out, lengths in zip(node.outputs, said, strict=True)
    ]
