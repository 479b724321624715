"""Sums, differences, products, quotients, signs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import pull_back, times_slope, zero_cotangent
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, DTypeOrLiteral, Loop, resolve_ufunc_loop
from lamella.ir.scalar.op import BinaryUfunc, ScalarOp, Scalars, Slopes, UnaryUfunc
from lamella.ir.scalar.variable import ScalarLike

__all__ = [
    "Abs",
    "Add",
    "AnnihilatingMul",
    "Mul",
    "Neg",
    "Sign",
    "Sub",
    "TrueDivide",
    "abs",
    "add",
    "annihilating_mul",
    "mul",
    "neg",
    "sign",
    "sub",
    "true_divide",
]


class _Fold(ScalarOp[[ScalarLike, ScalarLike]]):
    """A binary ufunc applied from left to right to two or more operands."""

    __slots__ = ()

    nin = -1
    commutative = True
    associative = True
    ufunc: ClassVar[np.ufunc]

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
class Add(_Fold):
    """``x + y + ...``; of booleans, `or`."""

    __slots__ = ()

    ufunc = np.add

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [1] * len(inputs)


@final
class Mul(_Fold):
    """``x * y * ...``; of booleans, `and`."""

    __slots__ = ()

    ufunc = np.multiply

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [reduce(ls.mul, [*inputs[:i], *inputs[i + 1 :]]) for i in range(len(inputs))]


@final
class Sub(BinaryUfunc):
    """``x - y``; of booleans, a TypeError."""

    __slots__ = ()

    ufunc = np.subtract

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [1, -1]


@final
class TrueDivide(BinaryUfunc):
    """``x / y``, of integers too."""

    __slots__ = ()

    flops_per_element = 4
    ufunc = np.true_divide

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (_, y), (z,) = inputs, outputs
        return [ls.reciprocal(y), -z / y]


@final
class Neg(UnaryUfunc):
    """``-x``; of unsigned integers, modulo their range; of booleans, a TypeError."""

    __slots__ = ()

    ufunc = np.negative

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [-1]


@final
class Abs(UnaryUfunc):
    """``|x|``. The gradient at 0 is 0."""

    __slots__ = ()

    ufunc = np.absolute

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        direction = ls.sign(inputs[0])
        # The cotangent of a complex number points along it: the conjugate is undone by that of a holomorphic function.
        return [ls.conj(direction) if direction.dtype in COMPLEX_DTYPES else direction]


@final
class Sign(UnaryUfunc):
    """-1, 0 or 1; of complex numbers, ``x / |x|``, or 0.

    The gradient of real numbers is 0, at 0 too; that of complex ones is not defined at 0.
    """

    __slots__ = ()

    ufunc = np.sign

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x,), (z,), (gz,) = inputs, outputs, output_grads
        if x.dtype not in COMPLEX_DTYPES:
            return [zero_cotangent(x)]
        across = gz - z * ls.real(ls.conj(z) * gz)  # only the part that turns x counts
        return [times_slope(across, ls.reciprocal(ls.abs(x)))]


@final
class AnnihilatingMul(BinaryUfunc):
    """``g * slope``, and exactly 0 where ``g`` is 0, though ``slope`` be infinite or NaN.

    This is how cotangents are multiplied: a branch that was not taken contributes nothing. It is linear in ``g``, and its
    derivatives are those of the plain product.
    """

    __slots__ = ()

    flops_per_element = 2
    ufunc = np.multiply

    @override
    def impl(self, *operands: Any) -> Any:
        g, slope = operands
        product = g * slope
        return np.where(g == 0, product.dtype.type(0), product)

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (g, slope), (gz,) = inputs, output_grads
        return [pull_back(gz, slope), pull_back(gz, g)]


abs = Abs()
add = Add()
annihilating_mul = AnnihilatingMul()
mul = Mul()
neg = Neg()
sign = Sign()
sub = Sub()
true_divide = TrueDivide()
