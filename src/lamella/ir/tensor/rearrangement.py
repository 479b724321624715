"""Elements in another order along axes: reversed, rolled, repeated; and their differences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal

import numpy as np

import lamella.ir.tensor.functions as lt
from lamella.ir.tensor.alloc import Alloc
from lamella.ir.tensor.axis import normalize_axes, normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.dimshuffle import dimshuffle
from lamella.ir.tensor.joining import concatenate
from lamella.ir.tensor.lengths import ShapeLike, as_lengths
from lamella.ir.tensor.reshape import Reshape, ravel, reshape
from lamella.ir.tensor.shape import product_of_lengths, shape, shape_i, shape_tuple
from lamella.ir.tensor.unit_axes import expand_dims
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["diff", "flip", "meshgrid", "repeat", "roll", "tile"]


def _along(x: TensorVariable, axis: int, index: slice) -> TensorVariable:
    return lt.getitem(x, (*[slice(None)] * axis, index))


def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """Return `x` reversed along axes, all of them by default: a view.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable = as_tensor_variable(x)
    axes = normalize_axes(axis, variable.ndim)
    return lt.getitem(variable, tuple([slice(None, None, -1 if i in axes else 1) for i in range(variable.ndim)]))


def roll(x: TensorLike, shift: TensorLike, axis: int | None = None) -> TensorVariable:
    """Return `x` with its elements moved along an axis; those that leave it at one end come in at the other.

    Parameters
    ----------
    x
        The array.
    shift
        How far: a number or a symbolic integer.
    axis
        The axis; by default the array is flattened, and shaped back.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable = as_tensor_variable(x)
    if axis is None:
        return reshape(roll(ravel(variable), shift, 0), shape(variable))
    place = normalize_axis(axis, variable.ndim)
    length = shape_i(variable, place)
    # The last `far` elements come first; a remainder by a length of 0 is 0.
    far = lt.mod(as_lengths(shift)[0], length)
    start = lt.sub(length, far)
    rolled = concatenate(
        [_along(variable, place, slice(start, None)), _along(variable, place, slice(None, start))], place
    )
    return lt.specify_shape(rolled, variable.type.shape)


def diff(x: TensorLike, n: int = 1, axis: int = -1) -> TensorVariable:
    """Return differences between neighbours along an axis, taken `n` times; for booleans, whether neighbours differ.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        `n` is negative.
    """
    variable = as_tensor_variable(x)
    if n < 0:
        raise ValueError(f"diff: the order {n} is negative")
    place = normalize_axis(axis, variable.ndim)
    for _ in range(n):
        later, earlier = _along(variable, place, slice(1, None)), _along(variable, place, slice(None, -1))
        variable = lt.neq(later, earlier) if variable.dtype == "bool" else lt.sub(later, earlier)
    return variable


def repeat(x: TensorLike, repeats: TensorLike | Sequence[int], axis: int | None = None) -> TensorVariable:
    """Return `x` with each element along an axis repeated.

    Parameters
    ----------
    x
        The array.
    repeats
        How often: one number, which may be symbolic, or a sequence of numbers, one for each element along the axis.
    axis
        The axis; the array is flattened by default.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        There are not as many numbers as elements; at run time where that is not known.
    """
    variable = as_tensor_variable(x)
    if axis is None:
        return repeat(ravel(variable), repeats, 0)
    place = normalize_axis(axis, variable.ndim)
    if not isinstance(repeats, TensorVariable) and np.ndim(repeats):
        times = np.asarray(repeats) if np.size(repeats) else np.zeros(np.shape(repeats), dtype="int64")
        if times.ndim != 1 or times.dtype.kind not in "iu" or (times < 0).any():
            raise ValueError(f"repeat takes a vector of integers of 0 or more, not {repeats!r}")
        whole = lt.specify_shape(variable, [len(times) if i == place else None for i in range(variable.ndim)])
        return lt.take(whole, constant(np.repeat(np.arange(len(times)), times)), place)
    (count,) = as_lengths(repeats)
    lengths = list(shape_tuple(variable))
    spread = Alloc()(expand_dims(variable, place + 1), *lengths[: place + 1], count, *lengths[place + 1 :])
    lengths[place] = product_of_lengths([lengths[place], count])
    return Reshape(variable.ndim)(spread, lengths)


def tile(x: TensorLike, reps: ShapeLike) -> TensorVariable:
    """Return copies of `x` laid side by side.

    Parameters
    ----------
    x
        The array.
    reps
        How often along each axis, the last one last; `x` gets new axes where there are more numbers than axes.

    Raises
    ------
    TypeError
        The numbers are no integers.
    """
    variable = as_tensor_variable(x)
    times = as_lengths(reps)
    ndim = max(variable.ndim, len(times))
    variable = as_tensor_variable(variable, ndim=ndim)
    counts = [*[constant(1, dtype="int64")] * (ndim - len(times)), *times]
    lengths = shape_tuple(variable)
    spread = Alloc()(expand_dims(variable, range(0, 2 * ndim, 2)), *chain(*zip(counts, lengths, strict=True)))
    return Reshape(ndim)(spread, [product_of_lengths(pair) for pair in zip(counts, lengths, strict=True)])


def meshgrid(*vectors: TensorLike, indexing: Literal["xy", "ij"] = "xy") -> list[TensorVariable]:
    """Return the coordinates of the points of a grid, one array for each axis of the grid.

    Parameters
    ----------
    *vectors
        The coordinates along each axis.
    indexing
        ``"ij"`` for the axes in the order of the vectors, ``"xy"`` for the first two exchanged.

    Raises
    ------
    ValueError
        `indexing` is neither.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    flat = [ravel(v) for v in vectors]
    order = list(range(len(flat)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    lengths = [shape_i(flat[i], 0) for i in order]
    return [Alloc()(dimshuffle(v, [0 if place == i else "x" for place in order]), *lengths) for i, v in enumerate(flat)]
