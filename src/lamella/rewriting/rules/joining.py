"""Arrays joined out of one, and parts of joined arrays."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from lamella.ir import (
    Apply,
    FunctionGraph,
    Join,
    MakeVector,
    Subtensor,
    TensorVariable,
    Variable,
    as_tensor_variable,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import indexed, numbers_selected, parts_by_axis, parts_of, slice_of

__all__ = ["join_of_one", "subtensor_of_join", "subtensor_of_make_vector"]


@node_rewriter([Join])
def join_of_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``join(axis, x) -> x``

    Always valid. It pays because nothing is copied.
    """
    return list(node.inputs) if len(node.inputs) == 1 else None


@node_rewriter([Subtensor])
def subtensor_of_make_vector(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``make_vector(a, b, c)[1] -> b``, and ``make_vector(a, b, c)[1:] -> make_vector(b, c)``

    Valid for a constant index within bounds. It pays because the vector need not be made. Lengths that are taken from shapes end here.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, MakeVector) or len(node.inputs) > 1:
        return None
    elements = inner.inputs
    match parts_of(node):
        case [int() as index] if -len(elements) <= index < len(elements):
            return fitted(as_tensor_variable(elements[index]), node.outputs[0])
        case [slice() as part]:
            return fitted(as_tensor_variable(inner.op(*elements[part])), node.outputs[0])
        case _:
            return None


@node_rewriter([Subtensor])
def subtensor_of_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, x, y)[i] -> y[i - n]``, and ``join(0, x, y)[i:j] -> x[i:j]``, for x of length n.

    Valid where the lengths are known, and all that is selected lies in one of the arrays. That the others do not fit is not noticed. It pays because
    the arrays need not be joined.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Join):
        return None
    axis, parts = inner.op.axis, parts_of(node)
    place = parts_by_axis(parts).get(axis)
    selected = None if place is None else numbers_selected(parts[place], node.inputs[0].type.shape[axis])
    if place is None or not selected:
        return None
    # The length of the whole is known, so all lengths are.
    ends = accumulate([part.type.shape[axis] for part in inner.inputs])
    first, last = min(selected), max(selected)
    for part, end in zip(inner.inputs, ends, strict=True):
        begin = end - part.type.shape[axis]
        if begin <= first and last < end:
            moved = range(selected.start - begin, selected.stop - begin, selected.step)
            parts[place] = slice_of(moved) if isinstance(parts[place], slice) else moved.start
            return fitted(indexed(as_tensor_variable(part), parts), node.outputs[0])
    return None
