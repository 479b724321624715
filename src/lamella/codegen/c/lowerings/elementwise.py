"""Elementwise Ops: a kernel, run over all elements.

z = add(x, y)    x : float64[?], y : float64[?]
->  if (x.shape[0] != y.shape[0]) goto reference0;
    z.shape[0] = x.shape[0];  (z is allocated)
    call->serve->nest(call, kernel1, 3, 1, z.shape, ...);
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamella.codegen.c.elementwise_kernel import Operand, add_elementwise_kernel
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Array, Step
from lamella.ir import Elemwise


@c_lowering.register(Elemwise)
def elementwise(op: Elemwise[Any], step: Step) -> None:
    """Broadcast, compute each element."""
    inputs = step.inputs
    outputs = [step.output(i) for i in range(op.scalar_op.nout)]
    operands = [_operand(x) for x in inputs]
    kernel = add_elementwise_kernel(step.unit, op.scalar_op, operands, [z.type.dtype for z in outputs])
    read = [x for x, operand in zip(inputs, operands, strict=True) if operand.constant is None]
    lengths = broadcast_lengths(step, inputs)

    overwritten = dict(op.inplace_pattern)
    if any(
        [
            i != j and inputs[i] != inputs[j] and step.may_alias(i, j)
            for i in overwritten.values()
            for j in range(len(inputs))
        ]
    ):
        step.refer()  # one element of the result may overwrite what another one is computed from
        return
    if kernel.guard is not None:
        _check_guard(step, kernel.guard, read, lengths)
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
    run_nest(step, kernel.loops, [*outputs, *read], outputs[0].shape)


def _operand(x: Array) -> Operand:
    if x.constant is not None and x.constant.size == 1:
        return Operand(x.type.dtype, constant=x.constant.reshape(())[()])
    return Operand(x.type.dtype, "same" if x.ndim and x.type.shape[-1] == 1 else "contiguous")


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


def run_nest(step: Step, kernel: str, operands: Sequence[Array], shape: str) -> None:
    """Run a kernel over all elements of some operands, whose strides are 0 where they broadcast."""
    data = ", ".join([array.data for array in operands])
    strides = ", ".join([array.strides for array in operands])
    step.emit(
        f"call->serve->nest(call, {kernel}, {len(operands)}, {operands[0].ndim}, {shape},",
        f"                  (char *const[]){{{data}}}, (const lm_int *const[]){{{strides}}});",
    )


def _check_guard(step: Step, guard: str, read: Sequence[Array], lengths: Sequence[str]) -> None:
    """Look for elements that are errors, before anything is written."""
    ndim = len(lengths)
    zeros = f"(const lm_int[]){{{', '.join(['0'] * max(ndim, 1))}}}"
    data = ", ".join([*[x.data for x in read], f"(char *)&found{step.number}"])
    strides = ", ".join([*[x.strides if ndim else zeros for x in read], zeros])
    step.emit(
        f"int found{step.number} = 0;",
        f"call->serve->nest(call, {guard}, {len(read) + 1}, {ndim}, (const lm_int[]){{{', '.join(lengths) or '1'}}},",
        f"                  (char *const[]){{{data}}}, (const lm_int *const[]){{{strides}}});",
    )
    step.require(f"!found{step.number}")
