"""Mathematical notation of the scalar Ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lamella.ir.graph.apply import Apply
from lamella.ir.printing.notation import Notation, Operand, Precedence, Writer
from lamella.ir.scalar.arithmetic import Add, AnnihilatingMul, Mul, Neg, Sub, TrueDivide
from lamella.ir.scalar.cast import Cast
from lamella.ir.scalar.comparison import Eq, Ge, Gt, IsFinite, IsInf, IsNan, Le, Lt, Neq
from lamella.ir.scalar.complex_parts import Conj
from lamella.ir.scalar.division import FloorDivide, Mod
from lamella.ir.scalar.logical import BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, LeftShift, RightShift
from lamella.ir.scalar.logistic import Log1mExp, LogSigmoid
from lamella.ir.scalar.op import ScalarOp, UfuncScalarOp
from lamella.ir.scalar.powers import Power
from lamella.ir.scalar.selection import Clip, Identity, Second, Switch
from lamella.ir.scalar.special import GammaLn, SpecialScalarOp

__all__ = ["SCALAR_NOTATIONS"]

# Operators between operands, as Python writes them.
_OPERATORS: Mapping[type[ScalarOp[Any]], tuple[str, Precedence]] = {
    Add: ("+", Precedence.SUM),
    Sub: ("-", Precedence.SUM),
    Mul: ("*", Precedence.PRODUCT),
    AnnihilatingMul: ("*", Precedence.PRODUCT),
    TrueDivide: ("/", Precedence.PRODUCT),
    FloorDivide: ("//", Precedence.PRODUCT),
    Mod: ("%", Precedence.PRODUCT),
    Eq: ("==", Precedence.COMPARISON),
    Neq: ("!=", Precedence.COMPARISON),
    Lt: ("<", Precedence.COMPARISON),
    Le: ("<=", Precedence.COMPARISON),
    Gt: (">", Precedence.COMPARISON),
    Ge: (">=", Precedence.COMPARISON),
    BitwiseOr: ("|", Precedence.OR),
    BitwiseXor: ("^", Precedence.XOR),
    BitwiseAnd: ("&", Precedence.AND),
    LeftShift: ("<<", Precedence.SHIFT),
    RightShift: (">>", Precedence.SHIFT),
}
# Functions whose names are neither NumPy's nor their class's.
_FUNCTIONS: Mapping[type[ScalarOp[Any]], str] = {
    Clip: "clip",
    Conj: "conj",
    GammaLn: "gammaln",
    IsFinite: "isfinite",
    IsInf: "isinf",
    IsNan: "isnan",
    Log1mExp: "log1mexp",
    LogSigmoid: "log_sigmoid",
    Second: "second",
    Switch: "switch",
}


def _operator(text: str, precedence: Precedence) -> Writer:
    if precedence is not Precedence.COMPARISON:
        return lambda op, node: Notation.infix(text, precedence, node)
    # Python chains comparisons, so one of another is enclosed on either side.
    closer = precedence + 1
    return lambda op, node: Notation((Operand(0, closer), f" {text} ", Operand(1, closer)), precedence)


def _function(name: str) -> Writer:
    return lambda op, node: Notation.call(name, node)


def _ufunc(op: UfuncScalarOp[Any], node: Apply[Any]) -> Notation:
    return Notation.call(op.ufunc.__name__, node)


def _special(op: SpecialScalarOp, node: Apply[Any]) -> Notation:
    return Notation.call(type(op).__name__.lower(), node)


def _power(op: Power, node: Apply[Any]) -> Notation:
    # As in Python, a sign on the right needs no parentheses, and one on the left does.
    return Notation((Operand(0, Precedence.ATOM), " ** ", Operand(1, Precedence.SIGN)), Precedence.POWER)


def _cast(op: Cast, node: Apply[Any]) -> Notation:
    return Notation.call("cast", node, op.dtype)


SCALAR_NOTATIONS: Mapping[type, Writer] = {
    UfuncScalarOp: _ufunc,
    SpecialScalarOp: _special,
    Power: _power,
    Cast: _cast,
    Neg: lambda op, node: Notation.prefix("-"),
    BitwiseNot: lambda op, node: Notation.prefix("~"),
    Identity: lambda op, node: Notation.same(),
    **{cls: _operator(text, precedence) for cls, (text, precedence) in _OPERATORS.items()},
    **{cls: _function(name) for cls, name in _FUNCTIONS.items()},
}
"""How the scalar Ops are written, by class."""
