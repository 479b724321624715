"""Rounding to decimal places."""

from __future__ import annotations

import numpy as np

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import INTEGER_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["round"]


def round(x: TensorLike, decimals: int = 0) -> TensorVariable:
    """Return the elements rounded to `decimals` places (negative: left of the point), halves to even, as `numpy.round`.

    Integers keep their dtype. All gradients are 0.
    """
    variable = as_tensor_variable(x)
    if variable.dtype in INTEGER_DTYPES:
        return lt.tensor_copy(variable) if decimals >= 0 else _round_integers(variable, 10**-decimals)
    if decimals == 0 or variable.dtype == "bool":
        return lt.rint(variable)
    scale = 10.0 ** max(decimals, -decimals)
    return lt.rint(variable * scale) / scale if decimals > 0 else lt.rint(variable / scale) * scale


def _round_integers(x: TensorVariable, unit: int) -> TensorVariable:
    wide = "uint64" if x.dtype == "uint64" else "int64"
    if unit > np.iinfo(wide).max:
        return lt.zeros_like(x)
    quotient, rest = divmod(lt.cast(x, wide), unit)
    to_next = unit - rest
    up = lt.logical_or(lt.gt(rest, to_next), lt.logical_and(lt.eq(rest, to_next), lt.eq(quotient % 2, 1)))
    return lt.cast((quotient + lt.cast(up, wide)) * unit, x.dtype)
