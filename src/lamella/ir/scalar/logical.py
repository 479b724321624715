"""Logic on truth values and on bits; shifts. All gradients are 0."""

from __future__ import annotations

from typing import final

import numpy as np

from lamella.ir.scalar.op import BinaryUfunc, UnaryUfunc

__all__ = [
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "LeftShift",
    "LogicalAnd",
    "LogicalNot",
    "LogicalOr",
    "LogicalXor",
    "RightShift",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "right_shift",
]


@final
class LogicalAnd(BinaryUfunc):
    """Whether both operands are not 0."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.logical_and


@final
class LogicalOr(BinaryUfunc):
    """Whether any operand is not 0."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.logical_or


@final
class LogicalXor(BinaryUfunc):
    """Whether just one operand is not 0."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.logical_xor


@final
class LogicalNot(UnaryUfunc):
    """Whether the operand is 0."""

    __slots__ = ()

    ufunc = np.logical_not


@final
class BitwiseAnd(BinaryUfunc):
    """``x & y``, of integers and booleans."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.bitwise_and


@final
class BitwiseOr(BinaryUfunc):
    """``x | y``, of integers and booleans."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.bitwise_or


@final
class BitwiseXor(BinaryUfunc):
    """``x ^ y``, of integers and booleans."""

    __slots__ = ()

    commutative = True
    associative = True
    ufunc = np.bitwise_xor


@final
class BitwiseNot(UnaryUfunc):
    """``~x``, of integers; of booleans, `not`."""

    __slots__ = ()

    ufunc = np.invert


@final
class LeftShift(BinaryUfunc):
    """``x << y``, of integers. A shift by as many bits as there are, or more, or by a negative number, gives 0."""

    __slots__ = ()

    ufunc = np.left_shift


@final
class RightShift(BinaryUfunc):
    """``x >> y``, of integers.

    A shift by as many bits as there are, or more, or by a negative number, gives 0, or -1 for negative ``x``.
    """

    __slots__ = ()

    ufunc = np.right_shift


logical_and = LogicalAnd()
logical_or = LogicalOr()
logical_xor = LogicalXor()
logical_not = LogicalNot()
bitwise_and = BitwiseAnd()
bitwise_or = BitwiseOr()
bitwise_xor = BitwiseXor()
bitwise_not = BitwiseNot()
left_shift = LeftShift()
right_shift = RightShift()
