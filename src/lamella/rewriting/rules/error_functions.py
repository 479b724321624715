"""The error function and its complement: each where the other is near 1, and both where they underflow.

before                              after
%0 = erfc(%x)                       log(erfcx(x)) - x**2, or log1p(-erf(x)) for x < 1
%1 = log(%0)

These change values on purpose.
"""

from __future__ import annotations

import math
from typing import Any

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    AnnihilatingMul,
    Apply,
    Erf,
    Erfc,
    Exp,
    FunctionGraph,
    Log,
    Mul,
    Neg,
    Reciprocal,
    Square,
    Sub,
    TensorVariable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import (
    applied,
    elementwise,
    instead_of,
    is_number,
    operands,
    opposite,
    with_number,
)
from lamella.rewriting.rules.products import with_factors_replaced

__all__ = [
    "erf_minus_one",
    "erfc_times_exp",
    "log_of_erfc",
    "one_minus_erf",
    "one_plus_erf",
    "slope_of_erfc_by_erfc",
]


@node_rewriter(elementwise(Sub), tracks_inputs=elementwise(Erf, Erfc))
def one_minus_erf(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 - erf(x) -> erfc(x)``, and ``1 - erfc(x) -> erf(x)``

    Valid for floats. It pays where the difference loses digits, and because less is computed.
    """
    one, y = operands(node)
    if y.dtype not in FLOAT_DTYPES or node.outputs[0].type.dtype != y.dtype or not is_number(one, 1):
        return None
    found = applied(Erf, y)
    if found is not None:
        return instead_of(node, lt.erfc(found[0]))
    found = applied(Erfc, y)
    return None if found is None else instead_of(node, lt.erf(found[0]))


@node_rewriter(elementwise(Add, Sub), tracks_inputs=elementwise(Erf, Erfc))
def erf_minus_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``erf(x) - 1 -> 0 - erfc(x)``, and ``erfc(x) - 1 -> 0 - erf(x)``

    Valid for floats; a minus sign would make -0.0 of 0.0. It pays where the difference loses digits.
    """
    if len(node.inputs) != 2:
        return None
    x, y = operands(node)
    if applied(Sub, node.outputs[0]) is None:
        known = with_number(node)
        if known is None or known[0] != -1:
            return None
        x = known[2]
    elif not is_number(y, 1):
        return None
    if x.dtype not in FLOAT_DTYPES or node.outputs[0].type.dtype != x.dtype:
        return None
    found = applied(Erf, x)
    if found is not None:
        return instead_of(node, lt.sub(0, lt.erfc(found[0])))
    found = applied(Erfc, x)
    return None if found is None else instead_of(node, lt.sub(0, lt.erf(found[0])))


@node_rewriter(elementwise(Add))
def one_plus_erf(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 + erf(x) -> erfc(-x)``

    Valid for floats. It pays where x is far below 0 and the sum loses digits, and because less is computed.
    """
    known = with_number(node)
    if known is None or known[0] != 1 or known[2].dtype not in FLOAT_DTYPES:
        return None
    found = applied(Erf, known[2])
    if found is None or node.outputs[0].type.dtype != known[2].dtype:
        return None
    return instead_of(node, lt.erfc(lt.neg(lt.cast(found[0], known[2].dtype))))


def _scaled_erfc(variable: TensorVariable) -> tuple[float, TensorVariable] | None:
    """Return c and x in the dtype of the Variable, if that is ``erfc(x)`` (where c is 1) or ``c * erfc(x)``, of floats, for a number c > 0."""
    found = applied(Erfc, variable)
    if found is not None:
        return (1.0, lt.cast(found[0], variable.dtype)) if found[0].dtype in FLOAT_DTYPES else None
    if applied(Mul, variable) is None or variable.owner is None:
        return None
    known = with_number(variable.owner)
    inner = None if known is None else applied(Erfc, known[2])
    if known is None or inner is None or inner[0].dtype not in FLOAT_DTYPES or known[2].dtype != variable.dtype:
        return None
    factor = known[0]
    if isinstance(factor, complex) or not 0 < factor < math.inf:
        return None
    return float(factor), lt.cast(inner[0], variable.dtype)


@node_rewriter(elementwise(Log))
def log_of_erfc(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(erfc(x)) -> log1p(-erf(x)) where x < 1, else log(erfcx(x)) - x**2``

    ``log(erfc(x) / 2) -> log1p(-erfc(-x) / 2) where x < 0, else log(erfcx(x)) - x**2 - log(2)``; for other numbers c > 0,
    ``log(c * erfc(x)) -> log(c) + log(erfc(x))``.

    Valid for floats: ``erfc(x)`` is ``exp(-x**2) * erfcx(x)``, ``1 - erf(x)``, and ``2 - erfc(-x)``. It pays for x above 26, where ``erfc(x)`` underflows, and
    where the logarithm is near 0: around 0, and of the half, which is the normal distribution's, far to the left.
    """
    (y,) = operands(node)
    found = _scaled_erfc(y)
    if found is None:
        return None
    factor, x = found
    bound = 0 if factor == 0.5 else 1
    left, right = lt.minimum(x, bound), lt.maximum(x, bound)  # so that what is not taken is finite
    tail = lt.sub(lt.log(lt.erfcx(right)), lt.square(right))
    if factor == 0.5:
        near = lt.log1p(lt.mul(-0.5, lt.erfc(lt.neg(left))))
        return instead_of(node, lt.switch(lt.lt(x, 0), near, lt.sub(tail, math.log(2))))
    stable = lt.switch(lt.lt(x, 1), lt.log1p(lt.neg(lt.erf(left))), tail)
    return instead_of(node, stable if factor == 1 else lt.add(math.log(factor), stable))


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Erfc, Neg))
def erfc_times_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * exp(x**2) * erfc(x) -> g * erfcx(x)``, in any order, with or without g.

    Valid for floats. It pays where the exponential overflows, or ``erfc(x)`` underflows.
    """

    def combined(other: TensorVariable, tail: TensorVariable) -> TensorVariable | None:
        x, power = applied(Erfc, tail), applied(Exp, other)
        square = None if power is None else applied(Square, power[0])
        if x is None or square is None or x[0].dtype not in FLOAT_DTYPES or not _same_but_for_sign(x[0], square[0]):
            return None
        return lt.erfcx(x[0])

    return with_factors_replaced(node, Erfc, combined)


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Mul, Neg))
def slope_of_erfc_by_erfc(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / (c * erfc(x))) * (exp(-x**2) * k) -> g * (k / c / erfcx(x))``, for numbers c > 0 and k, with or without g and c.

    Valid for floats. It pays where ``erfc(x)`` underflows, as in derivatives of ``log(erfc(x))``, and because less is computed.
    """

    def combined(other: TensorVariable, slope: TensorVariable) -> TensorVariable | None:
        known = None if slope.owner is None else with_number(slope.owner)
        power = None if known is None else applied(Exp, known[2])
        reciprocal = None if power is None else applied(Reciprocal, other)
        if known is None or power is None or reciprocal is None or isinstance(known[0], complex):
            return None
        found, negated = _scaled_erfc(reciprocal[0]), applied(Neg, power[0])
        square = None if negated is None else applied(Square, negated[0])
        if found is None or square is None or not _same_but_for_sign(found[1], square[0]):
            return None
        return lt.true_divide(known[0] / found[0], lt.erfcx(found[1]))

    return with_factors_replaced(node, Mul, combined)


def _same_but_for_sign(x: TensorVariable, y: TensorVariable) -> bool:
    return x is y or opposite(x, y)
