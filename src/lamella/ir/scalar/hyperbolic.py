"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES
from lamella.ir.scalar.op import Scalars, Slopes, UnaryUfunc

__all__ = [
    "Arccosh",
    "Arcsinh",
    "Arctanh",
    "Cosh",
    "Sinh",
    "Tanh",
    "arccosh",
    "arcsinh",
    "arctanh",
    "cosh",
    "sinh",
    "tanh",
]


@final
class Sinh(UnaryUfunc):
    """The hyperbolic sine."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.sinh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.cosh(x)]


@final
class Cosh(UnaryUfunc):
    """The hyperbolic cosine."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.cosh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.sinh(x)]


@final
class Tanh(UnaryUfunc):
    """The hyperbolic tangent."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.tanh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [1 - z * z]


@final
class Arcsinh(UnaryUfunc):
    """The inverse hyperbolic sine."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.arcsinh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        # hypot does not overflow, but is not defined for complex numbers
        root = ls.sqrt(1 + x * x) if x.dtype in COMPLEX_DTYPES else ls.hypot(1, x)
        return [ls.reciprocal(root)]


@final
class Arccosh(UnaryUfunc):
    """The inverse hyperbolic cosine; NaN below 1. The slope at 1 is infinite."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.arccosh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal(ls.sqrt(x - 1) * ls.sqrt(x + 1))]


@final
class Arctanh(UnaryUfunc):
    """The inverse hyperbolic tangent; NaN outside of [-1, 1]. The slopes at the ends are infinite."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.arctanh

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal((1 - x) * (1 + x))]


sinh = Sinh()
cosh = Cosh()
tanh = Tanh()
arcsinh = Arcsinh()
arccosh = Arccosh()
arctanh = Arctanh()
