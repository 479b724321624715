"""`Reshape`: a view where the array has the shape as it lies in memory, else a copy in C's order.

z = reshape(x, shape)    x : float64[?,?]
->  z.shape[0] = shape[0];  ...
if (!lm_reshape_lengths(x.shape[0] * x.shape[1], 3, z.shape)) goto reference0;
if (lm_reshape_strides(2, x.shape, x.strides, 3, z.shape, z.strides, 8)) { z.data = x.data;  ... }
else { (z is allocated, and x copied to it) }
"""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import copy_elements
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import Reshape


@c_lowering.register(Reshape)
def reshape(op: Reshape, step: Step) -> None:
    """Find the lengths, then the strides; copy where there are none."""
    x, vector = step.inputs
    z = step.output()
    if vector.type.shape[0] is None:
        step.require(f"{vector.length(0)} == {op.ndim}")
    if not op.ndim:
        if x.ndim:
            step.require(f"{x.size} == 1")
        step.view(x, x.data, [], [])
        return
    step.unit.need("reshape")
    if vector.constant is not None:
        wanted = [str(int(length)) for length in vector.constant]
    else:
        wanted = [f"*(const {vector.c.storage} *)({vector.offset(str(axis))})" for axis in range(op.ndim)]
    step.set_shape(z, wanted)
    step.require(f"lm_reshape_lengths({x.size}, {op.ndim}, {z.shape})")
    if vector.constant is None:
        # What the type says of the result, later steps take for granted.
        for axis, known in enumerate(z.type.shape):
            if known is not None:
                step.require(f"{z.member('shape')}[{axis}] == {known}")
    step.emit(
        f"if (lm_reshape_strides({x.ndim}, {x.shape}, {x.strides}, {op.ndim}, {z.shape}, {z.strides}, {z.c.itemsize})) {{",
        f"    {z.data} = {x.data};",
        f"    {z.member('block')} = lm_share({x.member('block')});",
        "} else {",
    )
    step.allocate([z.length(axis) for axis in range(z.ndim)])
    if x.ndim:
        strides = _strides_in_c_order(step, x)
        copy_elements(step, x.c.itemsize, x.shape, x.ndim, Strided(z.data, strides), x.strided)
    step.emit("}")


def _strides_in_c_order(step: Step, x: Array) -> str:
    """Return the strides that an array would have in C's order."""
    strides = [str(x.c.itemsize)]
    for axis in reversed(range(1, x.ndim)):
        strides.insert(0, f"{strides[0]} * {x.length(axis)}")
    return integers(strides)
