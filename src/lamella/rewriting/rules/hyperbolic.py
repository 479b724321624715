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
    Mul,
    Reciprocal,
    Sinh,
    TensorVariable,
    TrueDivide,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, operands
from lamella.rewriting.rules.products import with_factors_replaced

__all__ = ["log_of_cosh", "sinh_by_cosh", "sinh_times_reciprocal_of_cosh"]


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
    x = lt.cast(found[0], y.dtype)
    size = lt.abs(x)
    large = lt.add(size, lt.sub(lt.softplus(lt.mul(size, -2.0)), math.log(2)))
    small = lt.log1p(lt.mul(2.0, lt.square(lt.sinh(lt.mul(x, 0.5)))))
    return instead_of(node, lt.switch(lt.lt(size, 1.0), small, large))


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


@node_rewriter(elementwise(Mul, AnnihilatingMul))
def sinh_times_reciprocal_of_cosh(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / cosh(x)) * sinh(x) -> g * tanh(x)``, in any order, with or without g.

    Valid for floats. It pays where both overflow, as in derivatives of ``log(cosh(x))``, and because less is computed.
    """

    def combined(other: TensorVariable, sine: TensorVariable) -> TensorVariable | None:
        found = applied(Reciprocal, other)
        return None if found is None else _tanh(found[0], sine)

    return with_factors_replaced(node, Sinh, combined)
