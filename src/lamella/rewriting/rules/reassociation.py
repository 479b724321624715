"""Sums and products of floats with several numbers, taken together.

    before                              after
    %0 = mul(%x, 2.0)                   %1 = mul(%x, 6.0)
    %1 = mul(%0, 3.0)

The order in which floats are added up or multiplied changes, so the result may differ in its last digits; but it overflows, underflows
and becomes NaN where it did before.
"""

from __future__ import annotations

import math
from typing import Any, Final

import attrs
import numpy as np

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    Apply,
    Elemwise,
    FunctionGraph,
    Mul,
    Sub,
    TensorConstant,
    TensorVariable,
    TrueDivide,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, number, operands

__all__ = ["float_multiples_collected", "float_products_collected", "float_sums_collected", "nested_fold"]

_MOST_OPERANDS: Final = 16


def _with_constant(node: Apply[Any] | None) -> bool:
    """Whether one of the operands is a constant: what tells soonest that there is nothing to collect."""
    return node is not None and any([isinstance(variable, TensorConstant) for variable in node.inputs])


def _number(variable: TensorVariable, dtype: str) -> float | None:
    """Return the finite number that a constant of a dtype of floats repeats."""
    known = number(variable)
    if known is None or isinstance(known, complex) or variable.dtype != dtype or not math.isfinite(known):
        return None
    return float(known)


@attrs.frozen
class _Shifted:
    """``x + added``, or ``added - x``, of floats of one dtype."""

    x: TensorVariable
    is_negated: bool
    added: float


def _shifted(node: Apply[Any] | None, dtype: str) -> _Shifted | None:
    """Return a sum or difference of an operand and a number as what it is of that operand."""
    if node is None or len(node.inputs) != 2 or node.outputs[0].type.dtype != dtype:
        return None
    is_sum = applied(Add, node.outputs[0]) is not None
    if not is_sum and applied(Sub, node.outputs[0]) is None:
        return None
    x, y = operands(node)
    known = _number(y, dtype)
    if known is not None:
        return _Shifted(x, False, known if is_sum else -known) if x.dtype == dtype else None
    known = _number(x, dtype)
    return None if known is None or y.dtype != dtype else _Shifted(y, not is_sum, known)


def _exact_sum(a: float, b: float, dtype: str) -> float | None:
    """Return the sum of two numbers of one sign, if that is exact."""
    with np.errstate(all="ignore"):
        total = float(np.add(a, b, dtype=dtype))
    return total if a * b > 0 and math.isfinite(total) and total - a == b and total - b == a else None


@node_rewriter(elementwise(Add, Sub), tracks_inputs=elementwise(Add, Sub))
def float_sums_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x + 1) + 2 -> x + 3``, ``2 - (x - 1) -> 3 - x``, ``(x + 1) + (y + 2) -> (x + y) + 3``, and so on.

    The numbers are added with one sign, and their sum is exact. Valid for floats of one dtype; numbers of two signs would cancel where x is lost between them. It pays because one sum is computed.
    """
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOAT_DTYPES:
        return None
    if not _with_constant(node):
        return _two_shifted(node, dtype)
    outer = _shifted(node, dtype)
    inner = None if outer is None or not _with_constant(outer.x.owner) else _shifted(outer.x.owner, dtype)
    if outer is None or inner is None:
        return None
    total = _exact_sum(outer.added, -inner.added if outer.is_negated else inner.added, dtype)
    if total is None:
        return None
    if outer.is_negated != inner.is_negated:
        return instead_of(node, lt.sub(constant(total, dtype=dtype), inner.x))
    return instead_of(node, lt.add(inner.x, constant(total, dtype=dtype)))


def _two_shifted(node: Apply[Any], dtype: str) -> list[TensorVariable] | None:
    """Rewrite a sum of two operands to each of which a number is added, and which nothing else needs."""
    x, y, *others = operands(node)
    if others or not _with_constant(x.owner) or not _with_constant(y.owner):
        return None
    if applied(Add, node.outputs[0]) is None:
        return None
    first = _shifted(x.owner, dtype)
    second = None if first is None else _shifted(y.owner, dtype)
    if first is None or second is None or first.is_negated or second.is_negated:
        return None
    total = _exact_sum(first.added, second.added, dtype)
    if total is None or abs(total) > np.finfo(dtype).max * np.finfo(dtype).eps / 8:  # what adding it may let overflow
        return None
    return instead_of(node, lt.add(lt.add(first.x, second.x), constant(total, dtype=dtype)))


def _scaled(node: Apply[Any] | None, dtype: str) -> tuple[TensorVariable, float, bool] | None:
    """Return x, c and whether it is divided by c, for ``x * c`` or ``x / c`` of floats of one dtype."""
    if node is None or len(node.inputs) != 2 or node.outputs[0].type.dtype != dtype:
        return None
    is_product = applied(Mul, node.outputs[0]) is not None
    if not is_product and applied(TrueDivide, node.outputs[0]) is None:
        return None
    x, y = operands(node)
    known = _number(y, dtype)
    if known is None and is_product:
        x, known = y, _number(x, dtype)
    return None if not known or x.dtype != dtype else (x, known, not is_product)


@node_rewriter(elementwise(Mul, TrueDivide), tracks_inputs=elementwise(Mul, TrueDivide))
def float_products_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x * 2) * 3 -> x * 6``, ``(x / 3) / 7 -> x / 21``, ``(x / 5) * 0.1 -> x * 0.02``, and so on, for numbers that both make x greater or both make it less.

    Valid for floats of one dtype, where the product or quotient of the numbers is a normal float; what makes greater and what makes less together would
    hide an overflow or an underflow between them. It pays because one product is computed.
    """
    dtype = node.outputs[0].type.dtype
    if not _with_constant(node) or dtype not in FLOAT_DTYPES:
        return None
    outer = _scaled(node, dtype)
    inner = None if outer is None else _scaled(outer[0].owner, dtype)
    if outer is None or inner is None:
        return None
    (_, d, divided_by_d), (x, c, divided_by_c) = outer, inner
    sizes = [1 / abs(v) if divided else abs(v) for v, divided in ((c, divided_by_c), (d, divided_by_d))]
    if not (min(sizes) >= 1 or max(sizes) <= 1):
        return None
    product = c * d if divided_by_c == divided_by_d else d / c if divided_by_c else c / d
    with np.errstate(all="ignore"):
        factor = np.asarray(product, dtype)
    limits = np.finfo(dtype)
    if not limits.tiny <= abs(factor) <= limits.max:
        return None
    collected = lt.true_divide if divided_by_c and divided_by_d else lt.mul
    return instead_of(node, collected(x, constant(factor)))


