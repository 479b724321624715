"""Indices of what is computed from arrays, taken of the arrays instead: less is computed.

before                                  after
%0 = Exp(%x)                            %0 = Subtensor{2}(%x)
%1 = Subtensor{2}(%0)                   %1 = Exp(%0)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lamella.ir import (
    Alloc,
    Apply,
    CAReduce,
    DimShuffle,
    Dot,
    Elemwise,
    FunctionGraph,
    Join,
    Subtensor,
    TensorVariable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import OpPattern, node_rewriter
from lamella.rewriting.rules.fill import FILLS, repeated
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    Part,
    indexed,
    is_full,
    numbers_selected,
    parts_by_axis,
    parts_of,
)
from lamella.rewriting.rules.reductions import with_axes
from lamella.rewriting.rules.usage import is_near, used_once
from lamella.typing_layer import symbolic_shape

__all__ = [
    "subtensor_across_join",
    "subtensor_of_dimshuffle",
    "subtensor_of_dot",
    "subtensor_of_elemwise",
    "subtensor_of_fill",
    "subtensor_of_reduction",
]


def _is_moved(fgraph: FunctionGraph, node: Apply[Any]) -> bool:
    """Whether an index is to be moved to what the array is computed from.

    Nothing else may need the array. An index that drops an axis, or leaves at most half of an array of known lengths, is moved however far it goes: this
    happens to an array a few times at most. Any other is moved where the way is short.
    """
    (x, (out,)) = node.inputs[0], node.outputs
    if not used_once(fgraph, x):
        return False
    if any([part is not None and not isinstance(part, slice) for part in parts_of(node)]):
        return True
    before, after = x.type.shape, out.type.shape
    if None not in before and None not in after and 0 < 2 * prod(after) <= prod(before):
        return True
    return is_near(fgraph, x, _lets_pass)


def _lets_pass(node: Apply[Any]) -> bool:
    return isinstance(node.op, CAReduce | DimShuffle | Dot | Elemwise | Join)


@node_rewriter([Subtensor], tracks_inputs=[OpPattern(Elemwise, inplace_pattern=())])
def subtensor_of_elemwise(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``f(x, y)[i] -> f(x[i], y[i])``, for elementwise f

    Valid where x and y have the same shape, or broadcast: the error that they do not is not raised. It pays because f is computed for fewer elements,
    where nothing else needs f(x, y).
    """
    whole = node.inputs[0]
    match whole.owner:
        case Apply(Elemwise(_, ()) as elementwise, inputs, (_,)) if _is_moved(fgraph, node):
            pass
        case _:
            return None
    operands = [as_tensor_variable(x) for x in inputs]
    # An axis along which all have length 1 is not broadcast, whatever the result is declared to be.
    stretched = [set(lengths) != {1} for lengths in zip(*[x.type.shape for x in operands], strict=True)]
    parts = parts_of(node)
    made: TensorVariable = elementwise(*[indexed(x, _where_not_repeated(parts, x, stretched)) for x in operands])
    return fitted(made, node.outputs[0])


def _where_not_repeated(parts: Sequence[Part], x: TensorVariable, stretched: Sequence[bool]) -> list[Part]:
    """Return the index of an operand: all of an axis of length 1 along which another is longer."""
    own = list(parts)
    for axis, place in parts_by_axis(parts).items():
        if stretched[axis] and x.type.shape[axis] == 1:
            own[place] = slice(None) if isinstance(own[place], slice) else 0
    return own


