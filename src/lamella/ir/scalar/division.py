"""Floor division and its remainder."""

from __future__ import annotations

from typing import final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.op import BinaryUfunc, Scalars, Slopes

__all__ = ["FloorDivide", "Mod", "floor_divide", "mod"]


@final
class FloorDivide(BinaryUfunc):
    """The greatest integer not above ``x / y``, of integers and of floats.

    An integer divided by 0 gives 0. The gradient is 0, at jumps too.
    """

    __slots__ = ()

    flops_per_element = 10
    ufunc = np.floor_divide

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        return [None, None]


@final
class Mod(BinaryUfunc):
    """``x - y * floor_divide(x, y)``: what is left, with the sign of ``y``.

    An integer modulo 0 gives 0. The gradient at jumps is that of the branch the value is on.
    """

    __slots__ = ()

    flops_per_element = 10
    ufunc = np.remainder

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        x, y = inputs
        return [1, -ls.floor_divide(x, y)]


floor_divide = FloorDivide()
mod = Mod()