def _multiple(variable: TensorVariable, dtype: str) -> tuple[TensorVariable, float]:
    """Return x and c, for ``x * c`` of a number c; else the Variable and 1."""
    found = _scaled(variable.owner, dtype) if applied(Mul, variable) else None
    return (variable, 1.0) if found is None else found[:2]


def _share_an_operand(x: TensorVariable, y: TensorVariable) -> bool:
    """Whether two Variables are made of one, or one of the other: what tells soonest that they are multiples of different ones."""
    first = (x,) if x.owner is None else (x, *x.owner.inputs)
    second = (y,) if y.owner is None else (y, *y.owner.inputs)
    return any([a is b and not isinstance(a, TensorConstant) for a in first for b in second])


@node_rewriter(elementwise(Add, Sub), tracks_inputs=elementwise(Mul))
def float_multiples_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * 2 + x * 3 -> x * 5``, ``x + x * 2 -> x * 3``, and ``x * 2 - x * -3 -> x * 5``, for numbers that are added with one sign.

    Valid for floats of one dtype; numbers of two signs would hide an overflow. It pays because one product is computed.
    """
    x, y, *others = operands(node)
    if others or not _share_an_operand(x, y):
        return None
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOAT_DTYPES or x.dtype != dtype or y.dtype != dtype:
        return None
    if applied(Mul, x) is None and applied(Mul, y) is None:
        return None
    (a, c), (b, d) = _multiple(x, dtype), _multiple(y, dtype)
    if a is not b or (a is x and b is y):
        return None
    if applied(Sub, node.outputs[0]):
        d = -d
    with np.errstate(all="ignore"):
        total = float(np.add(c, d, dtype=dtype))
    if c * d <= 0 or not math.isfinite(total):
        return None
    return instead_of(node, lt.mul(a, constant(total, dtype=dtype)))


@node_rewriter(elementwise(Add, Mul), tracks_inputs=elementwise(Add, Mul))
def nested_fold(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x + y) + z -> x + y + z``, as one operation of three operands, and so on; likewise for products.

    Always valid: operands are added up from left to right, so nothing changes its place. The inner one is as large as the result, and nothing else
    needs it. It pays because one node stands for several, where they are not fused.
    """
    first, *others = operands(node)
    assert isinstance(node.op, Elemwise)
    found = applied(type(node.op.scalar_op), first)
    if found is None or first.type.broadcastable != node.outputs[0].type.broadcastable:
        return None
    if len(found) + len(others) > _MOST_OPERANDS or len(fgraph.get_clients(first)) > 1:
        return None
    return instead_of(node, node.op(*found, *others))
