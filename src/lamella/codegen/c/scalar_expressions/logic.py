"""C expressions of logic on truth values and on bits, and of shifts."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.ir import (
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    LeftShift,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    RightShift,
)

Operands = Sequence[str]


def _truths(loop: ScalarLoop, operands: Operands) -> list[str]:
    return [
        f"({x}.re != 0 || {x}.im != 0)" if C_DTYPES[dtype].kind == "c" else f"({x} != 0)"
        for x, dtype in zip(operands, loop.ins, strict=True)
    ]


# `&` and `|` of truth values, not `&&` and `||`: no branches.
@c_expression.register(LogicalAnd)
def logical_and(op: LogicalAnd, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether both operands are not 0."""
    x, y = _truths(loop, operands)
    return f"({x} & {y})"


@c_expression.register(LogicalOr)
def logical_or(op: LogicalOr, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether any operand is not 0."""
    x, y = _truths(loop, operands)
    return f"({x} | {y})"


@c_expression.register(LogicalXor)
def logical_xor(op: LogicalXor, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether just one operand is not 0."""
    x, y = _truths(loop, operands)
    return f"({x} ^ {y})"


@c_expression.register(LogicalNot)
def logical_not(op: LogicalNot, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether the operand is 0."""
    (x,) = _truths(loop, operands)
    return f"!{x}"


@c_expression.register(BitwiseAnd)
def bitwise_and(op: BitwiseAnd, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x & y``."""
    return _bitwise("&", loop, operands)


@c_expression.register(BitwiseOr)
def bitwise_or(op: BitwiseOr, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x | y``."""
    return _bitwise("|", loop, operands)


@c_expression.register(BitwiseXor)
def bitwise_xor(op: BitwiseXor, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x ^ y``."""
    return _bitwise("^", loop, operands)


def _bitwise(sign: str, loop: ScalarLoop, operands: Operands) -> str:
    x, y = operands
    return f"(({loop.result.computed})({x} {sign} {y}))"


@c_expression.register(BitwiseNot)
def bitwise_not(op: BitwiseNot, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``~x``; of booleans, `not`."""
    (x,) = operands
    return f"!{x}" if loop.operand.kind == "b" else f"(({loop.result.computed})~{x})"


@c_expression.register(LeftShift)
def left_shift(op: LeftShift, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x << y``."""
    body.need("integer")
    return f"lm_left_shift_{loop.operand.suffix}({', '.join(operands)})"


@c_expression.register(RightShift)
def right_shift(op: RightShift, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x >> y``."""
    body.need("integer")
    return f"lm_right_shift_{loop.operand.suffix}({', '.join(operands)})"
