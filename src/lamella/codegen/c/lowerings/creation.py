"""New arrays: filled with a value or with nothing, made of scalars."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import copy_elements, move_element
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import Alloc, AllocEmpty, MakeVector

__all__ = ["require_addressable", "required_lengths"]


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


def require_addressable(step: Step, lengths: Sequence[str], itemsize: int) -> None:
    """Require that an array of some lengths could exist; the reference interpreter says what is wrong with one that could not."""
    if lengths and not all([length.isdigit() and int(length) < 1000 for length in lengths]):
        step.unit.need("allocation")
        step.require(f"lm_is_addressable({len(lengths)}, {integers(lengths)}, {itemsize})")


@c_lowering.register(AllocEmpty)
def alloc_empty(op: AllocEmpty, step: Step) -> None:
    """Allocate."""
    shape = required_lengths(step, step.inputs)
    require_addressable(step, shape, step.output().c.itemsize)
    step.allocate(shape)


@c_lowering.register(Alloc)
def alloc(op: Alloc, step: Step) -> None:
    """Allocate, and fill with a value that broadcasts where its length is known to be 1."""
    value, *lengths = step.inputs
    shape = required_lengths(step, lengths)
    new = len(shape) - value.ndim
    for axis, known in enumerate(value.type.shape):
        if known != 1 and value.length(axis) != shape[new + axis]:
            step.require(f"{value.length(axis)} == {shape[new + axis]}")
    require_addressable(step, shape, value.c.itemsize)
    z = step.allocate(shape)
    strides = integers(["0"] * new + [value.stride(axis) for axis in range(value.ndim)])
    copy_elements(step, z.c.itemsize, z.shape, z.ndim, z.strided, Strided(value.data, strides))


@c_lowering.register(MakeVector)
def make_vector(op: MakeVector, step: Step) -> None:
    """Put scalars side by side."""
    scalars = step.inputs
    z = step.allocate([str(len(scalars))])
    size = z.c.itemsize
    step.emit(*[move_element(size, f"{z.data} + {size * i}", x.data) for i, x in enumerate(scalars)])
