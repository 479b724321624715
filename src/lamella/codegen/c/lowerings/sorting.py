"""`SortOp` and `ArgSortOp`: sorted by the host, whose algorithms are as fast as any."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Step
from lamella.ir import ArgSortOp, SortOp


@c_lowering.register(SortOp)
def sort(op: SortOp, step: Step) -> None:
    """Sort along the axis."""
    _sort(step, op.axis, indices=False)


@c_lowering.register(ArgSortOp)
def argsort(op: ArgSortOp, step: Step) -> None:
    """Find the indices that sort along the axis."""
    _sort(step, op.axis, indices=True)


def _sort(step: Step, axis: int, indices: bool) -> None:
    (x,), z = step.inputs, step.output()
    step.attempt(f"call->serve->sort(call, {z.value_of_host}, {x.value_of_host}, {axis}, {int(indices)})")
