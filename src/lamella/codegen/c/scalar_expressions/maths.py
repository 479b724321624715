"""C expressions of exponentials, logarithms, circular and hyperbolic functions, and special functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lamella.codegen.c.dtypes import literal
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.errors import LoweringError
from lamella.ir import (
    Angle,
    Arccos,
    Arccosh,
    Arcsin,
    Arcsinh,
    Arctan,
    Arctan2,
    Arctanh,
    Cos,
    Cosh,
    Deg2Rad,
    Digamma,
    Erf,
    Erfc,
    Erfcx,
    Exp,
    Exp2,
    Expm1,
    GammaLn,
    Hypot,
    Log,
    Log1mExp,
    Log1p,
    Log2,
    Log10,
    LogAddExp,
    LogAddExp2,
    LogSigmoid,
    PolyGamma,
    Rad2Deg,
    ScalarOp,
    Sigmoid,
    Sin,
    Sinh,
    Softplus,
    Sqrt,
    Tan,
    Tanh,
    XLogY,
)

Operands = Sequence[str]

_LIBRARY: Final[dict[type[ScalarOp[Any]], str]] = {
    Arccos: "acos",
    Arccosh: "acosh",
    Arcsin: "asin",
    Arcsinh: "asinh",
    Arctan: "atan",
    Arctan2: "atan2",
    Arctanh: "atanh",
    Cosh: "cosh",
    Erf: "erf",
    Erfc: "erfc",
    Exp: "exp",
    Exp2: "exp2",
    Expm1: "expm1",
    Hypot: "hypot",
    Log: "log",
    Log10: "log10",
    Log1p: "log1p",
    Log2: "log2",
    Sin: "sin",
    Sinh: "sinh",
    Sqrt: "sqrt",
    Tan: "tan",
    Tanh: "tanh",
}
"""Functions that the C library has."""

_SUPPORT: Final[dict[type[ScalarOp[Any]], str]] = {
    Log1mExp: "log1mexp",
    LogAddExp: "logaddexp",
    LogAddExp2: "logaddexp2",
    LogSigmoid: "log_sigmoid",
    Sigmoid: "sigmoid",
    XLogY: "xlogy",
}
"""Functions that ``support/stable_maths.h`` has."""


_COMPLEX: Final = frozenset(_LIBRARY) - {Arctan2, Erf, Erfc, Hypot}
"""Functions that ``support/complex_maths.h`` has for complex numbers, under the same names."""


_FADDEEVA: Final = frozenset({Erf, Erfc})
"""Those that ``support/faddeeva.h`` has for complex numbers."""


def complex_function(
    name: str, loop: ScalarLoop, operands: Operands, body: ScalarBody, header: str = "complex_maths"
) -> str:
    """Return a call of a function of complex numbers, which a support header has."""
    body.need(header)
    return f"lm_{name}_{loop.operand.suffix}({', '.join(operands)})"


def _require_float(op: ScalarOp[Any], loop: ScalarLoop) -> None:
    if loop.operand.kind != "f":
        raise LoweringError(f"{op} of {loop.operand.name} has no expression in C")


@c_expression.register(*_LIBRARY)
def library_function(op: ScalarOp[Any], loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Call a function of the C library."""
    if loop.operand.kind == "c" and type(op) in _COMPLEX:
        return complex_function(_LIBRARY[type(op)], loop, operands, body)
    if loop.operand.kind == "c" and type(op) in _FADDEEVA:
        return complex_function(_LIBRARY[type(op)], loop, operands, body, "faddeeva")
    _require_float(op, loop)
    body.need("exponential" if isinstance(op, Exp) and loop.operand.name == "float64" else "maths")
    return f"{_LIBRARY[type(op)]}{'' if loop.operand.name == 'float64' else 'f'}({', '.join(operands)})"


@c_expression.register(*_SUPPORT)
def support_function(op: ScalarOp[Any], loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Call a function of the support headers."""
    _require_float(op, loop)
    body.need("stable_maths")
    return f"lm_{_SUPPORT[type(op)]}_{'f64' if loop.operand.name == 'float64' else 'f32'}({', '.join(operands)})"


@c_expression.register(Cos)
def cosine(op: Cos, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Return a call of the C library's function."""
    if loop.operand.kind == "c":
        return complex_function("cos", loop, operands, body)
    _require_float(op, loop)
    body.need("maths")
    # Of a sine and a cosine of one number, GCC makes a call of a function that has no vector version. Zero of either sign has one cosine.
    (x,) = operands
    return f"cos{'' if loop.operand.name == 'float64' else 'f'}({x} + 0)"


@c_expression.register(Softplus)
def softplus(op: Softplus, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``logaddexp(x, 0)``."""
    _require_float(op, loop)
    body.need("stable_maths")
    return f"lm_logaddexp_{'f64' if loop.operand.name == 'float64' else 'f32'}({operands[0]}, 0)"


@c_expression.register(Deg2Rad)
def deg2rad(op: Deg2Rad, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Degrees in radians."""
    return _scaled("({pi} / 180)", loop, operands)


@c_expression.register(Rad2Deg)
def rad2deg(op: Rad2Deg, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """Radians in degrees."""
    return _scaled("(180 / {pi})", loop, operands)


def _scaled(factor: str, loop: ScalarLoop, operands: Operands) -> str:
    pi = f"({loop.operand.computed})3.14159265358979323846264338327950288"
    return f"({operands[0]} * {factor.format(pi=pi)})"


@c_expression.register(Angle)
def angle(op: Angle, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The angle of a complex number; of real numbers 0 or pi."""
    (x,) = operands
    body.need("maths")
    f = "" if loop.result.name == "float64" else "f"
    return f"atan2{f}({x}.im, {x}.re)" if loop.operand.kind == "c" else f"atan2{f}(0, {x})"


@c_expression.register(GammaLn)
def gammaln(op: GammaLn, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``log(|gamma(x)|)``, in double precision."""
    _require_float(op, loop)
    body.need("gammaln")
    return f"(({loop.result.computed})lm_gammaln_f64({operands[0]}))"


@c_expression.register(Erfcx)
def erfcx(op: Erfcx, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """``exp(x**2) * erfc(x)``, in double precision."""
    if loop.operand.kind == "c":
        return complex_function("erfcx", loop, operands, body, "faddeeva")
    _require_float(op, loop)
    body.need("erfcx")
    return f"(({loop.result.computed})lm_erfcx_f64({operands[0]}))"


@c_expression.register(Digamma)
def digamma(op: Digamma, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """The derivative of ``gammaln``, in double precision."""
    if loop.operand.kind == "c":
        return complex_function("digamma", loop, operands, body, "complex_digamma")
    _require_float(op, loop)
    body.need("digamma")
    return f"(({loop.result.computed})lm_digamma_f64({operands[0]}))"


@c_expression.register(PolyGamma)
def polygamma(op: PolyGamma, loop: ScalarLoop, operands: Operands, body: ScalarBody) -> str:
    """A derivative of the digamma function, in double precision."""
    n, x = operands
    if n == literal(1.0, "float64"):
        body.need("trigamma")
        return f"(({loop.result.computed})lm_trigamma_f64({x}))"
    body.need("polygamma")
    return f"(({loop.result.computed})lm_polygamma_f64({n}, {x}))"
