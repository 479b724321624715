"""Cotangents of scalar Variables, and how they are multiplied by slopes.

The cotangent of a Variable ``v`` is the derivative of a real cost by ``v``; for a complex ``v`` it is
``d cost/d Re(v) + 1j * d cost/d Im(v)``, the direction in which the cost grows. So the cotangent of ``x`` in ``z = f(x)``, where ``f`` is
holomorphic, is that of ``z`` times the *conjugate* of the slope ``f'(x)``; that of a real operand of a complex function is the
real part.

A cotangent of exactly 0 annihilates an infinite or NaN slope, so that a branch that was not taken contributes exactly nothing
(``config.annihilate_zero_cotangents`` while the gradient is built).
"""

from __future__ import annotations

import numpy as np

import lamella.ir.scalar.functions as ls
from lamella.config import config
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, is_differentiable_dtype
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable

__all__ = ["fit_cotangent", "is_zero", "pull_back", "times_slope", "zero_cotangent"]


def times_slope(g: ScalarVariable, slope: ScalarVariable | float) -> ScalarVariable:
    """Return the product of a cotangent (or a tangent) and a slope; a ``g`` of exactly 0 wins, if the configuration says so."""
    if isinstance(slope, ScalarConstant):
        slope = slope.data
    if not isinstance(slope, ScalarVariable):
        if np.isfinite(slope):
            return g if slope == 1 else ls.neg(g) if slope == -1 else ls.mul(g, slope)
        slope = ScalarType(g.dtype).make_constant(slope)
    if isinstance(g, ScalarConstant) and g.data == 1:
        return slope
    return ls.annihilating_mul(g, slope) if config.annihilate_zero_cotangents else ls.mul(g, slope)


def pull_back(g: ScalarVariable, slope: ScalarVariable | float) -> ScalarVariable:
    """Return the cotangent of an operand, given that of the result, of a function that is holomorphic, or real."""
    if isinstance(slope, ScalarVariable) and slope.dtype in COMPLEX_DTYPES:
        slope = ls.conj(slope)
    return times_slope(g, slope)


def zero_cotangent(x: ScalarVariable) -> ScalarConstant:
    """Return the cotangent of an operand that the result does not vary with."""
    return ScalarType(x.dtype if is_differentiable_dtype(x.dtype) else "float64").make_constant(0)


def is_zero(cotangent: object) -> bool:
    """Whether a cotangent is the constant 0."""
    return isinstance(cotangent, ScalarConstant) and bool(cotangent.data == 0)


def fit_cotangent(cotangent: ScalarVariable, x: ScalarVariable) -> ScalarVariable:
    """Return a cotangent of ``x`` in the dtype of ``x``: of a complex one for a real ``x``, the real part."""
    if cotangent.dtype == x.dtype or not is_differentiable_dtype(x.dtype):
        return cotangent
    if cotangent.dtype in COMPLEX_DTYPES and x.dtype not in COMPLEX_DTYPES:
        cotangent = ls.real(cotangent)
    return ls.cast(cotangent, x.dtype)
