"""What NumPy does best, asked of the host: products of matrices by BLAS, and sorting."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Array, Step
from lamella.ir import ArgSortOp, Dot, SortOp


def _value(array: Array) -> str:
    return f"&(const lm_value){{&{array.name}, &{array.type_name}}}"


@c_lowering.register(Dot)
def dot(op: Dot, step: Step) -> None:
    """Multiply vectors and matrices."""
    a, b = step.inputs
    summed, over = a.length(a.ndim - 1), b.length(0)
    if summed != over:
        step.require(f"{summed} == {over}")
    step.attempt(f"call->serve->dot(call, {_value(step.output())}, {_value(a)}, {_value(b)})")


@c_lowering.register(SortOp)
def sort(op: SortOp, step: Step) -> None:
    """Sort along an axis, stably."""
    (x,) = step.inputs
    step.attempt(f"call->serve->sort(call, {_value(step.output())}, {_value(x)}, {op.axis}, 0)")


@c_lowering.register(ArgSortOp)
def argsort(op: ArgSortOp, step: Step) -> None:
    """Find the indices that sort along an axis, stably."""
    (x,) = step.inputs
    step.attempt(f"call->serve->sort(call, {_value(step.output())}, {_value(x)}, {op.axis}, 1)")
