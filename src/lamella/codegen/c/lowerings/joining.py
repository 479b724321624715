"""`Join` and `Split`: arrays put together, and parts taken as views."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import copy_elements, lengths_of
from lamella.codegen.c.step import Step, Strided, integers
from lamella.ir import Join, Split


@c_lowering.register(Join)
def join(op: Join, step: Step) -> None:
    """Copy each array to its part of the result."""
    arrays = step.inputs
    lengths = list(lengths_of(arrays[0]))
    for axis in range(arrays[0].ndim):
        if axis == op.axis:
            continue
        found = [x.length(axis) for x in arrays]
        lengths[axis] = next((length for length in found if length.isdigit()), found[0])
        for length in found:
            if length != lengths[axis]:
                step.require(f"{length} == {lengths[axis]}")
    lengths[op.axis] = " + ".join([x.length(op.axis) for x in arrays])
    z = step.allocate(lengths, like=arrays)
    at = f"at{step.number}"
    step.emit(f"char *{at} = {z.data};")
    for i, x in enumerate(arrays):
        if i:
            step.emit(f"{at} += {arrays[i - 1].length(op.axis)} * {z.member('strides')}[{op.axis}];")
        copy_elements(step, z.c.itemsize, integers(lengths_of(x)), x.ndim, Strided(at, z.strides), x.strided)


@c_lowering.register(Split)
def split(op: Split, step: Step) -> None:
    """Take views of the parts."""
    x, sizes = step.inputs
    if sizes.type.shape[0] != op.n_splits:
        step.require(f"{sizes.length(0)} == {op.n_splits}")
    names = [f"size{step.number}_{i}" for i in range(op.n_splits)]
    left = f"left{step.number}"
    step.emit(f"lm_int {left} = {x.length(op.axis)};")
    for i, name in enumerate(names):
        step.emit(f"const lm_int {name} = *(const {sizes.c.storage} *)({sizes.offset(str(i))});")
        step.require(f"{name} >= 0 && {name} <= {left}")
        step.emit(f"{left} -= {name};")
    step.require(f"{left} == 0")
    start: list[str] = []
    for i, name in enumerate(names):
        lengths = [name if axis == op.axis else x.length(axis) for axis in range(x.ndim)]
        strides = [x.stride(axis) for axis in range(x.ndim)]
        data = f"{x.data} + ({' + '.join(start) or '0'}) * {x.stride(op.axis)}"
        step.view(x, data, lengths, strides, index=i)
        start.append(name)
