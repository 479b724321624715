"""Comparisons whose outcome is known, and their negation.

Comparisons of floats stay as they are where a NaN would make a difference: ``x == x`` tells whether x is a NaN, and not ``x < y`` is not ``x >= y``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lamella.ir import (
    BOOL_DTYPES,
    INTEGER_DTYPES,
    Apply,
    BitwiseNot,
    Elemwise,
    Eq,
    FunctionGraph,
    Ge,
    Gt,
    Le,
    LogicalNot,
    Lt,
    Neq,
    ScalarOp,
    TensorVariable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import elementwise, instead_of, is_number, number, operands, whole_fill
from lamella.typing_layer import is_nonnegative

__all__ = ["comparison_with_bound", "comparison_with_itself", "less_than_zero", "not_of_comparison"]

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
