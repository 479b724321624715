"""`Reshape`: a view where there are strides for it, else a copy in C order.

z = reshape(x, shape)
->  if (!lm_reshape_lengths(size of x, 2, shape, ..., z.shape)) goto reference0;
    if (lm_reshape_strides(x.shape, x.strides, z.shape, z.strides)) z lies in the memory of x
    else z is allocated, and x is copied to it
"""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import copy_kernel
from lamella.codegen.c.step import Step, Strided
from lamella.ir import Reshape


@c_lowering.register(Reshape)
def reshape(op: Reshape, step: Step) -> None:
    """Take a view, or copy."""
    x, vector = step.inputs
    z = step.output()
    step.unit.need("reshape")
    if vector.type.shape[0] != op.ndim:
        step.require(f"{vector.length(0)} == {op.ndim}")
    step.require(f"lm_reshape_lengths({x.size}, {op.ndim}, {vector.data}, {vector.stride(0)}, {z.shape})")
    for axis, known in enumerate(z.type.shape):
        if known is not None:
            step.require(f"{z.name}.shape[{axis}] == {known}")
    is_view = f"lm_reshape_strides({x.ndim}, {x.shape}, {x.strides}, {z.ndim}, {z.shape}, {z.strides})"
    # Where there are no elements, groups of axes have no sizes to match them by; and a copy costs nothing.
    step.emit(
        f"if ({x.size} != 0 && {is_view}) {{",
        f"    {z.name}.data = {x.data};",
        f"    {z.name}.block = lm_share({x.name}.block);",
        "} else {",
    )
    step.allocate([f"{z.name}.shape[{axis}]" for axis in range(z.ndim)])
    laid_out = f"laid_out{step.number}"
    step.emit(
        f"lm_int {laid_out}[{max(x.ndim, 1)}];",
        f"lm_contiguous_strides({x.ndim}, {x.shape}, {x.c.itemsize}, {laid_out});",
    )
    kernel = copy_kernel(step.unit, x.type.dtype)
    step.nest(kernel.loops, x.shape, x.ndim, [Strided(z.data, laid_out), x.strided])
    step.emit("}")
