"""The logistic function and its kin: exponentials and logarithms that are stable where their plain formulas are not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.dtypes import DTypeOrLiteral, Loop, resolve_ufunc_loop
from lamella.ir.scalar.op import BinaryUfunc, ScalarOp, Scalars, Slopes
from lamella.ir.scalar.special import SpecialScalarOp
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = [
    "Log1mExp",
    "LogAddExp",
    "LogAddExp2",
    "LogSigmoid",
    "Sigmoid",
    "Softplus",
    "XLogY",
    "log1mexp",
    "log_sigmoid",
    "logaddexp",
    "logaddexp2",
    "sigmoid",
    "softplus",
    "xlogy",
]


@final
class Sigmoid(SpecialScalarOp):
    """``1 / (1 + exp(-x))``."""

    __slots__ = ()

    flops_per_element = 30
    scipy_name = "expit"

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [z * (1 - z)]


@final
class LogSigmoid(SpecialScalarOp):
    """``log(sigmoid(x))``, without underflow."""

    __slots__ = ()

    flops_per_element = 50
    scipy_name = "log_expit"

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.sigmoid(-x)]


def _real_float_loop(dtypes: Sequence[DTypeOrLiteral]) -> Loop:
    (dtype,) = dtypes
    (first, _), outs = resolve_ufunc_loop(np.logaddexp, (dtype, dtype))
    return (first,), outs


@final
class Softplus(ScalarOp[[ScalarLike]]):
    """``log(1 + exp(x))``, without overflow."""

    __slots__ = ()

    nin = 1
    flops_per_element = 50

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return _real_float_loop(dtypes)

    @override
    def impl(self, *operands: Any) -> Any:
        (x,) = operands
        return np.logaddexp(x, x.dtype.type(0))

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.sigmoid(x)]


@final
class Log1mExp(ScalarOp[[ScalarLike]]):
    """``log(1 - exp(x))`` for ``x < 0``; -inf at 0, NaN above. The slope at 0 is infinite.

    By the formula that is exact where ``x`` is: M. Mächler, "Accurately computing log(1 - exp(-|a|))", 2012.
    """

    __slots__ = ()

    nin = 1
    flops_per_element = 50

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return _real_float_loop(dtypes)

    @override
    def impl(self, *operands: Any) -> Any:
        (x,) = operands
        return np.where(x > -math.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [-ls.expm1(-z)]  # -exp(x) / (1 - exp(x)), where 1 - exp(x) is exp(z)


@final
class LogAddExp(BinaryUfunc):
    """``log(exp(x) + exp(y))``, without overflow. Where both operands are the same infinity, each has half of the gradient."""

    __slots__ = ()

    commutative = True
    associative = True
    flops_per_element = 50
    ufunc = np.logaddexp

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [_share(x, y, 1), _share(y, x, 1)]


@final
class LogAddExp2(BinaryUfunc):
    """``log2(2**x + 2**y)``, without overflow. Where both operands are the same infinity, each has half of the gradient."""

    __slots__ = ()

    commutative = True
    associative = True
    flops_per_element = 50
    ufunc = np.logaddexp2

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [_share(x, y, math.log(2)), _share(y, x, math.log(2))]


def _share(x: ScalarVariable, y: ScalarVariable, scale: float) -> ScalarVariable:
    # Infinities of one sign have no difference.
    return ls.switch(ls.eq(x, y), 0.5, ls.sigmoid(x - y if scale == 1 else (x - y) * scale))


@final
class XLogY(ScalarOp[[ScalarLike, ScalarLike]]):
    """``x * log(y)``, and 0 where ``x`` is 0, whatever ``y`` be but NaN.

    The gradient by ``x`` is ``log(y)``, infinite at 0; that by ``y`` is 0 where ``x`` is 0.
    """

    __slots__ = ()

    nin = 2
    flops_per_element = 22

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        return resolve_ufunc_loop(np.logaddexp, tuple(dtypes))

    @override
    def impl(self, *operands: Any) -> Any:
        x, y = operands
        return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log(y))

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [ls.log(y), ls.switch(ls.eq(x, 0), 0, x / y)]


log1mexp = Log1mExp()
log_sigmoid = LogSigmoid()
logaddexp = LogAddExp()
logaddexp2 = LogAddExp2()
sigmoid = Sigmoid()
softplus = Softplus()
xlogy = XLogY()
