"""The entries of an index, as indexing Ops keep them: what an index does to each axis, without the values known at run time.

An entry that depends on a run-time value refers to it by its position among the index inputs of the node, which come in order of
their appearance. So ``x[2, i:, ::-1]`` is ``(IntegerEntry(2), SliceEntry(FromInput(0)), SliceEntry(step=-1))`` with the one index
input ``i``: constants are part of the Op, and equal constant indices make equal Ops.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar, assert_never, final

import attrs

__all__ = [
    "FULL_SLICE",
    "ArrayEntry",
    "BasicEntry",
    "Bound",
    "EmptyEllipsisEntry",
    "FlagEntry",
    "FromInput",
    "IndexEntry",
    "IntegerEntry",
    "NewAxisEntry",
    "SliceEntry",
    "canonical_slice",
    "check_entries",
    "consumed_axes",
    "describe_entries",
    "indexed_axis",
    "numpy_index",
    "result_lengths",
]

LARGEST: Final = 2**63 - 1
"""Slice bounds beyond this mean the same as this: no axis is longer."""


@final
@attrs.frozen
class FromInput:
    """A value known at run time: that of the index input at `position`."""

    position: int


def _bound(value: int | FromInput | None) -> int | FromInput | None:
    return value if value is None or isinstance(value, FromInput) else operator.index(value)


def _integer(value: int | FromInput) -> int | FromInput:
    return value if isinstance(value, FromInput) else operator.index(value)


Bound = int | FromInput | None
"""A bound or the step of a slice; None where it was left out."""


@final
@attrs.frozen
class IntegerEntry:
    """One element along an axis, which the result has not; negative integers count from the end."""

    index: int | FromInput = attrs.field(converter=_integer)


@final
@attrs.frozen
class SliceEntry:
    """A slice along an axis. What it means that a bound is None depends on the sign of the step, as for Python's slices."""

    start: Bound = attrs.field(default=None, converter=_bound)
    stop: Bound = attrs.field(default=None, converter=_bound)
    step: Bound = attrs.field(default=None, converter=_bound)


@final
@attrs.frozen
class NewAxisEntry:
    """A new axis of length 1."""


@final
@attrs.frozen
class ArrayEntry:
    """The elements along an axis at the integers of an array: that of the index input at `position`. Arrays broadcast with each other."""

    position: int


@final
@attrs.frozen
class FlagEntry:
    """A boolean of 0 dimensions, the index input at `position`: takes no axis, and broadcasts with the arrays as a vector of length 0 or 1."""

    position: int


@final
@attrs.frozen
class EmptyEllipsisEntry:
    """An ellipsis that stands for no axis, which still separates the arrays before it from those behind it."""


BasicEntry = IntegerEntry | SliceEntry | NewAxisEntry
IndexEntry = BasicEntry | ArrayEntry | FlagEntry | EmptyEllipsisEntry

FULL_SLICE: Final = SliceEntry()

L = TypeVar("L")


