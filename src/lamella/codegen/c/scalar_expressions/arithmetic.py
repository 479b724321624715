"""C expressions of sums, products, quotients, powers and signs.

Integers wrap: sums and products are computed unsigned, in at least 32 bits, where C lets them wrap.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import CDType, literal
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, TypedText, c_expression
from lamella.errors import LoweringError
from lamella.ir import (
    Abs,
    Add,
    AnnihilatingMul,
    FloorDivide,
    Mod,
    Mul,
    Neg,
    Power,
    Reciprocal,
    Sign,
    Square,
    Sub,
    TrueDivide,
)

Operands = Sequence[str]


def _wrapping(dtype: CDType, left: str, sign: str, right: str) -> str:
    unsigned = "uint64_t" if dtype.bits == 64 else "uint32_t"
    return f"(({dtype.computed})(({unsigned}){left} {sign} ({unsigned}){right}))"


def _complex(loop: ScalarLoop, name: str, operands: Operands, body: ScalarBody, header: str = "complex") -> str:
    body.need("maths", header)
    return f"lm_{name}_{loop.operand.suffix}({', '.join(operands)})"


@c_expression.register(Add)
def add(op: Add, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x + y + ...``, from left to right; of booleans, `or`."""
    return _folded(op, "+", "add", loop, operands, body)


@c_expression.register(Mul)
def mul(op: Mul, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x * y * ...``, from left to right; of booleans, `and`."""
    return _folded(op, "*", "mul", loop, operands, body)


def _folded(op: Add | Mul, sign: str, name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    if len(operands) > 2:
        # Each step has a dtype of its own, and is rounded.
        so_far = TypedText(operands[0], loop.ins[0])
        for operand, dtype in zip(operands[1:], loop.ins[1:], strict=True):
            (so_far,) = body.apply(op, [so_far, TypedText(operand, dtype)])
        return so_far.text
    return _combined(sign, name, loop, operands, body)


def _combined(sign: str, name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    dtype = loop.result
    x, y = operands
    if dtype.kind == "c":
        return _complex(loop, name, operands, body)
    if dtype.kind == "b":
        return f"({x} {'|' if sign == '+' else '&'} {y})"
    return _wrapping(dtype, x, sign, y) if dtype.kind in "iu" else f"({x} {sign} {y})"


@c_expression.register(Sub)
def sub(op: Sub, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x - y``."""
    if loop.operand.kind == "c":
        return _complex(loop, "sub", operands, body)
    x, y = operands
    if loop.operand.kind in "iu":
        return _wrapping(loop.operand, x, "-", y)
    zero = literal(0.0, loop.operand.name)
    # Of `0.0 - y` for a `y` that was an integer, GCC makes -y, which is -0.0 where it is to be 0.0.
    return f"({y} == {zero} ? {zero} : {zero} - {y})" if x == zero else f"({x} - {y})"


@c_expression.register(TrueDivide)
def true_divide(op: TrueDivide, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x / y`` of floats: integers have been cast."""
    if loop.operand.kind == "c":
        return _complex(loop, "divide", operands, body)
    x, y = operands
    return f"({x} / {y})"


@c_expression.register(Neg)
def neg(op: Neg, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``-x``."""
    (x,) = operands
    dtype = loop.operand
    if dtype.kind == "c":
        return f"(({dtype.computed}){{-{x}.re, -{x}.im}})"
    return _wrapping(dtype, "0", "-", x) if dtype.kind in "iu" else f"(-{x})"


@c_expression.register(Abs)
def absolute(op: Abs, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``|x|``."""
    (x,) = operands
    dtype = loop.operand
    if dtype.kind == "b":
        return x
    if dtype.kind in "iu":
        body.need("integer")
        return f"lm_abs_{dtype.suffix}({x})"
    body.need("maths")
    f = "" if dtype.name in ("float64", "complex128") else "f"
    return f"hypot{f}({x}.re, {x}.im)" if dtype.kind == "c" else f"fabs{f}({x})"


@c_expression.register(Sign)
def sign(op: Sign, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """-1, 0 or 1; of a complex number, the one of length 1 in its direction."""
    (x,) = operands
    if loop.operand.kind == "c":
        return _complex(loop, "sign", operands, body, "complex_maths")
    return _by_dtype("sign", loop, [x], body)


def _by_dtype(name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody, of_floats: str = "real") -> str:
    """Call the support function for the dtype of the first operand; one of floats stands in the header ``of_floats``."""
    dtype = loop.operand
    if dtype.kind in "iu":
        body.need("integer")
    elif dtype.kind == "f":
        body.need("maths", of_floats)
    else:
        raise LoweringError(f"{name} of {dtype.name} has no expression in C")
    suffix = "f32" if dtype.name == "float16" else dtype.suffix
    return f"lm_{name}_{suffix}({', '.join(operands)})"


@c_expression.register(AnnihilatingMul)
def annihilating_mul(op: AnnihilatingMul, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``g * slope``, and 0 where ``g`` is 0."""
    g = operands[0]
    dtype = loop.result
    if dtype.kind == "c":
        product = _complex(loop, "mul", operands, body)
        return f"({g}.re == 0 && {g}.im == 0 ? ({dtype.computed}){{0, 0}} : {product})"
    product = _combined("*", "mul", loop, operands, body)
    return product if dtype.kind in "biu" else f"({g} == 0 ? ({dtype.computed})0 : {product})"


@c_expression.register(FloorDivide)
def floor_divide(op: FloorDivide, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The greatest integer not above ``x / y``."""
    return _by_dtype("floor_divide", loop, operands, body, "floor_divide")


@c_expression.register(Mod)
def mod(op: Mod, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """What floor division leaves."""
    return _by_dtype("mod", loop, operands, body, "modulo")


@c_expression.register(Power)
def power(op: Power, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x ** y``; a negative exponent of integers is an error."""
    x, y = operands
    dtype = loop.operand
    if dtype.kind in "iu":
        if dtype.kind == "i":
            body.need("integer")
            body.guards.append(f"lm_is_negative_{dtype.suffix}({y})")
        body.need("powers")
        return f"(({dtype.computed})lm_integer_power((int64_t){x}, (int64_t){y}))"
    if dtype.kind == "c":
        return _complex(loop, "power", operands, body, "complex_maths")
    if dtype.kind != "f":
        raise LoweringError(f"power of {dtype.name} has no expression in C")
    body.need("maths")
    f = "" if dtype.name == "float64" else "f"
    if y == literal(0.5, dtype.name):
        # GCC takes the vector version of pow(x, 0.5) for a square root, whose values at -inf and -0.0 are others.
        return f"({x} == -INFINITY ? INFINITY : sqrt{f}({x}) + 0)"
    return f"pow{f}({x}, {y})"


@c_expression.register(Square)
def square(op: Square, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``x * x``."""
    (x,) = operands
    return _combined("*", "mul", loop, [x, x], body)


@c_expression.register(Reciprocal)
def reciprocal(op: Reciprocal, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``1 / x``; of integers, the integer part, and what the processor gives for 0."""
    (x,) = operands
    dtype = loop.operand
    if dtype.kind == "c":
        return _complex(loop, "reciprocal", operands, body)
    if dtype.kind == "f":
        return f"(1 / {x})"
    of_zero = f"{dtype.name.upper()}_MIN" if dtype.name in ("int32", "int64") else "0"
    return f"({x} == 0 ? {of_zero} : ({dtype.computed})(1 / {x}))"
