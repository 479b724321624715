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

import numpy as np

from lamella.ir import FLOAT_DTYPES, Add, Apply, Elemwise, FunctionGraph, Mul, TensorVariable, constant, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, operands, with_number

__all__ = ["float_products_collected", "float_sums_collected", "nested_fold"]

_MOST_OPERANDS: Final = 16


def _numbers(node: Apply[Any]) -> tuple[float, float, TensorVariable] | None:
    """Return c, d and x, for ``f(f(x, c), d)`` of floats of one dtype."""
    dtype = node.outputs[0].type.dtype
    outer = with_number(node) if dtype in FLOAT_DTYPES else None
    if outer is None or outer[2].owner is None or outer[2].owner.op is not node.op:
        return None
    inner = with_number(outer[2].owner)
    if inner is None or any([v.dtype != dtype for v in (*outer[1:], *inner[1:])]):
        return None
    c, d = inner[0], outer[0]
    if isinstance(c, complex) or isinstance(d, complex) or not math.isfinite(c) or not math.isfinite(d):
        return None
    return c, d, inner[2]


@node_rewriter(elementwise(Add))
def float_sums_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x + 1) + 2 -> x + 3``, for numbers of one sign whose sum is exact.

    Valid for floats of one dtype; numbers of two signs would cancel where x is lost between them. It pays because one sum is computed.
    """
    found = _numbers(node)
    if found is None:
        return None
    c, d, x = found
    dtype = node.outputs[0].type.dtype
    with np.errstate(all="ignore"):
        total = float(np.add(c, d, dtype=dtype))
    if c * d <= 0 or not math.isfinite(total) or total - c != d or total - d != c:
        return None
    return instead_of(node, lt.add(x, constant(total, dtype=dtype)))


@node_rewriter(elementwise(Mul))
def float_products_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x * 2) * 3 -> x * 6``, for numbers that both are not less than 1 in magnitude, or both not more.

    Valid for floats of one dtype, where the product of the numbers is a normal float; a great and a small number would hide an overflow or
    an underflow between them. It pays because one product is computed.
    """
    found = _numbers(node)
    if found is None:
        return None
    c, d, x = found
    dtype = node.outputs[0].type.dtype
    with np.errstate(all="ignore"):
        product = float(np.multiply(c, d, dtype=dtype))
    limits = np.finfo(dtype)
    sizes = [abs(c), abs(d)]
    if not (min(sizes) >= 1 or max(sizes) <= 1) or not limits.tiny <= abs(product) <= limits.max:
        return None
    return instead_of(node, lt.mul(x, constant(product, dtype=dtype)))


@node_rewriter(elementwise(Add, Mul))
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
