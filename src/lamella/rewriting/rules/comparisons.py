"""Comparisons whose outcome is known, and their negation.

Comparisons of floats stay as they are where a NaN would make a difference: ``x == x`` tells whether x is a NaN, and not ``x < y`` is not ``x >= y``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lamella.ir import (
    BOOL_DTYPES,
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    Abs,
    Apply,
    BitwiseNot,
    Cast,
    Elemwise,
    Eq,
    FunctionGraph,
    Ge,
    Gt,
    IsFinite,
    IsInf,
    IsNan,
    Le,
    LogicalNot,
    Lt,
    Neg,
    Neq,
    ScalarOp,
    TensorConstant,
    TensorVariable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_number, number, operands, whole_fill
from lamella.typing_layer import is_nonnegative

__all__ = [
    "comparison_of_negs",
    "comparison_with_bound",
    "comparison_with_itself",
    "comparison_with_special_float",
    "finiteness_of_integers",
    "finiteness_of_negated",
    "less_than_zero",
    "not_of_comparison",
    "truth_compared_with_number",
]

_COMPARISONS: Final = (Eq, Ge, Gt, Le, Lt, Neq)
_DISCRETE: Final = (*INTEGER_DTYPES, *BOOL_DTYPES)

Holds = Callable[[int, int], bool]
_MONOTONE: Final[tuple[tuple[type[ScalarOp[Any]], Holds], ...]] = (
    (Lt, lambda a, b: a < b),
    (Le, lambda a, b: a <= b),
    (Gt, lambda a, b: a > b),
    (Ge, lambda a, b: a >= b),
)


def _kind(node: Apply[Any]) -> type[ScalarOp[Any]]:
    assert isinstance(node.op, Elemwise)
    return type(node.op.scalar_op)


@node_rewriter(elementwise(*_COMPARISONS))
def comparison_with_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x < x -> False``, and ``x > x -> False``; of integers and booleans, ``n == n -> True``, and so on.

    Always valid: a NaN is not less than itself. It pays because nothing is compared.
    """
    x, y = operands(node)
    if x is not y:
        return None
    kind = _kind(node)
    if kind in (Lt, Gt):
        return whole_fill(node, False)
    return whole_fill(node, kind is not Neq) if x.dtype in _DISCRETE else None


