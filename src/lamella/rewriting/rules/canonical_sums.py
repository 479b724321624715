"""Sums as what they add up, each term once: without regard to rounding, NaN or infinities.

before                              after
%0 = add(%x, %y)                    %0 = mul(%y, 3.0)
%1 = mul(%y, 2.0)
%2 = add(%0, %1)
%3 = sub(%2, %x)
"""

from __future__ import annotations

import math
from typing import Any, Final

from lamella.ir import (
    FLOAT_DTYPES,
    Add,
    Apply,
    Constant,
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
from lamella.rewriting.rules.operands import applied, elementwise, filled, instead_of, number, operands

__all__ = ["terms_collected"]

_MOST_TERMS: Final = 16


@node_rewriter(elementwise(Add, Sub))
def terms_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x + y) - x -> y``, ``x * 2 + x / 2 - x -> x * 1.5``, ``(x + 1) - 2 -> x - 1``, and so on.

    It looks into sums that nothing else needs, and into others where one term is left. Valid for floats of one dtype that are neither NaN nor infinite, nor so large or small that sums of them are; the order of additions changes, and the
    error that shapes do not fit is not raised. It pays because less is computed.
    """
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOAT_DTYPES:
        return None
    found: dict[TensorVariable, float] = {}
    added = 0.0
    numbers = terms = 0
    left: list[tuple[TensorVariable, float]] = [(v, 1.0) for v in reversed(operands(node))]
    if applied(Sub, node.outputs[0]):
        left[0] = (left[0][0], -1.0)
    own = {v for v, _ in left}
    takes_apart_shared = False
    while left:
        if len(left) + len(found) > _MOST_TERMS:
            return None
        term, factor = left.pop()
        shared = len(fgraph.get_clients(term)) > 1
        parts = _parts(term, factor) if term.dtype == dtype and (term in own or not shared) else None
        if parts is not None:
            takes_apart_shared |= shared
            left.extend(reversed(parts))
            continue
        known = number(term)
        if known is not None and not isinstance(known, complex) and math.isfinite(known):
            numbers += 1
            added += factor * known
        else:
            terms += 1
            found[term] = found.get(term, 0.0) + factor
    if len(found) == terms and numbers < 2:
        return None
    if takes_apart_shared and sum([factor != 0 for factor in found.values()]) > 1:
        return None  # what others need would be added up twice
    return _sum(node, found, added)


def _parts(term: TensorVariable, factor: float) -> list[tuple[TensorVariable, float]] | None:
    """Return what a term adds up, and how often each; None for what is no sum and no multiple."""
    inner = applied((Add, Sub, Neg, Mul, TrueDivide), term)
    if inner is None:
        return None
    if applied(Add, term):
        return [(v, factor) for v in inner]
    if applied(Neg, term):
        return [(inner[0], -factor)]
    x, *others = inner
    if len(others) != 1:
        return None
    (y,) = others
    if applied(Sub, term):
        return [(x, factor), (y, -factor)]
    known = number(y)
    if applied(Mul, term) and known is None:
        x, y, known = y, x, number(x)
    if known is None or isinstance(known, complex) or not math.isfinite(known) or isinstance(x, Constant):
        return None
    if applied(Mul, term):
        return [(x, factor * known)]
    return [(x, factor / known)] if known else None


def _sum(node: Apply[Any], terms: dict[TensorVariable, float], added: float) -> list[TensorVariable] | None:
    """Return what replaces a sum: the terms, each as often as is told, and a number."""
    dtype = node.outputs[0].type.dtype
    total: TensorVariable | None = None
    for term, factor in sorted(terms.items(), key=lambda item: item[1] < 0):  # one that is not subtracted first
        if factor == 0:
            continue
        if total is None:
            total = term if factor == 1 else lt.mul(term, constant(factor, dtype=dtype))
            continue
        size = abs(factor)
        scaled = term if size == 1 else lt.mul(term, constant(size, dtype=dtype))
        total = lt.sub(total, scaled) if factor < 0 else lt.add(total, scaled)
    if total is None:
        return filled(node, added)
    return instead_of(node, lt.add(total, constant(added, dtype=dtype)) if added else total)
