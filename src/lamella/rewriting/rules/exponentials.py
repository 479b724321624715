"""Exponentials and logarithms: of one another, and near 1, where plain forms lose digits.

    before                              after
    %0 = add(1.0, %x)                   %1 = log1p(%x)
    %1 = log(%0)

These change values on purpose: they overflow and underflow where the exact result does, and keep digits that the plain forms lose. Where a
plain form has rounded to 0, its sign may become that of the exact result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    AnnihilatingMul,
    Apply,
    DimShuffle,
    Exp,
    Expm1,
    FunctionGraph,
    Log,
    Log1p,
    Mul,
    Neg,
    Power,
    Prod,
    Sqrt,
    Square,
    Sub,
    TensorVariable,
    Variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import (
    applied,
    elementwise,
    instead_of,
    is_number,
    never_negative_zero,
    number,
    operands,
    with_number,
)
from lamella.rewriting.rules.products import with_factors_replaced
from lamella.typing_layer import is_nonnegative

__all__ = [
    "exp_minus_one",
    "exp_of_log",
    "exp_of_log1p",
    "expm1_of_log",
    "expm1_of_log1p",
    "log1p_of_expm1",
    "log_of_exp",
    "log_of_one_plus",
    "log_of_power",
    "log_of_prod",
    "log_of_scaled_exp",
    "one_minus_exp",
    "x_times_log_of_x",
]


def _is_float(variable: Variable[Any]) -> bool:
    return variable.type.dtype in FLOAT_DTYPES


def _float_operand(kind: Any, variable: TensorVariable) -> TensorVariable | None:
    """Return x in the dtype of the Variable, if that is f(x) of floats, for f a scalar Op of one operand and of a kind."""
    found = applied(kind, variable)
    return lt.cast(found[0], variable.dtype) if found and _is_float(variable) else None


@node_rewriter(elementwise(Log))
def log_of_one_plus(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(1 + x) -> log1p(x)``, and ``log(1 - x) -> log1p(-x)``

    Valid for floats. It pays near 0, where ``1 + x`` loses digits of x.
    """
    (total,) = operands(node)
    owner = total.owner
    if owner is None or not _is_float(total):
        return None
    if applied(Add, total):
        known = with_number(owner)
        if known is None or known[0] != 1:
            return None
        return instead_of(node, lt.log1p(lt.cast(known[2], total.dtype)))
    found = applied(Sub, total)
    if found is None or not is_number(found[0], 1):
        return None
    return instead_of(node, lt.log1p(lt.neg(lt.cast(found[1], total.dtype))))


@node_rewriter(elementwise(Log))
def log_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(exp(x)) -> x + 0.0``; for x that is never -0.0, ``log(exp(x)) -> x``.

    Valid for floats; the sum makes 0.0 of -0.0, as the logarithm of 1 is. It pays where the exponential overflows or underflows, and because nothing
    else is computed.
    """
    (y,) = operands(node)
    found = applied(Exp, y)
    if found is None or not _is_float(y):
        return None
    x = lt.cast(found[0], y.dtype)
    return instead_of(node, x if never_negative_zero(found[0]) else lt.add(x, 0.0))


@node_rewriter(elementwise(Exp))
def exp_of_log(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(log(x)) -> switch(x >= 0, abs(x), nan)``

    Valid for floats; the result is exact. It pays because neither function is computed.
    """
    (y,) = operands(node)
    x = _float_operand(Log, y)
    return None if x is None else instead_of(node, _where_at_least(x, 0, lt.abs(x)))


