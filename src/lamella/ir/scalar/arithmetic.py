"""Sums, differences, products, quotients, powers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.core import Variable
from lamella.ir.scalar.dtypes import DTypeOrLiteral, Loop, resolve_ufunc_loop
from lamella.ir.scalar.op import ScalarOp, UfuncScalarOp
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = ["Add", "Mul", "Neg", "Sub", "TrueDivide", "add", "mul", "neg", "sub", "true_divide"]


class _Fold(ScalarOp[[ScalarLike, ScalarLike]]):
    """A binary ufunc applied from left to right to two or more operands."""

    __slots__ = ()

    nin = -1
    commutative = True
    associative = True

    @property
    @abstractmethod
    def ufunc(self) -> np.ufunc:
        """The binary ufunc."""

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        first, *others = dtypes
        result: DTypeOrLiteral = first
        ins: list[str] = []
        for other in others:
            (left, right), (result,) = resolve_ufunc_loop(self.ufunc, (result, other))
            ins.append(right)
            if len(ins) == 1:
                ins.insert(0, left)
        return tuple(ins), (str(result),)

    @override
    def impl(self, *operands: Any) -> Any:
        return reduce(self.ufunc, operands)


@final
@attrs.frozen(repr=False)
class Add(_Fold):
    """``x + y``; of booleans, `or`."""

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.add

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        return [output_grads[0]] * len(inputs)


@final
@attrs.frozen(repr=False)
class Mul(_Fold):
    """``x * y``; of booleans, `and`."""

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.multiply

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        (gz,) = output_grads
        return [reduce(mul, [*inputs[:i], *inputs[i + 1 :]], gz) for i in range(len(inputs))]


@final
@attrs.frozen(repr=False)
class Sub(UfuncScalarOp[[ScalarLike, ScalarLike]]):
    """``x - y``."""

    nin = 2

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.subtract

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        (gz,) = output_grads
        return [gz, -gz]


@final
@attrs.frozen(repr=False)
class TrueDivide(UfuncScalarOp[[ScalarLike, ScalarLike]]):
    """``x / y``, of integers too."""

    nin = 2

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.true_divide

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        (_, y), (z,), (gz,) = inputs, outputs, output_grads
        return [gz / y, -(gz * z) / y]


@final
@attrs.frozen(repr=False)
class Neg(UfuncScalarOp[[ScalarLike]]):
    """``-x``; of unsigned integers, modulo their range; of booleans, a TypeError."""

    nin = 1

    @property
    @override
    def ufunc(self) -> np.ufunc:
        return np.negative

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        return [-output_grads[0]]


add = Add()
mul = Mul()
sub = Sub()
true_divide = TrueDivide()
neg = Neg()
