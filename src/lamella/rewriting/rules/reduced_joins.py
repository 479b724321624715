"""Reductions of joined arrays, of vectors made of scalars, of reshaped arrays, and of repeated values.

before                                  after
%0 = Join{axis=0}(%x, %y)               %0 = Max{axis=(0,)}(%x)
%1 = Max{axis=(0,)}(%0)                 %1 = Max{axis=(0,)}(%y)
%2 = Maximum(%0, %1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Alloc,
    Apply,
    CAReduce,
    FunctionGraph,
    Join,
    MakeVector,
    Max,
    Min,
    Prod,
    Reshape,
    Sum,
    TensorVariable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.ir import All as AllOf
from lamella.ir import Any as AnyOf
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fill import repeated
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.reductions import with_axes
from lamella.rewriting.rules.usage import used_once
from lamella.typing_layer import symbolic_shape

__all__ = [
    "extreme_of_fill",
    "reduction_across_join",
    "reduction_of_join",
    "reduction_of_reshape",
    "reduction_of_scalars",
]

_Combine = Callable[[TensorVariable, TensorVariable], TensorVariable]

_OF_TWO: Final[Mapping[type[CAReduce], _Combine]] = {
    Sum: lt.add,
    Prod: lt.mul,
    Max: lt.maximum,
    Min: lt.minimum,
    AllOf: lt.logical_and,
    AnyOf: lt.logical_or,
}

_MOST_SCALARS: Final = 16
"""More scalars are put into a vector: they take less code so."""


def _combined(op: CAReduce, parts: Sequence[TensorVariable], dtype: str) -> TensorVariable:
    """Return what a reduction makes of two elements and more, in the dtype in which it computes."""
    combine = _OF_TWO[type(op)]
    result = parts[0]
    for part in parts[1:]:
        result = combine(result, part)
    return lt.cast(result, dtype)


def _in_parts(op: CAReduce, dtype: str) -> tuple[CAReduce, str, str] | None:
    """Return the Op that reduces parts, the dtypes of its results and of the whole; None where parts cannot be combined."""
    accumulator, result = op.loop(dtype)
    if isinstance(op, Prod) and accumulator in COMPLEX_DTYPES:
        return None  # 1 * complex(inf, 0) has a NaN in it
    if isinstance(op, Sum | Prod):
        return type(op)(op.axes, accumulator, accumulator), accumulator, result
    return op, result, result


@node_rewriter([*_OF_TWO])
def reduction_of_scalars(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(make_vector(a, b, c)) -> a + b + c + 0``; the same for prod, max, min, all and any.

    Always valid: a sum begins with 0, so that of -0.0 is 0.0. Floats are added up in another order. It pays because elementwise operations on scalars
    fuse, and no vector is made.
    """
    match node.op, node.inputs[0].owner:
        case CAReduce() as op, Apply(MakeVector(dtype), scalars) if 2 <= len(scalars) <= _MOST_SCALARS and op.axes == (
            0,
        ):
            pass
        case _:
            return None
    found = _in_parts(op, dtype)
    if found is None:
        return None
    _, accumulator, result = found
    parts = [as_tensor_variable(x) for x in scalars]
    if isinstance(op, Sum | Prod):
        parts = [lt.cast(x, accumulator) for x in parts]
    elif isinstance(op, AllOf | AnyOf):
        parts = [x if x.dtype == "bool" else lt.neq(x, constant(0, dtype=x.dtype)) for x in parts]
    if isinstance(op, Sum) and accumulator in (*FLOAT_DTYPES, *COMPLEX_DTYPES):
        parts.append(constant(0, dtype=accumulator))
    return fitted(_combined(op, parts, result), node.outputs[0])


@node_rewriter([*_OF_TWO], tracks_inputs=[Join])
def reduction_of_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(join(0, x, y)) -> sum(x) + sum(y)``; the same for prod, max, min, all and any.

    Valid where extremes are of arrays that are known to have elements along the axis; that x and y do not fit together is not noticed. Floats are added
    up in another order. It pays because nothing is copied, where nothing else needs the joined array.
    """
    joined = node.inputs[0]
    match node.op, joined.owner:
        case CAReduce() as op, Apply(Join(axis), inputs) if axis in op.axes and 1 < len(inputs) <= _MOST_SCALARS:
            parts = [as_tensor_variable(x) for x in inputs]
        case _:
            return None
    if isinstance(op, Max | Min) and any([not x.type.shape[axis] for x in parts]):
        return None
    found = _in_parts(op, parts[0].dtype) if used_once(fgraph, joined) else None
    if found is None:
        return None
    of_part, _, result = found
    return fitted(_combined(op, [of_part(x) for x in parts], result), node.outputs[0])


@node_rewriter([*_OF_TWO], tracks_inputs=[Join])
def reduction_across_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(join(0, x, y), axis=1) -> join(0, sum(x, axis=1), sum(y, axis=1))``; the same for prod, max, min, all and any.

    Valid where the axis of the join is left; that x and y do not fit together is not noticed. It pays because less is copied, where nothing else needs
    the joined array.
    """
    joined = node.inputs[0]
    match node.op, joined.owner:
        case CAReduce() as op, Apply(Join(axis), inputs) if (
            axis not in op.axes and op.axes and used_once(fgraph, joined)
        ):
            pass
        case _:
            return None
    place = axis - len([other for other in op.axes if other < axis])
    return fitted(Join(place)(*[op(as_tensor_variable(x)) for x in inputs]), node.outputs[0])


@node_rewriter([*_OF_TWO])
def reduction_of_reshape(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``sum(reshape(x, s)) -> sum(x)``, over all axes; the same for prod, max, min, all and any.

    Valid where s fits: the error that it does not is not raised. Floats may be added up in another order. It pays because x may have to be copied to be
    reshaped, and because what computes x may be reduced while it is computed.
    """
    match node.op, node.inputs[0].owner:
        case CAReduce() as op, Apply(Reshape(ndim), (TensorVariable() as x, *_)) if len(op.axes) == ndim > 0 and x.ndim:
            return fitted(with_axes(op, list(range(x.ndim)))(x), node.outputs[0])
        case _:
            return None


@node_rewriter([Max, Min])
def extreme_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``max(alloc(v, n)) -> v``, and ``min(alloc(v, n)) -> v``; the same for ``fill(x, v)``.

    Valid where n is not 0: the error that it is is not raised. It pays because nothing is compared.
    """
    x, op = as_tensor_variable(node.inputs[0]), node.op
    value = repeated(x)
    if value is None or not isinstance(op, CAReduce):
        return None
    whole = as_tensor_variable(value, ndim=x.ndim)
    alike = [axis for axis in op.axes if whole.type.shape[axis] == 1]
    if not alike or any([x.type.shape[axis] == 0 for axis in alike]):
        return None
    kept = [axis for axis in range(x.ndim) if axis not in alike]
    compared = [kept.index(axis) for axis in op.axes if axis not in alike]
    part = lt.dimshuffle(whole, kept)
    result = with_axes(op, compared)(part) if compared else part
    (out,) = node.outputs
    if result.type.broadcastable != out.type.broadcastable:
        result = Alloc()(result, *symbolic_shape(out))
    return fitted(result, out)
