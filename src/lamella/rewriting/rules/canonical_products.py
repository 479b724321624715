"""Products and quotients as a number and what is above and below the line, nothing in both: without regard to rounding, NaN or infinities.

before                              after
%0 = mul(%x, %y)                    %x
%1 = true_divide(%0, %y)
"""

from __future__ import annotations

import math
from typing import Any, Final

from lamella.ir import (
    FLOAT_DTYPES,
    Apply,
    FunctionGraph,
    Mul,
    Neg,
    Reciprocal,
    TensorVariable,
    TrueDivide,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, filled, instead_of, number, operands

__all__ = ["factors_collected"]

_MOST_FACTORS: Final = 16


@node_rewriter(elementwise(Mul, TrueDivide))
def factors_collected(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``(x * y) / y -> x``, ``x * (y / x) -> y``, ``(x * 2) * 0.5 -> x``, ``(x * 2) / (y * 3) -> (x / y) * (2 / 3)``, and so on.

    It looks into products and quotients that nothing else needs, and into others where one factor is left. Valid for floats of one dtype that are neither NaN nor infinite nor 0, nor so large or small that products of them are; the order of multiplications
    changes, and the error that shapes do not fit is not raised. It pays because less is computed.
    """
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOAT_DTYPES:
        return None
    above: list[TensorVariable] = []
    below: list[TensorVariable] = []
    factor = 1.0
    numbers = 0
    cancelled = False
    left: list[tuple[TensorVariable, bool]] = [(v, False) for v in reversed(operands(node))]
    if applied(TrueDivide, node.outputs[0]):
        left[0] = (left[0][0], True)
    own = {v for v, _ in left}
    takes_apart_shared = False
    while left:
        if len(left) + len(above) + len(below) > _MOST_FACTORS:
            return None
        part, is_below = left.pop()
        shared = len(fgraph.get_clients(part)) > 1
        parts = _parts(part, is_below) if part.dtype == dtype and (part in own or not shared) else None
        if parts is not None:
            takes_apart_shared |= shared
            factor = -factor if applied(Neg, part) else factor
            left.extend(reversed(parts))
            continue
        known = number(part)
        if known and not isinstance(known, complex) and math.isfinite(known):
            numbers += 1
            factor = factor / known if is_below else factor * known
            continue
        others, same = (above, below) if is_below else (below, above)
        if part in others:
            others.remove(part)
            cancelled = True
        else:
            same.append(part)
    if (not cancelled and numbers < 2) or not math.isfinite(factor) or factor == 0:
        return None
    if takes_apart_shared and len(above) + len(below) > 1:
        return None  # what others need would be multiplied twice
    return _quotient(node, above, below, factor)


def _parts(part: TensorVariable, is_below: bool) -> list[tuple[TensorVariable, bool]] | None:
    """Return the factors of a product or quotient, and whether each is below the line; None for what is none."""
    inner = applied((Mul, TrueDivide, Reciprocal, Neg), part)
    if inner is None:
        return None
    if applied(Reciprocal, part):
        return [(inner[0], not is_below)]
    if applied(TrueDivide, part):
        return [(inner[0], is_below), (inner[1], not is_below)]
    return [(v, is_below) for v in inner]


def _product(factors: list[TensorVariable]) -> TensorVariable | None:
    result: TensorVariable | None = None
    for factor in factors:
        result = factor if result is None else lt.mul(result, factor)
    return result


def _quotient(
    node: Apply[Any], above: list[TensorVariable], below: list[TensorVariable], factor: float
) -> list[TensorVariable] | None:
    """Return what replaces a product or quotient: a number, and what it is multiplied with and divided by."""
    scale = constant(factor, dtype=node.outputs[0].type.dtype)
    numerator, denominator = _product(above), _product(below)
    if numerator is None and denominator is None:
        return filled(node, factor)
    if numerator is None and denominator is not None:
        return instead_of(node, lt.true_divide(scale, denominator))
    if numerator is not None and denominator is not None:
        numerator = lt.true_divide(numerator, denominator)
    assert numerator is not None
    if factor == -1:
        return instead_of(node, lt.neg(numerator))
    return instead_of(node, numerator if factor == 1 else lt.mul(numerator, scale))
