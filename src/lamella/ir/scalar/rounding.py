"""Rounding to integers. All gradients are 0, at jumps too."""

from __future__ import annotations

from typing import final

import numpy as np
from typing_extensions import override

from lamella.ir.scalar.op import Scalars, Slopes, UnaryUfunc

__all__ = ["Ceil", "Floor", "Rint", "Trunc", "ceil", "floor", "rint", "trunc"]


@final
class Ceil(UnaryUfunc):
    """The least integer not below ``x``, as a float; integers stay as they are."""

    __slots__ = ()

    ufunc = np.ceil

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [None]


@final
class Floor(UnaryUfunc):
    """The greatest integer not above ``x``, as a float; integers stay as they are."""

    __slots__ = ()

    ufunc = np.floor

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [None]


@final
class Trunc(UnaryUfunc):
    """The integer part, as a float; integers stay as they are."""

    __slots__ = ()

    ufunc = np.trunc

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [None]


@final
class Rint(UnaryUfunc):
    """The nearest integer, as a float; halves are rounded to even."""

    __slots__ = ()

    ufunc = np.rint

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [None]


ceil = Ceil()
floor = Floor()
trunc = Trunc()
rint = Rint()
