"""Arrays joined out of one, of nothing, of joined ones or of parts of one; and parts of joined arrays."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any, Final

from lamella.ir import (
    Apply,
    DimShuffle,
    FunctionGraph,
    IntegerEntry,
    Join,
    MakeVector,
    Split,
    Subtensor,
    TensorConstant,
    TensorVariable,
    Variable,
    as_tensor_variable,
    constant,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    bounds,
    indexed,
    is_full,
    numbers_selected,
    parts_by_axis,
    parts_of,
    slice_of,
)
from lamella.rewriting.rules.usage import used_once

__all__ = [
    "join_of_empty",
    "join_of_join",
    "join_of_one",
    "join_of_parts",
    "join_of_scalars",
    "join_of_split",
    "make_vector_of_elements",
    "subtensor_of_join",
    "subtensor_of_make_vector",
]

_MOST_SCALARS: Final = 8
"""Constants with more elements stay vectors."""


@node_rewriter([Join])
def join_of_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``join(axis, x) -> x``

    Always valid. It pays because nothing is copied.
    """
    return list(node.inputs) if len(node.inputs) == 1 else None


@node_rewriter([Join])
def join_of_empty(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, x, y, z) -> join(0, x, z)``, for y that has no elements.

    Valid where y has length 0 along the axis; that its other lengths do not fit is not noticed. It pays because y need not be computed.
    """
    if not isinstance(node.op, Join):
        return None
    axis = node.op.axis
    left = [x for x in node.inputs if x.type.shape[axis] != 0]
    if len(left) == len(node.inputs) or len(node.inputs) == 1:
        return None
    return fitted(as_tensor_variable(node.op(*(left or node.inputs[:1]))), node.outputs[0])


@node_rewriter([Join])
def join_of_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, join(0, x, y), z) -> join(0, x, y, z)``

    Always valid. It pays because x and y are copied once, where nothing else needs what is between.
    """
    flat: list[Variable[Any]] = []
    for x in node.inputs:
        if x.owner is not None and x.owner.op == node.op and used_once(fgraph, x):
            flat.extend(x.owner.inputs)
        else:
            flat.append(x)
    if len(flat) == len(node.inputs):
        return None
    return fitted(as_tensor_variable(node.op(*flat)), node.outputs[0])


@node_rewriter([Join])
def join_of_scalars(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, make_vector(a), make_vector(b, c)) -> make_vector(a, b, c)``; the same for ``dimshuffle(a, "x")``, and small constants.

    Always valid. Vectors that stand next to each other become one. It pays because elements are put in their place at once, and because others see
    that they are scalars.
    """
    if node.outputs[0].type.ndim != 1:
        return None
    merged: list[TensorVariable | list[TensorVariable]] = []
    found = 0
    for x in node.inputs:
        scalars = _scalars(x)
        if scalars is None:
            merged.append(as_tensor_variable(x))
        elif merged and isinstance(merged[-1], list):
            merged[-1].extend(scalars)
            found += 1
        else:
            merged.append(scalars)
    if not found:
        return None
    make = MakeVector(node.outputs[0].type.dtype)
    parts = [as_tensor_variable(make(*part)) if isinstance(part, list) else part for part in merged]
    return fitted(parts[0] if len(parts) == 1 else as_tensor_variable(node.op(*parts)), node.outputs[0])


def _scalars(x: Variable[Any]) -> list[TensorVariable] | None:
    """Return the scalars that a vector is made of."""
    if isinstance(x, TensorConstant):
        return None if x.data.size > _MOST_SCALARS else [constant(value) for value in x.data]
    match x.owner:
        case Apply(MakeVector(), inputs):
            return [as_tensor_variable(element) for element in inputs]
        case Apply(DimShuffle(0, ("x",)), (element,)):
            return [as_tensor_variable(element)]
        case _:
            return None


@node_rewriter([Join])
def join_of_split(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, *split(x, lengths)) -> x``

    Valid where all parts are there, in their order, but that the lengths may not fit. It pays because nothing is copied.
    """
    source = node.inputs[0].owner
    if source is None or not isinstance(source.op, Split) or source.outputs != node.inputs:
        return None
    if not isinstance(node.op, Join) or source.op.axis != node.op.axis:
        return None
    return fitted(as_tensor_variable(source.inputs[0]), node.outputs[0])


@node_rewriter([Join])
def join_of_parts(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, x[:k], x[k:]) -> x``, and ``join(0, x[1:3], x[3:7]) -> x[1:7]``

    Valid for slices of one array that go on where the one before ends: all of it, wherever it is cut, or places that are known, and counted from the
    beginning. It pays because less is copied, or nothing.
    """
    if not isinstance(node.op, Join):
        return None
    for place, (one, other) in enumerate(pairwise(node.inputs)):
        merged = _merged(one, other, node.op.axis)
        if merged is not None:
            joined = node.op(*node.inputs[:place], merged, *node.inputs[place + 2 :])
            return fitted(as_tensor_variable(joined), node.outputs[0])
    return None


def _merged(one: Variable[Any], other: Variable[Any], axis: int) -> TensorVariable | None:
    """Return the part of an array that two slices along an axis are together, one after the other."""
    match one.owner, other.owner:
        case Apply(Subtensor(), (TensorVariable() as x, *_)) as first, Apply(Subtensor(), (y, *_)) as second if x is y:
            along, further = parts_of(first), parts_of(second)
        case _:
            return None
    if len(along) != axis + 1 or len(further) != axis + 1:
        return None
    (*before, a), (*others, b) = along, further
    if not all([is_full(part) for part in (*before, *others)]) or not isinstance(a, slice) or not isinstance(b, slice):
        return None
    (start, cut, step), (begin, end, stride) = bounds(a), bounds(b)
    if (
        step is not None
        or stride is not None
        or cut is None
        or not (cut is begin or (isinstance(cut, int) and cut == begin))
    ):
        return None
    places = [0 if start is None else start, cut, *([] if end is None else [end])]
    if start is not None or end is not None:
        known = [place for place in places if isinstance(place, int) and place >= 0]
        if len(known) < len(places) or known != sorted(known):
            return None
    return indexed(x, [*before, slice(start, end)])


@node_rewriter([MakeVector])
def make_vector_of_elements(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``make_vector(x[0], x[1], x[2]) -> x``

    Valid for all elements of x, in their order. It pays because x is there already.
    """
    source = _element(node.inputs[0], 0) if node.inputs else None
    if source is None or source.type.shape != (len(node.inputs),):
        return None
    if any([_element(x, place) is not source for place, x in enumerate(node.inputs)]):
        return None
    return fitted(source, node.outputs[0])


def _element(variable: Variable[Any], place: int) -> TensorVariable | None:
    """Return the vector of which a scalar is the element at a place."""
    match variable.owner:
        case Apply(Subtensor((IntegerEntry(index),)), (TensorVariable(type=kind) as x,)) if kind.ndim == 1:
            length = kind.shape[0]
            same = index == place or (isinstance(index, int) and length is not None and index + length == place)
            return x if same else None
        case _:
            return None


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
