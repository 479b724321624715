"""Reading of arrays that were just written to: what was written, or what was there before.

before                                       after
%0 = SetSubtensor{0}(%x, %v)                 %0 = Subtensor{1}(%x)
%1 = Subtensor{1}(%0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    Alloc,
    Apply,
    ArrayEntry,
    FunctionGraph,
    IncSubtensor,
    IndexEntry,
    Nonzero,
    SliceEntry,
    Subtensor,
    TensorConstant,
    TensorVariable,
    as_tensor_variable,
    is_free_of_repetitions,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import Part, indexed, known_bounds, numbers_selected, parts_by_axis, parts_of
from lamella.typing_layer import symbolic_shape

__all__ = ["subtensor_of_other_part", "take_of_written"]

_FAR: Final = 1 << 61
"""Farther than any array is long."""

_FEW: Final = 16


@node_rewriter([Subtensor])
def subtensor_of_other_part(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[0].set(v)[1] -> x[1]``, and the same for ``inc``, for basic indices that have no element in common

    Valid where along one axis the numbers differ, whatever the lengths are that are not known, and integers written at are within bounds where those read
    are. That v does not fit is not noticed. It pays because x is not copied.
    """
    match node.inputs[0].owner:
        case Apply(IncSubtensor(), (TensorVariable() as x, *_)) as writing:
            pass
        case _:
            return None
    written, read = parts_of(writing), parts_of(node)
    if not _have_nothing_in_common(written, read, x) or not _as_near(written, read, x):
        return None
    return fitted(indexed(x, read), node.outputs[0])


def _have_nothing_in_common(written: Sequence[Part], read: Sequence[Part], x: TensorVariable) -> bool:
    """Whether two indices select different numbers along some axis."""
    other = parts_by_axis(read)
    for axis, place in parts_by_axis(written).items():
        if axis not in other:
            continue
        a, b, length = written[place], read[other[axis]], x.type.shape[axis]
        if isinstance(a, int) and isinstance(b, int) and a != b and (a < 0) == (b < 0):
            return True
        first, second = _numbers(a, length), _numbers(b, length)
        if first is not None and second is not None and _are_disjoint(first, second):
            return True
    return False


def _numbers(part: Part, length: int | None) -> range | None:
    """Return indices among which are all that a part selects of an axis; of an axis of unknown length, if they count from its beginning."""
    found = numbers_selected(part, length)
    if found is not None or length is not None:
        return found
    if isinstance(part, int):
        return range(part, part + 1) if part >= 0 else None
    known = known_bounds(part)
    if known is None or (known[2] or 1) < 0 or (known[0] or 0) < 0 or (known[1] or 0) < 0:
        return None
    return range(known[0] or 0, _FAR if known[1] is None else known[1], known[2] or 1)


def _are_disjoint(a: range, b: range) -> bool:
    few, many = (a, b) if len(a) <= len(b) else (b, a)
    if len(few) <= _FEW:
        return not any([number in many for number in few])
    return max(a[0], a[-1]) < min(b[0], b[-1]) or max(b[0], b[-1]) < min(a[0], a[-1])


def _as_near(written: Sequence[Part], read: Sequence[Part], x: TensorVariable) -> bool:
    """Whether integers written at are within bounds where those read are."""
    other = parts_by_axis(read)
    for axis, place in parts_by_axis(written).items():
        part = written[place]
        if isinstance(part, slice) or numbers_selected(part, x.type.shape[axis]) is not None:
            continue
        beside = read[other[axis]] if axis in other else None
        if not isinstance(part, int) or not isinstance(beside, int):
            return False
        if not (0 <= part <= beside or beside <= part < 0):
            return False
    return True


@node_rewriter([AdvancedSubtensor, AdvancedSubtensor1])
def take_of_written(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i].set(v)[i] -> v``, and ``x[i].inc(v)[i] -> x[i] + v``, for an array i without duplicates

    Valid for constants and for the positions of a mask. What is set is known to be within bounds; that v does not fit is not noticed where it need not be
    repeated. It pays because x is not copied.
    """
    writing = node.inputs[0].owner
    match node.op, None if writing is None else writing.op:
        case (AdvancedSubtensor() | AdvancedSubtensor1()) as op, (
            AdvancedIncSubtensor() | AdvancedIncSubtensor1()
        ) as before if op.idx_list == before.idx_list:
            pass
        case _:
            return None
    assert writing is not None
    x, v, *index = [as_tensor_variable(variable) for variable in writing.inputs]
    if index != list(node.inputs[1:]) or not is_free_of_repetitions(op.idx_list, index):
        return None
    (out,) = node.outputs
    if not before.set_instead_of_inc:
        return fitted(lt.add(as_tensor_variable(op.unchecked_node(x, index).outputs[0]), v), out)
    if not _are_within_bounds(op.idx_list, index, x):
        return None
    whole = v.type.broadcastable == out.type.broadcastable
    return fitted(v if whole else Alloc()(v, *symbolic_shape(out)), out)


def _are_within_bounds(entries: Sequence[IndexEntry], index: Sequence[TensorVariable], x: TensorVariable) -> bool:
    """Whether all numbers of the arrays of an advanced index are known to be within bounds of x."""
    axis = 0
    lengths = symbolic_shape(x)
    for entry in entries:
        if isinstance(entry, ArrayEntry) and not _is_within_bounds(
            index[entry.position], x.type.shape[axis], lengths[axis]
        ):
            return False
        axis += isinstance(entry, ArrayEntry | SliceEntry)
    return True


def _is_within_bounds(array: TensorVariable, known: int | None, length: TensorVariable) -> bool:
    if isinstance(array, TensorConstant):
        return known is not None and bool(((array.data >= -known) & (array.data < known)).all())
    if array.owner is None or not isinstance(array.owner.op, Nonzero):
        return False
    return symbolic_shape(array.owner.inputs[0])[array.index or 0] is length
