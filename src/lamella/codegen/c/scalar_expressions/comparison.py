"""C expressions of comparisons and tests."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.errors import LoweringError
from lamella.ir import Eq, Ge, Gt, IsFinite, IsInf, IsNan, Le, Lt, Neq, SignBit

Operands = Sequence[str]


@c_expression.register(Eq)
def eq(op: Eq, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x == y``."""
    return _equal(loop, operands, body)


@c_expression.register(Neq)
def neq(op: Neq, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x != y``."""
    return f"!{_equal(loop, operands, body)}"


def _equal(loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    x, y = operands
    if loop.operand.kind == "c":
        return f"({x}.re == {y}.re && {x}.im == {y}.im)"
    return _compared("==", loop, operands)


def _compared(sign: str, loop: ScalarLoop, operands: Operands) -> str:
    x, y = operands
    left, right = (C_DTYPES[dtype] for dtype in loop.ins)
    if {left.kind, right.kind} == {"i", "u"}:
        # A negative number is less than any unsigned one; C would make it unsigned.
        if left.kind == "i":
            below = "1" if sign in ("<", "<=") else "0"
            return f"({x} < 0 ? {below} : (uint64_t){x} {sign} (uint64_t){y})"
        above = "1" if sign in (">", ">=") else "0"
        return f"({y} < 0 ? {above} : (uint64_t){x} {sign} (uint64_t){y})"
    return f"({x} {sign} {y})"


@c_expression.register(Lt)
def lt(op: Lt, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x < y``."""
    return _ordered("<", "less", loop, operands, body)


@c_expression.register(Le)
def le(op: Le, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x <= y``."""
    return _ordered("<=", "less_equal", loop, operands, body)


@c_expression.register(Gt)
def gt(op: Gt, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x > y``."""
    return _ordered(">", "less", loop, operands, body)


@c_expression.register(Ge)
def ge(op: Ge, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x >= y``."""
    return _ordered(">=", "less_equal", loop, operands, body)


def _ordered(sign: str, name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    if loop.operand.kind == "c":
        body.need("maths", "complex")
        x, y = operands if sign.startswith("<") else reversed(operands)
        return f"lm_{name}_{loop.operand.suffix}({x}, {y})"
    return _compared(sign, loop, operands)


@c_expression.register(IsNan)
def isnan(op: IsNan, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether ``x`` is NaN."""
    (x,) = operands
    if loop.operand.kind == "c":
        return f"({x}.re != {x}.re || {x}.im != {x}.im)"
    return f"({x} != {x})" if loop.operand.kind == "f" else "0"


@c_expression.register(IsInf)
def isinf(op: IsInf, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether ``x`` is infinite."""
    (x,) = operands
    if loop.operand.kind == "c":
        return f"(__builtin_isinf({x}.re) || __builtin_isinf({x}.im))"
    return f"(__builtin_isinf({x}) != 0)" if loop.operand.kind == "f" else "0"


@c_expression.register(IsFinite)
def isfinite(op: IsFinite, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether ``x`` is neither infinite nor NaN."""
    (x,) = operands
    if loop.operand.kind == "c":
        return f"(__builtin_isfinite({x}.re) && __builtin_isfinite({x}.im))"
    return f"(__builtin_isfinite({x}) != 0)" if loop.operand.kind == "f" else "1"


@c_expression.register(SignBit)
def signbit(op: SignBit, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Whether the sign bit is set."""
    (x,) = operands
    if loop.operand.kind != "f":
        raise LoweringError(f"signbit of {loop.operand.name} has no expression in C")
    return f"(__builtin_signbit({x}) != 0)"
