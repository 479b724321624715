"""The logistic function, its logarithm and its kin, written out in exponentials.

    before                              after
    %0 = neg(%x)                        %3 = sigmoid(%x)
    %1 = exp(%0)
    %2 = add(1.0, %1)
    %3 = true_divide(1.0, %2)

Of numbers of any size none of the functions overflows, or loses the digits of a small result. So these change values on purpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    AnnihilatingMul,
    Apply,
    Exp,
    Expm1,
    FunctionGraph,
    Log,
    Log1mExp,
    Log1p,
    LogSigmoid,
    Mul,
    Neg,
    Reciprocal,
    Sigmoid,
    Softplus,
    Square,
    Sub,
    TensorVariable,
    TrueDivide,
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
    "exp_by_one_plus_exp",
    "exp_of_stable_log",
    "exp_times_sigmoid",
    "expm1_of_softplus",
    "log1mexp_of_differences",
    "log1p_of_exp",
    "log1p_of_minus_sigmoid",
    "log_of_difference_of_exps",
    "log_of_expm1",
    "log_of_odds_of_sigmoid",
    "log_of_sigmoid",
    "one_minus_sigmoid",
    "reciprocal_of_one_plus_exp",
    "sigmoid_of_log_odds",
    "slope_of_sigmoid_by_sigmoid",
]


def _exponent(variable: TensorVariable) -> TensorVariable | None:
    """Return x, in the dtype of the Variable, if that is ``exp(x)`` of floats."""
    found = applied(Exp, variable)
    return lt.cast(found[0], variable.dtype) if found and variable.dtype in FLOAT_DTYPES else None


def _exponent_of_one_plus(variable: TensorVariable) -> TensorVariable | None:
    """Return x, if the Variable is ``1 + exp(x)`` of floats."""
    if variable.owner is None or not applied(Add, variable):
        return None
    known = with_number(variable.owner)
    return _exponent(known[2]) if known is not None and known[0] == 1 else None


def _minus(x: TensorVariable) -> TensorVariable:
    if x.dtype not in FLOAT_DTYPES:
        return lt.neg(lt.cast(x, "float64"))
    found = applied(Neg, x)
    return lt.neg(x) if found is None else found[0]


@node_rewriter(elementwise(Reciprocal))
def reciprocal_of_one_plus_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 / (1 + exp(x)) -> sigmoid(-x)``

    Valid for floats. It pays where the exponential overflows, and because less is computed.
    """
    x = _exponent_of_one_plus(operands(node)[0])
    return None if x is None else instead_of(node, lt.sigmoid(_minus(x)))


@node_rewriter(elementwise(TrueDivide))
def exp_by_one_plus_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) / (1 + exp(x)) -> sigmoid(x)``; ``y / (1 + exp(x)) -> y * sigmoid(-x)``

    Valid for floats. It pays where the exponential overflows, and because less is computed.
    """
    y, denominator = operands(node)
    x = _exponent_of_one_plus(denominator)
    if x is None:
        return None
    if _exponent(y) is x:
        return instead_of(node, lt.sigmoid(x))
    return instead_of(node, lt.mul(y, lt.sigmoid(_minus(x))))


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Exp, Neg))
def exp_times_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * sigmoid(-x) * exp(x) -> g * sigmoid(x)``, in any order, with or without g; ``square(sigmoid(-x)) * exp(x) -> sigmoid(-x) * sigmoid(x)``

    Valid for floats. It pays where the exponential overflows, as in derivatives of ``log(1 + exp(x))`` and ``1 / (1 + exp(x))``, and because less is
    computed.
    """

    def combined(other: TensorVariable, exponential: TensorVariable) -> TensorVariable | None:
        x = _exponent(exponential)
        squared = applied(Square, other)
        found = applied(Sigmoid, other if squared is None else squared[0])
        if x is None or found is None or not opposite(found[0], x):
            return None
        return lt.sigmoid(x) if squared is None else lt.mul(squared[0], lt.sigmoid(x))

    return with_factors_replaced(node, Exp, combined)


