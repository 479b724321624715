"""Advanced indexing: elements read, set or added to at the places that index arrays select.

    z = x[i]
    ->  lm_indexed at = {LM_INDEX_READ, x.data, (lengths and strides of the axes that are indexed, and of those that are kept)};
        call->serve->index(call, &at, 1, i.shape, {z, z, i}, ...);
        if (at.outside) goto reference0;

Where elements of an array are written that others may see, all indices are seen to be in bounds before the first of them is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, final

import attrs

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.basic_indexing import require_fitting, sliced
from lamella.codegen.c.lowerings.indexed_kernels import add_adding_kernels
from lamella.codegen.c.lowerings.moves import copy_of, whole_view
from lamella.codegen.c.step import Array, Step, Strided, integers, operand_arrays
from lamella.errors import LoweringError
from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    ArrayEntry,
    FlagEntry,
    IndexEntry,
    IntegerEntry,
    NewAxisEntry,
    SliceEntry,
    indexed_axis,
)

_Action = Literal["READ", "SET", "ADD"]


@final
@attrs.frozen
class _KeptAxis:
    """An axis of the result besides those of the index arrays: its length, the axis of the array (None: a new one), its step along that."""

    length: str
    axis: int | None = None
    by: str = "1"

    def stride(self, x: Array) -> str:
        """Return its stride in an array of the shape that was indexed."""
        if self.axis is None:
            return "0"
        return x.stride(self.axis) if self.by == "1" else f"{self.by} * {x.stride(self.axis)}"


@final
@attrs.frozen
class _Selection:
    """What an advanced index selects: expressions.

    Attributes
    ----------
    first
        Along each axis of the array, the first index that a slice selects.
    kept
        The axes that the result keeps.
    n_outer
        How many of these come before the axes of the index arrays.
    axes
        The axes of the array that are indexed by arrays.
    positions
        The positions of these arrays among the index inputs.
    shape
        The lengths that the index arrays broadcast to.
    one_shape
        Whether all of them are of this shape themselves.
    """

    first: tuple[str, ...]
    kept: tuple[_KeptAxis, ...]
    n_outer: int
    axes: tuple[int, ...]
    positions: tuple[int, ...]
    shape: tuple[str, ...]
    one_shape: bool

    @property
    def lengths(self) -> list[str]:
        """The lengths of what is selected."""
        kept = [axis.length for axis in self.kept]
        return [*kept[: self.n_outer], *self.shape, *kept[self.n_outer :]]

    @property
    def kept_places(self) -> list[int]:
        """Which axes of what is selected are kept ones."""
        return [i if i < self.n_outer else i + len(self.shape) for i in range(len(self.kept))]

    @property
    def indexed_places(self) -> list[int]:
        """Which axes of what is selected are those of the index arrays."""
        return list(range(self.n_outer, self.n_outer + len(self.shape)))

    def data(self, x: Array) -> str:
        """Return the address in an array from which the places count."""
        return " + ".join([x.data, *[f"{i} * {x.stride(axis)}" for axis, i in enumerate(self.first) if i != "0"]])


@c_lowering.register(AdvancedSubtensor)
def advanced_subtensor(op: AdvancedSubtensor, step: Step) -> None:
    """Read elements."""
    _read(op, step)


@c_lowering.register(AdvancedSubtensor1)
def advanced_subtensor1(op: AdvancedSubtensor1, step: Step) -> None:
    """Read elements along one axis."""
    _read(op, step)


@c_lowering.register(AdvancedIncSubtensor)
def advanced_inc_subtensor(op: AdvancedIncSubtensor, step: Step) -> None:
    """Write to elements."""
    _write(op, step)


@c_lowering.register(AdvancedIncSubtensor1)
def advanced_inc_subtensor1(op: AdvancedIncSubtensor1, step: Step) -> None:
    """Write to elements along one axis."""
    _write(op, step)


def _read(op: AdvancedSubtensor | AdvancedSubtensor1, step: Step) -> None:
    x, *index = step.inputs
    selection = _select(step, op.idx_list, x, index)
    if not selection.one_shape:
        # Where arrays broadcast to nothing, NumPy decides whether their integers matter.
        step.require(" && ".join([f"{length} != 0" for length in selection.shape]))
    z = step.allocate(selection.lengths)
    order = Strided(z.data, integers([z.stride(axis) for axis in selection.indexed_places]))
    step.emit("{")
    _visit(step, "READ", selection, x, index, z, order)
    step.require("!at.outside")
    step.emit("}")


def _write(op: AdvancedIncSubtensor | AdvancedIncSubtensor1, step: Step) -> None:
    """Copy the array, or take it as it is, and write to elements in order: one may be selected several times."""
    x, value, *index = step.inputs
    selection = _select(step, op.idx_list, x, index)
    require_fitting(step, value, selection.lengths)
    is_own = not op.inplace or step.is_own(0)
    if not is_own:
        _require_in_bounds(step, selection, x, index)
    if op.inplace and any([step.may_alias(0, i) for i in range(1, len(step.inputs))]):
        step.refer()  # what is read may change while elements are written
        return
    z = whole_view(step, x) if op.inplace else copy_of(step, x)
    step.emit("{")
    _visit(step, "SET" if op.set_instead_of_inc else "ADD", selection, z, index, value, _in_c_order(z, selection.shape))
    if is_own:  # nobody sees what has been written to it when an index turns out to be wrong
        step.require("!at.outside")
    step.emit("}")


def _select(step: Step, entries: Sequence[IndexEntry], x: Array, index: Sequence[Array]) -> _Selection:
    """Return what an index selects; require that index arrays broadcast as the types say."""
    first: list[str] = []
    kept: list[_KeptAxis] = []
    axes: list[int] = []
    positions: list[int] = []
    for entry in entries:
        axis = len(first)
        match entry:
            case SliceEntry():
                start, length, by = sliced(step, x, axis, entry, index)
                first.append(start)
                kept.append(_KeptAxis(length, axis, by))
            case NewAxisEntry():
                kept.append(_KeptAxis("1"))
            case ArrayEntry(position):
                first.append("0")
                axes.append(axis)
                positions.append(position)
            case IntegerEntry():
                raise LoweringError("an integer next to index arrays is one of them")
            case _:
                pass
    kept += [_KeptAxis(x.length(axis), axis) for axis in range(len(first), x.ndim)]
    broadcast = [_index_shape(index[e.position], e) for e in entries if isinstance(e, ArrayEntry | FlagEntry)]
    shape = tuple(_broadcast(step, broadcast))
    one_shape = all([len(lengths) == len(shape) and 1 not in [known for known, _ in lengths] for lengths in broadcast])
    outer = indexed_axis(entries)
    return _Selection(
        tuple(first), tuple(kept), outer, tuple(axes), tuple(positions), shape, one_shape or len(broadcast) == 1
    )


Lengths = Sequence[tuple[int | None, str]]
"""For each axis its length if it is known, and the expression for it."""


def _index_shape(array: Array, entry: ArrayEntry | FlagEntry) -> Lengths:
    if isinstance(entry, ArrayEntry):
        return [(array.type.shape[axis], array.length(axis)) for axis in range(array.ndim)]
    known = None if array.constant is None else int(bool(array.constant))
    return [(known, f"({array.value()} != 0)" if known is None else str(known))]


def _broadcast(step: Step, shapes: Sequence[Lengths]) -> list[str]:
    """Return the lengths that shapes broadcast to; require that those are equal which are not known to be 1."""
    result: list[str] = []
    for axis in range(-max([len(shape) for shape in shapes]), 0):
        here = [shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis][0] != 1]
        known = [length for length in here if length[0] is not None]
        result.append((known or here or [(1, "1")])[0][1])
        for _, length in here:
            if length != result[-1]:
                step.require(f"{length} == {result[-1]}")
    return result


def _require_in_bounds(step: Step, selection: _Selection, x: Array, index: Sequence[Array]) -> None:
    lengths, by = _indexed_axes(selection, x)
    order = _in_c_order(x, selection.shape)
    members = {"action": "LM_INDEX_CHECK", "n_indices": str(len(selection.axes)), "lengths": lengths, "by": by}
    step.emit("{", _context(members))
    _index(step, selection, [order, order, *_index_operands(selection, index)])
    step.require("!at.outside")
    step.emit("}")


def _visit(
    step: Step, action: _Action, selection: _Selection, x: Array, index: Sequence[Array], beside: Array, order: Strided
) -> None:
    """Go through all places in an array, and the elements of another one that belong to them."""
    lengths, by = _indexed_axes(selection, x)
    members = {
        "action": f"LM_INDEX_{action}",
        "dtype": x.c.code,
        "itemsize": str(x.c.itemsize),
        "n_indices": str(len(selection.axes)),
        "n_outer": str(selection.n_outer),
        "n_kept": str(len(selection.kept)),
        "array": selection.data(x),
        "lengths": lengths,
        "by": by,
    }
    if action == "ADD":
        members["points"], members["row"] = add_adding_kernels(step.unit, x.c)
    if selection.kept:
        parts = {
            "shape": [axis.length for axis in selection.kept],
            "strides": [axis.stride(x) for axis in selection.kept],
            "at": [beside.stride(axis) for axis in selection.kept_places],
        }
        members |= {name: f"(lm_int[]){{{', '.join(texts)}}}" for name, texts in parts.items()}
    step.emit(_context(members))
    places = integers([beside.stride(axis) for axis in selection.indexed_places])
    _index(step, selection, [order, Strided(beside.data, places), *_index_operands(selection, index)])


def _context(members: Mapping[str, str]) -> str:
    return f"lm_indexed at = {{{', '.join([f'.{name} = {text}' for name, text in members.items()])}}};"


def _index(step: Step, selection: _Selection, operands: Sequence[Strided]) -> None:
    shape = integers(selection.shape)
    step.emit(f"call->serve->index(call, &at, {len(selection.shape)}, {shape}, {operand_arrays(operands)});")


def _indexed_axes(selection: _Selection, x: Array) -> tuple[str, str]:
    """Return the arrays of the lengths and strides of the axes that are indexed by arrays."""
    return integers([x.length(axis) for axis in selection.axes]), integers([x.stride(axis) for axis in selection.axes])


def _index_operands(selection: _Selection, index: Sequence[Array]) -> list[Strided]:
    operands: list[Strided] = []
    for position in selection.positions:
        array = index[position]
        missing = len(selection.shape) - array.ndim
        strides = ["0"] * missing + [array.stride(axis) for axis in range(array.ndim)]
        operands.append(Strided(array.data, integers(strides)))
    return operands


def _in_c_order(x: Array, shape: Sequence[str]) -> Strided:
    """Return an operand that lets a nest of loops go through a shape in C's order."""
    strides = ["1"] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = f"{strides[axis + 1]} * {shape[axis + 1]}"
    return Strided(x.data, integers(strides))