@node_rewriter([Subtensor], tracks_inputs=FILLS)
def subtensor_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alloc(v, n, m)[i:, j] -> alloc(v[j], length of i:)``, for a vector v; the same for ``fill(x, v)``.

    Valid where integers along axes that v is repeated along are within bounds; errors of computing x are not raised. It pays because the array is not
    made.
    """
    fill = node.inputs[0]
    value = repeated(fill)
    if value is None:
        return None
    whole = as_tensor_variable(value, ndim=fill.type.ndim)
    parts = parts_of(node)
    lengths = fill.type.shape
    stretched = [length != 1 for length in lengths]
    for axis, place in parts_by_axis(parts).items():
        part = parts[place]
        repeats = stretched[axis] and whole.type.shape[axis] == 1
        if repeats and not isinstance(part, slice) and numbers_selected(part, lengths[axis]) is None:
            return None
    (out,) = node.outputs
    selected = indexed(whole, _where_not_repeated(parts, whole, stretched))
    if selected.type.broadcastable != out.type.broadcastable:
        selected = Alloc()(selected, *symbolic_shape(out))
    return fitted(selected, out)


@node_rewriter([Subtensor])
def subtensor_of_dimshuffle(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dimshuffle(x, 1, "x", 0)[i, :, j:] -> dimshuffle(x[j:, i], "x", 0)``

    Valid where of axes that are new all is selected, or their only element. It pays because others see what is selected of x.
    """
    match node.op, node.inputs[0].owner:
        case Subtensor(), Apply(DimShuffle() as moved, (TensorVariable() as x,)):
            pass
        case _:
            return None
    own: list[Part] = [slice(None)] * x.ndim
    order: list[int | str] = []
    axes = iter(moved.new_order)
    for part in parts_of(node):
        axis = "x" if part is None else next(axes)
        if axis != "x":
            own[axis] = part
            if isinstance(part, slice):
                order.append(axis)
        elif part is None or is_full(part):
            order.append("x")
        elif numbers_selected(part, 1) != range(1):
            return None
        elif isinstance(part, slice):
            order.append("x")
    order.extend(axes)
    left = [axis for axis, part in enumerate(own) if isinstance(part, slice)]
    picked = indexed(x, own)
    return fitted(
        lt.dimshuffle(picked, [axis if isinstance(axis, str) else left.index(axis) for axis in order]), node.outputs[0]
    )


@node_rewriter([Subtensor], tracks_inputs=[CAReduce])
def subtensor_of_reduction(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(x, axis=1)[i] -> sum(x[i], axis=0)``; the same for all reductions.

    Always valid, but that a reduction of no elements that has no value raises where it is not selected. Floats may be added up in another order. It pays
    because less is reduced, where nothing else needs the rest.
    """
    whole = node.inputs[0]
    match whole.owner:
        case Apply(CAReduce() as op, (TensorVariable() as x,)) if _is_moved(fgraph, node):
            parts = parts_of(node)
        case _:
            return None
    if None in parts:
        return None
    kept = [axis for axis in range(x.ndim) if axis not in op.axes]
    own: list[Part] = [slice(None)] * x.ndim
    for axis, place in parts_by_axis(parts).items():
        own[kept[axis]] = parts[place]
    left = [axis for axis, part in enumerate(own) if isinstance(part, slice)]
    reduced = with_axes(op, [left.index(axis) for axis in op.axes])(indexed(x, own))
    return fitted(reduced, node.outputs[0])


@node_rewriter([Subtensor], tracks_inputs=[Dot])
def subtensor_of_dot(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dot(a, b)[i, j:] -> dot(a[i], b[:, j:])``

    Always valid; floats may be added up in another order, and of two errors the other one may be raised. It pays because fewer products are
    computed, where nothing else needs the rest.
    """
    match node.inputs[0].owner:
        case Apply(Dot() as op, (TensorVariable() as a, TensorVariable() as b)) if _is_moved(fgraph, node):
            parts = parts_of(node)
        case _:
            return None
    if None in parts:
        return None
    rows, columns = parts[: a.ndim - 1], parts[a.ndim - 1 :]
    return fitted(op(indexed(a, rows), indexed(b, [slice(None), *columns])), node.outputs[0])


@node_rewriter([Subtensor], tracks_inputs=[Join])
def subtensor_across_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``join(0, x, y)[:, i] -> join(0, x[:, i], y[:, i])``

    Valid where all is selected along the axis of the join; that x and y do not fit together is not noticed. It pays because less is copied, where
    nothing else needs the rest.
    """
    whole = node.inputs[0]
    match whole.owner:
        case Apply(Join(axis), inputs) if _is_moved(fgraph, node):
            parts = parts_of(node)
        case _:
            return None
    places = parts_by_axis(parts)
    if None in parts or (axis in places and not is_full(parts[places[axis]])):
        return None
    before = sum([not isinstance(parts[place], slice) for other, place in places.items() if other < axis])
    joined = Join(axis - before)(*[indexed(as_tensor_variable(x), parts) for x in inputs])
    return fitted(joined, node.outputs[0])
