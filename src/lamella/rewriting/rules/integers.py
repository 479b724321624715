"""Integers, which have no NaN, infinities or zeros of two signs: what is exact modulo their range.

before                              after
%0 = add(%n, 2)                     %1 = add(%n, 1)
%1 = sub(%0, 1)
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np

from lamella.ir import (
    INTEGER_DTYPES,
    Add,
    Apply,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    FloorDivide,
    FunctionGraph,
    LeftShift,
    Mod,
    Mul,
    RightShift,
    Sub,
    TensorConstant,
    TensorVariable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import (
    applied,
    elementwise,
    instead_of,
    is_number,
    number,
    operands,
    whole_fill,
    with_number,
)

__all__ = [
    "bits_with_number",
    "divide_integer_by_one",
    "divide_integer_by_power_of_two",
    "divide_zero",
    "integer_and_itself",
    "integer_products_collected",
    "integer_sums_collected",
    "mul_integer_by_zero",
    "shift_by_zero",
    "sub_integer_from_itself",
    "wrapped",
]


def _of_integers(node: Apply[Any]) -> bool:
    """Whether the result is of integers, and all operands are of that dtype."""
    dtype = node.outputs[0].type.dtype
    return dtype in INTEGER_DTYPES and all([variable.type.dtype == dtype for variable in node.inputs])


def wrapped(value: int, dtype: str) -> TensorConstant:
    """Return the number of a dtype that equals an integer modulo the dtype's range."""
    limits = np.iinfo(dtype)
    return constant((value - limits.min) % (limits.max - limits.min + 1) + limits.min, dtype=dtype)


def _integer(variable: TensorVariable) -> int | None:
    """Return the integer that a constant repeats; its shape broadcasts to any."""
    if not isinstance(variable, TensorConstant) or variable.type.shape != (1,) * variable.ndim:
        return None
    known = number(variable)
    return known if isinstance(known, int) else None


@attrs.frozen
class _Linear:
    """``x + added``, or ``added - x``."""

    x: TensorVariable
    is_negated: bool
    added: int


def _linear(node: Apply[Any] | None) -> _Linear | None:
    """Return a sum or difference of integers as what it is of its only operand that is no number."""
    if node is None or len(node.inputs) != 2 or not _of_integers(node):
        return None
    x, y = operands(node)
    a, b = _integer(x), _integer(y)
    if (a is None) == (b is None):
        return None
    if applied(Add, node.outputs[0]):
        return _Linear(x if a is None else y, False, (b if a is None else a) or 0)
    if applied(Sub, node.outputs[0]):
        return _Linear(x, False, -b) if b is not None else _Linear(y, True, a or 0)
    return None


@node_rewriter(elementwise(Add, Sub))
def integer_sums_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(n + 2) - 1 -> n + 1``; likewise for all sums and differences of a sum or difference, each with a number.

    Valid for integers of one dtype, modulo its range. It pays because one operation is computed, or none.
    """
    outer = _linear(node)
    inner = None if outer is None else _linear(outer.x.owner)
    if outer is None or inner is None:
        return None
    dtype = node.outputs[0].type.dtype
    added = outer.added + (-inner.added if outer.is_negated else inner.added)
    negated = outer.is_negated != inner.is_negated
    total = wrapped(added, dtype)
    if negated:
        return instead_of(node, lt.sub(total, inner.x))
    return instead_of(node, inner.x if is_number(total, 0) else lt.add(inner.x, total))


@node_rewriter(elementwise(Mul))
def integer_products_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(n * 2) * 3 -> n * 6``

    Valid for integers of one dtype, modulo its range. It pays because one product is computed.
    """
    if not _of_integers(node):
        return None
    outer = with_number(node)
    if outer is None or outer[2].owner is None or not applied(Mul, outer[2]) or not _of_integers(outer[2].owner):
        return None
    inner = with_number(outer[2].owner)
    if inner is None:
        return None
    a, b = _integer(outer[1]), _integer(inner[1])
    if a is None or b is None:
        return None
    return instead_of(node, lt.mul(inner[2], wrapped(a * b, node.outputs[0].type.dtype)))


