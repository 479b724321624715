"""Lengths that are asserted though they are known, or asserted several times."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, FunctionGraph, SpecifyShape, TensorVariable, as_tensor_variable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import symbolic_shape

__all__ = ["specify_shape_of_known", "specify_shape_of_specify_shape"]


@node_rewriter([SpecifyShape])
def specify_shape_of_known(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``specify_shape(x, (n, ...)) -> x``, for n the length that x is known to have.

    Always valid. Only the axes whose lengths are known are left out. It pays because nothing is looked at when the graph runs, and because
    others see through it.
    """
    x, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    shape = symbolic_shape(x)
    asserted: list[TensorVariable | None] = [None] * x.ndim
    for axis, length in zip(_axes(node), lengths, strict=True):
        if length is not shape[axis]:
            asserted[axis] = length
    return fitted(lt.specify_shape(x, asserted), node.outputs[0])


@node_rewriter([SpecifyShape])
def specify_shape_of_specify_shape(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``specify_shape(specify_shape(x, (m, ?)), (?, n)) -> specify_shape(x, (m, n))``

    Valid where no axis is asserted to have two lengths. It pays because one view is made.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, SpecifyShape):
        return None
    x, *inner_lengths = [as_tensor_variable(variable) for variable in inner.inputs]
    asserted: dict[int, TensorVariable] = dict(zip(inner.op.axes, inner_lengths, strict=True))
    for axis, variable in zip(_axes(node), node.inputs[1:], strict=True):
        length = as_tensor_variable(variable)
        if asserted.setdefault(axis, length) is not length:
            return None
    return fitted(lt.specify_shape(x, [asserted.get(axis) for axis in range(x.ndim)]), node.outputs[0])


def _axes(node: Apply[Any]) -> tuple[int, ...]:
    return node.op.axes if isinstance(node.op, SpecifyShape) else ()
