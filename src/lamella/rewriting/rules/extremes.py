"""Greater and lesser numbers of a number and itself, of bounds that bind nothing, and of several bounds.

before                              after
%0 = maximum(%x, 0.0)               %1 = maximum(%x, 1.0)
%1 = maximum(%0, 1.0)
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from lamella.ir import (
    BOOL_DTYPES,
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    Apply,
    Clip,
    Elemwise,
    FunctionGraph,
    Maximum,
    Minimum,
    ScalarOp,
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
    same_number,
    whole_fill,
    with_number,
)
from lamella.typing_layer import is_nonnegative

__all__ = [
    "clip_of_clip",
    "clip_without_bounds",
    "extreme_of_bounds",
    "extreme_of_itself",
    "extreme_with_no_bound",
    "extremes_to_clip",
]

_EXTREMES: Final = (Maximum, Minimum)


def _kind(node: Apply[Any]) -> type[ScalarOp[Any]]:
    assert isinstance(node.op, Elemwise)
    return type(node.op.scalar_op)


@node_rewriter(elementwise(*_EXTREMES))
def extreme_of_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``maximum(x, x) -> x``, and ``minimum(x, x) -> x``

    Always valid. It pays because nothing is compared.
    """
    x, y = operands(node)
    return instead_of(node, x) if x is y else None


def _limits(dtype: str) -> tuple[float, float]:
    """Return the least and the greatest number of a dtype that is not complex."""
    if dtype in BOOL_DTYPES:
        return 0, 1
    if dtype in INTEGER_DTYPES:
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return -math.inf, math.inf


