"""``x[index]`` as NumPy reads it, made into the Op that does it; and writing to what such an index selects.

An index expression becomes one node, so that ``x[index].set(v)`` knows which array to return.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final, final

import attrs
import numpy as np

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import BOOL_DTYPES, INTEGER_DTYPES
from lamella.ir.tensor.advanced_inc_subtensor import AdvancedIncSubtensor, AdvancedIncSubtensor1
from lamella.ir.tensor.advanced_subtensor import AdvancedSubtensor, AdvancedSubtensor1, along_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.dimshuffle import DimShuffle
from lamella.ir.tensor.inc_subtensor import IncSubtensor
from lamella.ir.tensor.index_arrays import as_index_array
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
    canonical_slice,
    indexed_axis,
)
from lamella.ir.tensor.nonzero import mask_indices
from lamella.ir.tensor.subtensor import Index, Subtensor, as_index_scalar
from lamella.ir.tensor.subtensor_value import as_written_value, fitted_value
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = ["getitem", "inc_subtensor", "set_subtensor"]

_NO_INDEX: Final = (
    "only integers, slices (`:`), ellipsis (`...`), new axes (`None`) and integer or boolean arrays are valid indices"
)

_Item = int | TensorVariable | slice | EllipsisType | None
"""A part of an index: a constant integer, a symbolic integer or boolean (of any number of dimensions), a slice, an ellipsis, a new axis."""


def _as_item(part: Any) -> _Item:
    if part is None or part is Ellipsis or isinstance(part, slice):
        return part
    if isinstance(part, Variable):
        variable = part
    elif isinstance(part, bool | np.bool_):
        variable = constant(bool(part))
    elif isinstance(part, list | tuple | np.ndarray) or hasattr(part, "__array__"):
        variable = _as_array(part)
    else:
        try:
            return operator.index(part)
        except TypeError:
            raise IndexError(f"{_NO_INDEX}, not {part!r} of type {type(part).__name__}") from None
    if not isinstance(variable, TensorVariable) or variable.dtype not in INTEGER_DTYPES + BOOL_DTYPES:
        raise IndexError(f"{_NO_INDEX}, not {variable!r} of {variable.type}")
    if isinstance(variable, TensorConstant) and variable.ndim == 0 and variable.dtype in INTEGER_DTYPES:
        return int(variable.data)
    return variable


def _as_array(part: Any) -> TensorVariable:
    is_nested = isinstance(part, list | tuple)
    try:
        if is_nested and _holds_variables(part):
            return as_tensor_variable(part)
        array = np.asarray(part)
        # Of an empty list NumPy makes an array of floats, and takes it for an index all the same.
        return constant(array.astype("int64") if is_nested and array.size == 0 else array)
    except TypeError as error:
        raise IndexError(f"{_NO_INDEX}: {error}") from error


def _holds_variables(nested: Sequence[Any]) -> bool:
    return any(
        [isinstance(part, Variable) or (isinstance(part, list | tuple) and _holds_variables(part)) for part in nested]
    )


def _is_mask(item: _Item) -> bool:
    return isinstance(item, TensorVariable) and item.dtype in BOOL_DTYPES and item.ndim > 0


def _is_flag(item: _Item) -> bool:
    return isinstance(item, TensorVariable) and item.dtype in BOOL_DTYPES and item.ndim == 0


def _is_advanced(item: _Item) -> bool:
    return isinstance(item, TensorVariable) and (item.ndim > 0 or item.dtype in BOOL_DTYPES)


def _number_of_axes(item: _Item) -> int:
    if isinstance(item, TensorVariable) and item.dtype in BOOL_DTYPES:
        return item.ndim
    return 0 if item is None or item is Ellipsis else 1


@final
@attrs.define
class _Reading:
    """An index being read: entries and index inputs so far."""

    x: TensorVariable
    is_advanced: bool
    entries: list[IndexEntry] = attrs.field(factory=list)
    inputs: list[TensorVariable] = attrs.field(factory=list)
    axis: int = 0

    def _input(self, variable: TensorVariable) -> int:
        self.inputs.append(variable)
        return len(self.inputs) - 1

    def read(self, item: _Item) -> None:
        """Read the next part of the index."""
        if item is None:
            self.entries.append(NewAxisEntry())
        elif isinstance(item, slice):
            self.entries.append(self._slice(item))
        elif isinstance(item, EllipsisType):
            self.entries.append(EmptyEllipsisEntry())
        elif isinstance(item, TensorVariable):
            self._read_variable(item)
        elif self.is_advanced:
            self.entries.append(ArrayEntry(self._input(constant(_fitting_int64(item), dtype="int64"))))
        else:
            self.entries.append(IntegerEntry(_fitting_int64(item)))
        self.axis += _number_of_axes(item)

    def _read_variable(self, item: TensorVariable) -> None:
        if _is_flag(item):
            self.entries.append(FlagEntry(self._input(item)))
        elif _is_mask(item):
            for indices in mask_indices(item, self.x, self.axis):
                self.entries.append(ArrayEntry(self._input(indices)))
        elif item.ndim or self.is_advanced:
            self.entries.append(ArrayEntry(self._input(as_index_array(item) if item.ndim else as_index_scalar(item))))
        else:
            self.entries.append(IntegerEntry(FromInput(self._input(as_index_scalar(item)))))

    def _slice(self, part: slice) -> SliceEntry:
        start, stop, step = [self._bound(bound) for bound in (part.start, part.stop, part.step)]
        return canonical_slice(start, stop, step)

    def _bound(self, bound: Any) -> Bound:
        if bound is None:
            return None
        if isinstance(bound, Variable):
            if not isinstance(bound, TensorVariable) or bound.ndim or bound.dtype not in INTEGER_DTYPES + BOOL_DTYPES:
                raise TypeError(f"slice indices must be integers or None, not {bound!r} of {bound.type}")
            if isinstance(bound, TensorConstant):
                return int(bound.data)
            return FromInput(
                self._input(as_index_scalar(bound if bound.dtype not in BOOL_DTYPES else lt.cast(bound, "int64")))
            )
        try:
            return operator.index(bound)
        except TypeError:
            if isinstance(bound, bool | np.bool_):
                return int(bound)
            raise TypeError(
                f"slice indices must be integers or None or have an __index__ method, not {bound!r}"
            ) from None


def _fitting_int64(integer: int) -> int:
    if not -(2**63) <= integer < 2**63:
        raise IndexError(f"index {integer} is out of bounds for every axis")
    return integer


def _read(x: TensorVariable, index: Index | tuple[Index, ...]) -> _Reading:
    items = [_as_item(part) for part in (index if isinstance(index, tuple) else (index,))]
    if sum([item is Ellipsis for item in items]) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    indexed = sum([_number_of_axes(item) for item in items])
    if indexed > x.ndim:
        raise IndexError(f"too many indices for array: array is {x.ndim}-dimensional, but {indexed} were indexed")
    reading = _Reading(x, any([_is_advanced(item) for item in items]))
    for item in items:
        if item is Ellipsis and indexed < x.ndim:
            for _ in range(x.ndim - indexed):
                reading.read(slice(None))
        else:
            reading.read(item)
    return reading


def _without_trailing(entries: Sequence[IndexEntry]) -> list[IndexEntry]:
    """Leave out entries that say nothing: an ellipsis for no axis where it separates nothing, full slices at the end."""
    plain: list[IndexEntry] = [entry for entry in entries if not isinstance(entry, EmptyEllipsisEntry)]
    kept = plain if indexed_axis(plain) == indexed_axis(entries) else list(entries)
    while kept and kept[-1] in (FULL_SLICE, EmptyEllipsisEntry()):
        kept.pop()
    return kept


def getitem(x: TensorLike, index: Index | tuple[Index, ...]) -> TensorVariable:
    """Return the elements of `x` that an index selects, by NumPy's rules: ``x[index]``.

    Slices, integers and new axes make a view; integer arrays and boolean masks a copy.

    Parameters
    ----------
    x
        The array.
    index
        As in NumPy, where integers, bounds of slices, index arrays and masks may be symbolic. Index arrays broadcast with each
        other along axes where their lengths are known to be 1.

    Raises
    ------
    IndexError
        There are too many indices, or an index is of the wrong type; a constant is out of the bounds of a known length. At run
        time: an integer is out of bounds, a mask has another shape than what it masks, index arrays do not broadcast.
    TypeError
        A bound of a slice is no integer.
    ValueError
        The step of a slice is 0.
    """
    variable = as_tensor_variable(x)
    reading = _read(variable, index)
    entries, inputs = tuple(_without_trailing(reading.entries)), reading.inputs
    if reading.is_advanced:
        if inputs[0].ndim == 1 and entries == along_axis(len(entries) - 1):
            return AdvancedSubtensor1(len(entries) - 1)(variable, inputs[0])
        return AdvancedSubtensor(entries)(variable, *inputs)
    basic = tuple([entry for entry in entries if isinstance(entry, BasicEntry)])
    if NewAxisEntry() in basic and all([entry in (NewAxisEntry(), FULL_SLICE) for entry in basic]):
        old = iter(range(variable.ndim))
        order: list[int | str] = ["x" if entry == NewAxisEntry() else next(old) for entry in basic]
        return lt.dimshuffle(variable, [*order, *old])
    return Subtensor(basic)(variable, *inputs)


def set_subtensor(x: TensorVariable, value: TensorLike) -> TensorVariable:
    """Return the array that `x` is an index of, with these elements set: ``set_subtensor(a[i], v)`` is what ``a[i] = v`` makes of ``a``.

    Parameters
    ----------
    x
        The result of an index expression, ``a[i]``.
    value
        What to set the elements to. It broadcasts along axes where its length is known to be 1, and is cast to the dtype of ``a``. Where an
        index array selects a place several times, the last value stays.

    Raises
    ------
    TypeError
        `x` is no index expression, or the value is complex and ``a`` is not.
    StaticShapeError
        The value does not fit.
    BroadcastError
        At run time: the value does not fit.
    """
    return _written(x, value, set_instead_of_inc=True)


def inc_subtensor(x: TensorVariable, value: TensorLike) -> TensorVariable:
    """Return the array that `x` is an index of, with a value added to these elements.

    ``inc_subtensor(a[i], v)`` is what ``a[i] += v`` makes of ``a``, except that where an index array selects a place several times, all
    values are added.

    Parameters
    ----------
    x
        The result of an index expression, ``a[i]``.
    value
        What to add. It broadcasts along axes where its length is known to be 1.

    Raises
    ------
    TypeError
        `x` is no index expression, or the sum's dtype cannot be cast to that of ``a`` within its kind.
    StaticShapeError
        The value does not fit.
    BroadcastError
        At run time: the value does not fit.
    """
    return _written(x, value, set_instead_of_inc=False)


def _written(x: TensorVariable, value: TensorLike, set_instead_of_inc: bool) -> TensorVariable:
    node = x.owner
    if node is None:
        raise TypeError(f"{x!r} is no index expression, such as a[i], so there is no array to write to")
    array, *index = [v for v in node.inputs if isinstance(v, TensorVariable)]
    match node.op:
        case Subtensor(idx_list):
            return IncSubtensor(idx_list, set_instead_of_inc=set_instead_of_inc)(array, value, *index)
        case AdvancedSubtensor1(axis):
            return AdvancedIncSubtensor1(axis, set_instead_of_inc=set_instead_of_inc)(array, value, index[0])
        case AdvancedSubtensor(idx_list):
            return AdvancedIncSubtensor(idx_list, set_instead_of_inc=set_instead_of_inc)(array, value, *index)
        case DimShuffle() as op if op.shuffle == tuple(range(op.input_ndim)):  # an index of new axes only
            fitted = fitted_value(as_written_value(array, value, not set_instead_of_inc), x.type.shape)
            without = lt.dimshuffle(fitted, [i for i in range(x.ndim) if i not in op.added])
            return IncSubtensor((), set_instead_of_inc=set_instead_of_inc)(array, without)
        case _:
            raise TypeError(f"{x!r} is no index expression, such as a[i], so there is no array to write to")
