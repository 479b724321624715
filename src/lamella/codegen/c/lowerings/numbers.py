"""Numbers that are no arrays: in C they lie where arrays without dimensions do, and only the host tells them apart.

y = add(scalar_from_tensor(x), 1.0)
->  *(double *)z0->data = *(double *)x0.data;
    element0((double *)z0->data, *(double *)x0.data);
"""

from __future__ import annotations

from typing import Any

from lamella.codegen.c.elementwise_kernel import add_elementwise_kernel
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.elementwise import check_guard, operand_of
from lamella.codegen.c.lowerings.moves import move_element
from lamella.codegen.c.step import Step
from lamella.ir import Op, ScalarFromTensor, ScalarOp, TensorFromScalar


@c_lowering.register(ScalarFromTensor, TensorFromScalar)
def converted(op: Op[Any, Any], step: Step) -> None:
    """Copy the element."""
    x = step.input(0)
    z = step.allocate([])
    step.emit(move_element(z.c.itemsize, z.data, x.data))


@c_lowering.register(ScalarOp)  # type: ignore[type-abstract]  # its subclasses are meant
def scalar_op(op: ScalarOp[Any], step: Step) -> None:
    """Compute the results, which is what an elementwise Op does for one element."""
    inputs = step.inputs
    outputs = [step.output(i) for i in range(op.nout)]
    operands = [operand_of(x) for x in inputs]
    kernel = add_elementwise_kernel(step.unit, op, operands, [z.type.dtype for z in outputs])
    read = [x for x, operand in zip(inputs, operands, strict=True) if operand.constant is None]
    if kernel.guard is not None:
        check_guard(step, kernel.guard, read, [])
    for i in range(len(outputs)):
        step.allocate([], index=i)
    arguments = [f"({z.c.storage} *){z.data}" for z in outputs] + [x.value() for x in read]
    step.emit(f"{kernel.element}({', '.join(arguments)});")