@node_rewriter(elementwise(*_EXTREMES))
def extreme_with_no_bound(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``maximum(x, -inf) -> x``, and ``minimum(x, inf) -> x``; ``maximum(n, 0) -> n``, for n never negative; ``maximum(n, 127) -> 127``, for n of 8 bits.

    Always valid: a NaN stays. Integers have the bounds of their dtype, and 0 where they are never negative. It pays because nothing is
    compared.
    """
    known = with_number(node)
    if known is None or known[2].dtype in COMPLEX_DTYPES or known[1].dtype in COMPLEX_DTYPES:
        return None
    bound, _, x = known
    if isinstance(bound, complex) or bound != bound or str(bound) == "-0.0":
        return None
    low, high = _limits(x.dtype)
    if x.dtype in INTEGER_DTYPES and low < 0 and bound <= 0 and is_nonnegative(x):
        low = 0
    greatest = _kind(node) is Maximum
    if (bound <= low) if greatest else (bound >= high):
        return instead_of(node, x)
    if x.dtype not in FLOAT_DTYPES and ((bound >= high) if greatest else (bound <= low)):
        return whole_fill(node, bound)
    return None


@node_rewriter(elementwise(*_EXTREMES))
def extreme_of_bounds(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``maximum(maximum(x, 1), 2) -> maximum(x, 2)``, and so for minimum, for numbers.

    Valid where all are of one dtype; zeros of two signs are left alone, of which neither is the greater. It pays because one comparison is
    made.
    """
    outer = with_number(node)
    if outer is None or outer[2].owner is None or not applied(_kind(node), outer[2]):
        return None
    inner = with_number(outer[2].owner)
    dtype = node.outputs[0].type.dtype
    if inner is None or dtype in COMPLEX_DTYPES or any([v.dtype != dtype for v in (outer[1], inner[1], inner[2])]):
        return None
    a, b = inner[0], outer[0]
    if a == b and not same_number(a, b):
        return None
    function: Any = np.maximum if _kind(node) is Maximum else np.minimum
    bound = function(np.asarray(a, dtype), np.asarray(b, dtype))
    # Of zeros of both signs the order of the operands decides, so the bound that is left stays at its place.
    first = [node.inputs[0] is outer[1], outer[2].owner.inputs[0] is inner[1]]
    if a == b == 0 and first[0] != first[1]:
        return None
    kept = constant(bound, dtype=dtype)
    return instead_of(node, node.op(kept, inner[2]) if first[bool(bound == a)] else node.op(inner[2], kept))


def _bound(variable: TensorVariable, dtype: str) -> float | None:
    """Return the number that a constant of a dtype repeats, if it is neither a NaN nor a zero of floats, which has a sign."""
    known = number(variable)
    if known is None or isinstance(known, complex) or known != known or variable.dtype != dtype:
        return None
    return None if known == 0 and dtype in FLOAT_DTYPES else known


@node_rewriter(elementwise(*_EXTREMES))
def extremes_to_clip(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``minimum(maximum(x, 1), 2) -> clip(x, 1, 2)``, and ``maximum(minimum(x, 2), 1) -> clip(x, 1, 2)``, for numbers of which the first is not more.

    Valid for numbers of one dtype. Of zeros of two signs neither is the greater: with a zero of floats for a bound only what compares in the order
    that `clip` does is rewritten. It pays because one node is computed, and others see what is in between.
    """
    outer = with_number(node)
    if outer is None or outer[2].owner is None:
        return None
    kind = _kind(node)
    other = Minimum if kind is Maximum else Maximum
    dtype = node.outputs[0].type.dtype
    inner = with_number(outer[2].owner) if applied(other, outer[2]) else None
    if inner is None or dtype in COMPLEX_DTYPES or inner[2].dtype != dtype:
        return None
    low, high = (outer[1], inner[1]) if kind is Maximum else (inner[1], outer[1])
    in_order = kind is Minimum and node.inputs[1] is high and outer[2].owner.inputs[1] is low
    if not in_order or low.dtype != dtype or high.dtype != dtype:
        least, greatest = _bound(low, dtype), _bound(high, dtype)
        if least is None or greatest is None or least > greatest:
            return None
    return instead_of(node, lt.clip(inner[2], low, high))


def _clipped(variable: TensorVariable) -> tuple[TensorVariable, float, float] | None:
    """Return x and the bounds, if the Variable is x between two numbers of its dtype, the lesser first."""
    found = applied(Clip, variable)
    if found is None or found[0].dtype != variable.dtype:
        return None
    least, greatest = _bound(found[1], variable.dtype), _bound(found[2], variable.dtype)
    return None if least is None or greatest is None or least > greatest else (found[0], least, greatest)


@node_rewriter(elementwise(Clip, *_EXTREMES))
def clip_of_clip(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``clip(clip(x, 0, 5), 3, 8) -> clip(x, 3, 5)``, ``maximum(clip(x, 0, 5), 3) -> clip(x, 3, 5)``, and so on, for numbers; bounds that exclude one another become one.

    Valid for numbers of one dtype; zeros of floats are left alone. It pays because one node is computed.
    """
    out = node.outputs[0]
    if applied(Clip, out):
        found = _clipped(out)  # type: ignore[arg-type]  # the outputs of an elementwise node are tensors
        if found is None:
            return None
        middle, least, greatest = found
    else:
        known = with_number(node)
        bound = None if known is None else _bound(known[1], out.type.dtype)
        if known is None or bound is None:
            return None
        middle = known[2]
        least, greatest = (bound, math.inf) if _kind(node) is Maximum else (-math.inf, bound)
    inner = None if middle.dtype != out.type.dtype else _clipped(middle)
    if inner is None:
        return None
    x, low, high = inner
    bounds = [constant(min(max(v, least), greatest), dtype=out.type.dtype) for v in (low, high)]
    return instead_of(node, lt.clip(x, *bounds))


@node_rewriter(elementwise(Clip))
def clip_without_bounds(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``clip(x, -inf, y) -> minimum(x, y)``, and ``clip(x, y, inf) -> maximum(x, y)``; of integers, so for the bounds of their dtype.

    Valid for numbers of one dtype. It pays because one comparison is made.
    """
    x, low, high = operands(node)
    dtype = node.outputs[0].type.dtype
    if dtype in COMPLEX_DTYPES or any([v.dtype != dtype for v in (x, low, high)]):
        return None
    least, greatest = _limits(dtype)
    if is_number(low, least):
        return instead_of(node, lt.minimum(x, high))
    return instead_of(node, lt.maximum(x, low)) if is_number(high, greatest) else None
