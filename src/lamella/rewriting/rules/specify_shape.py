"""Lengths that are asserted though they are known, or asserted several times, or of what is computed element by element."""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    Apply,
    DimShuffle,
    Elemwise,
    FunctionGraph,
    SpecifyShape,
    TensorVariable,
    as_tensor_variable,
    known_integer,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.usage import is_near, used_once
from lamella.typing_layer import symbolic_shape

__all__ = [
    "specify_shape_of_dimshuffle",
    "specify_shape_of_elemwise",
    "specify_shape_of_known",
    "specify_shape_of_specify_shape",
]


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


def _is_elementwise(node: Apply[Any]) -> bool:
    return isinstance(node.op, Elemwise)


def _axes(node: Apply[Any]) -> tuple[int, ...]:
    return node.op.axes if isinstance(node.op, SpecifyShape) else ()


@node_rewriter([SpecifyShape])
def specify_shape_of_elemwise(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``specify_shape(f(x, y), n) -> f(specify_shape(x, n), y)``, for elementwise f

    Always valid: y has the lengths of x, or f raises, though of two errors the other one may come first. A length of 1 is asserted of all that is not
    known to have it. It pays because f fuses with what comes after it, where nothing else needs f(x, y), and few such f come one after the other.
    """
    whole, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    match whole.owner:
        case Apply(Elemwise(_, ()) as elementwise, inputs, (_,)) if used_once(fgraph, whole):
            pass
        case _:
            return None
    if not is_near(fgraph, whole, _is_elementwise):
        return None
    operands = [as_tensor_variable(x) for x in inputs]
    asserted: list[list[TensorVariable | None]] = [[None] * whole.ndim for _ in operands]
    for axis, length in zip(_axes(node), lengths, strict=True):
        long = [place for place, x in enumerate(operands) if x.type.shape[axis] != 1]
        if not long:
            return None
        for place in long if known_integer(length) == 1 else long[:1]:
            if known_integer(length) not in (None, operands[place].type.shape[axis] or known_integer(length)):
                return None
            asserted[place][axis] = length
    made: TensorVariable = elementwise(
        *[lt.specify_shape(x, entries) for x, entries in zip(operands, asserted, strict=True)]
    )
    return fitted(made, node.outputs[0])


@node_rewriter([SpecifyShape])
def specify_shape_of_dimshuffle(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``specify_shape(dimshuffle(x, 1, 0), (n, ?)) -> dimshuffle(specify_shape(x, (?, n)), 1, 0)``

    Valid where nothing is asserted of axes that are new. It pays because what is known of x is known wherever it is used.
    """
    moved, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    match moved.owner:
        case Apply(DimShuffle() as op, (TensorVariable() as x,)):
            pass
        case _:
            return None
    asserted: list[TensorVariable | None] = [None] * x.ndim
    for axis, length in zip(_axes(node), lengths, strict=True):
        source = op.new_order[axis]
        if source == "x":
            return None
        asserted[source] = length
    return fitted(op(lt.specify_shape(x, asserted)), node.outputs[0])
