"""Exponentials and logarithms."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.op import Scalars, Slopes, UnaryUfunc

__all__ = [
    "Exp",
    "Exp2",
    "Expm1",
    "Log",
    "Log1p",
    "Log2",
    "Log10",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
]


@final
class Exp(UnaryUfunc):
    """``e ** x``."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.exp

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [z]


@final
class Exp2(UnaryUfunc):
    """``2 ** x``."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.exp2

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [z * math.log(2)]


@final
class Expm1(UnaryUfunc):
    """``e**x - 1``, exact near 0."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.expm1

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.exp(x)]


@final
class Log(UnaryUfunc):
    """The natural logarithm; NaN of negative floats. The slope at 0 is infinite."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.log

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal(x)]


@final
class Log2(UnaryUfunc):
    """The logarithm to base 2; NaN of negative floats. The slope at 0 is infinite."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.log2

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [(1 / math.log(2)) / x]


@final
class Log10(UnaryUfunc):
    """The logarithm to base 10; NaN of negative floats. The slope at 0 is infinite."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.log10

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [(1 / math.log(10)) / x]


@final
class Log1p(UnaryUfunc):
    """``log(1 + x)``, exact near 0. The slope at -1 is infinite."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.log1p

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal(1 + x)]


exp = Exp()
exp2 = Exp2()
expm1 = Expm1()
log = Log()
log2 = Log2()
log10 = Log10()
log1p = Log1p()
