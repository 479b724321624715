"""Sums, differences, products and quotients with numbers that do nothing, and minus signs.

    before                              after
    %0 = neg(%x)                        %0 = sub(%y, %x)
    %1 = mul(%y, 1.0)
    %2 = add(%1, %0)

All of it is exact, for NaN, infinities and zeros of both signs. So ``x + 0.0`` stays, which makes 0.0 of -0.0, where x may be that; and so
do ``x - x``, ``x / x`` and ``0 * x`` of floats.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    UNSIGNED_DTYPES,
    Add,
    Apply,
    FunctionGraph,
    Mul,
    Neg,
    Sub,
    TensorVariable,
    TrueDivide,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import (
    Number,
    applied,
    elementwise,
    instead_of,
    is_number,
    never_negative_zero,
    number,
    operands,
    with_number,
)

__all__ = [
    "add_of_neg",
    "add_of_zero",
    "divide_by_number",
    "divide_of_neg",
    "mul_by_minus_one",
    "mul_by_one",
    "mul_of_neg",
    "neg_of_divide",
    "neg_of_mul",
    "neg_of_sub",
    "sub_of_neg",
    "sub_of_zero",
]


def _dtype(node: Apply[Any]) -> str:
    dtype: str = node.outputs[0].type.dtype
    return dtype


def _of_one_dtype(node: Apply[Any]) -> bool:
    return all([variable.type.dtype == _dtype(node) for variable in node.inputs])


@node_rewriter(elementwise(Mul))
def mul_by_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * 1 -> x``; of booleans, ``x * True -> x``.

    Always valid but for complex numbers, where an infinite part times 0 is NaN. It pays because nothing is computed.
    """
    kept = [v for v in operands(node) if not is_number(v, 1)]
    return None if len(kept) == len(node.inputs) or _dtype(node) in COMPLEX_DTYPES else _of_kept(lt.mul, kept, node)


@node_rewriter(elementwise(Add))
def add_of_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x + -0.0 -> x``; ``x + 0.0 -> x``, for floats x that are never -0.0; ``n + 0 -> n``; of booleans, ``x + False -> x``.

    Always valid. It pays because nothing is computed.
    """
    dtype = _dtype(node)
    if dtype in COMPLEX_DTYPES:
        return None
    kept = [v for v in operands(node) if not is_number(v, 0)]
    if len(kept) == len(node.inputs):
        return None
    if dtype in FLOAT_DTYPES and (len(node.inputs) != 2 or not (kept and never_negative_zero(kept[0]))):
        kept = [v for v in operands(node) if not _is_negative_zero(v)]
    return _of_kept(lt.add, kept, node)


def _is_negative_zero(variable: TensorVariable) -> bool:
    return variable.dtype in FLOAT_DTYPES and str(number(variable)) == "-0.0"


def _of_kept(function: Any, kept: list[TensorVariable], node: Apply[Any]) -> list[TensorVariable] | None:
    """Apply a function of two or more to those operands of a node that do something."""
    if not kept or len(kept) == len(node.inputs) or (len(kept) > 1 and not _of_one_dtype(node)):
        return None
    return instead_of(node, kept[0] if len(kept) == 1 else function(*kept))


@node_rewriter(elementwise(Sub))
def sub_of_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x - 0.0 -> x``; ``n - 0 -> n``; ``-0.0 - x -> -x``; ``0 - n -> -n``

    Always valid; of integers modulo their range. ``x - -0.0`` and ``0.0 - x`` of floats do something to zeros. It pays because nothing is
    computed, or because others see through a minus sign.
    """
    x, y = operands(node)
    dtype = _dtype(node)
    if dtype in COMPLEX_DTYPES:
        return None
    if is_number(y, 0) and (dtype not in FLOAT_DTYPES or not _is_negative_zero(y) or never_negative_zero(x)):
        return instead_of(node, x)
    if is_number(x, 0) and (dtype not in FLOAT_DTYPES or _is_negative_zero(x)):
        return instead_of(node, lt.neg(lt.cast(y, dtype)))
    return None


