"""Basic indexing: views of what slices, integers and new axes select, and arrays with that part written.

z = x[i, 1::2]
->  index0_0 = i < 0 ? i + x.shape[0] : i;
    if (!(0 <= index0_0 && index0_0 < x.shape[0])) goto reference0;
    slice0_1 = lm_slice_of(x.shape[1], 1, 1, 0, 0, 2);
    z.data = x.data + index0_0 * x.strides[0] + slice0_1.first * x.strides[1];  ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never, final

import attrs

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import add_kernel
from lamella.codegen.c.lowerings.moves import copy_elements, copy_of, whole_view
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.ir import FromInput, IncSubtensor, IntegerEntry, NewAxisEntry, SliceEntry, Subtensor

Entry = IntegerEntry | SliceEntry | NewAxisEntry
Bound = int | FromInput | None


@final
@attrs.frozen
class Part:
    """A part of an array that a basic index selects: expressions.

    Attributes
    ----------
    first
        The index of its first element along each axis of the array.
    lengths
        Its lengths.
    steps
        For each of its axes: the axis of the array and how many elements it goes on; None for a new axis.
    """

    first: tuple[str, ...]
    lengths: tuple[str, ...]
    steps: tuple[tuple[int, str] | None, ...]

    def data(self, x: Array) -> str:
        """Return the address of its first element in an array of the shape that was indexed."""
        return " + ".join(
            [x.data, *[f"{index} * {x.stride(axis)}" for axis, index in enumerate(self.first) if index != "0"]]
        )

    def strides(self, x: Array) -> list[str]:
        """Return its strides in such an array."""
        return [
            "0" if s is None else x.stride(s[0]) if s[1] == "1" else f"lm_step_stride({s[1]}, {x.stride(s[0])})"
            for s in self.steps
        ]


@c_lowering.register(Subtensor)
def subtensor(op: Subtensor, step: Step) -> None:
    """Take a view."""
    x, *index = step.inputs
    part = select(step, op.idx_list, x, index)
    step.view(x, part.data(x), part.lengths, part.strides(x))


@c_lowering.register(IncSubtensor)
def inc_subtensor(op: IncSubtensor, step: Step) -> None:
    """Copy the array, or take it as it is, and write to the part."""
    x, value, *index = step.inputs
    part = select(step, op.idx_list, x, index)
    require_fitting(step, value, part.lengths)
    if op.inplace and step.may_alias(0, 1):
        step.refer()  # the value may change while it is being written
        return
    z = whole_view(step, x) if op.inplace else copy_of(step, x)
    written = Strided(part.data(z), integers(part.strides(z)))
    _write(step, op.set_instead_of_inc, z, written, value, part.lengths)


def require_fitting(step: Step, value: Array, lengths: Sequence[str]) -> None:
    """Require that a value has some lengths, where its own are not known to be 1."""
    for axis, length in enumerate(lengths):
        if value.type.shape[axis] != 1 and value.length(axis) != length:
            step.require(f"{value.length(axis)} == {length}")


def _write(step: Step, is_set: bool, z: Array, part: Strided, value: Array, lengths: Sequence[str]) -> None:
    """Set elements to values, or add values to them."""
    ndim, shape = len(lengths), integers(lengths)
    if is_set:
        copy_elements(step, z.c.itemsize, shape, ndim, part, value.strided)
        return
    kernel = add_kernel(step.unit, z.type.dtype)
    if ndim:
        step.nest(kernel.loops, shape, ndim, [part, part, value.strided])
        return
    name = f"({z.c.storage} *)({part.data})"
    step.emit(f"{kernel.element}({name}, {z.c.loaded(f'*{name}')}, {value.value()});")


def select(step: Step, entries: Sequence[Entry], x: Array, index: Sequence[Array]) -> Part:
    """Require that indices are in bounds, and return the part that they select."""
    first: list[str] = []
    lengths: list[str] = []
    steps: list[tuple[int, str] | None] = []
    for entry in entries:
        axis = len(first)
        match entry:
            case IntegerEntry(integer):
                first.append(_in_bounds(step, x, axis, _value(integer, index)))
            case SliceEntry():
                start, length, by = sliced(step, x, axis, entry, index)
                first.append(start)
                lengths.append(length)
                steps.append((axis, by))
            case NewAxisEntry():
                lengths.append("1")
                steps.append(None)
            case _:
                assert_never(entry)
    for axis in range(len(first), x.ndim):
        lengths.append(x.length(axis))
        steps.append((axis, "1"))
    return Part(tuple(first), tuple(lengths), tuple(steps))


def _value(bound: int | FromInput, index: Sequence[Array]) -> str:
    if isinstance(bound, FromInput):
        return index[bound.position].value()
    # Python's integers have no end; lengths have.
    return f"INT64_C({max(-(2**63) + 1, min(bound, 2**63 - 1))})"


def _in_bounds(step: Step, x: Array, axis: int, index: str) -> str:
    name, length = f"index{step.number}_{axis}", x.length(axis)
    step.emit(f"lm_int {name} = {index};", f"if ({name} < 0) {name} += {length};")
    step.require(f"{name} >= 0 && {name} < {length}")
    return name


def sliced(step: Step, x: Array, axis: int, entry: SliceEntry, index: Sequence[Array]) -> tuple[str, str, str]:
    """Return the first index, the length and the step."""
    if entry.start is None and entry.stop is None and entry.step in (None, 1):
        return "0", x.length(axis), "1"
    name, by = f"slice{step.number}_{axis}", "1" if entry.step is None else _value(entry.step, index)
    if isinstance(entry.step, FromInput):
        step.emit(f"const lm_int step{step.number}_{axis} = {by};")
        by = f"step{step.number}_{axis}"
        step.require(f"{by} != 0")
    step.unit.need("indexing")
    bounds = ", ".join(["0, 0" if b is None else f"{_value(b, index)}, 1" for b in (entry.start, entry.stop)])
    step.emit(f"const lm_slice {name} = lm_slice_of({x.length(axis)}, {bounds}, {by});")
    return f"{name}.first", f"{name}.length", by
