"""Axes that are moved several times, or not at all, or of what is computed element by element."""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    Apply,
    DimShuffle,
    Elemwise,
    FunctionGraph,
    MakeVector,
    NewOrder,
    Reshape,
    TensorConstant,
    TensorVariable,
    Variable,
    as_lengths,
    as_tensor_variable,
    known_integer,
)
from lamella.rewriting.engine import OpPattern, node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.usage import behind, used_once

__all__ = [
    "dimshuffle_of_dimshuffle",
    "dimshuffle_of_elemwise",
    "dimshuffle_of_nothing",
    "dimshuffle_of_reshape",
    "moves_unit_axes_only",
]


@node_rewriter([DimShuffle])
def dimshuffle_of_nothing(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``dimshuffle(x, 0, 1, ...) -> x``; an axis of length 1 may be dropped and put back.

    Always valid. It pays because others see through it.
    """
    match node.op:
        case DimShuffle(ndim, order) if len(order) == ndim:
            lengths = node.inputs[0].type.shape
            stays = [axis == i or (axis == "x" and lengths[i] == 1) for i, axis in enumerate(order)]
            return list(node.inputs) if all(stays) else None
        case _:
            return None


@node_rewriter([DimShuffle], tracks_inputs=[DimShuffle])
def dimshuffle_of_dimshuffle(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dimshuffle(dimshuffle(x, p), q) -> dimshuffle(x, p[q])``

    Always valid: axes whose length must be 1, because they are dropped, are still dropped. It pays because one view is made.
    """
    match node.op, node.inputs[0].owner:
        case DimShuffle(_, outer), Apply(DimShuffle(ndim, inner), (TensorVariable() as x,)):
            order: NewOrder = tuple([axis if axis == "x" else inner[axis] for axis in outer])
            return fitted(DimShuffle(ndim, order)(x), node.outputs[0])
        case _:
            return None


def moves_unit_axes_only(node: Apply[Any]) -> bool:
    """Whether a node of `DimShuffle` leaves the order of axes as it is: it adds axes, and drops some that are known to have length 1."""
    op = node.op
    if not isinstance(op, DimShuffle):
        return False
    lengths = node.inputs[0].type.shape
    return list(op.shuffle) == sorted(op.shuffle) and all([lengths[axis] == 1 for axis in op.dropped])


@node_rewriter([DimShuffle], tracks_inputs=[OpPattern(Elemwise, inplace_pattern=())])
def dimshuffle_of_elemwise(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dimshuffle(f(x, y), p) -> f(dimshuffle(x, p), dimshuffle(y, p))``, for elementwise f

    Always valid. It is done where nothing else needs f(x, y), few such f come one after the other, and it pays: what uses the result is elementwise and no
    larger, so f fuses with it; or axes of all that f is computed from have been moved already, so that they are moved once.
    """
    (whole,) = node.inputs
    match node.op, whole.owner:
        case DimShuffle() as op, Apply(Elemwise(_, ()) as elementwise, inputs, (_,)) if used_once(fgraph, whole):
            pass
        case _:
            return None
    ends = None if all(whole.type.broadcastable) else behind(fgraph, whole, _is_elementwise)
    if ends is None or not (_meets_elemwise(fgraph, node) or all([_is_moved(x) for x in ends])):
        return None
    made: TensorVariable = elementwise(*[op(as_tensor_variable(x)) for x in inputs])
    return fitted(made, node.outputs[0])


def _is_elementwise(node: Apply[Any]) -> bool:
    return isinstance(node.op, Elemwise)


def _is_moved(x: Variable[Any]) -> bool:
    return all(x.type.broadcastable) or (x.owner is not None and isinstance(x.owner.op, DimShuffle))


def _meets_elemwise(fgraph: FunctionGraph, node: Apply[Any]) -> bool:
    (out,) = node.outputs
    clients = fgraph.get_clients(out)
    if not clients:
        return True  # it was made while this pass moved it, which goes on: one step in each pass would be one too few
    if len(clients) > 1:
        return False
    client = clients[0][0]
    if client is None or not isinstance(client.op, Elemwise):
        return False
    return bool(client.outputs[0].type.broadcastable == out.type.broadcastable)


@node_rewriter([DimShuffle], tracks_inputs=[Reshape])
def dimshuffle_of_reshape(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dimshuffle(reshape(x, (n, m)), 0, "x", 1) -> reshape(x, (n, 1, m))``

    Valid where axes keep their order, and those that are dropped are asked to have length 1. It pays because one view, or one copy, is made, where
    nothing else needs what is between.
    """
    (middle,) = node.inputs
    match node.op, middle.owner:
        case DimShuffle() as op, Apply(Reshape(), (TensorVariable() as x, TensorVariable() as shape)) if (
            moves_unit_axes_only(node)
        ):
            pass
        case _:
            return None
    known = isinstance(shape, TensorConstant) or (shape.owner is not None and isinstance(shape.owner.op, MakeVector))
    if not known or not used_once(fgraph, middle):
        return None
    lengths = as_lengths(shape)
    if any([known_integer(lengths[axis]) not in (1, -1) for axis in op.dropped]):
        return None  # that it is 1 may be checked by the reshaping only
    return fitted(
        Reshape(len(op.new_order))(x, [1 if axis == "x" else lengths[axis] for axis in op.new_order]), node.outputs[0]
    )
