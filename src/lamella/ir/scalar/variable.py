"""Variables and constants of `ScalarType`, and their operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import attrs
import numpy as np
import numpy.typing as npt

# The one cycle of this folder: operators of scalar Variables apply scalar Ops, whose results are scalar Variables.
import lamella.ir.scalar.functions as ls
from lamella.ir.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from lamella.ir.scalar.type import ScalarType  # noqa: F401 -- named in a string below

__all__ = ["ScalarConstant", "ScalarLike", "ScalarVariable"]


@attrs.frozen(eq=False, repr=False)
class ScalarVariable(Variable["ScalarType"]):
    """A symbolic number.

    Operators applied to it build the graph; ``==`` and ``hash`` are those of the node (`eq` compares values).
    """

    # NumPy scalars leave operators with a Variable to the Variable.
    __array_ufunc__ = None

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

    def __floordiv__(self, other: ScalarLike) -> ScalarVariable:
        return ls.floor_divide(self, other)

    def __rfloordiv__(self, other: ScalarLike) -> ScalarVariable:
        return ls.floor_divide(other, self)

    def __mod__(self, other: ScalarLike) -> ScalarVariable:
        return ls.mod(self, other)

    def __rmod__(self, other: ScalarLike) -> ScalarVariable:
        return ls.mod(other, self)

    def __pow__(self, other: ScalarLike) -> ScalarVariable:
        return ls.power(self, other)

    def __rpow__(self, other: ScalarLike) -> ScalarVariable:
        return ls.power(other, self)

    def __and__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_and(self, other)

    def __rand__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_and(other, self)

    def __or__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_or(self, other)

    def __ror__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_or(other, self)

    def __xor__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_xor(self, other)

    def __rxor__(self, other: ScalarLike) -> ScalarVariable:
        return ls.bitwise_xor(other, self)

    def __lshift__(self, other: ScalarLike) -> ScalarVariable:
        return ls.left_shift(self, other)

    def __rlshift__(self, other: ScalarLike) -> ScalarVariable:
        return ls.left_shift(other, self)

    def __rshift__(self, other: ScalarLike) -> ScalarVariable:
        return ls.right_shift(self, other)

    def __rrshift__(self, other: ScalarLike) -> ScalarVariable:
        return ls.right_shift(other, self)

    def __neg__(self) -> ScalarVariable:
        return ls.neg(self)

    def __abs__(self) -> ScalarVariable:
        return ls.abs(self)

    def __invert__(self) -> ScalarVariable:
        return ls.bitwise_not(self)

    def __lt__(self, other: ScalarLike) -> ScalarVariable:
        return ls.lt(self, other)

    def __le__(self, other: ScalarLike) -> ScalarVariable:
        return ls.le(self, other)

    def __gt__(self, other: ScalarLike) -> ScalarVariable:
        return ls.gt(self, other)

    def __ge__(self, other: ScalarLike) -> ScalarVariable:
        return ls.ge(self, other)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} is symbolic: it has no truth value while the graph is built; use switch")

    def astype(self, dtype: npt.DTypeLike) -> ScalarVariable:
        """Return the number in another dtype."""
        return ls.cast(self, dtype)


class ScalarConstant(Constant["ScalarType"], ScalarVariable):
    """A number that is known while the graph is built."""

    __slots__ = ()


ScalarLike = ScalarVariable | np.generic | bool | int | float | complex
"""What scalar Ops take: a scalar Variable, a NumPy scalar, or a literal (weak, as in NEP 50)."""
