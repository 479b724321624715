"""Elements picked along one axis: `take`, and `take_along_axis` with its counterpart `put_along_axis`."""

from __future__ import annotations

from typing import Literal

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import BOOL_DTYPES, INTEGER_DTYPES
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.indexing import getitem, set_subtensor
from lamella.ir.tensor.subtensor import Index
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["put_along_axis", "take", "take_along_axis"]


def take(
    x: TensorLike, indices: TensorLike, axis: int | None = None, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> TensorVariable:
    """Return elements of `x` by index along an axis.

    Parameters
    ----------
    x
        The array.
    indices
        Integers, of any number of dimensions, which take the place of the axis.
    axis
        The axis; None for the flattened array.
    mode
        What is done about an index out of bounds: raise an IndexError, count on from the other end, or take the nearest one (negative
        ones do not count from the end then).

    Raises
    ------
    TypeError
        The indices are no integers.
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        There is no such mode.
    IndexError
        An index is out of bounds.
    """
    array = as_tensor_variable(x)
    if axis is None:
        array, axis = lt.flatten(array, 1), 0
    axis = normalize_axis(axis, array.ndim)
    places = as_tensor_variable(indices)
    if places.dtype not in INTEGER_DTYPES + BOOL_DTYPES:
        raise TypeError(f"indices are integers; {places!r} is of dtype {places.dtype}")
    if places.dtype in BOOL_DTYPES:
        places = lt.cast(places, "int64")
    length = lt.shape_i(array, axis)
    if mode == "wrap":
        places = lt.mod(places, length)
    elif mode == "clip":
        places = lt.clip(places, 0, lt.sub(length, 1))
    elif mode != "raise":
        raise ValueError(f"the mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    before: list[Index] = [slice(None)] * axis
    return getitem(array, (*before, places))


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int | None = -1) -> TensorVariable:
    """Return, for each line of `x` along an axis, the elements that the same line of `indices` tells.

    Parameters
    ----------
    x
        The array.
    indices
        Integers, with as many dimensions as `x`. Along other axes than `axis` the two broadcast, where lengths are known to be 1.
    axis
        The axis; None for the flattened array (and a vector of indices).

    Raises
    ------
    ValueError
        The numbers of dimensions differ.
    IndexError
        The indices are no integers, or out of bounds.
    numpy.exceptions.AxisError
        There is no such axis.
    """
    array = as_tensor_variable(x)
    if axis is None:
        array, axis = lt.flatten(array, 1), 0
    return _selected(array, as_tensor_variable(indices), normalize_axis(axis, array.ndim))


def put_along_axis(x: TensorLike, indices: TensorLike, values: TensorLike, axis: int) -> TensorVariable:
    """Return `x` with the elements that ``take_along_axis(x, indices, axis)`` selects set to `values`.

    Raises
    ------
    ValueError
        The numbers of dimensions of array and indices differ, or the values do not fit.
    IndexError
        The indices are no integers, or out of bounds.
    numpy.exceptions.AxisError
        There is no such axis.
    """
    array = as_tensor_variable(x)
    places = _selected(array, as_tensor_variable(indices), normalize_axis(axis, array.ndim))
    return set_subtensor(places, values)


def _selected(array: TensorVariable, indices: TensorVariable, axis: int) -> TensorVariable:
    if indices.ndim != array.ndim:
        raise ValueError(f"the indices have {indices.ndim} dimensions, {array!r} has {array.ndim}")
    if indices.dtype not in INTEGER_DTYPES:
        raise IndexError(f"the indices are integers; {indices!r} is of dtype {indices.dtype}")
    index: list[TensorVariable] = []
    for other in range(array.ndim):
        order: list[int | str] = ["x"] * array.ndim
        order[other] = 0
        index.append(indices if other == axis else lt.dimshuffle(lt.arange(lt.shape_i(array, other)), order))
    return getitem(array, tuple(index))
