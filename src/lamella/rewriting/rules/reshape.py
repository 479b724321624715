"""Reshapings that keep the shape, that only add and drop axes of length 1, and those of reshaped arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lamella.ir import (
    Apply,
    DimShuffle,
    Elemwise,
    FunctionGraph,
    Reshape,
    TensorVariable,
    Variable,
    as_lengths,
    as_tensor_variable,
    constant,
    known_integer,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.dimshuffle import moves_unit_axes_only
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.usage import used_once
from lamella.typing_layer import symbolic_shape

__all__ = ["reshape_of_dimshuffle", "reshape_of_elemwise", "reshape_of_reshape", "reshape_of_unit_axes"]

_MOST_BETWEEN: Final = 8
"""How many elementwise operations between two reshapings are looked through."""


@node_rewriter([Reshape])
def reshape_of_unit_axes(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``reshape(x, (n, 1, m)) -> dimshuffle(x, 0, "x", 1)``, for x of shape (n, m); and ``reshape(x, (n, m)) -> x``

    Valid where the wanted lengths but for those of 1 are those of x, one by one and in order: it does not suffice that all but one are. A wanted
    length of -1 will do where no other length can be 0. It pays because others see through axes that are moved.
    """
    x, vector = as_tensor_variable(node.inputs[0]), as_tensor_variable(node.inputs[1])
    static = node.outputs[0].type.shape
    kept = [axis for axis, length in enumerate(x.type.shape) if length != 1]
    places = [axis for axis, length in enumerate(static) if length != 1]
    if len(kept) != len(places) or vector.type.shape[0] is None:
        return None
    lengths = symbolic_shape(x)
    reached: list[TensorVariable] = [constant(1, dtype="int64")] * len(static)
    for place, axis in zip(places, kept, strict=True):
        reached[place] = lengths[axis]
    if not _are_the_same(as_lengths(vector), reached):
        return None
    return fitted(lt.dimshuffle(x, _order(x.type.shape, static)), node.outputs[0])


def _are_the_same(wanted: Sequence[TensorVariable], lengths: Sequence[TensorVariable]) -> bool:
    different = [i for i, (a, b) in enumerate(zip(wanted, lengths, strict=True)) if a is not b]
    if not different:
        return True
    # With a length of 0 among the others, -1 stands for nothing, and the reshaping raises.
    others = [known_integer(length) for i, length in enumerate(lengths) if i != different[0]]
    return len(different) == 1 and known_integer(wanted[different[0]]) == -1 and None not in others and 0 not in others


def _order(old: Sequence[int | None], new: Sequence[int | None]) -> list[int | str]:
    """Return where the axes of the new shape come from; those of length 1 from one of length 1 where it stands at their place."""
    order: list[int | str] = []
    axis = 0
    for length in new:
        if length != 1:
            while old[axis] == 1:
                axis += 1
        elif axis == len(old) or old[axis] != 1:
            order.append("x")
            continue
        order.append(axis)
        axis += 1
    return order


@node_rewriter([Reshape])
def reshape_of_reshape(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``reshape(reshape(x, s), t) -> reshape(x, t)``

    Always valid, but that s may not fit x. It pays because one view, or one copy, is made.
    """
    middle, shape = node.inputs
    match middle.owner:
        case Apply(Reshape(), (x, *_)):
            return fitted(as_tensor_variable(node.op(x, shape)), node.outputs[0])
        case _:
            return None


@node_rewriter([Reshape])
def reshape_of_dimshuffle(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``reshape(dimshuffle(x, 0, "x", 1), s) -> reshape(x, s)``

    Valid where axes keep their order, and those that are dropped are known to have length 1. It pays because one view is made less.
    """
    middle, shape = node.inputs
    moving = middle.owner
    if moving is None or not moves_unit_axes_only(moving):
        return None
    return fitted(as_tensor_variable(node.op(moving.inputs[0], shape)), node.outputs[0])


@node_rewriter([Reshape])
def reshape_of_elemwise(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``reshape(f(reshape(x, s)), t) -> f(reshape(reshape(x, s), t))``, for elementwise f of one array, and numbers beside it

    Always valid. There may be several elementwise operations, one after the other. It pays because one reshaping is left of two, where nothing else needs
    what is between.
    """
    middle, shape = node.inputs
    place, behind = _array_behind(fgraph, middle), middle
    for _ in range(_MOST_BETWEEN):
        step = _array_behind(fgraph, behind)
        if step is None or behind.owner is None:
            break
        behind = behind.owner.inputs[step]
    if place is None or middle.owner is None or behind.owner is None or not isinstance(behind.owner.op, Reshape):
        return None
    numbers = DimShuffle(middle.type.ndim, ("x",) * node.outputs[0].type.ndim)
    operands = [as_tensor_variable(x) for x in middle.owner.inputs]
    made: TensorVariable = middle.owner.op(
        *[node.op(x, shape) if i == place else numbers(x) for i, x in enumerate(operands)]
    )
    return fitted(made, node.outputs[0])


def _array_behind(fgraph: FunctionGraph, variable: Variable[Any]) -> int | None:
    """Return which input of an elementwise node, whose result nothing else needs, is the only array among numbers."""
    match variable.owner:
        case Apply(Elemwise(_, ()), inputs, (_,)) if used_once(fgraph, variable):
            arrays = [place for place, x in enumerate(inputs) if not all(x.type.broadcastable)]
        case _:
            return None
    if len(arrays) != 1 or inputs[arrays[0]].type.broadcastable != variable.type.broadcastable:
        return None
    return arrays[0]
