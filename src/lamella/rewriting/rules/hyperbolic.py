"""Hyperbolic functions where they overflow.

before                              after
%0 = cosh(%x)                       |x| + (softplus(-2 |x|) - log(2)), or log1p(2 sinh(x / 2)**2) for small x
%1 = log(%0)

These change values on purpose.
"""

from __future__ import annotations

import math
from typing import Any

from lamella.ir import (
    FLOAT_DTYPES,
    AnnihilatingMul,
    Apply,
    Cosh,
    FunctionGraph,
    Log,
    Log1p,
    Mul,
    Neg,
    Reciprocal,
    Sinh,
    Square,
    Sub,
    Tanh,
    TensorVariable,
    TrueDivide,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_number, operands
from lamella.rewriting.rules.products import with_factors_replaced

__all__ = [
    "log1p_of_minus_square_of_tanh",
    "log_of_cosh",
    "sinh_by_cosh",
    "sinh_times_reciprocal_of_cosh",
    "slope_of_tanh_by_slope_of_tanh",
]


@node_rewriter(elementwise(Log))
def log_of_cosh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(cosh(x)) -> |x| + (softplus(-2 |x|) - log(2))``, or ``log1p(2 * sinh(x / 2)**2)`` where ``|x| < 1``

    Valid for floats: ``cosh(x)`` is ``exp(|x|) * (1 + exp(-2 |x|)) / 2``, and ``1 + 2 sinh(x / 2)**2``. It pays where the cosine overflows, and near 0,
    where it is near 1.
    """
    (y,) = operands(node)
    found = applied(Cosh, y)
    if found is None or y.dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, _log_of_cosh(lt.cast(found[0], y.dtype)))


def _log_of_cosh(x: TensorVariable) -> TensorVariable:
    size = lt.abs(x)
    large = lt.add(size, lt.sub(lt.softplus(lt.mul(size, -2.0)), math.log(2)))
    near = lt.minimum(size, 1.0)  # so that what is not taken is finite
    small = lt.log1p(lt.mul(2.0, lt.square(lt.sinh(lt.mul(near, 0.5)))))
    return lt.switch(lt.lt(size, 1.0), small, large)


@node_rewriter(elementwise(Log1p))
def log1p_of_minus_square_of_tanh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log1p(-tanh(x)**2) -> -2 * log(cosh(x))``, in the form of `log_of_cosh`.

    Valid for floats. It pays where the tangent is near 1, as in the density of what a hyperbolic tangent squashes: there the plain form is -inf.
    """
    negated = applied(Neg, node.inputs[0])
    square = None if negated is None else applied(Square, negated[0])
    found = None if square is None else applied(Tanh, square[0])
    if found is None or square is None or square[0].dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, lt.mul(-2, _log_of_cosh(lt.cast(found[0], square[0].dtype))))


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Sub, Neg))
def slope_of_tanh_by_slope_of_tanh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / (1 - z**2)) * (1 - z**2) -> g``, for z of ``tanh(x)``, with or without g.

    Valid for floats: the slope of a hyperbolic tangent is not 0, but where it is rounded. It pays where z is near 1, as in derivatives of
    ``log(1 - tanh(x)**2)``.
    """

    def combined(other: TensorVariable, slope: TensorVariable) -> TensorVariable | None:
        reciprocal = applied(Reciprocal, other)
        difference = applied(Sub, slope) if reciprocal is not None and reciprocal[0] is slope else None
        if difference is None or not is_number(difference[0], 1):
            return None
        square = applied(Square, difference[1])
        if square is None or applied(Tanh, square[0]) is None or slope.dtype not in FLOAT_DTYPES:
            return None
        return lt.second(slope, constant(1, dtype=slope.dtype))

    return with_factors_replaced(node, Sub, combined)


@node_rewriter(elementwise(TrueDivide))
def sinh_by_cosh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sinh(x) / cosh(x) -> tanh(x)``

    Valid for floats. It pays where both overflow, and because less is computed.
    """
    numerator, denominator = operands(node)
    found = _tanh(denominator, numerator)
    return None if found is None else instead_of(node, found)


def _tanh(cosine: TensorVariable, sine: TensorVariable) -> TensorVariable | None:
    x, y = applied(Cosh, cosine), applied(Sinh, sine)
    if x is None or y is None or x[0] is not y[0] or sine.dtype not in FLOAT_DTYPES:
        return None
    return lt.tanh(x[0])


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Sinh, Neg))
def sinh_times_reciprocal_of_cosh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / cosh(x)) * sinh(x) -> g * tanh(x)``, in any order, with or without g.

    Valid for floats. It pays where both overflow, as in derivatives of ``log(cosh(x))``, and because less is computed.
    """

    def combined(other: TensorVariable, sine: TensorVariable) -> TensorVariable | None:
        found = applied(Reciprocal, other)
        return None if found is None else _tanh(found[0], sine)

    return with_factors_replaced(node, Sinh, combined)
