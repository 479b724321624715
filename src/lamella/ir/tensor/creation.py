"""Making arrays: zeros, ones, a value everywhere, and in the shape of another array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.errors import StaticShapeError
from lamella.ir.tensor.alloc import Alloc, AllocEmpty
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.lengths import ShapeLike, as_lengths
from lamella.ir.tensor.shape import shape_tuple
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = [
    "alloc",
    "broadcast_to",
    "empty",
    "empty_like",
    "fill",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def alloc(value: TensorLike, *shape: TensorLike | Sequence[TensorLike]) -> TensorVariable:
    """Return a new array of the given shape that repeats `value`.

    Parameters
    ----------
    value
        What to fill it with. New axes come on the left; an axis that is known to have length 1 is repeated.
    *shape
        The lengths, one by one, or all in one sequence or vector.

    Raises
    ------
    StaticShapeError
        The value can never fit.
    BroadcastError
        At run time: the value does not fit.
    """
    lengths = as_lengths(shape[0]) if len(shape) == 1 else as_lengths(shape)  # type: ignore[arg-type]  # which refuses nested ones
    variable = as_tensor_variable(value)
    return Alloc()(variable, *lengths) if lengths or variable.ndim else variable


def broadcast_to(x: TensorLike, shape: ShapeLike) -> TensorVariable:
    """Return `x` repeated so that it has the given shape: a new array.

    Parameters
    ----------
    x
        The array. An axis that is known to have length 1 is repeated; an axis of unknown length must have the wanted one.
    shape
        The lengths, numbers or symbolic integers; or a vector of known length.

    Raises
    ------
    StaticShapeError
        `x` can never be broadcast to this shape.
    BroadcastError
        At run time: lengths do not fit.
    """
    return alloc(x, as_lengths(shape))


def full(shape: ShapeLike, fill_value: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return an array filled with a value, of the value's dtype by default."""
    variable = as_tensor_variable(fill_value)
    return alloc(variable if dtype is None else _cast(fill_value, np.dtype(dtype).name), as_lengths(shape))


def _cast(value: TensorLike, dtype: str) -> TensorVariable:
    if not isinstance(value, TensorVariable):
        return constant(np.asarray(value).astype(dtype))
    return value if value.dtype == dtype else lt.cast(value, dtype)


def zeros(shape: ShapeLike, dtype: npt.DTypeLike = "float64") -> TensorVariable:
    """Return an array of zeros."""
    return full(shape, 0, dtype)


def ones(shape: ShapeLike, dtype: npt.DTypeLike = "float64") -> TensorVariable:
    """Return an array of ones."""
    return full(shape, 1, dtype)


def empty(shape: ShapeLike, dtype: npt.DTypeLike = "float64") -> TensorVariable:
    """Return an array whose elements are whatever its memory holds; each must be set before it is read."""
    return AllocEmpty(dtype)(*as_lengths(shape))


def zeros_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return zeros in the shape of `x`, of its dtype by default."""
    return full_like(x, 0, dtype)


def ones_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return ones in the shape of `x`, of its dtype by default."""
    return full_like(x, 1, dtype)


def full_like(x: TensorLike, fill_value: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return an array filled with a value in the shape of `x`, of the dtype of `x` by default."""
    variable = as_tensor_variable(x)
    return alloc(_cast(fill_value, variable.dtype if dtype is None else np.dtype(dtype).name), shape_tuple(variable))


def empty_like(x: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return an array in the shape of `x` whose elements are whatever its memory holds."""
    variable = as_tensor_variable(x)
    return empty(shape_tuple(variable), variable.dtype if dtype is None else dtype)


def fill(x: TensorLike, value: TensorLike) -> TensorVariable:
    """Return an array in the shape of `x` whose elements are all `value`.

    Parameters
    ----------
    x
        What gives the shape; its elements do not matter.
    value
        A number or an array that broadcasts to the shape. It gives the dtype; a literal is weak (NEP 50).

    Raises
    ------
    StaticShapeError, BroadcastError
        The value does not fit.
    """
    variable = as_tensor_variable(x)
    filled = lt.second(variable, value)
    if filled.ndim > variable.ndim:
        raise StaticShapeError(f"{value!r} of {filled.ndim} dimensions does not broadcast to the shape of {variable!r}")
    if all([a != 1 or b == 1 for a, b in zip(variable.type.shape, filled.type.shape, strict=True)]):
        return filled
    # Here it is `x` that would be broadcast.
    return alloc(value, shape_tuple(variable))
