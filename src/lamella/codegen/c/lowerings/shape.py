"""Shapes as values, views that know more or less of their shape, and copies."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import copy_kernel
from lamella.codegen.c.step import Array, Step
from lamella.ir import CheckMask, DeepCopyOp, Shape, Shape_i, SpecifyShape, Unbroadcast, ViewOp


@c_lowering.register(Shape)
def shape(op: Shape, step: Step) -> None:
    """Put the lengths side by side."""
    x = step.input(0)
    z = step.allocate([str(x.ndim)])
    step.emit(*[f"((int64_t *){z.data})[{axis}] = {x.length(axis)};" for axis in range(x.ndim)])


@c_lowering.register(Shape_i)
def shape_i(op: Shape_i, step: Step) -> None:
    """Take one length."""
    x = step.input(0)
    z = step.allocate([])
    step.emit(f"{z.element} = {x.length(op.axis)};")


def whole_view(step: Step, x: Array) -> None:
    """Let the output be the input itself."""
    axes = range(x.ndim)
    step.view(x, x.data, [x.length(axis) for axis in axes], [x.stride(axis) for axis in axes])


@c_lowering.register(SpecifyShape)
def specify_shape(op: SpecifyShape, step: Step) -> None:
    """Check lengths."""
    x, *lengths = step.inputs
    for axis, length in zip(op.axes, lengths, strict=True):
        step.require(f"{x.length(axis)} == {length.value()}")
    whole_view(step, x)


@c_lowering.register(CheckMask)
def check_mask(op: CheckMask, step: Step) -> None:
    """Check all lengths."""
    x, *lengths = step.inputs
    for axis, length in enumerate(lengths):
        step.require(f"{x.length(axis)} == {length.value()}")
    whole_view(step, x)


@c_lowering.register(Unbroadcast)
def unbroadcast(op: Unbroadcast, step: Step) -> None:
    """Change nothing at run time."""
    whole_view(step, step.input(0))


@c_lowering.register(ViewOp)
def view(op: ViewOp, step: Step) -> None:
    """Give the same memory."""
    whole_view(step, step.input(0))


@c_lowering.register(DeepCopyOp)
def deep_copy(op: DeepCopyOp, step: Step) -> None:
    """Copy all elements."""
    (x,) = step.inputs
    copy_of(step, x)


def copy_of(step: Step, x: Array) -> Array:
    """Let the output be a copy of an input, laid out as it is."""
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], like=[x])
    step.nest(copy_kernel(step.unit, x.type.dtype).loops, z.shape, z.ndim, [z.strided, x.strided])
    return z
