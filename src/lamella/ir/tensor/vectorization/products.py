"""Batches of products of vectors and matrices: products of stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dimshuffle import DimShuffle, NewOrder
from lamella.ir.tensor.dot import BatchedDot, Dot
from lamella.ir.tensor.vectorization.batches import padded
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["batched_dot", "dot"]


@vectorize_node.register(Dot)
def dot(op: Dot, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """A vector is a row on the left and a column on the right."""
    a, b = [as_tensor_variable(x) for x in inputs]
    left, right = [v.type.ndim for v in node.inputs]
    if left == 1:
        a = a.dimshuffle([*range(a.ndim - 1), "x", a.ndim - 1])
    if right == 1:
        b = b.dimshuffle([*range(b.ndim), "x"])
    product = BatchedDot()(a, b)
    batch = range(product.ndim - 2)
    rows, columns = product.ndim - 2, product.ndim - 1
    order: NewOrder = (*batch, *([rows] if left == 2 else []), *([columns] if right == 2 else []))
    return [product if len(order) == product.ndim else DimShuffle(product.ndim, order)(product)]


@vectorize_node.register(BatchedDot)
def batched_dot(op: BatchedDot, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """More axes of the stack."""
    own = node.outputs[0].type.ndim
    tensors = [as_tensor_variable(x) for x in inputs]
    batch = max([x.ndim for x in tensors]) - own
    return BatchedDot().make_node(*[padded(x, batch, own) for x in tensors]).outputs
