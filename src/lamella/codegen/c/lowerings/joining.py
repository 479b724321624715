"""`Join` and `Split`, diagonals: arrays put together, and parts taken as views."""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import copy_kernel, fill_kernel
from lamella.codegen.c.lowerings.creation import required_lengths
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import AllocDiag, ExtractDiag, Join, Split


@c_lowering.register(Join)
def join(op: Join, step: Step) -> None:
    """Copy each array to its part of the result."""
    arrays = step.inputs
    first = arrays[0]
    for x in arrays[1:]:
        for axis in range(x.ndim):
            if axis != op.axis and x.length(axis) != first.length(axis):
                step.require(f"{x.length(axis)} == {first.length(axis)}")
    lengths = [first.length(axis) for axis in range(first.ndim)]
    lengths[op.axis] = " + ".join([x.length(op.axis) for x in arrays])
    z = step.allocate(lengths, like=arrays)
    kernel = copy_kernel(step.unit, z.type.dtype).loops
    at = f"at{step.number}"
    step.emit(f"char *{at} = {z.data};")
    for x in arrays:
        shape = integers([x.length(axis) for axis in range(x.ndim)])
        step.nest(kernel, shape, x.ndim, [Strided(at, z.strides), x.strided])
        step.emit(f"{at} += {x.length(op.axis)} * {z.stride(op.axis)};")


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
        step.emit(f"const lm_int {name} = *(int64_t *)({sizes.offset(str(i))});")
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


@c_lowering.register(ExtractDiag)
def extract_diag(op: ExtractDiag, step: Step) -> None:
    """Take a view that goes down and across at once."""
    (x,) = step.inputs
    kept = [axis for axis in range(x.ndim) if axis not in (op.axis1, op.axis2)]
    diagonal = _diagonal(step, x.length(op.axis1), x.length(op.axis2), op.offset)
    lengths = [*[x.length(axis) for axis in kept], f"{diagonal}.length"]
    strides = [*[x.stride(axis) for axis in kept], f"{x.stride(op.axis1)} + {x.stride(op.axis2)}"]
    step.view(x, _start(x, diagonal, op.axis1, op.axis2), lengths, strides)


@c_lowering.register(AllocDiag)
def alloc_diag(op: AllocDiag, step: Step) -> None:
    """Fill with zeros, then copy to the diagonal."""
    x, *ends = step.inputs
    rows, columns = required_lengths(step, ends)
    diagonal = _diagonal(step, rows, columns, op.offset)
    step.require(f"{x.length(x.ndim - 1)} == {diagonal}.length")
    others = iter([x.length(axis) for axis in range(x.ndim - 1)])
    placed = {op.axis1: rows, op.axis2: columns}
    z = step.allocate([placed[axis] if axis in placed else next(others) for axis in range(x.ndim + 1)])
    step.nest(fill_kernel(step.unit, z.type.dtype, 0).loops, z.shape, z.ndim, [z.strided])
    kept = [z.stride(axis) for axis in range(z.ndim) if axis not in (op.axis1, op.axis2)]
    strides = integers([*kept, f"{z.stride(op.axis1)} + {z.stride(op.axis2)}"])
    kernel = copy_kernel(step.unit, z.type.dtype).loops
    step.nest(kernel, x.shape, x.ndim, [Strided(_start(z, diagonal, op.axis1, op.axis2), strides), x.strided])


def _diagonal(step: Step, rows: str, columns: str, offset: int) -> str:
    name = f"diagonal{step.number}"
    step.unit.need("indexing")
    step.emit(f"const lm_diagonal {name} = lm_diagonal_of({rows}, {columns}, {offset});")
    return name


def _start(x: Array, diagonal: str, axis1: int, axis2: int) -> str:
    return f"{x.data} + {diagonal}.row * {x.stride(axis1)} + {diagonal}.column * {x.stride(axis2)}"
