"""Axes that are moved several times, or not at all."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, DimShuffle, FunctionGraph, NewOrder, TensorVariable, Variable
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted

__all__ = ["dimshuffle_of_dimshuffle", "dimshuffle_of_nothing"]


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


@node_rewriter([DimShuffle])
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
