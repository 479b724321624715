"""Checks and recomputation: views, made when conditions hold."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import whole_view
from lamella.codegen.c.step import Step
from lamella.ir import CheckAndRaise, Recompute


@c_lowering.register(CheckAndRaise)
def check_and_raise(op: CheckAndRaise, step: Step) -> None:
    """Give the same memory; an error is the reference interpreter's to raise."""
    value, *conditions = step.inputs
    for condition in conditions:
        step.require(condition.value())
    whole_view(step, value)


@c_lowering.register(Recompute)
def recompute(op: Recompute, step: Step) -> None:
    """Give the same memory."""
    for i in range(op.n_values):
        whole_view(step, step.input(i), i)
