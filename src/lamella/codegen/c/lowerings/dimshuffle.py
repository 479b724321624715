"""`DimShuffle`: a view with other lengths and strides."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Step
from lamella.ir import DimShuffle


@c_lowering.register(DimShuffle)
def dimshuffle(op: DimShuffle, step: Step) -> None:
    """Reorder, add and drop axes."""
    (x,) = step.inputs
    for axis in op.dropped:
        if x.type.shape[axis] is None:
            step.require(f"{x.length(axis)} == 1")
    lengths = ["1" if axis == "x" else x.length(axis) for axis in op.new_order]
    strides = ["0" if axis == "x" else x.stride(axis) for axis in op.new_order]
    step.view(x, x.data, lengths, strides)
