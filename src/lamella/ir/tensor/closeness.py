"""Equality up to tolerances."""

from __future__ import annotations

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import result_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["allclose", "isclose"]


def isclose(
    x: TensorLike, y: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Return whether ``|x - y| <= atol + rtol * |y|``, or both are equal, as `numpy.isclose`.

    Parameters
    ----------
    x, y
        The arrays. They have different parts: `y` is the reference.
    rtol, atol
        The tolerances, relative to `y` and absolute.
    equal_nan
        Whether NaN is close to NaN.
    """
    found, reference = as_tensor_variable(x), as_tensor_variable(y)
    reference = lt.cast(reference, result_dtype(reference.dtype, float))
    near = lt.le(lt.abs(found - reference), atol + rtol * lt.abs(reference))
    close = lt.logical_or(lt.logical_and(near, lt.isfinite(reference)), lt.eq(found, reference))
    return lt.logical_or(close, lt.logical_and(lt.isnan(found), lt.isnan(reference))) if equal_nan else close


def allclose(
    x: TensorLike, y: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Return whether all elements are close; see `isclose`."""
    return lt.all(isclose(x, y, rtol, atol, equal_nan))