def canonical_slice(start: Bound = None, stop: Bound = None, step: Bound = None) -> SliceEntry:
    """Return the entry of a slice; slices that select the same elements of every axis get equal entries where constants tell.

    Raises
    ------
    ValueError
        The step is 0.
    """
    start, stop, step = [
        max(-LARGEST, min(b, LARGEST)) if isinstance(b, int) else b for b in (_bound(start), _bound(stop), _bound(step))
    ]
    if isinstance(step, FromInput):  # its sign decides what a bound left out means
        return SliceEntry(start, stop, step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    forwards = step is None or step > 0
    if start == (0 if forwards else -1) or (start == LARGEST and not forwards):
        start = None
    if stop == LARGEST and forwards:
        stop = None
    return SliceEntry(start, stop, None if step == 1 else step)


def _positions(entry: IndexEntry) -> Iterator[int]:
    match entry:
        case IntegerEntry(FromInput(position)) | ArrayEntry(position) | FlagEntry(position):
            yield position
        case SliceEntry(start, stop, step):
            for bound in (start, stop, step):
                if isinstance(bound, FromInput):
                    yield bound.position
        case IntegerEntry() | NewAxisEntry() | EmptyEllipsisEntry():
            pass
        case _:
            assert_never(entry)


def check_entries(entries: Sequence[IndexEntry]) -> int:
    """Check that entries refer to index inputs in order, each once, and return how many inputs there are.

    Raises
    ------
    ValueError
        They do not.
    """
    positions = [position for entry in entries for position in _positions(entry)]
    if positions != list(range(len(positions))):
        raise ValueError(f"index entries refer to their inputs in order, 0, 1, ...; these refer to {positions}")
    return len(positions)


def consumed_axes(entries: Sequence[IndexEntry]) -> int:
    """Return how many axes of the indexed array the entries are for."""
    return sum([isinstance(entry, IntegerEntry | SliceEntry | ArrayEntry) for entry in entries])


def numpy_index(entries: Sequence[IndexEntry], values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the index as NumPy takes it, given the values of the index inputs."""

    def value(bound: Bound) -> int | None:
        return int(values[bound.position]) if isinstance(bound, FromInput) else bound

    index: list[Any] = []
    for entry in entries:
        match entry:
            case IntegerEntry(integer):
                index.append(value(integer))
            case SliceEntry(start, stop, step):
                index.append(slice(value(start), value(stop), value(step)))
            case NewAxisEntry():
                index.append(None)
            case ArrayEntry(position):
                index.append(values[position])
            case FlagEntry(position):
                index.append(bool(values[position]))
            case EmptyEllipsisEntry():
                index.append(Ellipsis)
            case _:
                assert_never(entry)
    return tuple(index)


def indexed_axis(entries: Sequence[IndexEntry]) -> int:
    """Return where the result has the axes that the array entries broadcast to.

    NumPy's rule: in the place of the array entries where these stand next to each other, else before all other axes.
    """
    kept = 0
    found: int | None = None
    is_open = False
    for entry in entries:
        if isinstance(entry, ArrayEntry | FlagEntry):
            if found is None:
                found = kept
            elif not is_open:
                return 0
            is_open = True
        else:
            is_open = False
            kept += isinstance(entry, SliceEntry | NewAxisEntry)
    return found or 0


def result_lengths(
    entries: Sequence[IndexEntry],
    lengths: Sequence[L],
    of_slice: Callable[[L, SliceEntry], L],
    one: L,
    indexed: Sequence[L] = (),
) -> tuple[L, ...]:
    """Return the shape of what an index selects.

    Parameters
    ----------
    entries
        The index.
    lengths
        The shape of the indexed array.
    of_slice
        Returns the length that a slice selects of a length.
    one
        The length 1.
    indexed
        The shape that the array entries broadcast to.
    """
    kept: list[L] = []
    axis = 0
    for entry in entries:
        match entry:
            case SliceEntry():
                kept.append(of_slice(lengths[axis], entry))
                axis += 1
            case NewAxisEntry():
                kept.append(one)
            case IntegerEntry() | ArrayEntry():
                axis += 1
            case FlagEntry() | EmptyEllipsisEntry():
                pass
            case _:
                assert_never(entry)
    kept.extend(lengths[axis:])
    place = indexed_axis(entries)
    return (*kept[:place], *indexed, *kept[place:])


def describe_entries(entries: Sequence[IndexEntry]) -> str:
    """Return the index as it is written in Python, with ``i0``, ``i1``, ... for the index inputs."""

    def text(bound: Bound) -> str:
        return "" if bound is None else f"i{bound.position}" if isinstance(bound, FromInput) else str(bound)

    parts: list[str] = []
    for entry in entries:
        match entry:
            case IntegerEntry(integer):
                parts.append(text(integer))
            case SliceEntry(start, stop, step):
                parts.append(f"{text(start)}:{text(stop)}" + (f":{text(step)}" if step is not None else ""))
            case NewAxisEntry():
                parts.append("None")
            case ArrayEntry(position) | FlagEntry(position):
                parts.append(f"i{position}")
            case EmptyEllipsisEntry():
                parts.append("...")
            case _:
                assert_never(entry)
    return ", ".join(parts)
