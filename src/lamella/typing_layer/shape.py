"""Shapes: what is known of the shape of a Variable without computing it.

    y = exp(a) @ b.T          symbolic_shape(y) -> (Shape_i{0}(a), Shape_i{0}(b))

A length is a constant where the type knows it, else what `Op.infer_shape` says of it in terms of the inputs' lengths and values, else
`Shape_i` of the Variable. Lengths of Variables that are themselves computed are followed in turn to where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from lamella.errors import ShapeNotInferred
from lamella.ir import (
    Apply,
    HasStaticShape,
    MakeVector,
    Shape_i,
    StaticShape,
    TensorType,
    TensorVariable,
    Variable,
    annotate_error,
    as_length,
    as_lengths,
    constant,
    known_integer,
    walk,
)
from lamella.typing_layer.facts import Fact, Rule

__all__ = ["same_shape", "static_shape", "symbolic_shape"]

AnyNode = Apply[Any]
AnyVariable = Variable[Any]

Lengths = tuple[TensorVariable | None, ...]
"""A length for each axis; None for one that only the Variable itself can tell."""

_MOST_NODES: Final = 64


def symbolic_shape(variable: AnyVariable) -> tuple[TensorVariable, ...]:
    """Return the shape of a Variable, as int64 scalars for which the Variable need not be computed, where that is possible.

    Parameters
    ----------
    variable
        A Variable of a Type with a shape; the shape of any other is empty.

    Raises
    ------
    ValueError, TypeError
        An Op's `infer_shape` returned something that is no shape of its output.
    """
    owner = variable.owner
    if owner is None or None not in _known(variable):
        return _filled(variable, ())
    return _filled(variable, _told(variable, _lengths.of(owner)))


def static_shape(variable: AnyVariable) -> StaticShape:
    """Return, for each axis, the length where the type or `symbolic_shape` knows it before the graph runs, else None."""
    return tuple([known_integer(length) for length in symbolic_shape(variable)])


def same_shape(a: AnyVariable, b: AnyVariable) -> bool:
    """Whether two Variables have the same shape for certain."""
    pairs = list(zip(symbolic_shape(a), symbolic_shape(b), strict=False))
    return len(_known(a)) == len(_known(b)) and all([i is j for i, j in pairs])


def _known(variable: AnyVariable) -> StaticShape:
    kind = variable.type
    return kind.shape if isinstance(kind, TensorType | HasStaticShape) else ()


def _told(variable: AnyVariable, lengths: tuple[Lengths, ...]) -> Lengths:
    return lengths[variable.index or 0] if lengths else ()


def _filled(variable: AnyVariable, told: Lengths) -> tuple[TensorVariable, ...]:
    known = _known(variable)
    filled: list[TensorVariable] = []
    for axis, (length, found) in enumerate(zip(known, told or (None,) * len(known), strict=True)):
        if length is not None:
            filled.append(constant(length, dtype="int64"))
        else:
            filled.append(Shape_i(axis)(variable) if found is None else found)
    return tuple(filled)


def _infer(node: AnyNode) -> Rule[AnyNode, tuple[Lengths, ...]]:
    """Return the lengths of a node's outputs, in terms of what comes before the node only."""
    shapes: list[tuple[TensorVariable, ...]] = []
    earlier: set[AnyVariable] = set()
    for variable in node.inputs:
        told: Lengths = ()
        if variable.owner is not None and None in _known(variable):
            told = _told(variable, (yield variable.owner))
        shapes.append(_filled(variable, told))
        earlier.update(shapes[-1])
    found: list[Lengths] = []
    for output, lengths in zip(node.outputs, _inferred(node, shapes), strict=True):
        followed: list[TensorVariable | None] = []
        for known, length in zip(_known(output), lengths, strict=True):
            if known is not None or length in earlier:
                followed.append(length if known is None else None)
                continue
            (length,) = as_lengths(MakeVector("int64")(length))  # sees through what only moves lengths about
            if _mentions(length, node, earlier):
                followed.append(None)
            elif length.owner is not None and isinstance(length.owner.op, Shape_i):
                (source,) = length.owner.inputs
                told = () if source.owner is None else _told(source, (yield source.owner))
                followed.append(_filled(source, told)[length.owner.op.axis] if told else length)
            else:
                followed.append(length)
        found.append(tuple(followed))
    return tuple(found)


def _inferred(node: AnyNode, shapes: Sequence[tuple[TensorVariable, ...]]) -> list[tuple[TensorVariable, ...]]:
    try:
        said = node.op.infer_shape(None, node, shapes)
        if len(said) != len(node.outputs):
            raise ValueError(f"infer_shape of {node.op} returned {len(said)} shapes for {len(node.outputs)} outputs")
        found: list[tuple[TensorVariable, ...]] = []
        for i, (output, lengths) in enumerate(zip(node.outputs, said, strict=True)):
            known = _known(output)
            if known and len(lengths) != len(known):
                raise ValueError(
                    f"infer_shape of {node.op} returned {len(lengths)} lengths for output {i}, which has {len(known)} dimensions"
                )
            found.append(tuple([as_length(length) for length in lengths]) if known else ())
    except ShapeNotInferred:
        return [_filled(output, ()) for output in node.outputs]
    except Exception as error:
        annotate_error(error, node)
        raise
    return found


def _mentions(length: AnyVariable, node: AnyNode, earlier: set[AnyVariable]) -> bool:
    """Whether a length that an Op has just given is computed from the node's own outputs, as far as a short look tells."""

    def expand(variable: AnyVariable) -> tuple[AnyVariable, ...]:
        known = variable.owner is None or variable in earlier or variable in node.inputs
        return () if known or variable.owner is None else variable.owner.inputs

    return any([variable.owner is node for variable in islice(walk([length], expand), _MOST_NODES)])


_lengths: Fact[AnyNode, tuple[Lengths, ...]] = Fact(_infer, circular=())
