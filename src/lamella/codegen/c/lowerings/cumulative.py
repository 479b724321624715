"""`CumOp` and `LinearRecurrence`: one pass along the axis, with the state so far."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.running_states import RunningState, add_running_kernel, walk_along
from lamella.codegen.c.step import Step
from lamella.ir import Add, CumOp, LinearRecurrence, Mul


@c_lowering.register(CumOp)
def cumulative(op: CumOp, step: Step) -> None:
    """Add (or multiply) each element to what came before it."""
    (x,) = step.inputs
    dtype = step.output().type.dtype
    combine = Add() if op.mode == "add" else Mul()
    state = RunningState(
        dtype,
        (x.type.dtype,),
        first=lambda body, elements: body.cast(elements[0], dtype),
        next=lambda body, state, elements: body.apply(combine, [state, body.cast(elements[0], dtype)])[0],
    )
    kernel = add_running_kernel(step.unit, state)
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], like=[x])
    walk_along(step, kernel, op.axis, z, [x])


@c_lowering.register(LinearRecurrence)
def linear_recurrence(op: LinearRecurrence, step: Step) -> None:
    """Keep each state, then compute the next."""
    a, b = step.inputs
    dtype = a.type.dtype
    for axis in range(a.ndim):
        if a.length(axis) != b.length(axis):
            step.require(f"{a.length(axis)} == {b.length(axis)}")
    state = RunningState(
        dtype,
        (dtype, dtype),
        first=lambda body, elements: body.constant(op.initial, dtype),
        next=lambda body, state, elements: body.apply(Add(), [body.apply(Mul(), [elements[0], state])[0], elements[1]])[
            0
        ],
        lag=1,
    )
    kernel = add_running_kernel(step.unit, state)
    z = step.allocate([_known(a.length(i), b.length(i)) for i in range(a.ndim)], like=[a])
    walk_along(step, kernel, op.axis, z, [a, b], op.reverse)


def _known(length: str, other: str) -> str:
    return other if other.isdigit() else length
