"""Elementwise Ops: a kernel, run over all elements.

z = add(x, y)    x : float64[?], y : float64[?]
->  if (x.shape[0] != y.shape[0]) goto reference0;
    z.shape[0] = x.shape[0];  (z is allocated)
    call->serve->each(call, &each0, 1, z.shape, ...);    (threads may share it)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella.codegen.c.elementwise_kernel import Operand, add_elementwise_kernel
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import Elemwise

__all__ = ["broadcast_lengths", "check_guard", "operand_of"]


@c_lowering.register(Elemwise)
def elementwise(op: Elemwise[Any], step: Step) -> None:
    """Broadcast, compute each element."""
    inputs = step.inputs
    outputs = [step.output(i) for i in range(op.scalar_op.nout)]
    operands = [operand_of(x) for x in inputs]
    dtypes = [z.type.dtype for z in outputs]
    kernel = add_elementwise_kernel(step.unit, op.scalar_op, operands, dtypes)
    read = [x for x, operand in zip(inputs, operands, strict=True) if operand.constant is None]
    lengths = broadcast_lengths(step, inputs)

    overwritten = dict(op.inplace_pattern)
    if kernel.guard is not None:
        check_guard(step, kernel.guard, read, lengths)
    for i in range(len(outputs)):
        if i in overwritten:
            x = inputs[overwritten[i]]
            axes = range(x.ndim)
            step.view(x, x.data, [x.length(a) for a in axes], [x.stride(a) for a in axes], index=i)
        else:
            step.allocate(lengths, index=i, like=read)

    if not outputs[0].ndim:
        arguments = [f"({z.c.storage} *){z.data}" for z in outputs] + [x.value() for x in read]
        step.emit(f"{kernel.element}({', '.join(arguments)});")
        return
    sizes = {z.c.itemsize for z in outputs}
    step.each(
        kernel.loops,
        kernel.cost,
        outputs[0].shape,
        outputs[0].ndim,
        [z.strided for z in outputs],
        [x.strided for x in read],
        sizes.pop() if kernel.is_bound_by_memory and len(sizes) == 1 else 0,
        [x.c.itemsize for x in (*outputs, *read)] if outputs[0].ndim > 1 else (),
    )


def operand_of(x: Array) -> Operand:
    """Return an input as an operand of a kernel."""
    if x.constant is not None and x.constant.size == 1:
        return Operand(x.type.dtype, constant=x.constant.reshape(())[()])
    if not x.ndim or x.type.shape[-1] != 1:
        return Operand(x.type.dtype)
    return Operand(x.type.dtype, "same", may_vary=any([length != 1 for length in x.type.shape]))


def broadcast_lengths(step: Step, inputs: Sequence[Array]) -> list[str]:
    """Require that lengths agree which are not known to be 1, and return the lengths that the inputs broadcast to."""
    lengths: list[str] = []
    for axis in range(inputs[0].ndim):
        counted = [x for x in inputs if x.type.shape[axis] != 1]
        known = [x for x in counted if x.type.shape[axis] is not None]
        length = (known or counted)[0].length(axis) if counted else "1"
        for x in counted:
            if x.length(axis) != length:
                step.require(f"{x.length(axis)} == {length}")
        lengths.append(length)
    return lengths


def check_guard(step: Step, guard: str, read: Sequence[Array], lengths: Sequence[str]) -> None:
    """Look for elements that are errors, before anything is written."""
    zeros = integers(["0"] * len(lengths))
    found = f"found{step.number}"
    step.emit(f"int {found} = 0;")
    operands = [*[x.strided for x in read], Strided(f"(char *)&{found}", zeros)]
    step.nest(guard, integers(lengths), len(lengths), operands)
    step.require(f"!{found}")
