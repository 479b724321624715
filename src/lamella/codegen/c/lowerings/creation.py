"""New arrays: filled, with ones on a diagonal, made of scalars."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import copy_kernel, fill_kernel
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import Alloc, AllocEmpty, Eye, MakeVector


def required_lengths(step: Step, lengths: Sequence[Array]) -> list[str]:
    """Require that lengths are not negative, and return them as expressions: numbers where they are known."""
    found: list[str] = []
    for i, length in enumerate(lengths):
        if length.constant is not None and int(length.constant) >= 0:
            found.append(str(int(length.constant)))
            continue
        name = f"length{step.number}_{i}"
        step.emit(f"const lm_int {name} = {length.value()};")
        step.require(f"{name} >= 0")
        found.append(name)
    return found


@c_lowering.register(AllocEmpty)
def alloc_empty(op: AllocEmpty, step: Step) -> None:
    """Allocate."""
    step.allocate(required_lengths(step, step.inputs))


@c_lowering.register(Alloc)
def alloc(op: Alloc, step: Step) -> None:
    """Allocate, and fill with a value that broadcasts where its length is known to be 1."""
    value, *lengths = step.inputs
    shape = required_lengths(step, lengths)
    new = len(shape) - value.ndim
    for axis, known in enumerate(value.type.shape):
        if known != 1 and value.length(axis) != shape[new + axis]:
            step.require(f"{value.length(axis)} == {shape[new + axis]}")
    z = step.allocate(shape)
    strides = integers(["0"] * new + [value.stride(axis) for axis in range(value.ndim)])
    if value.constant is not None and value.constant.size == 1:
        kernel = fill_kernel(step.unit, value.type.dtype, value.constant.reshape(())[()]).loops
        step.nest(kernel, z.shape, z.ndim, [z.strided])
        return
    kernel = copy_kernel(step.unit, value.type.dtype).loops
    step.nest(kernel, z.shape, z.ndim, [z.strided, Strided(value.data, strides)])


@c_lowering.register(MakeVector)
def make_vector(op: MakeVector, step: Step) -> None:
    """Put scalars side by side."""
    scalars = step.inputs
    z = step.allocate([str(len(scalars))])
    step.emit(*[f"(({z.c.storage} *){z.data})[{i}] = {x.element};" for i, x in enumerate(scalars)])


@c_lowering.register(Eye)
def eye(op: Eye, step: Step) -> None:
    """Fill with zeros, then set the diagonal."""
    rows, columns, offset = step.inputs
    shape = required_lengths(step, [rows, columns])
    z = step.allocate(shape)
    step.nest(fill_kernel(step.unit, z.type.dtype, 0).loops, z.shape, z.ndim, [z.strided])
    one = fill_kernel(step.unit, z.type.dtype, 1).loops
    step.unit.need("indexing")
    step.emit(
        "{",
        f"    const lm_diagonal d = lm_diagonal_of({shape[0]}, {shape[1]}, {offset.value()});",
        f"    char *const start = {z.data} + d.row * {z.stride(0)} + d.column * {z.stride(1)};",
    )
    step.nest(one, "&d.length", 1, [Strided("start", integers([f"{z.stride(0)} + {z.stride(1)}"]))])
    step.emit("}")