@node_rewriter(elementwise(Exp))
def exp_of_log1p(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(log1p(x)) -> switch(x >= -1, 1 + x, nan)``

    Valid for floats. It pays because neither function is computed.
    """
    (y,) = operands(node)
    x = _float_operand(Log1p, y)
    return None if x is None else instead_of(node, _where_at_least(x, -1, lt.add(1, x)))


@node_rewriter(elementwise(Expm1))
def expm1_of_log1p(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``expm1(log1p(x)) -> switch(x >= -1, x, nan)``

    Valid for floats; the result is exact. It pays because neither function is computed.
    """
    (y,) = operands(node)
    x = _float_operand(Log1p, y)
    return None if x is None else instead_of(node, _where_at_least(x, -1, x))


@node_rewriter(elementwise(Expm1))
def expm1_of_log(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``expm1(log(x)) -> switch(x >= 0, x - 1, nan)``

    Valid for floats; the result is the nearest float. It pays because neither function is computed.
    """
    (y,) = operands(node)
    x = _float_operand(Log, y)
    return None if x is None else instead_of(node, _where_at_least(x, 0, lt.sub(x, 1)))


@node_rewriter(elementwise(Log1p))
def log1p_of_expm1(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log1p(expm1(x)) -> x``

    Valid for floats. It pays where the exponential overflows or is rounded to -1, and because nothing is computed.
    """
    (y,) = operands(node)
    x = _float_operand(Expm1, y)
    return None if x is None else instead_of(node, x)


def _where_at_least(x: TensorVariable, bound: int, value: TensorVariable) -> TensorVariable:
    """Return a value where x has at least a bound, else NaN."""
    if bound == 0 and is_nonnegative(x):
        return value
    return lt.switch(lt.ge(x, bound), value, np.nan)


@node_rewriter(elementwise(Sub, Add), tracks_inputs=elementwise(Exp))
def exp_minus_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``exp(x) - 1 -> expm1(x)``

    Valid for floats. It pays near 0, where the exponential loses digits of x.
    """
    if len(node.inputs) != 2 or not _is_float(node.outputs[0]):
        return None
    x, y = operands(node)
    if applied(Add, node.outputs[0]):
        known = with_number(node)
        exponential = None if known is None or known[0] != -1 else known[2]
    else:
        exponential = x if is_number(y, 1) else None
    power = None if exponential is None else _float_operand(Exp, exponential)
    return None if power is None else instead_of(node, lt.expm1(lt.cast(power, node.outputs[0].type.dtype)))


@node_rewriter(elementwise(Sub), tracks_inputs=elementwise(Exp))
def one_minus_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``1 - exp(x) -> 0 - expm1(x)``

    Valid for floats; a minus sign would make -0.0 of 0.0. It pays near 0, where the exponential loses digits of x.
    """
    x, y = operands(node)
    if not _is_float(node.outputs[0]) or not is_number(x, 1):
        return None
    power = _float_operand(Exp, y)
    return None if power is None else instead_of(node, lt.sub(0, lt.expm1(lt.cast(power, node.outputs[0].type.dtype))))


@node_rewriter(elementwise(Log))
def log_of_power(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(square(x)) -> 2 * log(abs(x))``; ``log(sqrt(x)) -> 0.5 * log(x)``; ``log(x**c) -> c * log(x)``, for x not negative and a number c > 0.

    Valid for floats. It pays where the power overflows or underflows, and near 1, where it loses digits.
    """
    (y,) = operands(node)
    if not _is_float(y):
        return None
    x = _float_operand(Square, y)
    if x is not None:
        return instead_of(node, lt.mul(2, lt.log(lt.abs(x))))
    x = _float_operand(Sqrt, y)
    if x is not None:
        return instead_of(node, lt.mul(0.5, lt.log(x)))
    x = _float_operand(Power, y)
    if x is None or y.owner is None:
        return None
    exponent = number(y.owner.inputs[1])
    if exponent is None or isinstance(exponent, complex) or not 0 < exponent < np.inf or not is_nonnegative(x):
        return None
    return instead_of(node, lt.mul(exponent, lt.log(x)))


@node_rewriter(elementwise(Log))
def log_of_scaled_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(exp(x) * y) -> x + log(y)``

    Valid for floats of one dtype. It pays where the exponential overflows or underflows.
    """
    (product,) = operands(node)
    found = applied(Mul, product)
    if found is None or len(found) != 2 or not all([_is_float(v) and v.dtype == product.dtype for v in found]):
        return None
    for exponential, other in (found, found[::-1]):
        x = _float_operand(Exp, exponential)
        if x is not None:
            return instead_of(node, lt.add(x, lt.log(other)))
    return None


@node_rewriter(elementwise(Log))
def log_of_prod(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(prod(x)) -> sum(log(x))``, for x not negative; else ``switch(prod(sign(x)) < 0, nan, sum(log(abs(x))))``

    Valid for floats. It pays where the product overflows or underflows.
    """
    (y,) = operands(node)
    inner = y.owner
    moved = inner if inner is not None and isinstance(inner.op, DimShuffle) else None
    if moved is not None:
        inner = moved.inputs[0].owner
    if inner is None or not isinstance(inner.op, Prod):
        return None
    x = inner.inputs[0]
    if not isinstance(x, TensorVariable) or not _is_float(x) or x.dtype != y.dtype:
        return None
    axes = inner.op.axes
    if is_nonnegative(x):
        result = lt.sum(lt.log(x), axis=axes)
    else:
        is_negative = lt.lt(lt.prod(lt.sign(x), axis=axes), 0)
        result = lt.switch(is_negative, np.nan, lt.sum(lt.log(lt.abs(x)), axis=axes))
    return instead_of(node, result if moved is None else moved.op(result))


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Log, Neg))
def x_times_log_of_x(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * x * log(x) -> g * xlogy(x, x)``, with or without g.

    Valid for real numbers: where x is 0, the result is the limit, 0, instead of NaN. It pays there, as in entropies.
    """

    def combined(other: TensorVariable, logarithm: TensorVariable) -> TensorVariable | None:
        found = applied(Log, logarithm)
        if found is None or found[0] is not other or not _is_float(logarithm):
            return None
        return lt.xlogy(other, other)

    return with_factors_replaced(node, Log, combined)
