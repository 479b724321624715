"""Sums and products of integers in which an operand occurs twice.

before                              after
%0 = add(%n, %m)                    %m
%1 = sub(%0, %n)
"""

from __future__ import annotations

from typing import Any

from lamella.ir import INTEGER_DTYPES, Add, Apply, FunctionGraph, Mul, Sub, TensorVariable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.integers import wrapped
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, number, operands

__all__ = ["integer_difference_completed", "integer_multiples_collected", "integer_terms_cancelled"]


def _integers(node: Apply[Any]) -> tuple[TensorVariable, TensorVariable] | None:
    """Return the two operands of a node of integers of one dtype."""
    dtype = node.outputs[0].type.dtype
    if dtype not in INTEGER_DTYPES or len(node.inputs) != 2:
        return None
    x, y = operands(node)
    return (x, y) if x.dtype == dtype and y.dtype == dtype else None


def _pair(kind: Any, variable: TensorVariable, dtype: str) -> tuple[TensorVariable, TensorVariable] | None:
    found = applied(kind, variable)
    if found is None or len(found) != 2 or any([v.dtype != dtype for v in found]):
        return None
    return found[0], found[1]


@node_rewriter(elementwise(Sub))
def integer_terms_cancelled(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(n + m) - n -> m``, ``(n - m) - n -> -m``, ``n - (n + m) -> -m``, and ``n - (n - m) -> m``.

    Valid for integers of one dtype, modulo its range; the error that shapes do not fit is not raised. It pays because less is computed, or nothing.
    """
    found = _integers(node)
    if found is None:
        return None
    x, y = found
    dtype = node.outputs[0].type.dtype
    left, right = _pair(Add, x, dtype), _pair(Add, y, dtype)
    if left is not None and y in left:
        return instead_of(node, left[1] if left[0] is y else left[0])
    if right is not None and x in right:
        return instead_of(node, lt.neg(right[1] if right[0] is x else right[0]))
    left, right = _pair(Sub, x, dtype), _pair(Sub, y, dtype)
    if left is not None and left[0] is y:
        return instead_of(node, lt.neg(left[1]))
    if right is not None and right[0] is x:
        return instead_of(node, right[1])
    return None


@node_rewriter(elementwise(Add))
def integer_difference_completed(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(n - m) + m -> n``, and ``m + (n - m) -> n``.

    Valid for integers of one dtype, modulo its range; the error that shapes do not fit is not raised. It pays because nothing is computed.
    """
    found = _integers(node)
    if found is None:
        return None
    dtype = node.outputs[0].type.dtype
    for difference, other in (found, found[::-1]):
        parts = _pair(Sub, difference, dtype)
        if parts is not None and parts[1] is other:
            return instead_of(node, parts[0])
    return None


def _multiple(variable: TensorVariable, dtype: str) -> tuple[TensorVariable, int]:
    """Return n and c, for ``n * c`` of a number c; else the Variable and 1."""
    found = _pair(Mul, variable, dtype)
    if found is not None:
        for factor, n in (found, found[::-1]):
            known = number(factor)
            if isinstance(known, int):
                return n, known
    return variable, 1


@node_rewriter(elementwise(Add, Sub))
def integer_multiples_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``n * 2 + n * 3 -> n * 5``, ``n * 3 - n -> n * 2``, and so on.

    Valid for integers of one dtype, modulo its range. It pays because one product is computed.
    """
    found = _integers(node)
    if found is None:
        return None
    x, y = found
    dtype = node.outputs[0].type.dtype
    if applied(Mul, x) is None and applied(Mul, y) is None:
        return None
    (a, c), (b, d) = _multiple(x, dtype), _multiple(y, dtype)
    if a is not b or (a is x and b is y):
        return None
    total = wrapped(c - d if applied(Sub, node.outputs[0]) else c + d, dtype)
    return instead_of(node, lt.mul(a, total))
