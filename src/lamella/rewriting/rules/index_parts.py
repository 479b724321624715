"""Basic indices as Python writes them: integers, slices and new axes, whose numbers are known or are scalars of int64."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lamella.ir import (
    Apply,
    BasicEntry,
    FromInput,
    IncSubtensor,
    IntegerEntry,
    NewAxisEntry,
    SliceEntry,
    Subtensor,
    TensorConstant,
    TensorVariable,
    as_tensor_variable,
    canonical_slice,
    lt,
)

__all__ = [
    "Bound",
    "Part",
    "Slice",
    "bound_of",
    "bounds",
    "entries_of",
    "index_inputs",
    "indexed",
    "is_full",
    "known_bounds",
    "numbers_selected",
    "parts_by_axis",
    "parts_of",
    "slice_of",
    "within_bounds",
]

Bound = int | TensorVariable | None
"""A bound or the step of a slice; None where it is left out."""

if TYPE_CHECKING:  # generic for type checkers only
    Slice = slice[Bound, Bound, Bound]
else:
    Slice = slice

Part = int | TensorVariable | Slice | None
"""What is done to an axis: the element at a number, a slice; or a new axis, None."""


def index_inputs(node: Apply[Any]) -> Sequence[TensorVariable]:
    """Return the index inputs of a node of `Subtensor` or `IncSubtensor`."""
    first = 2 if isinstance(node.op, IncSubtensor) else 1
    return [as_tensor_variable(variable) for variable in node.inputs[first:]]


def bound_of(value: int | FromInput | None, inputs: Sequence[TensorVariable]) -> Bound:
    """Return a bound or an integer of an entry, a number where it is known."""
    if not isinstance(value, FromInput):
        return value
    variable = inputs[value.position]
    return int(variable.data) if isinstance(variable, TensorConstant) else variable


def parts_of(node: Apply[Any]) -> list[Part]:
    """Return the index of a node of `Subtensor` or `IncSubtensor`. Index inputs that are constants are numbers."""
    inputs = index_inputs(node)
    parts: list[Part] = []
    entries = node.op.idx_list if isinstance(node.op, Subtensor | IncSubtensor) else ()
    for entry in entries:
        if isinstance(entry, SliceEntry):
            parts.append(slice(*[bound_of(bound, inputs) for bound in (entry.start, entry.stop, entry.step)]))
        elif isinstance(entry, IntegerEntry):
            parts.append(bound_of(entry.index, inputs))
        else:
            parts.append(None)
    return parts


def bounds(part: Slice) -> tuple[Bound, Bound, Bound]:
    """Return start, stop and step of a slice."""
    return part.start, part.stop, part.step


def is_full(part: Part) -> bool:
    """Whether a part is a slice of everything."""
    return isinstance(part, slice) and bounds(part) == (None, None, None)


def known_bounds(part: Part) -> tuple[int | None, int | None, int | None] | None:
    """Return start, stop and step of a slice whose numbers are all known and whose step is not 0; None for any other part."""
    if not isinstance(part, slice):
        return None
    start, stop, step = bounds(part)
    if isinstance(start, TensorVariable) or isinstance(stop, TensorVariable) or isinstance(step, TensorVariable):
        return None
    return None if step == 0 else (start, stop, step)


def numbers_selected(part: Part, length: int | None) -> range | None:
    """Return the indices that a part selects of an axis; None where they are not known, or out of bounds."""
    if length is None:
        return None
    if isinstance(part, int):
        return range(part % length, part % length + 1) if -length <= part < length else None
    known = known_bounds(part)
    return None if known is None else range(length)[slice(*known)]


def slice_of(numbers: range) -> Slice:
    """Return the slice that selects these indices, of an axis that has them."""
    if not numbers:
        return slice(0, 0)
    return slice(numbers.start, numbers.stop if numbers.stop >= 0 else None, numbers.step)


def parts_by_axis(parts: Sequence[Part]) -> dict[int, int]:
    """Return, for each axis of the indexed array that an index names, the place of its part."""
    places = [place for place, part in enumerate(parts) if part is not None]
    return dict(enumerate(places))


def within_bounds(parts: Sequence[Part], x: TensorVariable) -> bool:
    """Whether all integers of an index of x are known to be within bounds."""
    for axis, place in parts_by_axis(parts).items():
        part = parts[place]
        if not isinstance(part, slice) and numbers_selected(part, x.type.shape[axis]) is None:
            return False
    return True


def entries_of(parts: Sequence[Part]) -> tuple[tuple[BasicEntry, ...], list[TensorVariable]]:
    """Return an index as Ops keep it: entries and index inputs. Full slices at the end are left out."""
    inputs: list[TensorVariable] = []

    def kept(bound: Bound) -> int | FromInput | None:
        if not isinstance(bound, TensorVariable):
            return bound
        inputs.append(bound)
        return FromInput(len(inputs) - 1)

    entries: list[BasicEntry] = []
    for part in parts:
        if part is None:
            entries.append(NewAxisEntry())
        elif isinstance(part, slice):
            start, stop = kept(part.start), kept(part.stop)
            # A step of 0 raises when the graph runs, not while it is rewritten.
            entries.append(canonical_slice(start, stop, kept(_zero() if part.step == 0 else part.step)))
        else:
            index = kept(part)
            assert index is not None
            entries.append(IntegerEntry(index))
    while entries and entries[-1] == SliceEntry():
        entries.pop()
    return tuple(entries), inputs


def _zero() -> TensorVariable:
    return as_tensor_variable(0, dtype="int64")


def indexed(x: TensorVariable, parts: Sequence[Part]) -> TensorVariable:
    """Return ``x[parts]``; new axes alone are made by `DimShuffle`, as everywhere, and nothing at all is `x` itself.

    An index out of bounds raises when the graph runs.
    """
    entries, inputs = entries_of(parts)
    if all([entry in (NewAxisEntry(), SliceEntry()) for entry in entries]):
        axes = iter(range(x.ndim))
        order: list[int | str] = ["x" if entry == NewAxisEntry() else next(axes) for entry in entries]
        return lt.dimshuffle(x, [*order, *axes])
    return as_tensor_variable(Subtensor(entries).unchecked_node(x, inputs).outputs[0])
