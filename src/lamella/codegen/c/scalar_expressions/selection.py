"""C expressions of choices among operands, of casts, rounding, and parts of complex numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, TypedText, c_expression
from lamella.ir import (
    Cast,
    Ceil,
    Clip,
    Conj,
    CopySign,
    Floor,
    Identity,
    Imag,
    Maximum,
    Minimum,
    Real,
    Rint,
    Second,
    Switch,
    Trunc,
)

Operands = Sequence[str]


@c_expression.register(Switch)
def switch(op: Switch, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x`` where the condition holds, else ``y``."""
    condition, x, y = operands
    return f"({condition} ? {x} : {y})"


@c_expression.register(Maximum)
def maximum(op: Maximum, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The greater operand; NaN where there is a NaN."""
    return extremum("maximum", loop.operand, operands, body)


@c_expression.register(Minimum)
def minimum(op: Minimum, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The lesser operand; NaN where there is a NaN."""
    return extremum("minimum", loop.operand, operands, body)


def extremum(name: str, dtype: CDType, operands: Operands, body: ScalarBody) -> str:
    """Return the expression for the greater (``"maximum"``) or lesser (``"minimum"``) of two operands."""
    x, y = operands
    if dtype.kind in "biu":
        return f"({x} {'>' if name == 'maximum' else '<'} {y} ? {x} : {y})"
    number = None if dtype.name == "float16" or dtype.kind == "c" else known_number(y)
    if number is not None and (number or math.copysign(1, number) > 0):
        # NaN fails the comparison, and is the result: there is an instruction for this. Of zeros, the sign is that of the second operand.
        chosen = f"({y} {'>' if name == 'maximum' else '<'} {x} ? {y} : {x})"
        return chosen if number else f"({chosen} + 0)"
    body.need("maths", "complex" if dtype.kind == "c" else "real")
    return f"lm_{name}_{dtype.suffix}({x}, {y})"


def known_number(text: str) -> float | None:
    """Return the number that an operand is, if it is a float's literal, and not infinite or NaN."""
    literal = _LITERAL.fullmatch(text)
    return None if literal is None else float.fromhex(literal[1])


_LITERAL: Final = re.compile(r"\(?(-?0x[\da-f.]+p[+-]?\d+)f?\)?")


@c_expression.register(Clip)
def clip(op: Clip, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``minimum(maximum(x, low), high)``."""
    x, low, high = operands
    raised = body.temporary(extremum("maximum", loop.operand, [x, low], body), loop.ins[0])
    return extremum("minimum", loop.operand, [raised.text, high], body)


@c_expression.register(CopySign)
def copysign(op: CopySign, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``|x|`` with the sign of ``y``."""
    body.need("maths")
    return f"copysign{'' if loop.operand.name == 'float64' else 'f'}({', '.join(operands)})"


@c_expression.register(Identity)
def identity(op: Identity, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x`` itself."""
    return operands[0]


@c_expression.register(Second)
def second(op: Second, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``y``."""
    return operands[1]


@c_expression.register(Cast)
def cast(op: Cast, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x`` in another dtype."""
    return body.cast(TypedText(operands[0], loop.ins[0]), loop.outs[0]).text


def _rounded(name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    (x,) = operands
    if loop.operand.kind != "f":
        return x
    body.need("maths")
    return f"{name}{'' if loop.operand.name == 'float64' else 'f'}({x})"


@c_expression.register(Ceil)
def ceil(op: Ceil, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The least integer not below ``x``."""
    return _rounded("ceil", loop, operands, body)


@c_expression.register(Floor)
def floor(op: Floor, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The greatest integer not above ``x``."""
    return _rounded("floor", loop, operands, body)


@c_expression.register(Trunc)
def trunc(op: Trunc, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The integer part."""
    return _rounded("trunc", loop, operands, body)


@c_expression.register(Rint)
def rint(op: Rint, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The nearest integer; halves are rounded to even."""
    if loop.operand.kind == "c":
        body.need("maths")
        f = "" if loop.operand.name == "complex128" else "f"
        return f"(({loop.result.computed}){{rint{f}({operands[0]}.re), rint{f}({operands[0]}.im)}})"
    return _rounded("rint", loop, operands, body)


@c_expression.register(Real)
def real(op: Real, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The real part."""
    return f"{operands[0]}.re" if loop.operand.kind == "c" else operands[0]


@c_expression.register(Imag)
def imag(op: Imag, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The imaginary part."""
    return f"{operands[0]}.im" if loop.operand.kind == "c" else "0"


@c_expression.register(Conj)
def conj(op: Conj, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The complex conjugate."""
    (x,) = operands
    return f"(({loop.result.computed}){{{x}.re, -{x}.im}})" if loop.operand.kind == "c" else x