def _is_one_minus(variable: TensorVariable, z: TensorVariable, x: TensorVariable) -> bool:
    """Whether a Variable is ``1 - z``, for z of ``sigmoid(x)``, or ``sigmoid(-x)``."""
    mirrored = applied(Sigmoid, variable)
    if mirrored is not None:
        return opposite(mirrored[0], x)
    difference = applied(Sub, variable)
    return difference is not None and difference[1] is z and is_number(difference[0], 1)


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Mul, Neg))
def slope_of_sigmoid_by_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / z) * (z * (1 - z)) -> g * sigmoid(-x)``, and ``g * (1 / (1 - z)) * (z * (1 - z)) -> g * z``, for z of ``sigmoid(x)``.

    ``sigmoid(-x)`` may stand for ``1 - z``. Valid for floats. It pays where z underflows or is near 1, as in derivatives of ``log(sigmoid(x))`` and
    ``log(1 - sigmoid(x))``.
    """

    def combined(other: TensorVariable, slope: TensorVariable) -> TensorVariable | None:
        reciprocal = applied(Reciprocal, other)
        product = applied(Mul, slope)
        if reciprocal is None or product is None or len(product) != 2:
            return None
        for z, complement in (product, product[::-1]):
            x = applied(Sigmoid, z)
            if x is None or not _is_one_minus(complement, z, x[0]):
                continue
            if reciprocal[0] is z:
                return lt.sigmoid(_minus(x[0]))
            if _is_one_minus(reciprocal[0], z, x[0]):
                return z
        return None

    return with_factors_replaced(node, Mul, combined)


@node_rewriter(elementwise(Sub))
def one_minus_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 - sigmoid(x) -> sigmoid(-x)``, where nothing else needs ``sigmoid(x)``.

    Valid for floats. It pays where the sigmoid is near 1 and the difference loses its digits; where both are needed, another exponential would be
    computed.
    """
    x, y = operands(node)
    found = applied(Sigmoid, y)
    if found is None or not is_number(x, 1) or node.outputs[0].type.dtype != y.dtype:
        return None
    if len(fgraph.get_clients(y)) > 1:
        return None
    return instead_of(node, lt.sigmoid(_minus(found[0])))


@node_rewriter(elementwise(Log))
def log_of_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(sigmoid(x)) -> log_sigmoid(x)``

    Valid for floats. It pays where the sigmoid underflows or is near 1, and because less is computed.
    """
    found = applied(Sigmoid, node.inputs[0])
    return None if found is None else instead_of(node, lt.log_sigmoid(found[0]))


@node_rewriter(elementwise(Exp))
def exp_of_stable_log(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(softplus(x)) -> 1 + exp(x)``; ``exp(log_sigmoid(x)) -> sigmoid(x)``; ``exp(log1mexp(x)) -> switch(x <= 0, 0 - expm1(x), nan)``

    Valid for floats. It pays because the logarithm is not computed, whose rounding errors the exponential multiplies.
    """
    (y,) = operands(node)
    dtype = node.outputs[0].type.dtype
    found = applied((Softplus, LogSigmoid, Log1mExp), y)
    if found is None or dtype != y.dtype:
        return None
    x = lt.cast(found[0], dtype)
    if applied(Softplus, y):
        return instead_of(node, lt.add(1, lt.exp(x)))
    if applied(LogSigmoid, y):
        return instead_of(node, lt.sigmoid(x))
    return instead_of(node, lt.switch(lt.le(x, 0), lt.sub(0, lt.expm1(x)), np.nan))


