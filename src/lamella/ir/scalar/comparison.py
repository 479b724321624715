"""Comparisons and tests. All gradients are 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from typing_extensions import override

from lamella.ir.scalar.dtypes import INTEGER_DTYPES, DTypeOrLiteral, Loop
from lamella.ir.scalar.op import BinaryUfunc, UnaryUfunc, is_literal, operand_dtype

__all__ = [
    "Eq",
    "Ge",
    "Gt",
    "IsFinite",
    "IsInf",
    "IsNan",
    "Le",
    "Lt",
    "Neq",
    "SignBit",
    "eq",
    "ge",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "lt",
    "neq",
    "signbit",
]


class _Comparison(BinaryUfunc):
    """A comparison. Integers of any two dtypes are compared exactly, and so is an integer with a literal out of its range."""

    __slots__ = ()

    @override
    def loop_for(self, operands: Sequence[object]) -> Loop:
        if len(operands) != 2:
            return super().loop_for(operands)
        dtypes = [operand_dtype(x) for x in operands]
        return self.loop([_literal_dtype(x, dtypes[1 - i]) for i, x in enumerate(operands)])


def _literal_dtype(operand: object, other: DTypeOrLiteral) -> DTypeOrLiteral:
    """Return the dtype of an operand; where it is a literal that the other operand's dtype does not hold, one that does."""
    if isinstance(operand, int) and is_literal(operand) and other in INTEGER_DTYPES:
        for dtype in (str(other), "int64", "uint64"):
            if np.iinfo(dtype).min <= operand <= np.iinfo(dtype).max:
                return int if dtype == other else dtype
        raise OverflowError(f"the integer {operand} fits no dtype; there are int64 and uint64 at most")
    return operand_dtype(operand)


@final
class Eq(_Comparison):
    """``x == y``."""

    __slots__ = ()

    commutative = True
    ufunc = np.equal


@final
class Neq(_Comparison):
    """``x != y``."""

    __slots__ = ()

    commutative = True
    ufunc = np.not_equal


@final
class Lt(_Comparison):
    """``x < y``."""

    __slots__ = ()

    ufunc = np.less


@final
class Le(_Comparison):
    """``x <= y``."""

    __slots__ = ()

    ufunc = np.less_equal


@final
class Gt(_Comparison):
    """``x > y``."""

    __slots__ = ()

    ufunc = np.greater


@final
class Ge(_Comparison):
    """``x >= y``."""

    __slots__ = ()

    ufunc = np.greater_equal


@final
class IsNan(UnaryUfunc):
    """Whether ``x`` is NaN."""

    __slots__ = ()

    ufunc = np.isnan


@final
class IsInf(UnaryUfunc):
    """Whether ``x`` is infinite."""

    __slots__ = ()

    ufunc = np.isinf


@final
class IsFinite(UnaryUfunc):
    """Whether ``x`` is neither infinite nor NaN."""

    __slots__ = ()

    ufunc = np.isfinite


@final
class SignBit(UnaryUfunc):
    """Whether the sign bit of ``x`` is set: of negative numbers, and of ``-0.0``."""

    __slots__ = ()

    ufunc = np.signbit


eq = Eq()
neq = Neq()
lt = Lt()
le = Le()
gt = Gt()
ge = Ge()
isnan = IsNan()
isinf = IsInf()
isfinite = IsFinite()
signbit = SignBit()
