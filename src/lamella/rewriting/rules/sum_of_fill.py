"""Sums of one value, many times.

before                              after
%0 = Alloc(%v, %n)                  %0 = Cast{float64}(%n)
%1 = Sum{axis=(0,)}(%0)             %1 = AnnihilatingMul(%0, %v)
                                    %2 = Add(%1, %c0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Alloc,
    Apply,
    FunctionGraph,
    Sum,
    TensorConstant,
    TensorVariable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fill import FILLS, repeated
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import symbolic_shape, uniform_value

__all__ = ["sum_of_fill", "sum_of_zeros"]


@node_rewriter([Sum])
def sum_of_zeros(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(zeros) -> zeros``

    Valid where the zeros are computed without an error. It pays because nothing is added up.
    """
    x = as_tensor_variable(node.inputs[0])
    value = None if isinstance(x, TensorConstant) else uniform_value(x)
    if value is None or any(value.tobytes()):  # the sum of -0.0 is 0.0, so it would do as well, but nobody writes it
        return None
    (out,) = node.outputs
    return fitted(Alloc()(constant(0, dtype=out.type.dtype), *symbolic_shape(out)), out)


@node_rewriter([Sum], tracks_inputs=FILLS)
def sum_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(alloc(v, n)) -> n * v + 0``; the same for ``fill(x, v)``.

    Valid along axes where v is repeated. A product rounds once where a sum rounds each time. Of no elements the sum is 0, whatever v is, and that of
    many -0.0 is 0.0: hence the annihilating product, and the 0. It pays because nothing is added up.
    """
    x, op = as_tensor_variable(node.inputs[0]), node.op
    value = repeated(x)
    if value is None or not isinstance(op, Sum) or any([dtype in COMPLEX_DTYPES for dtype in op.loop(x.dtype)]):
        return None
    whole = as_tensor_variable(value, ndim=x.ndim)
    counted = [axis for axis in op.axes if whole.type.shape[axis] == 1]
    if not counted:
        return None
    accumulator, dtype = op.loop(x.dtype)
    kept = [axis for axis in range(x.ndim) if axis not in counted]
    added = [kept.index(axis) for axis in op.axes if axis not in counted]
    part = Sum(added, accumulator, accumulator)(lt.dimshuffle(whole, kept)) if added else lt.dimshuffle(whole, kept)
    lengths = symbolic_shape(x)
    count = lengths[counted[0]] if len(counted) == 1 else lt.mul(*[lengths[axis] for axis in counted])
    product = _times(lt.cast(count, accumulator), lt.cast(part, accumulator))
    (out,) = node.outputs
    result = lt.cast(product, dtype)
    if result.type.broadcastable != out.type.broadcastable:  # it is repeated along axes that are not summed over
        result = Alloc()(result, *symbolic_shape(out))
    return fitted(result, out)


def _times(count: TensorVariable, value: TensorVariable) -> TensorVariable:
    """Return the sum of as many of a value, in one dtype."""
    known = uniform_value(value)
    if known is not None and np.isfinite(known) and not np.signbit(known):
        return lt.mul(count, value)
    product = lt.annihilating_mul(count, value)
    return lt.add(product, constant(0, dtype=product.dtype)) if product.dtype in FLOAT_DTYPES else product
