"""How gradients of tensor Ops multiply cotangents by slopes, and fit them to what they belong to; see ``scalar/cotangents.py``."""

from __future__ import annotations

import lamella.ir.tensor.functions as lt
from lamella.config import config
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, is_differentiable_dtype
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["conjugate", "fit_cotangent", "pull_back", "times_slope", "zero_cotangent"]


def conjugate(x: TensorVariable) -> TensorVariable:
    """Return the complex conjugate; what is real is returned as it is."""
    return lt.conj(x) if x.dtype in COMPLEX_DTYPES else x


def times_slope(g: TensorVariable, slope: TensorVariable) -> TensorVariable:
    """Return the product of a cotangent (or a tangent) and a slope; a ``g`` of exactly 0 wins, if the configuration says so."""
    return lt.annihilating_mul(g, slope) if config.annihilate_zero_cotangents else lt.mul(g, slope)


def pull_back(g: TensorVariable, slope: TensorVariable) -> TensorVariable:
    """Return the cotangent of an operand, given that of the result, of an elementwise function that is holomorphic, or real."""
    return times_slope(g, conjugate(slope))


def fit_cotangent(cotangent: TensorVariable, x: TensorVariable) -> TensorVariable:
    """Return a cotangent of ``x`` in the dtype of ``x``: of a complex one for a real ``x``, the real part."""
    if cotangent.dtype == x.dtype:
        return cotangent
    if cotangent.dtype in COMPLEX_DTYPES and x.dtype not in COMPLEX_DTYPES:
        cotangent = lt.real(cotangent)
    return cotangent if cotangent.dtype == x.dtype else lt.cast(cotangent, x.dtype)


def zero_cotangent(x: TensorVariable) -> TensorVariable:
    """Return the cotangent of what the result does not vary with: zeros, of float64 where ``x`` is discrete."""
    return lt.zeros_like(x, x.dtype if is_differentiable_dtype(x.dtype) else "float64")
