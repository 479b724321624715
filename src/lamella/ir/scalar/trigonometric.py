"""Circular functions and their inverses; degrees and radians."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.op import BinaryUfunc, Scalars, Slopes, UnaryUfunc

__all__ = [
    "Arccos",
    "Arcsin",
    "Arctan",
    "Arctan2",
    "Cos",
    "Deg2Rad",
    "Rad2Deg",
    "Sin",
    "Tan",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "cos",
    "deg2rad",
    "rad2deg",
    "sin",
    "tan",
]


@final
class Sin(UnaryUfunc):
    """The sine."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.sin

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.cos(x)]


@final
class Cos(UnaryUfunc):
    """The cosine."""

    __slots__ = ()

    flops_per_element = 20
    ufunc = np.cos

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [-ls.sin(x)]


@final
class Tan(UnaryUfunc):
    """The tangent."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.tan

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (z,) = outputs
        return [1 + z * z]


@final
class Arcsin(UnaryUfunc):
    """The inverse sine, in [-pi/2, pi/2]; NaN outside of [-1, 1]. The slopes at the ends are infinite."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.arcsin

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal(ls.sqrt((1 - x) * (1 + x)))]


@final
class Arccos(UnaryUfunc):
    """The inverse cosine, in [0, pi]; NaN outside of [-1, 1]. The slopes at the ends are infinite."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.arccos

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [-ls.reciprocal(ls.sqrt((1 - x) * (1 + x)))]


@final
class Arctan(UnaryUfunc):
    """The inverse tangent, in [-pi/2, pi/2]."""

    __slots__ = ()

    flops_per_element = 25
    ufunc = np.arctan

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.reciprocal(1 + x * x)]


@final
class Arctan2(BinaryUfunc):
    """The angle of the point ``(x, y)``, for operands ``y, x``, in [-pi, pi]. The gradient at the origin is NaN."""

    __slots__ = ()

    flops_per_element = 30
    ufunc = np.arctan2

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        y, x = inputs
        radius = ls.hypot(y, x)
        return [x / radius / radius, -y / radius / radius]


@final
class Deg2Rad(UnaryUfunc):
    """Degrees in radians."""

    __slots__ = ()

    ufunc = np.deg2rad

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [math.pi / 180]


@final
class Rad2Deg(UnaryUfunc):
    """Radians in degrees."""

    __slots__ = ()

    ufunc = np.rad2deg

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [180 / math.pi]


sin = Sin()
cos = Cos()
tan = Tan()
arcsin = Arcsin()
arccos = Arccos()
arctan = Arctan()
arctan2 = Arctan2()
deg2rad = Deg2Rad()
rad2deg = Rad2Deg()
