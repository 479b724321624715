"""Reductions along axes: accumulators, which stand still along the axes that are reduced, and one pass over all elements.

z = sum(x, axis=1)    x : float64[?, ?]
->  z.shape[0] = x.shape[0];  (z is allocated)
    call->serve->reduce(call, &reducer0, 2, x.shape, {z.data, x.data}, {{z.strides[0], 0}, x.strides});
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Value
from typing import Final

import numpy as np

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.common_kernels import cast_kernel
from lamella.codegen.c.reduction_kernel import ReducedOutput, Reduction, add_reducer
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.step import Array, Step, Strided, integers, operand_arrays
from lamella.errors import LoweringError
from lamella.ir import (
    All,
    Any,
    BitwiseAndReduce,
    BitwiseOrReduce,
    BitwiseXorReduce,
    CAReduce,
    Max,
    Min,
    Prod,
    Sum,
    TensorType,
)

__all__ = ["identity_of", "reduce"]

_IDENTITIES: Final[dict[type[CAReduce], Value]] = {
    All: 1,
    Any: 0,
    BitwiseAndReduce: -1,
    BitwiseOrReduce: 0,
    BitwiseXorReduce: 0,
    Max: -math.inf,
    Min: math.inf,
    Prod: 1,
    Sum: 0,
}


def identity_of(op: CAReduce, dtype: str) -> Value:
    """Return the number of a dtype that changes nothing when it is combined with any other; for extremes the least or the greatest.

    Raises
    ------
    LoweringError
        There is none.
    """
    number = _IDENTITIES.get(type(op))
    kind = C_DTYPES[dtype].kind
    if number is None or (isinstance(op, Max | Min) and kind == "c"):
        raise LoweringError(f"{op} does not begin with a number of {dtype}")
    if isinstance(op, Max | Min) and kind in "iu":
        limits = np.iinfo(dtype)
        return int(limits.min if isinstance(op, Max) else limits.max)
    if kind == "b":
        return int(number != 0 and number != -math.inf)
    return number


@c_lowering.register(*_IDENTITIES)
def reduction(op: CAReduce, step: Step) -> None:
    """Reduce along axes."""
    (x,) = step.inputs
    accumulator, _ = op.loop(x.type.dtype)
    identity = None if isinstance(op, Max | Min) else identity_of(op, accumulator)
    output = ReducedOutput(0, Reduction(op.scalar_op, x.type.dtype, accumulator, identity))
    reducer = add_reducer(step.unit, None, [x.type.dtype], [output], [x.type.dtype])
    if identity is None:
        for axis in op.axes:
            step.require(f"{x.length(axis)} > 0")
    kept = [axis for axis in range(x.ndim) if axis not in op.axes]
    laid_out = Strided(x.data, integers([x.stride(axis) for axis in kept]))
    z = step.allocate([x.length(axis) for axis in kept], like=[laid_out])

    if not kept:
        _to_number(step, x, z, reducer, accumulator)
    elif accumulator == z.type.dtype:
        _to_array(step, x, z, reducer, op.axes)
    else:
        name = f"acc{step.number}"
        wide = TensorType(accumulator, z.type.shape)
        acc = Array(name, wide, step.unit.tensor_type(wide))
        step.emit(f"{step.unit.array_type(acc.ndim)} {name};")
        step.emit(*[f"{name}.shape[{axis}] = {z.length(axis)};" for axis in range(z.ndim)])
        strides = f"(const lm_int *const[]){{{z.strides}}}"
        step.attempt(f"call->serve->allocate(call, {acc.address}, &{acc.type_name}, 1, {strides})")
        _to_array(step, x, acc, reducer, op.axes)
        cast = cast_kernel(step.unit, accumulator, z.type.dtype)
        step.nest(cast.loops, z.shape, z.ndim, [z.strided, acc.strided])
        step.emit(f"lm_release(call, &{name}.block);")


def _to_number(step: Step, x: Array, z: Array, reducer: str, accumulator: str) -> None:
    """Reduce all axes: the accumulator is a variable."""
    name = f"acc{step.number}"
    body = ScalarBody()
    wide = TensorType(accumulator, ())
    acc = Array(name, wide, step.unit.tensor_type(wide))
    step.emit(f"{acc.c.storage} {name};")
    zeros = integers(["0"] * x.ndim)
    reduce(step, reducer, x.shape, x.ndim, [Strided(f"(char *)&{name}", zeros), x.strided])
    result = body.cast(TypedText(acc.c.loaded(name), accumulator), z.type.dtype)
    if body.lines:
        raise LoweringError(f"{accumulator} is not cast to {z.type.dtype} in one expression")
    step.unit.need(*body.headers)
    step.emit(f"{z.element} = {z.c.stored(result.text)};")


def _to_array(step: Step, x: Array, acc: Array, reducer: str, axes: tuple[int, ...]) -> None:
    """Reduce some axes: the accumulators have the others."""
    kept = iter(range(acc.ndim))
    strides = integers(["0" if axis in axes else acc.stride(next(kept)) for axis in range(x.ndim)])
    reduce(step, reducer, x.shape, x.ndim, [Strided(acc.data, strides), x.strided])


def reduce(step: Step, reducer: str, shape: str, ndim: int, operands: Sequence[Strided]) -> None:
    """Let the host compute elements and reduce them.

    Parameters
    ----------
    step
        The step.
    reducer
        The name of what `add_reducer` added.
    shape, ndim
        The expression for the array of lengths, and how many there are.
    operands
        The outputs, whose strides are 0 along axes that are reduced, and what is read.
    """
    step.attempt(f"call->serve->reduce(call, &{reducer}, {ndim}, {shape}, {operand_arrays(operands)})")
