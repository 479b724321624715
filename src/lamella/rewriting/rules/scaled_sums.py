"""Sums of what was multiplied by one number, or negated: the sum is multiplied, or negated, instead.

before                                  after
%0 = Mul(%c0, %x)                       %0 = Sum{axis=(0,)}(%x)
%1 = Sum{axis=(0,)}(%0)                 %1 = Mul(%c0, %0)
"""

from __future__ import annotations

import math
from typing import Any

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Apply,
    Elemwise,
    FunctionGraph,
    Mul,
    Neg,
    Sum,
    TensorVariable,
    TrueDivide,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.operands import applied, elementwise, number
from lamella.rewriting.rules.usage import used_once

__all__ = ["sum_of_neg", "sum_of_repeated_factor", "sum_of_scaled"]


def _summed_alone(fgraph: FunctionGraph, node: Apply[Any]) -> tuple[Sum, str] | None:
    """Return the Op and the dtype it adds up in, where what it adds up is used by nothing else, and dtypes let the sum be scaled instead."""
    op, x = node.op, as_tensor_variable(node.inputs[0])
    if not isinstance(op, Sum) or not used_once(fgraph, x):
        return None
    accumulator, dtype = op.loop(x.dtype)
    if {x.dtype, accumulator, dtype} & {*COMPLEX_DTYPES, "bool"}:
        return None
    if x.dtype in FLOAT_DTYPES and accumulator in FLOAT_DTYPES and dtype in FLOAT_DTYPES:
        return op, accumulator
    return (op, accumulator) if x.dtype == accumulator == dtype else None  # integers wrap in their own dtype


def _is_elementwise(variable: TensorVariable) -> bool:
    return variable.owner is not None and isinstance(variable.owner.op, Elemwise)


@node_rewriter([Sum], tracks_inputs=elementwise(Neg))
def sum_of_neg(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(-x) -> 0 - sum(x)``

    Always valid for numbers that are added up in their own dtype, or in wider floats. A sum is never -0.0, hence the 0. It pays because fewer numbers
    are negated, where nothing else needs -x, and x is not computed element by element: then the sign would be changed at the same time.
    """
    found, negated = _summed_alone(fgraph, node), applied(Neg, node.inputs[0])
    if found is None or negated is None or _is_elementwise(negated[0]):
        return None
    return fitted(lt.sub(0, found[0](negated[0])), node.outputs[0])


@node_rewriter([Sum], tracks_inputs=elementwise(Mul, TrueDivide))
def sum_of_scaled(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(2 * x) -> 2 * sum(x)``; ``sum(x / 2) -> sum(x) / 2``; ``sum(-2 * x) -> 0 - 2 * sum(x)``, which is never -0.0 either

    Valid for a known number that is finite and not 0. Floats round at other places. It pays because fewer numbers are multiplied, where nothing else
    needs the products, and x is not computed element by element: then it would be multiplied at the same time.
    """
    found = _summed_alone(fgraph, node)
    quotient = applied(TrueDivide, node.inputs[0])
    factors = quotient or applied(Mul, node.inputs[0])
    if found is None or factors is None or any([x.dtype != node.inputs[0].type.dtype for x in factors]):
        return None
    for place, scale in enumerate(factors):
        known = number(scale) if all(scale.type.broadcastable) else None
        if isinstance(known, int | float) and known != 0 and math.isfinite(known) and (place == 1 or quotient is None):
            break
    else:
        return None
    op, accumulator = found
    rest = factors[:place] + factors[place + 1 :]
    if all([_is_elementwise(x) for x in rest]):
        return None
    total = Sum(op.axes, accumulator, accumulator)(lt.mul(*rest) if len(rest) > 1 else rest[0])
    negative = known < 0 and accumulator in FLOAT_DTYPES
    size = constant(abs(known) if negative else known, dtype=accumulator)
    scaled = lt.mul(size, total) if quotient is None else lt.true_divide(total, size)
    return fitted(lt.cast(lt.sub(0, scaled) if negative else scaled, node.outputs[0].type.dtype), node.outputs[0])


@node_rewriter([Sum])
def sum_of_repeated_factor(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(a * x, axis=0) -> a * sum(x, axis=0)``, for a that is repeated along the axis

    Valid where a is finite; floats round at other places. It pays because fewer numbers are multiplied, where nothing else needs the products.
    """
    found, factors = _summed_alone(fgraph, node), applied(Mul, node.inputs[0])
    if found is None or factors is None or any([x.dtype != node.inputs[0].type.dtype for x in factors]):
        return None
    op, accumulator = found
    repeated = [x for x in factors if all([x.type.shape[axis] == 1 for axis in op.axes])]
    rest = [x for x in factors if x not in repeated]
    if not repeated or any([all([x.type.shape[axis] == 1 for x in rest]) for axis in op.axes]):
        return None
    total = Sum(op.axes, accumulator, accumulator)(lt.mul(*rest) if len(rest) > 1 else rest[0])
    kept = [axis for axis in range(rest[0].ndim) if axis not in op.axes]
    scaled = lt.mul(*[lt.cast(lt.dimshuffle(x, kept), accumulator) for x in repeated], total)
    if accumulator in FLOAT_DTYPES:
        scaled = lt.add(scaled, constant(0, dtype=accumulator))  # a sum is never -0.0
    return fitted(lt.cast(scaled, node.outputs[0].type.dtype), node.outputs[0])