@node_rewriter(elementwise(Mul))
def mul_by_minus_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * -1 -> -x``

    Always valid but for complex numbers; of integers modulo their range. It pays because others see through a minus sign.
    """
    known = with_number(node)
    if known is None or known[0] != -1 or _dtype(node) in COMPLEX_DTYPES:
        return None
    return instead_of(node, lt.neg(lt.cast(known[2], _dtype(node))))


@node_rewriter(elementwise(TrueDivide))
def divide_by_number(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x / 1 -> x``; ``x / -1 -> -x``; ``x / c -> x * (1 / c)``, for c a power of 2.

    Valid for real numbers; only where ``1 / c`` is a float without loss, so that both round the same number. It pays because nothing is
    computed, or because products take less time than quotients.
    """
    x, y = operands(node)
    divisor = number(y)
    dtype = _dtype(node)
    if divisor is None or dtype not in FLOAT_DTYPES:
        return None
    if divisor == 1:
        return instead_of(node, x)
    if divisor == -1:
        return instead_of(node, lt.neg(lt.cast(x, dtype)))
    factor = _exact_reciprocal(divisor, dtype)
    return None if factor is None else instead_of(node, lt.mul(x, constant(factor, dtype=dtype)))


def _exact_reciprocal(divisor: Number, dtype: str) -> float | None:
    """Return the reciprocal of a power of 2 that, like it, is a normal number of a dtype; None for other numbers."""
    value = float(np.asarray(divisor, dtype))
    if not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return None
    limits = np.finfo(dtype)
    return 1 / value if all([limits.tiny <= abs(v) <= limits.max for v in (value, 1 / value)]) else None


def _negated(variable: TensorVariable, dtype: str) -> TensorVariable | None:
    """Return x, where the Variable is ``-x`` and stays that when it is cast to a dtype; else None."""
    found = applied(Neg, variable)
    return found[0] if found and (variable.dtype == dtype or variable.dtype in FLOAT_DTYPES) else None


def _minus(value: TensorVariable, dtype: str) -> TensorVariable | None:
    """Return the constant ``-c`` of a dtype, for a constant that repeats the real number c; None for others."""
    known = number(value)
    if known is None or isinstance(known, bool | complex) or dtype not in (*FLOAT_DTYPES, *INTEGER_DTYPES):
        return None
    if dtype in FLOAT_DTYPES:
        return constant(np.full(value.type.shape, -float(np.asarray(known, dtype))), dtype=dtype)
    if dtype in UNSIGNED_DTYPES or known == np.iinfo(dtype).min:
        return None
    return constant(np.full(value.type.shape, -known), dtype=dtype)


@node_rewriter(elementwise(Add), tracks_inputs=elementwise(Neg))
def add_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x + -y -> x - y``, and ``-x + y -> y - x``

    Always valid; of integers modulo their range. It pays because one operation is computed, where nothing else needs ``-y``.
    """
    if len(node.inputs) != 2:
        return None
    x, y = operands(node)
    taken = _negated(y, _dtype(node))
    if taken is not None:
        return instead_of(node, lt.sub(x, taken))
    taken = _negated(x, _dtype(node))
    return None if taken is None else instead_of(node, lt.sub(y, taken))


@node_rewriter(elementwise(Sub), tracks_inputs=elementwise(Neg))
def sub_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x - -y -> x + y``

    Always valid; of integers modulo their range. It pays because one operation is computed, where nothing else needs ``-y``.
    """
    x, y = operands(node)
    added = _negated(y, _dtype(node))
    return None if added is None else instead_of(node, lt.add(x, added))


