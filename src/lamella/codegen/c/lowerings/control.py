"""Choices, checks and recomputation: views of what was chosen, or made when conditions hold."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import whole_view
from lamella.codegen.c.step import Step
from lamella.ir import CheckAndRaise, GradientControl, IfElse, Recompute


@c_lowering.register(CheckAndRaise)
def check_and_raise(op: CheckAndRaise, step: Step) -> None:
    """Give the same memory; an error is the reference interpreter's to raise."""
    value, *conditions = step.inputs
    for condition in conditions:
        step.require(condition.value())
    whole_view(step, value)


@c_lowering.register(GradientControl)
def gradient_control(op: GradientControl, step: Step) -> None:
    """Give the same memory: these Ops say something of gradients only."""
    whole_view(step, step.input(0))


@c_lowering.register(Recompute)
def recompute(op: Recompute, step: Step) -> None:
    """Give the same memory."""
    for i in range(op.n_values):
        whole_view(step, step.input(i), i)


@c_lowering.register(IfElse)
def choice(op: IfElse, step: Step) -> None:
    """Give the memory of the branch that is taken; the host has not computed the other one."""
    condition, *_ = step.inputs
    step.emit(f"if ({condition.value()}) {{")
    for i, place in enumerate(op.branch(True)):
        whole_view(step, step.input(place), i)
    step.emit("} else {")
    for i, place in enumerate(op.branch(False)):
        whole_view(step, step.input(place), i)
    step.emit("}")
