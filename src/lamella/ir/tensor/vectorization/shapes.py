"""Batches of Ops about shapes: lengths, reshaping, repeated values, vectors made of scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.traversal import ancestors
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.alloc import Alloc
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dimshuffle import DimShuffle, NewOrder
from lamella.ir.tensor.joining import Join
from lamella.ir.tensor.make_vector import MakeVector
from lamella.ir.tensor.nonzero import CheckMask
from lamella.ir.tensor.reshape import Reshape
from lamella.ir.tensor.shape import Shape, Shape_i, shape_i
from lamella.ir.tensor.vectorization.batches import Batch, batch_ndim
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["alloc", "check_mask", "make_vector", "reshape", "shape", "shape_i_of"]

Outputs = Sequence[Variable[Any]]


@vectorize_node.register(Shape)
def shape(op: Shape, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """That of each element, which is the same for all: it has no batch axes."""
    x = as_tensor_variable(inputs[0])
    batch = batch_ndim(x, node.inputs[0])
    return MakeVector("int64").make_node(*[shape_i(x, axis) for axis in range(batch, x.ndim)]).outputs


@vectorize_node.register(Shape_i)
def shape_i_of(op: Shape_i, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """That of each element, which is the same for all: it has no batch axes."""
    x = as_tensor_variable(inputs[0])
    return [shape_i(x, op.axis + batch_ndim(x, node.inputs[0]))]


@vectorize_node.register(Reshape)
def reshape(op: Reshape, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """The lengths of the batch before the new ones, where these are the same for all elements of the batch."""
    x, vector = [as_tensor_variable(v) for v in inputs]
    if batch_ndim(vector, node.inputs[1]):
        return None
    batch = batch_ndim(x, node.inputs[0])
    own = tuple([shape_i(x, axis) for axis in range(batch, x.ndim)])
    # A length of -1 has to be found for one element: in an empty batch it stands for nothing.
    element = op.make_node(as_tensor_variable(node.inputs[0]), vector)
    (lengths,) = op.infer_shape(None, element, [own, (shape_i(vector, 0),)])
    if node.inputs[0] in set(ancestors(lengths)):
        return None
    static = node.outputs[0].type.shape
    wanted = [length if known is None else known for length, known in zip(lengths, static, strict=True)]
    return [lt.reshape(x, [*[shape_i(x, axis) for axis in range(batch)], *wanted])]


@vectorize_node.register(Alloc)
def alloc(op: Alloc, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """The lengths of the batch before the others, where these are the same for all elements of the batch."""
    value, *lengths = [as_tensor_variable(v) for v in inputs]
    if any([length.ndim for length in lengths]):
        return None
    batch = batch_ndim(value, node.inputs[0])
    added = len(lengths) - node.inputs[0].type.ndim
    order: NewOrder = (*range(batch), *("x",) * added, *range(batch, value.ndim))
    spread = DimShuffle(value.ndim, order)(value) if added else value
    return Alloc().make_node(spread, *[shape_i(value, axis) for axis in range(batch)], *lengths).outputs


@vectorize_node.register(MakeVector)
def make_vector(op: MakeVector, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Joined along a new last axis."""
    together = Batch(node, inputs)
    columns = [x.dimshuffle([*range(x.ndim), "x"]) for x in together.whole_inputs()]
    return Join(together.ndim).make_node(*columns).outputs


@vectorize_node.register(CheckMask)
def check_mask(op: CheckMask, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """The lengths of the batch are those that it has."""
    mask, *lengths = [as_tensor_variable(v) for v in inputs]
    if any([length.ndim for length in lengths]):
        return None
    batch = batch_ndim(mask, node.inputs[0])
    return CheckMask().make_node(mask, *[shape_i(mask, axis) for axis in range(batch)], *lengths).outputs
