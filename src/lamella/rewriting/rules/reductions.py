"""Reductions over axes of length 1, of reductions, and of moved axes."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Apply,
    CAReduce,
    DimShuffle,
    FunctionGraph,
    Max,
    Min,
    Prod,
    Sum,
    TensorVariable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.ir import All as AllOf
from lamella.ir import Any as AnyOf
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted

__all__ = ["reduction_of_dimshuffle", "reduction_of_reduction", "reduction_of_unit_axes", "with_axes"]

_MERGED: Final = (AllOf, AnyOf, Max, Min, Prod, Sum)


@node_rewriter([Sum, Prod, Max, Min, AllOf, AnyOf])
def reduction_of_unit_axes(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(x, axis=1) -> dimshuffle(x, 0) + 0``, where axis 1 has length 1; ``max(x, axis=1) -> dimshuffle(x, 0)``; others likewise.

    Always valid: a sum begins with 0, so that of -0.0 is 0.0, and adding 0 makes it so. Only the axes that have length 1 are dropped. It pays
    because an elementwise operation fuses with others, or nothing is computed.
    """
    x, op = as_tensor_variable(node.inputs[0]), node.op
    if not isinstance(op, CAReduce):
        return None
    reduced = [axis for axis in op.axes if x.type.shape[axis] != 1]
    if len(reduced) == len(op.axes) and op.axes:
        return None
    kept = [axis for axis in range(x.ndim) if axis in reduced or axis not in op.axes]
    dropped = lt.dimshuffle(x, kept)
    if reduced:
        return fitted(with_axes(op, [kept.index(axis) for axis in reduced])(dropped), node.outputs[0])
    alone = _of_one(op, dropped)
    return None if alone is None else fitted(alone, node.outputs[0])


def with_axes(op: CAReduce, axes: list[int]) -> CAReduce:
    """Return the same reduction along other axes."""
    if isinstance(op, Sum | Prod):
        return type(op)(axes, op.dtype, op.acc_dtype)
    return type(op)(axes)


def _of_one(op: CAReduce, x: TensorVariable) -> TensorVariable | None:
    """Return what a reduction makes of single elements; None where that is more than it seems."""
    if isinstance(op, AllOf | AnyOf):
        return x if x.dtype == "bool" else lt.neq(x, constant(0, dtype=x.dtype))
    if not isinstance(op, Sum | Prod):
        return x
    accumulator, dtype = op.loop(x.dtype)
    if isinstance(op, Prod) and accumulator in COMPLEX_DTYPES:
        return None  # 1 * complex(inf, 0) has a NaN in it
    begun = lt.cast(x, accumulator)
    if isinstance(op, Sum) and accumulator in (*FLOAT_DTYPES, *COMPLEX_DTYPES):
        begun = lt.add(begun, constant(0, dtype=accumulator))
    return lt.cast(begun, dtype)


@node_rewriter([*_MERGED], tracks_inputs=[CAReduce])
def reduction_of_reduction(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(sum(x, axis=1), axis=0) -> sum(x, axis=(0, 1))``; likewise for prod, max, min, all and any, each of the same.

    Valid for two of one kind that compute in the same dtype. Floats are added up in another order. It pays because one pass over memory is
    made, where nothing else needs what is between.
    """
    (middle,) = node.inputs
    match node.op, middle.owner:
        case CAReduce() as op, Apply(CAReduce() as inner, (TensorVariable() as x,)) if type(op) is type(inner):
            pass
        case _:
            return None
    if with_axes(op, []) != with_axes(inner, []) or len(fgraph.get_clients(middle)) > 1:
        return None
    left = [axis for axis in range(x.ndim) if axis not in inner.axes]
    return fitted(with_axes(op, sorted([*inner.axes, *[left[axis] for axis in op.axes]]))(x), node.outputs[0])


@node_rewriter([*_MERGED])
def reduction_of_dimshuffle(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(dimshuffle(x, 1, 0), axis=(0, 1)) -> sum(x, axis=(0, 1))``; likewise for prod, max, min, all and any.

    Valid where the axes that remain come in their order, and none is dropped. Floats are added up in another order. It pays because memory is read
    as it lies, and because what computes x may be reduced while it is computed.
    """
    match node.op, node.inputs[0].owner:
        case CAReduce() as op, Apply(DimShuffle() as moved, (TensorVariable() as x,)) if not moved.dropped:
            pass
        case _:
            return None
    places = enumerate(moved.new_order)
    remaining = [axis for i, axis in places if i not in op.axes and axis != "x"]
    reduced = [axis for axis in moved.shuffle if axis not in remaining]
    if remaining != sorted(remaining) or not set(moved.added) <= set(op.axes) or not reduced:
        return None
    return fitted(with_axes(op, sorted(reduced))(x), node.outputs[0])
