"""`Dot`: products of vectors and matrices, by the BLAS that the host uses."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Step
from lamella.ir import Dot


@c_lowering.register(Dot)
def dot(op: Dot, step: Step) -> None:
    """Multiply vectors and matrices."""
    a, b = step.inputs
    summed, over = a.length(a.ndim - 1), b.length(0)
    if summed != over:
        step.require(f"{summed} == {over}")
    step.attempt(f"call->serve->dot(call, {step.output().value_of_host}, {a.value_of_host}, {b.value_of_host})")
