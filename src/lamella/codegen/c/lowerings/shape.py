"""Shapes as values, and views that know more or less of their shape."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import whole_view
from lamella.codegen.c.step import Step
from lamella.ir import CheckMask, Shape, Shape_i, SpecifyShape, Unbroadcast


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


@c_lowering.register(SpecifyShape)
def specify_shape(op: SpecifyShape, step: Step) -> None:
    """Check some lengths."""
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
