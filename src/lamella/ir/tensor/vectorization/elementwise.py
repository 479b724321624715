"""Batches of Ops that treat all elements alike: elementwise functions, scalars, identities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.copying import DeepCopyOp, ViewOp
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.scalar_conversion import ScalarFromTensor, TensorFromScalar
from lamella.ir.tensor.vectorization.batches import as_tensor, padded
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["elemwise", "identity", "scalar_function", "scalar_or_tensor"]


@vectorize_node.register(Elemwise)
def elemwise(op: Elemwise[Any], node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """All operands have as many axes of their own, so batch axes are new ones on the left."""
    return Elemwise(op.scalar_op).make_node(*inputs).outputs


@vectorize_node.register(ScalarOp)  # type: ignore[type-abstract]  # the rule is that of its subclasses
def scalar_function(op: ScalarOp[Any], node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """A batch of scalars is a tensor."""
    tensors = [as_tensor(x) for x in inputs]
    ndim = max([x.ndim for x in tensors])
    return Elemwise(op).make_node(*[padded(x, ndim, 0) for x in tensors]).outputs


def scalar_or_tensor(
    op: ScalarFromTensor | TensorFromScalar, node: Apply[Any], inputs: Sequence[Variable[Any]]
) -> Sequence[Variable[Any]]:
    """A batch of scalars is a tensor already."""
    return inputs


def identity(op: ViewOp | DeepCopyOp, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]]:
    """The same of the whole batch."""
    return op.make_node(*inputs).outputs


vectorize_node.register(ScalarFromTensor)(scalar_or_tensor)
vectorize_node.register(TensorFromScalar)(scalar_or_tensor)
vectorize_node.register(ViewOp)(identity)
vectorize_node.register(DeepCopyOp)(identity)
