"""Choosing among operands: by a condition, by size, by place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import zero_cotangent
from lamella.ir.scalar.dtypes import (
    DTypeOrLiteral,
    Loop,
    is_differentiable_dtype,
    result_dtype,
    strong_dtype,
)
from lamella.ir.scalar.op import BinaryUfunc, ScalarOp, Scalars, Slopes
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = [
    "Clip",
    "CopySign",
    "Identity",
    "Maximum",
    "Minimum",
    "Second",
    "Switch",
    "clip",
    "copysign",
    "identity",
    "maximum",
    "minimum",
    "second",
    "switch",
]


@final
class Switch(ScalarOp[[ScalarLike, ScalarLike, ScalarLike]]):
    """``x`` where ``condition`` is not 0, else ``y``. The gradient goes to the operand that was chosen, and is exactly 0 for the other."""

    __slots__ = ()

    nin = 3

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        common = result_dtype(*dtypes[1:])
        return ("bool", common, common), (common,)

    @override
    def impl(self, *operands: Any) -> Any:
        return np.where(*operands)

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (condition, *branches), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(outputs[0].dtype):
            return [zero_cotangent(x) for x in inputs]
        taken = [ls.switch(condition, gz, 0), ls.switch(condition, 0, gz)]
        return [
            zero_cotangent(condition),
            *[
                g if is_differentiable_dtype(x.dtype) else zero_cotangent(x)
                for x, g in zip(branches, taken, strict=True)
            ],
        ]


class _Extremum(BinaryUfunc):
    """The greater or the lesser operand; NaN where there is a NaN."""

    __slots__ = ()

    commutative = True
    associative = True

    def _preferred(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        """Whether the result is ``x`` and not ``y``."""
        raise NotImplementedError

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x, y), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(outputs[0].dtype):
            return [zero_cotangent(v) for v in inputs]
        at_tie = ls.switch(ls.eq(x, y), gz * 0.5, 0)
        return [
            ls.switch(self._preferred(a, b), gz, at_tie) if is_differentiable_dtype(a.dtype) else zero_cotangent(a)
            for a, b in ((x, y), (y, x))
        ]


@final
class Maximum(_Extremum):
    """The greater operand; NaN where there is a NaN.

    Equal operands have half of the gradient each; where there is a NaN, both gradients are 0.
    """

    __slots__ = ()

    ufunc = np.maximum

    @override
    def _preferred(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return ls.gt(x, y)


@final
class Minimum(_Extremum):
    """The lesser operand; NaN where there is a NaN.

    Equal operands have half of the gradient each; where there is a NaN, both gradients are 0.
    """

    __slots__ = ()

    ufunc = np.minimum

    @override
    def _preferred(self, x: ScalarVariable, y: ScalarVariable) -> ScalarVariable:
        return ls.lt(x, y)


@final
class Clip(ScalarOp[[ScalarLike, ScalarLike, ScalarLike]]):
    """``minimum(maximum(x, low), high)``: ``high`` where ``low > high``; NaN where there is a NaN.

    The gradient goes to the operand that the result is; to ``x`` where it equals a bound.
    """

    __slots__ = ()

    nin = 3
    flops_per_element = 2

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        common = result_dtype(*dtypes)
        return (common, common, common), (common,)

    @override
    def impl(self, *operands: Any) -> Any:
        x, low, high = operands
        return np.minimum(np.maximum(x, low), high)

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x, low, high), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(outputs[0].dtype):
            return [zero_cotangent(v) for v in inputs]
        below = ls.lt(x, low)
        above = ls.gt(ls.maximum(x, low), high)
        by_operand = [
            ls.switch(ls.logical_or(below, above), 0, gz),
            ls.switch(ls.logical_and(below, ls.logical_not(above)), gz, 0),
            ls.switch(above, gz, 0),
        ]
        return [
            g if is_differentiable_dtype(v.dtype) else zero_cotangent(v)
            for v, g in zip(inputs, by_operand, strict=True)
        ]


@final
class CopySign(BinaryUfunc):
    """``|x|`` with the sign of ``y``. The gradient by ``x`` at 0 is 0, that by ``y`` is 0."""

    __slots__ = ()

    ufunc = np.copysign

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [ls.sign(x) * ls.copysign(1, y), None]


@final
class Identity(ScalarOp[[ScalarLike]]):
    """``x`` itself; of arrays, a copy."""

    __slots__ = ()

    nin = 1
    flops_per_element = 0

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        dtype = strong_dtype(dtypes[0])
        return (dtype,), (dtype,)

    @override
    def impl(self, *operands: Any) -> Any:
        return operands[0]

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [1]


@final
class Second(ScalarOp[[ScalarLike, ScalarLike]]):
    """``y``; of arrays, ``y`` in the shape that ``x`` and ``y`` broadcast to. A literal number ``y`` takes its dtype from ``x``."""

    __slots__ = ()

    nin = 2
    flops_per_element = 0

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        first = strong_dtype(dtypes[0])
        value = dtypes[1] if isinstance(dtypes[1], str) else result_dtype(first, dtypes[1])
        return (first, value), (value,)

    @override
    def impl(self, *operands: Any) -> Any:
        x, y = operands
        return np.broadcast_to(y, np.broadcast_shapes(np.shape(x), np.shape(y)))

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        return [[False], [True]]

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (_, y), (gz,) = inputs, output_grads
        return [DisconnectedType()(), gz if is_differentiable_dtype(y.dtype) else zero_cotangent(y)]


clip = Clip()
copysign = CopySign()
identity = Identity()
maximum = Maximum()
minimum = Minimum()
second = Second()
switch = Switch()
