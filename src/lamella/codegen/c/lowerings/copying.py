"""`ViewOp` and `DeepCopyOp`: the same memory, or memory of its own."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import copy_of, whole_view
from lamella.codegen.c.step import Step
from lamella.ir import DeepCopyOp, ViewOp


@c_lowering.register(ViewOp)
def view(op: ViewOp, step: Step) -> None:
    """Give the same memory."""
    whole_view(step, step.input(0))


@c_lowering.register(DeepCopyOp)
def deep_copy(op: DeepCopyOp, step: Step) -> None:
    """Copy all elements."""
    copy_of(step, step.input(0))
