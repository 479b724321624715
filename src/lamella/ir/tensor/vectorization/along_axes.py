"""Batches of Ops that work along axes which they name: they name those behind the batch axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.op import Op
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.argmax import Argmax, Argmin
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cumulative import CumOp
from lamella.ir.tensor.diagonal import AllocDiag, ExtractDiag
from lamella.ir.tensor.dimshuffle import DimShuffle, NewOrder
from lamella.ir.tensor.joining import Join
from lamella.ir.tensor.recurrence import LinearRecurrence
from lamella.ir.tensor.reduction import CAReduce
from lamella.ir.tensor.shape import product_of_lengths, shape_i
from lamella.ir.tensor.softmax import LogSoftmax, LogSumExp, Softmax
from lamella.ir.tensor.sorting import ArgSortOp, SortOp
from lamella.ir.tensor.specify_shape import SpecifyShape, Unbroadcast
from lamella.ir.tensor.split import Split
from lamella.ir.tensor.vectorization.batches import Batch, batch_ndim
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["along_an_axis", "along_axes", "dimshuffle", "extreme_place", "specify_shape", "unbroadcast"]

Outputs = Sequence[Variable[Any]]


def along_axes(
    op: CAReduce | Softmax | LogSoftmax | LogSumExp, node: Apply[Any], inputs: Sequence[Variable[Any]]
) -> Outputs:
    """Over the same axes, behind those of the batch."""
    batch = batch_ndim(inputs[0], node.inputs[0])
    moved: Op[Any, Any] = attrs.evolve(op, axis=tuple([axis + batch for axis in op.axes]))
    return moved.make_node(*inputs).outputs


def along_an_axis(op: CumOp | SortOp | ArgSortOp, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Along the same axis, behind those of the batch."""
    moved: Op[Any, Any] = attrs.evolve(op, axis=op.axis + batch_ndim(inputs[0], node.inputs[0]))
    return moved.make_node(*inputs).outputs


def extreme_place(op: Argmax | Argmin, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Along the same axis; or along one that holds all elements, where the Op goes over all of them."""
    x = as_tensor_variable(inputs[0])
    batch = batch_ndim(x, node.inputs[0])
    if op.axis is not None:
        return attrs.evolve(op, axis=op.axis + batch).make_node(x).outputs
    lengths = [shape_i(x, axis) for axis in range(x.ndim)]
    flat = lt.reshape(x, [*lengths[:batch], product_of_lengths(lengths[batch:])])
    return attrs.evolve(op, axis=batch).make_node(flat).outputs


@vectorize_node.register(LinearRecurrence)
def recurrence(op: LinearRecurrence, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Along the same axis, of operands that have all batch axes."""
    together = Batch(node, inputs)
    a, b = together.whole_inputs()
    return attrs.evolve(op, axis=op.axis + together.ndim).make_node(a, b).outputs


@vectorize_node.register(Join)
def join(op: Join, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Along the same axis, of arrays that have all batch axes: joining repeats nothing."""
    together = Batch(node, inputs)
    return Join(op.axis + together.ndim).make_node(*together.whole_inputs()).outputs


@vectorize_node.register(Split)
def split(op: Split, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """Along the same axis, where the sizes are those of all elements of the batch."""
    x, sizes = inputs
    if batch_ndim(sizes, node.inputs[1]):
        return None
    moved = Split(op.n_splits, op.axis + batch_ndim(x, node.inputs[0]))
    return moved.make_node(as_tensor_variable(x), as_tensor_variable(sizes)).outputs


@vectorize_node.register(DimShuffle)
def dimshuffle(op: DimShuffle, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Batch axes stay where they are."""
    x = as_tensor_variable(inputs[0])
    batch = batch_ndim(x, node.inputs[0])
    order: NewOrder = (*range(batch), *["x" if axis == "x" else axis + batch for axis in op.new_order])
    return DimShuffle(x.ndim, order).make_node(x).outputs


@vectorize_node.register(Unbroadcast)
def unbroadcast(op: Unbroadcast, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Of the same axes, behind those of the batch."""
    x = as_tensor_variable(inputs[0])
    batch = batch_ndim(x, node.inputs[0])
    return [lt.unbroadcast(x, [axis + batch for axis in op.axes])]


@vectorize_node.register(SpecifyShape)
def specify_shape(op: SpecifyShape, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """Of the same axes, where the lengths are those of all elements of the batch."""
    x, *lengths = inputs
    if any([batch_ndim(new, old) for new, old in zip(lengths, node.inputs[1:], strict=True)]):
        return None
    batch = batch_ndim(x, node.inputs[0])
    moved = SpecifyShape(tuple([axis + batch for axis in op.axes]))
    return moved.make_node(as_tensor_variable(x), *[as_tensor_variable(n) for n in lengths]).outputs


@vectorize_node.register(ExtractDiag)
def extract_diagonal(op: ExtractDiag, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Of the same axes, behind those of the batch."""
    batch = batch_ndim(inputs[0], node.inputs[0])
    moved = ExtractDiag(op.offset, op.axis1 + batch, op.axis2 + batch)
    return moved.make_node(as_tensor_variable(inputs[0])).outputs


@vectorize_node.register(AllocDiag)
def alloc_diagonal(op: AllocDiag, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """Of the same axes, where the numbers of rows and columns are those of all elements of the batch."""
    x, rows, columns = [as_tensor_variable(v) for v in inputs]
    if rows.ndim or columns.ndim:
        return None
    batch = batch_ndim(x, node.inputs[0])
    return AllocDiag(op.offset, op.axis1 + batch, op.axis2 + batch).make_node(x, rows, columns).outputs


vectorize_node.register(CAReduce)(along_axes)  # type: ignore[type-abstract]  # the rule is that of its subclasses
vectorize_node.register(Softmax)(along_axes)
vectorize_node.register(LogSoftmax)(along_axes)
vectorize_node.register(LogSumExp)(along_axes)
vectorize_node.register(CumOp)(along_an_axis)
vectorize_node.register(SortOp)(along_an_axis)
vectorize_node.register(ArgSortOp)(along_an_axis)
vectorize_node.register(Argmax)(extreme_place)
vectorize_node.register(Argmin)(extreme_place)