@node_rewriter(elementwise(Mul), tracks_inputs=elementwise(Neg))
def mul_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-x * -y -> x * y``; ``-x * c -> x * -c``, for a number c; ``-x * y -> -(x * y)``, for x as large as the result.

    Valid for real numbers; of integers modulo their range. It pays because one minus sign or none is computed, or because it meets others further
    on.
    """
    if len(node.inputs) != 2 or _dtype(node) in COMPLEX_DTYPES:
        return None
    dtype = _dtype(node)
    x, y = operands(node)
    a, b = _negated(x, dtype), _negated(y, dtype)
    if a is None and b is None:
        return None
    if a is not None and b is not None:
        return instead_of(node, lt.mul(a, b))
    first, second = (x if a is None else a), (y if b is None else b)
    factor = _minus(y if b is None else x, dtype)
    if factor is not None:
        return instead_of(node, lt.mul(second if a is None else first, factor))
    negated = x if b is None else y
    return _pulled_out(node, negated, lt.mul(first, second))


def _pulled_out(node: Apply[Any], negated: TensorVariable, result: TensorVariable) -> list[TensorVariable] | None:
    """Put a minus sign before a result, but not so that more elements are negated than before."""
    if negated.type.broadcastable != node.outputs[0].type.broadcastable:
        return None
    return instead_of(node, lt.neg(lt.cast(result, _dtype(node))))


@node_rewriter(elementwise(TrueDivide))
def divide_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-x / -y -> x / y``; ``-x / c -> x / -c`` and ``c / -x -> -c / x``, for a number c; ``-x / y -> -(x / y)``, for x as large as the result.

    Valid for floats. It pays because one minus sign or none is computed, or because it meets others further on.
    """
    x, y = operands(node)
    dtype = _dtype(node)
    if dtype not in FLOAT_DTYPES:
        return None
    a = _negated(x, dtype) if x.dtype in FLOAT_DTYPES else None
    b = _negated(y, dtype) if y.dtype in FLOAT_DTYPES else None
    if a is None and b is None:
        return None
    numerator, denominator = (x if a is None else a), (y if b is None else b)
    if a is None or b is None:
        other = _minus(y if b is None else x, dtype)
        if other is None:
            return _pulled_out(node, x if b is None else y, lt.true_divide(numerator, denominator))
        numerator, denominator = (other, denominator) if a is None else (numerator, other)
    return instead_of(node, lt.true_divide(numerator, denominator))


@node_rewriter(elementwise(Neg))
def neg_of_mul(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-(x * c) -> x * -c``, for a number c.

    Valid for floats and signed integers, modulo their range. It pays because one operation is computed, where nothing else needs ``x * c``.
    """
    product = node.inputs[0]
    if applied(Mul, product) is None or product.owner is None:
        return None
    known = with_number(product.owner)
    factor = None if known is None else _minus(known[1], _dtype(node))
    return None if known is None or factor is None else instead_of(node, lt.mul(known[2], factor))


@node_rewriter(elementwise(Neg))
def neg_of_divide(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-(x / c) -> x / -c``, and ``-(c / x) -> -c / x``, for a number c.

    Valid for floats. It pays because one operation is computed, where nothing else needs the quotient.
    """
    found = applied(TrueDivide, node.inputs[0])
    if found is None or _dtype(node) not in FLOAT_DTYPES:
        return None
    x, y = found
    dividend, divisor = _minus(x, _dtype(node)), _minus(y, _dtype(node))
    if divisor is not None:
        return instead_of(node, lt.true_divide(x, divisor))
    return None if dividend is None else instead_of(node, lt.true_divide(dividend, y))


@node_rewriter(elementwise(Neg))
def neg_of_sub(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-(n - m) -> m - n``, and ``-(n + c) -> -c - n``, for a number c.

    Valid for integers, modulo their range; of floats, -0.0 would become 0.0. It pays because one operation is computed, where nothing else needs
    the difference or sum.
    """
    dtype = _dtype(node)
    if dtype not in INTEGER_DTYPES:
        return None
    inner = node.inputs[0]
    found = applied(Sub, inner)
    if found is not None:
        x, y = found
        return instead_of(node, lt.sub(y, x))
    if inner.owner is None or applied(Add, inner) is None:
        return None
    known = with_number(inner.owner)
    negated = None if known is None else _minus(known[1], dtype)
    return None if known is None or negated is None else instead_of(node, lt.sub(negated, known[2]))
