"""Variables and constants of `ScalarType`, and their operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import numpy as np

# The one cycle of this folder: operators of scalar Variables apply scalar Ops, whose results are scalar Variables.
import lamella.ir.scalar.functions as ls
from lamella.ir.graph.core import Constant, Variable

if TYPE_CHECKING:
    pass

__all__ = ["ScalarConstant", "ScalarLike", "ScalarVariable"]


@attrs.frozen(eq=False, repr=False)
class ScalarVariable(Variable["ScalarType"]):
    """A symbolic number."""

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return self.type.dtype

    def __add__(self, other: ScalarLike) -> ScalarVariable:
        return ls.add(self, other)

    def __radd__(self, other: ScalarLike) -> ScalarVariable:
        return ls.add(other, self)

    def __sub__(self, other: ScalarLike) -> ScalarVariable:
        return ls.sub(self, other)

    def __rsub__(self, other: ScalarLike) -> ScalarVariable:
        return ls.sub(other, self)

    def __mul__(self, other: ScalarLike) -> ScalarVariable:
        return ls.mul(self, other)

    def __rmul__(self, other: ScalarLike) -> ScalarVariable:
        return ls.mul(other, self)

    def __truediv__(self, other: ScalarLike) -> ScalarVariable:
        return ls.true_divide(self, other)

    def __rtruediv__(self, other: ScalarLike) -> ScalarVariable:
        return ls.true_divide(other, self)

    def __neg__(self) -> ScalarVariable:
        return ls.neg(self)


class ScalarConstant(Constant["ScalarType"], ScalarVariable):
    """A number that is known while the graph is built."""

    __slots__ = ()


ScalarLike = ScalarVariable | np.generic | bool | int | float | complex
"""What scalar Ops take: a scalar Variable, a NumPy scalar, or a literal (weak, as in NEP 50)."""
