"""Means, variances and standard deviations, built of sums as NumPy defines them."""

from __future__ import annotations

import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, is_differentiable_dtype, normalize_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.reduced_axes import sorted_axes
from lamella.ir.tensor.shape import product_of_lengths
from lamella.ir.tensor.summation import wide_dtype
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["count_nonzero", "mean", "std", "var"]

_REAL_PARTS = {"complex64": "float32", "complex128": "float64"}


def _result_dtype(x: TensorVariable, dtype: npt.DTypeLike | None) -> str:
    if dtype is not None:
        return normalize_dtype(dtype)
    return x.dtype if is_differentiable_dtype(x.dtype) else "float64"


def _number_of_elements(x: TensorVariable, axes: tuple[int, ...], dtype: str) -> TensorVariable | float:
    """Return how many elements are reduced to one, of the real dtype of `dtype`; a number where it is known."""
    number = product_of_lengths([lt.shape_i(x, axis) for axis in axes])
    if number.is_constant:
        return int(number.stored_value())
    return lt.cast(number, _REAL_PARTS.get(dtype, dtype if is_differentiable_dtype(dtype) else "float64"))


def _cast(x: TensorVariable, dtype: str) -> TensorVariable:
    return x if x.dtype == dtype else lt.cast(x, dtype)


def mean(
    x: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False
) -> TensorVariable:
    """Return means of elements along axes; NaN where there are none.

    Sum and quotient are computed in a dtype twice as wide for float16, float32 and complex64.

    Parameters
    ----------
    x
        The array.
    axis
        One axis, several, or all (None); negative ones count from the last.
    dtype
        The dtype of the result. By default that of `x`; float64 for integers and booleans.
    keepdims
        Keep the reduced axes, with length 1.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    TypeError
        The dtype would lose the imaginary part.
    """
    input = as_tensor_variable(x)
    result = _result_dtype(input, dtype)
    accumulator = wide_dtype(result)
    total = lt.sum(input, axis, accumulator, keepdims, accumulator)
    number = _number_of_elements(input, sorted_axes(axis, input.ndim), accumulator)
    return _cast(lt.true_divide(total, number), result)


def var(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> TensorVariable:
    """Return variances of elements along axes: the mean squared distance from the mean, which is computed first.

    Parameters
    ----------
    x
        The array. Complex numbers have a real variance, the sum of those of the real and the imaginary parts.
    axis
        One axis, several, or all (None); negative ones count from the last.
    ddof
        What to subtract from the number of elements for the divisor. Where nothing is left, the result is NaN or infinite.
    keepdims
        Keep the reduced axes, with length 1.
    dtype
        The dtype to compute in, and of the result. By default that of `x`, whose real part is that of the result; float64 for integers and
        booleans.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    TypeError
        The dtype would lose the imaginary part.
    """
    input = as_tensor_variable(x)
    result = _result_dtype(input, dtype)
    axes = sorted_axes(axis, input.ndim)
    # Squares of float16 overflow soon.
    elements = _cast(input, "float32" if result == "float16" else result)
    deviations = lt.sub(elements, mean(elements, axes, keepdims=True))
    if deviations.dtype in COMPLEX_DTYPES:
        real, imaginary = lt.real(deviations), lt.imag(deviations)
        squares = lt.add(lt.mul(real, real), lt.mul(imaginary, imaginary))
    else:
        squares = lt.mul(deviations, deviations)
    accumulator = wide_dtype(squares.dtype)
    total = lt.sum(squares, axes, accumulator, keepdims, accumulator)
    number = _number_of_elements(input, axes, accumulator)
    if isinstance(number, TensorVariable):
        divisor: TensorVariable | float = lt.maximum(lt.sub(number, ddof), 0) if ddof else number
    else:
        divisor = max(number - ddof, 0)
    return _cast(lt.true_divide(total, divisor), result if dtype is not None else _REAL_PARTS.get(result, result))


def std(
    x: TensorLike,
    axis: Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> TensorVariable:
    """Return standard deviations of elements along axes: square roots of `var`.

    The gradient where all elements are equal is NaN, as that of a norm at 0.

    Parameters
    ----------
    x, axis, ddof, keepdims, dtype
        As those of `var`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError, TypeError
        As `var`.
    """
    return lt.sqrt(var(x, axis, ddof, keepdims, dtype))


def count_nonzero(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the numbers of elements along axes that are not 0, as int64.

    Parameters
    ----------
    x
        The array.
    axis
        One axis, several, or all (None); negative ones count from the last.
    keepdims
        Keep the reduced axes, with length 1.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    """
    return lt.sum(_cast(as_tensor_variable(x), "bool"), axis, None, keepdims)