@node_rewriter(elementwise(Expm1))
def expm1_of_softplus(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``expm1(softplus(x)) -> exp(x)``

    Valid for floats. It pays because the logarithm is not computed, whose rounding errors the exponential multiplies.
    """
    (y,) = operands(node)
    found = applied(Softplus, y)
    dtype = node.outputs[0].type.dtype
    return None if found is None or dtype != y.dtype else instead_of(node, lt.exp(lt.cast(found[0], dtype)))


@node_rewriter(elementwise(Log1p))
def log1p_of_minus_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log1p(-sigmoid(x)) -> log_sigmoid(-x)``

    Valid for floats. It pays where the sigmoid is near 1, and because less is computed.
    """
    negated = applied(Neg, node.inputs[0])
    found = None if negated is None else applied(Sigmoid, negated[0])
    return None if found is None else instead_of(node, lt.log_sigmoid(_minus(found[0])))


@node_rewriter(elementwise(Log1p))
def log1p_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log1p(exp(x)) -> softplus(x)``, and ``log1p(-exp(x)) -> log1mexp(x)``

    Valid for floats. It pays where the exponential overflows or is near 1.
    """
    (y,) = operands(node)
    x = _exponent(y)
    if x is not None:
        return instead_of(node, lt.softplus(x))
    negated = applied(Neg, y)
    x = None if negated is None else _exponent(negated[0])
    return None if x is None else instead_of(node, lt.log1mexp(x))


@node_rewriter(elementwise(Log))
def log_of_odds_of_sigmoid(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(z / (1 - z)) -> x``, for z of ``sigmoid(x)``; ``sigmoid(-x)`` may stand for ``1 - z``.

    Valid for floats; the result is exact. It pays where the sigmoid underflows or is near 1, and because nothing is computed.
    """
    (odds,) = operands(node)
    found = applied(TrueDivide, odds)
    x = None if found is None else applied(Sigmoid, found[0])
    if found is None or x is None or odds.dtype not in FLOAT_DTYPES or odds.dtype != found[0].dtype:
        return None
    return instead_of(node, x[0]) if _is_one_minus(found[1], found[0], x[0]) else None


@node_rewriter(elementwise(Sigmoid))
def sigmoid_of_log_odds(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sigmoid(log(p / (1 - p))) -> switch(0 <= p <= 1, abs(p), nan)``

    Valid for floats; the result is exact. It pays because neither function is computed.
    """
    (logarithm,) = operands(node)
    odds = applied(Log, logarithm)
    found = None if odds is None else applied(TrueDivide, odds[0])
    difference = None if found is None else applied(Sub, found[1])
    if found is None or difference is None or difference[1] is not found[0] or not is_number(difference[0], 1):
        return None
    p = found[0]
    if p.dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, lt.switch(lt.logical_and(lt.ge(p, 0), lt.le(p, 1)), lt.abs(p), np.nan))


@node_rewriter(elementwise(Log))
def log_of_expm1(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(expm1(x)) -> x + log1mexp(-x)``

    Valid for floats. It pays where the exponential overflows.
    """
    (y,) = operands(node)
    found = applied(Expm1, y)
    if found is None or y.dtype not in FLOAT_DTYPES:
        return None
    x = lt.cast(found[0], y.dtype)
    return instead_of(node, lt.add(x, lt.log1mexp(lt.neg(x))))


@node_rewriter(elementwise(Log))
def log_of_difference_of_exps(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(exp(x) - exp(y)) -> x + log1mexp(y - x)``, and -inf where both are -inf.

    Valid for floats of one dtype. It pays where exponentials overflow or underflow, and where their difference cancels.
    """
    (difference,) = operands(node)
    found = applied(Sub, difference)
    if found is None:
        return None
    x, y = _exponent(found[0]), _exponent(found[1])
    if x is None or y is None or x.dtype != difference.dtype or y.dtype != difference.dtype:
        return None
    both_vanish = lt.logical_and(lt.eq(x, -np.inf), lt.eq(y, -np.inf))
    return instead_of(node, lt.switch(both_vanish, -np.inf, lt.add(x, lt.log1mexp(lt.sub(y, x)))))


@node_rewriter(elementwise(Log))
def log1mexp_of_differences(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(-expm1(x)) -> log1mexp(x)``, and ``log(0 - expm1(x)) -> log1mexp(x)``

    Valid for floats. It pays where x is far below 0, and -1 is near.
    """
    (y,) = operands(node)
    found = applied(Neg, y)
    if found is None:
        difference = applied(Sub, y)
        found = (difference[1],) if difference and is_number(difference[0], 0) else None
    inner = None if found is None else applied(Expm1, found[0])
    if inner is None or y.dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, lt.log1mexp(lt.cast(inner[0], y.dtype)))
