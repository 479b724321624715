"""Batches of indexing Ops.

Where all elements of a batch are indexed alike, the batch axes are taken whole: ``x[i]`` becomes ``x[:, i]``. Where an index has batch axes itself, the batch
axes of the array are indexed too, by ranges: ``x[i]`` becomes ``x[arange(len(x)), i]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, assert_never, final

import attrs

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.advanced_inc_subtensor import AdvancedIncSubtensor, AdvancedIncSubtensor1
from lamella.ir.tensor.advanced_subtensor import AdvancedSubtensor, AdvancedSubtensor1
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.dimshuffle import DimShuffle, NewOrder
from lamella.ir.tensor.inc_subtensor import IncSubtensor
from lamella.ir.tensor.index_entries import (
    FULL_SLICE,
    ArrayEntry,
    BasicEntry,
    Bound,
    EmptyEllipsisEntry,
    FlagEntry,
    FromInput,
    IndexEntry,
    IntegerEntry,
    NewAxisEntry,
    SliceEntry,
    indexed_axis,
)
from lamella.ir.tensor.subtensor import Subtensor
from lamella.ir.tensor.variable import TensorVariable
from lamella.ir.tensor.vectorization.batches import Batch, batch_ndim, core_ndim
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["inc_subtensor", "subtensor"]

Selection = Subtensor | AdvancedSubtensor | AdvancedSubtensor1
Writing = IncSubtensor | AdvancedIncSubtensor | AdvancedIncSubtensor1


@final
@attrs.frozen(eq=False)
class _Index:
    """An index of a batch.

    Attributes
    ----------
    entries, inputs
        What is done to each axis, batch axes first, and the index inputs.
    order
        For each axis of the result, batch axes first, then as without batches, its place among the axes that NumPy gives.
    """

    entries: tuple[IndexEntry, ...]
    inputs: tuple[TensorVariable, ...]
    order: tuple[int, ...]

    def arranged(self, selected: TensorVariable) -> TensorVariable:
        """Return what was selected with its axes in order."""
        if self.order == tuple(range(selected.ndim)):
            return selected
        order: NewOrder = self.order
        return DimShuffle(selected.ndim, order)(selected)

    def as_selected(self, value: TensorVariable) -> TensorVariable:
        """Return a value, whose axes are in order, with its axes as NumPy gives those of what is selected."""
        if self.order == tuple(range(value.ndim)):
            return value
        back = [0] * value.ndim
        for axis, place in enumerate(self.order):
            back[place] = axis
        order: NewOrder = tuple(back)
        return DimShuffle(value.ndim, order)(value)


def _order(
    entries: Sequence[IndexEntry], old: Sequence[IndexEntry], batch: int, taken_whole: bool, own: int, ndim: int
) -> tuple[int, ...]:
    """Return where each axis of the result is found.

    Parameters
    ----------
    entries, old
        The index with and without batches.
    batch
        The number of batch axes.
    taken_whole
        Whether slices take them; otherwise arrays index them.
    own
        The number of axes that the index arrays have without batches.
    ndim
        The number of axes of the result.
    """
    arrays = own if taken_whole else batch + own
    place = indexed_axis(entries) if _has_arrays(entries) else 0
    indexed = list(range(place, place + arrays))
    kept = [axis for axis in range(ndim) if axis not in indexed]
    first = kept[:batch] if taken_whole else indexed[:batch]
    rest = kept[batch:] if taken_whole else kept
    mine = indexed if taken_whole else indexed[batch:]
    wanted = indexed_axis(old) if _has_arrays(old) else 0
    return (*first, *rest[:wanted], *mine, *rest[wanted:])


def _has_arrays(entries: Sequence[IndexEntry]) -> bool:
    return any([isinstance(entry, ArrayEntry | FlagEntry) for entry in entries])


def _indexed_ndim(old: Sequence[IndexEntry], index: Sequence[Variable[Any]]) -> int:
    """Return the number of axes that the arrays of an index broadcast to."""
    arrays = [core_ndim(index[entry.position]) for entry in old if isinstance(entry, ArrayEntry)]
    flags = [1 for entry in old if isinstance(entry, FlagEntry)]
    return max([*arrays, *flags], default=0)


def _alike(old: Sequence[IndexEntry], index: Sequence[Variable[Any]], batch: int, ndim: int) -> _Index:
    """Return the index of a batch all elements of which are indexed alike."""
    entries = (*[FULL_SLICE] * batch, *old)
    own = _indexed_ndim(old, index)
    return _Index(entries, tuple([as_tensor_variable(x) for x in index]), _order(entries, old, batch, True, own, ndim))


class _Renumbered:
    """Index inputs in the order in which entries refer to them."""

    def __init__(self) -> None:
        self.inputs: list[TensorVariable] = []

    def place(self, x: TensorVariable) -> int:
        self.inputs.append(x)
        return len(self.inputs) - 1

    def array(self, x: TensorVariable) -> ArrayEntry:
        return ArrayEntry(self.place(x))

    def bound(self, bound: Bound, index: Sequence[TensorVariable]) -> Bound:
        return FromInput(self.place(index[bound.position])) if isinstance(bound, FromInput) else bound


def _apart(
    old: Sequence[IndexEntry],
    old_index: Sequence[Variable[Any]],
    index: Sequence[Variable[Any]],
    together: Batch,
    array: TensorVariable | None,
    ndim: int,
) -> _Index | None:
    """Return the index of a batch each element of which is indexed in its own way; None where bounds of slices differ, or masks.

    Parameters
    ----------
    old, old_index
        The index without batches.
    index
        What stands for its inputs.
    together
        The batch.
    array
        The array, with all batch axes; None for one that has none.
    ndim
        The number of axes of the result.
    """
    batch, own = together.ndim, _indexed_ndim(old, old_index)
    tensors = [as_tensor_variable(x) for x in index]
    made = _Renumbered()
    entries: list[IndexEntry] = []
    if array is not None:
        entries += [made.array(_range_along(array, axis, batch, own)) for axis in range(batch)]
    for entry in old:
        match entry:
            case ArrayEntry(position):
                entries.append(made.array(_spread(tensors[position], core_ndim(old_index[position]), batch, own)))
            case IntegerEntry(FromInput(position)):
                entries.append(made.array(_spread(tensors[position], 0, batch, own)))
            case IntegerEntry(integer):
                entries.append(made.array(constant(int(integer), dtype="int64")))  # type: ignore[arg-type]  # the other kind is above
            case SliceEntry(start, stop, step):
                used = [b.position for b in (start, stop, step) if isinstance(b, FromInput)]
                if any([tensors[position].ndim for position in used]):
                    return None
                entries.append(SliceEntry(*[made.bound(b, tensors) for b in (start, stop, step)]))
            case FlagEntry():
                return None
            case NewAxisEntry() | EmptyEllipsisEntry():
                entries.append(entry)
            case _:
                assert_never(entry)
    return _Index(tuple(entries), tuple(made.inputs), _order(entries, old, batch, False, own, ndim))


def _range_along(array: TensorVariable, axis: int, batch: int, own: int) -> TensorVariable:
    """Return all indices of a batch axis, along that axis of the index arrays."""
    length = array.type.shape[axis]
    if length == 1:
        return constant(0, dtype="int64")
    indices = lt.arange(lt.shape_i(array, axis))
    order: NewOrder = tuple([0 if i == axis else "x" for i in range(batch + own)])
    return DimShuffle(1, order)(indices)


def _spread(index: TensorVariable, core: int, batch: int, own: int) -> TensorVariable:
    """Return an index array with all batch axes before as many axes as the index arrays have; one without batches as it is."""
    mine = index.ndim - core
    if not mine:
        return index
    added: list[Literal["x"]] = ["x"] * (batch - mine + own - core)
    order: NewOrder = (*added[: batch - mine], *range(mine), *added[batch - mine :], *range(mine, index.ndim))
    return DimShuffle(index.ndim, order)(index)


def _are_batches(new: Sequence[Variable[Any]], old: Sequence[Variable[Any]]) -> bool:
    return any([batch_ndim(a, b) for a, b in zip(new, old, strict=True)])


def _select(x: TensorVariable, index: _Index) -> Sequence[Variable[Any]]:
    if _has_arrays(index.entries):
        selected = AdvancedSubtensor(index.entries).unchecked_node(x, index.inputs).outputs[0]
    else:
        basic: tuple[BasicEntry, ...] = index.entries  # type: ignore[assignment]  # there are no arrays among them
        selected = Subtensor(basic).unchecked_node(x, index.inputs).outputs[0]
    return [index.arranged(as_tensor_variable(selected))]


def subtensor(op: Selection, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]] | None:
    """Select of each element of a batch."""
    x, *index = inputs
    own = node.outputs[0].type.ndim
    array = as_tensor_variable(x)
    if not _are_batches(index, node.inputs[1:]):
        batch = batch_ndim(x, node.inputs[0])
        return _select(array, _alike(op.idx_list, index, batch, batch + own))
    together = Batch(node, inputs)
    has_batches = batch_ndim(x, node.inputs[0]) > 0
    array = together.inputs[0] if has_batches else array
    made = _apart(op.idx_list, node.inputs[1:], index, together, array if has_batches else None, together.ndim + own)
    return None if made is None else _select(array, made)


def inc_subtensor(op: Writing, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Sequence[Variable[Any]] | None:
    """Write to each element of a batch."""
    _, _, *index = inputs
    part = node.inputs[1].type.ndim
    if not _are_batches(index, node.inputs[2:]):
        together = Batch(node, inputs, (0, 1))
        x, value = together.whole(together.inputs[0]), together.inputs[1]
        made: _Index | None = _alike(op.idx_list, index, together.ndim, together.ndim + part)
    else:
        together = Batch(node, inputs)
        x, value = together.whole(together.inputs[0]), together.inputs[1]
        made = _apart(op.idx_list, node.inputs[2:], index, together, x, together.ndim + part)
    if made is None:
        return None
    written = made.as_selected(value)
    if _has_arrays(made.entries):
        return (
            AdvancedIncSubtensor(made.entries, False, op.set_instead_of_inc).make_node(x, written, *made.inputs).outputs
        )
    basic: tuple[BasicEntry, ...] = made.entries  # type: ignore[assignment]  # there are no arrays among them
    return IncSubtensor(basic, False, op.set_instead_of_inc).make_node(x, written, *made.inputs).outputs


vectorize_node.register(Subtensor)(subtensor)
vectorize_node.register(AdvancedSubtensor)(subtensor)
vectorize_node.register(AdvancedSubtensor1)(subtensor)
vectorize_node.register(IncSubtensor)(inc_subtensor)
vectorize_node.register(AdvancedIncSubtensor)(inc_subtensor)
vectorize_node.register(AdvancedIncSubtensor1)(inc_subtensor)
