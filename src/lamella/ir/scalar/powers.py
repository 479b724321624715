"""Powers and roots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.dtypes import INTEGER_DTYPES, Loop
from lamella.ir.scalar.op import BinaryUfunc, Scalars, Slopes, UnaryUfunc, is_literal

__all__ = ["Hypot", "Power", "Reciprocal", "Sqrt", "Square", "hypot", "power", "reciprocal", "sqrt", "square"]


@final
class Power(BinaryUfunc):
    """``x ** y``.

    Integers give integers; a negative exponent is a ValueError then. A negative float to a fractional power is NaN, but ``-inf`` to a
    positive one is infinite, as IEEE 754 says of `pow`; so is it to the power 0.5, of which NumPy takes the square root where the
    exponent is one number for a whole array.
    The gradient of ``x ** 0`` is 0 for every ``x``. That by ``y`` is 0 where ``x`` is 0 and ``y`` is not negative, and NaN where ``x`` is
    negative.
    """

    __slots__ = ()

    flops_per_element = 40
    ufunc = np.power

    @override
    def loop_for(self, operands: Sequence[object]) -> Loop:
        ins, outs = super().loop_for(operands)
        exponent = operands[1]
        if isinstance(exponent, int) and is_literal(exponent) and outs[0] in INTEGER_DTYPES:
            if exponent >= 0 or exponent < np.iinfo(outs[0]).min:  # what does not fit is told of elsewhere
                return ins, outs
            raise ValueError(
                f"integers to negative integer powers are not allowed: {exponent} with {ins[0]}; cast the base to a float"
            )
        return ins, outs

    @override
    def impl(self, *operands: Any) -> Any:
        x, y = operands
        powers = super().impl(x, y)
        if powers.dtype.kind != "f":
            return powers
        as_root = (y == 0.5) & ((x == 0) | (x == -np.inf))  # where the square root is another one
        return np.where(as_root, np.abs(x), powers) if np.any(as_root) else powers

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x, y), (z,) = inputs, outputs
        by_x = ls.switch(ls.eq(y, 0), 0, y * ls.power(x, y - 1))
        by_y = ls.switch(ls.logical_and(ls.eq(x, 0), ls.ge(y, 0)), 0, z * ls.log(x))
        return [by_x, by_y]


@final
class Reciprocal(UnaryUfunc):
    """``1 / x``; of integers, the integer part."""

    __slots__ = ()

    flops_per_element = 4
    ufunc = np.reciprocal

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [-(z * z)]


@final
class Square(UnaryUfunc):
    """``x * x``."""

    __slots__ = ()

    ufunc = np.square

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [2 * x]


@final
class Sqrt(UnaryUfunc):
    """The square root; NaN of negative floats. The slope at 0 is infinite."""

    __slots__ = ()

    flops_per_element = 6
    ufunc = np.sqrt

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [0.5 / z]


@final
class Hypot(BinaryUfunc):
    """``sqrt(x**2 + y**2)``, without overflow in between. The gradient at the origin is 0."""

    __slots__ = ()

    commutative = True
    flops_per_element = 12
    ufunc = np.hypot

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x, y), (z,) = inputs, outputs
        at_origin = ls.eq(z, 0)
        return [ls.switch(at_origin, 0, x / z), ls.switch(at_origin, 0, y / z)]


power = Power()
reciprocal = Reciprocal()
square = Square()
sqrt = Sqrt()
hypot = Hypot()
