"""What elementwise nodes are applied to: numbers that are known, and results of other elementwise nodes."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Abs,
    Add,
    Alloc,
    Apply,
    Cosh,
    Elemwise,
    Erfc,
    Erfcx,
    Exp,
    Exp2,
    Hypot,
    Mul,
    Neg,
    ScalarOp,
    Sigmoid,
    Softmax,
    Square,
    Sub,
    Sum,
    TensorConstant,
    TensorVariable,
    TrueDivide,
    Variable,
    constant,
    lt,
)
from lamella.rewriting.engine import OpPattern
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import uniform_value

__all__ = [
    "Number",
    "applied",
    "elementwise",
    "filled",
    "instead_of",
    "is_number",
    "is_zeros",
    "never_negative_zero",
    "number",
    "operands",
    "opposite",
    "same_number",
    "whole_fill",
    "with_number",
]

Number = bool | int | float | complex
"""What `number` finds."""

_NEVER_NEGATIVE_ZERO: Final = (Abs, Cosh, Erfc, Erfcx, Exp, Exp2, Hypot, Sigmoid, Square)


def elementwise(*kinds: type[ScalarOp[Any]]) -> list[OpPattern]:
    """Return the keys of elementwise nodes of some kinds that overwrite none of their inputs."""
    return [OpPattern(Elemwise, scalar_op=kind, inplace_pattern=()) for kind in kinds]


def operands(node: Apply[Any]) -> tuple[TensorVariable, ...]:
    """Return the operands of an elementwise node."""
    inputs: Any = node.inputs  # all of them tensors, which the type of a node does not say
    found: tuple[TensorVariable, ...] = inputs
    return found


def applied(
    kind: type[ScalarOp[Any]] | tuple[type[ScalarOp[Any]], ...], variable: Variable[Any]
) -> tuple[TensorVariable, ...] | None:
    """Return what a scalar Op of some kind is applied to, if the Variable is the result of that, and overwrites nothing; else None."""
    node = variable.owner
    if node is None:
        return None
    op = node.op
    return (
        operands(node)
        if isinstance(op, Elemwise) and isinstance(op.scalar_op, kind) and not op.inplace_pattern
        else None
    )


def number(variable: Variable[Any]) -> Number | None:
    """Return the number that a constant repeats; None for what is no constant, or holds several numbers or none."""
    if not isinstance(variable, TensorConstant):
        return None
    value = uniform_value(variable)
    if value is None:
        return None
    found: Number = value.item()
    return found


def is_number(variable: Variable[Any], value: Number) -> bool:
    """Whether a Variable is a constant that repeats a number; zeros of both signs are 0."""
    return isinstance(variable, TensorConstant) and number(variable) == value


def is_zeros(variable: Variable[Any]) -> bool:
    """Whether a Variable is a constant or an `Alloc` that repeats 0."""
    node = variable.owner
    return is_number(node.inputs[0] if node is not None and isinstance(node.op, Alloc) else variable, 0)


def same_number(a: Number, b: Number) -> bool:
    """Whether two numbers are the same to the last bit: NaN is NaN, and 0.0 is not -0.0."""
    return str(a) == str(b)


def with_number(node: Apply[Any]) -> tuple[Number, TensorVariable, TensorVariable] | None:
    """Return, for a commutative node of two operands of which one is a known number, the number, its constant and the other operand."""
    if len(node.inputs) != 2:
        return None
    x, y = operands(node)
    known = number(y)
    if known is not None:
        return known, y, x
    known = number(x)
    return None if known is None else (known, x, y)


def instead_of(node: Apply[Any], replacement: TensorVariable) -> list[TensorVariable] | None:
    """Return what a rewriter returns to put a tensor in the place of the result of an elementwise node, in the dtype of that result.

    None where they broadcast otherwise: another operand made the result larger.
    """
    (out,) = node.outputs
    if replacement.type.broadcastable != out.type.broadcastable:
        return None
    return fitted(lt.cast(replacement, out.type.dtype), out)


def opposite(x: TensorVariable, y: TensorVariable) -> bool:
    """Whether one float is the other with a minus sign, but for the signs of zeros: as ``x`` and ``-x``, ``x * c`` and ``x * -c``, ``x - y`` and ``y - x``."""
    for one, other in ((x, y), (y, x)):
        negated = applied(Neg, one)
        if negated is not None and negated[0] is other:
            return True
    first, second = applied((Mul, TrueDivide, Sub), x), applied((Mul, TrueDivide, Sub), y)
    if first is None or second is None or len(first) != 2 or len(second) != 2 or x.owner is None or y.owner is None:
        return False
    if x.owner.op != y.owner.op:
        return False
    if applied(Sub, x):
        return first[0] is second[1] and first[1] is second[0]
    for place in (1, 0) if applied(Mul, x) else (1,):
        a, b = number(first[place]), number(second[place])
        if a is not None and b is not None and a == -b and first[1 - place] is second[1 - place]:
            return True
    return False


def whole_fill(node: Apply[Any], value: Number) -> list[TensorVariable] | None:
    """Return what puts one number everywhere in the place of the result of an elementwise node, as the node checks its shapes."""
    (out,) = node.outputs
    filled = constant(value, dtype=out.type.dtype)
    for operand in operands(node):
        if operand.type.broadcastable == out.type.broadcastable:
            others = [v for v in operands(node) if v is not operand and v.type.broadcastable != (True,) * v.ndim]
            return None if others else fitted(lt.second(operand, filled), out)
    return None


def filled(node: Apply[Any], value: Number) -> list[TensorVariable] | None:
    """Return what puts one number everywhere in the place of the result of an elementwise node, whose shapes are then not checked."""
    (out,) = node.outputs
    for operand in operands(node):
        if operand.type.broadcastable == out.type.broadcastable:
            return fitted(lt.second(operand, constant(value, dtype=out.type.dtype)), out)
    return None


def never_negative_zero(variable: TensorVariable) -> bool:
    """Whether no element of a real tensor can be -0.0, as far as a short look tells."""
    if variable.dtype not in FLOAT_DTYPES:
        return variable.dtype not in COMPLEX_DTYPES
    if isinstance(variable, TensorConstant):
        known = number(variable)
        return known is not None and str(known) != "-0.0"
    node = variable.owner
    if node is None:
        return False
    op = node.op
    if isinstance(op, Sum | Softmax):  # sums begin with 0.0
        return True
    if not isinstance(op, Elemwise):
        return False
    scalar_op = op.scalar_op
    if isinstance(scalar_op, _NEVER_NEGATIVE_ZERO):
        return True
    if isinstance(scalar_op, Add):  # of which one operand suffices
        return any([never_negative_zero(v) for v in operands(node) if isinstance(v, TensorConstant)])
    if isinstance(scalar_op, Sub):
        return isinstance(node.inputs[0], TensorConstant) and never_negative_zero(node.inputs[0])
    return False