@node_rewriter(elementwise(Sub, BitwiseXor))
def sub_integer_from_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n - n -> 0``, and ``n ^ n -> 0``

    Valid for integers, and xor of booleans; of floats, a NaN or an infinity makes a NaN. It pays because nothing is computed.
    """
    x, y = operands(node)
    return whole_fill(node, 0) if x is y and node.outputs[0].type.dtype in (*INTEGER_DTYPES, "bool") else None


@node_rewriter(elementwise(BitwiseAnd, BitwiseOr))
def integer_and_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n & n -> n``, and ``n | n -> n``

    Always valid. It pays because nothing is computed.
    """
    x, y = operands(node)
    return instead_of(node, x) if x is y else None


@node_rewriter(elementwise(Mul))
def mul_integer_by_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n * 0 -> 0``; of booleans, ``b * False -> False``.

    Valid for integers and booleans; of floats, zeros have a sign, and a NaN or an infinity makes a NaN. It pays because nothing is computed.
    """
    if node.outputs[0].type.dtype not in (*INTEGER_DTYPES, "bool"):
        return None
    return whole_fill(node, 0) if any([is_number(v, 0) for v in operands(node)]) else None


@node_rewriter(elementwise(FloorDivide, Mod))
def divide_integer_by_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n // 1 -> n``, and ``n % 1 -> 0``

    Valid for integers; of floats, an infinity makes a NaN. It pays because nothing is computed.
    """
    x, y = operands(node)
    if node.outputs[0].type.dtype not in INTEGER_DTYPES or not is_number(y, 1):
        return None
    return whole_fill(node, 0) if applied(Mod, node.outputs[0]) else instead_of(node, x)


_ALL_ONES: Final = -1


@node_rewriter(elementwise(BitwiseAnd, BitwiseOr, BitwiseXor))
def bits_with_number(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n & 0 -> 0``; ``n | 0 -> n``; ``n ^ 0 -> n``; with all bits set, ``n & ~0 -> n``, ``n | ~0 -> ~0`` and ``n ^ ~0 -> ~n``; so too for booleans.

    Always valid. It pays because nothing is computed.
    """
    known = with_number(node)
    if known is None or not isinstance(known[0], int):
        return None
    value, bits, x = known
    dtype = node.outputs[0].type.dtype
    ones = True if dtype == "bool" else int(np.array(_ALL_ONES).astype(dtype))
    if value not in (0, ones) or (value == ones and bits.dtype != dtype):
        return None
    if applied(BitwiseAnd, node.outputs[0]):
        return whole_fill(node, 0) if value == 0 else instead_of(node, x)
    if value == 0:
        return instead_of(node, x)
    if applied(BitwiseOr, node.outputs[0]):
        return whole_fill(node, ones)
    return instead_of(node, lt.bitwise_not(lt.cast(x, dtype)))


@node_rewriter(elementwise(LeftShift, RightShift))
def shift_by_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n << 0 -> n``, and ``n >> 0 -> n``

    Always valid. It pays because nothing is computed.
    """
    x, y = operands(node)
    return instead_of(node, x) if is_number(y, 0) else None


def _exponent_of_two(variable: TensorVariable, dtype: str) -> int | None:
    """Return k, for a constant of a dtype that repeats ``2**k``."""
    known = number(variable)
    if not isinstance(known, int) or isinstance(known, bool) or known <= 0 or variable.dtype != dtype:
        return None
    return known.bit_length() - 1 if known & (known - 1) == 0 else None


@node_rewriter(elementwise(FloorDivide, Mod))
def divide_integer_by_power_of_two(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n // 8 -> n >> 3``, and ``n % 8 -> n & 7``

    Always valid, of negative integers too: quotients are rounded down, as bits are dropped. It pays because processors divide slowly.
    """
    x, y = operands(node)
    dtype = node.outputs[0].type.dtype
    if dtype not in INTEGER_DTYPES or x.dtype != dtype:
        return None
    exponent = _exponent_of_two(y, dtype)
    if exponent is None:
        return None
    if applied(Mod, node.outputs[0]):
        return instead_of(node, lt.bitwise_and(x, constant((1 << exponent) - 1, dtype=dtype)))
    return instead_of(node, lt.right_shift(x, constant(exponent, dtype=dtype)))


@node_rewriter(elementwise(FloorDivide, Mod))
def divide_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``0 // n -> 0``, and ``0 % n -> 0``

    Valid for integers, of which 0 divided by 0 is 0, too. It pays because nothing is computed.
    """
    if node.outputs[0].type.dtype not in INTEGER_DTYPES or not is_number(node.inputs[0], 0):
        return None
    return whole_fill(node, 0)