@node_rewriter(elementwise(*_COMPARISONS))
def comparison_with_bound(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n >= 0 -> True``, for integers n that are never negative, such as lengths; ``n < 300 -> True``, for n of 8 bits; and so on.

    Valid for integers and booleans compared with an integer, where all numbers that can be there give one answer. It pays because nothing is
    compared.
    """
    x, y = operands(node)
    value = number(y)
    if value is None:
        value, n = number(x), y
        if value is None:
            return None
    else:
        n = x
    if not isinstance(value, int) or n.dtype not in _DISCRETE:
        return None
    outcome = _outcome(_kind(node), n, value, n is x)
    return None if outcome is None else whole_fill(node, outcome)


def _outcome(kind: type[ScalarOp[Any]], n: TensorVariable, value: int, n_first: bool) -> bool | None:
    """Return what comparing integers with a number gives, if that is the same for all that can be there."""
    low, high = (0, 1) if n.dtype in BOOL_DTYPES else (int(np.iinfo(n.dtype).min), int(np.iinfo(n.dtype).max))
    if low < 0 and is_nonnegative(n):
        low = 0
    if kind in (Eq, Neq):
        return None if low <= value <= high else kind is Neq
    for monotone, holds in _MONOTONE:
        if kind is monotone:
            at_ends = {holds(end, value) if n_first else holds(value, end) for end in (low, high)}
            return at_ends.pop() if len(at_ends) == 1 else None
    return None


@node_rewriter(elementwise(Lt, Gt))
def less_than_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x < 0 -> False``, and ``0 > x -> False``, for x that is never negative, such as a square.

    Always valid: a NaN is not less than 0, nor is -0.0. It pays because nothing is compared.
    """
    x, y = operands(node)
    if _kind(node) is Gt:
        x, y = y, x
    return whole_fill(node, False) if is_number(y, 0) and is_nonnegative(x) else None


@node_rewriter(elementwise(*_COMPARISONS))
def comparison_with_special_float(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x < nan -> False``, and so for all comparisons but ``x != nan -> True``; ``x > inf -> False``, and ``x < -inf -> False``.

    Always valid for real numbers. It pays because nothing is compared.
    """
    x, y = operands(node)
    value = number(y)
    kind = _kind(node)
    if value is None:
        value, x = number(x), y
        kind = _MIRRORED.get(kind, kind)
    if not isinstance(value, float) or x.dtype in COMPLEX_DTYPES:
        return None
    if value != value:
        return whole_fill(node, kind is Neq)
    if (value == math.inf and kind is Gt) or (value == -math.inf and kind is Lt):
        return whole_fill(node, False)
    return None


_MIRRORED: Final[dict[type[ScalarOp[Any]], type[ScalarOp[Any]]]] = {Ge: Le, Gt: Lt, Le: Ge, Lt: Gt}
_BY_KIND: Final[dict[type[ScalarOp[Any]], Elemwise[Any]]] = {
    Eq: lt.eq,
    Ge: lt.ge,
    Gt: lt.gt,
    Le: lt.le,
    Lt: lt.lt,
    Neq: lt.neq,
}


@node_rewriter(elementwise(*_COMPARISONS))
def comparison_of_negs(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``-x < -y -> x > y``, and ``-x < c -> x > -c``, for a number c; likewise for all comparisons.

    Valid for floats; the least of the integers is its own negative. It pays because nothing is negated, where nothing else needs it.
    """
    x, y = operands(node)
    a, b = applied(Neg, x), applied(Neg, y)
    if (a is None and b is None) or x.dtype not in FLOAT_DTYPES or y.dtype != x.dtype:
        return None
    first = a[0] if a is not None else _minus_number(x)
    second = b[0] if b is not None else _minus_number(y)
    if first is None or second is None:
        return None
    kind = _kind(node)
    return instead_of(node, _BY_KIND[_MIRRORED.get(kind, kind)](first, second))


def _minus_number(variable: TensorVariable) -> TensorVariable | None:
    """Return -c, for a constant that repeats the number c."""
    if not isinstance(variable, TensorConstant) or number(variable) is None:
        return None
    return constant(-variable.data)


@node_rewriter(elementwise(*_COMPARISONS))
def truth_compared_with_number(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``b == True -> b``, ``b == False -> not b``, ``b != 0 -> b``, ``b > 0 -> b``, ``b < 1 -> not b``, and so on, for truth values b, also cast to numbers.

    Always valid. It pays because nothing is compared.
    """
    x, y = operands(node)
    value, b, kind = number(y), x, _kind(node)
    if value is None:
        value, b = number(x), y
        kind = _MIRRORED.get(kind, kind)
    if value is None or isinstance(value, complex):
        return None
    if b.dtype not in BOOL_DTYPES:
        found = applied(Cast, b)
        if found is None or found[0].dtype not in BOOL_DTYPES or b.dtype in COMPLEX_DTYPES:
            return None
        (b,) = found
    compare = _HOLDS[kind]
    outcomes = (compare(0, value), compare(1, value))
    if outcomes[0] == outcomes[1]:
        return None
    return instead_of(node, b if outcomes[1] else lt.logical_not(b))


_HOLDS: Final[dict[type[ScalarOp[Any]], Callable[[float, float], bool]]] = {
    Eq: operator.eq,
    Ge: operator.ge,
    Gt: operator.gt,
    Le: operator.le,
    Lt: operator.lt,
    Neq: operator.ne,
}


@node_rewriter(elementwise(IsFinite, IsInf, IsNan))
def finiteness_of_integers(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``isfinite(n) -> True``; ``isinf(n) -> False``; ``isnan(n) -> False``

    Valid for integers and booleans. It pays because nothing is compared.
    """
    (n,) = operands(node)
    return whole_fill(node, _kind(node) is IsFinite) if n.dtype in _DISCRETE else None


@node_rewriter(elementwise(IsFinite, IsInf, IsNan))
def finiteness_of_negated(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``isnan(-x) -> isnan(x)``, and ``isnan(abs(x)) -> isnan(x)``; likewise for isinf and isfinite.

    Valid for floats. It pays because one operation is computed, where nothing else needs the other.
    """
    (y,) = operands(node)
    found = applied((Neg, Abs), y)
    if found is None or found[0].dtype not in FLOAT_DTYPES:
        return None
    return instead_of(node, node.op(found[0]))


_NEGATED: Final[dict[type[ScalarOp[Any]], Elemwise[Any]]] = {Eq: lt.neq, Neq: lt.eq}
_NEGATED_IF_DISCRETE: Final[dict[type[ScalarOp[Any]], Elemwise[Any]]] = {Ge: lt.lt, Gt: lt.le, Le: lt.gt, Lt: lt.ge}


@node_rewriter(elementwise(LogicalNot, BitwiseNot))
def not_of_comparison(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``not x == y -> x != y``, and ``not x != y -> x == y``; of integers, ``not n < m -> n >= m``, and so on.

    Always valid. It pays because one operation is computed, where nothing else needs the comparison.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Elemwise) or inner.op.inplace_pattern:
        return None
    kind = type(inner.op.scalar_op)
    negated = _NEGATED.get(kind)
    if negated is None and all([v.type.dtype in _DISCRETE for v in inner.inputs]):
        negated = _NEGATED_IF_DISCRETE.get(kind)
    return None if negated is None else instead_of(node, negated(*inner.inputs))
