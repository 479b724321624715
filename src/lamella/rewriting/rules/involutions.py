"""Functions that undo themselves, and functions that do nothing a second time."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import (
    COMPLEX_DTYPES,
    Abs,
    Apply,
    BitwiseNot,
    Ceil,
    Conj,
    Elemwise,
    Floor,
    FunctionGraph,
    LogicalNot,
    Neg,
    Real,
    Rint,
    Sign,
    Trunc,
    Variable,
)
from lamella.rewriting.engine import OpPattern, node_rewriter

__all__ = ["idempotent_of_itself", "involution_of_itself", "rounding_of_rounded"]

_INVOLUTIONS: Final = (BitwiseNot, Conj, LogicalNot, Neg)
_IDEMPOTENT: Final = (Abs, Real, Sign)
_ROUNDING: Final = (Ceil, Floor, Rint, Trunc)


def _keyed(*kinds: type[Any]) -> list[OpPattern]:
    return [OpPattern(Elemwise, scalar_op=kind) for kind in kinds]


@node_rewriter(_keyed(*_INVOLUTIONS))
def involution_of_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``f(f(x)) -> x``, for f one of neg, conj, bitwise_not, and logical_not of booleans.

    Always valid: nothing rounds, integers wrap around and back, and zeros get their sign back. It pays because nothing is computed.
    """
    inner = node.inputs[0].owner
    if inner is None or inner.op != node.op:
        return None
    (x,) = inner.inputs
    return [x] if x.type.dtype == node.outputs[0].type.dtype else None


@node_rewriter(_keyed(*_IDEMPOTENT))
def idempotent_of_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``f(f(x)) -> f(x)``, for f one of abs, real, and sign of what is not complex (which rounds).

    Always valid. It pays because f is computed once.
    """
    x = node.inputs[0]
    if x.owner is None or x.owner.op != node.op or x.type.dtype != node.outputs[0].type.dtype:
        return None
    return None if x.type.dtype in COMPLEX_DTYPES else [x]


@node_rewriter(_keyed(*_ROUNDING))
def rounding_of_rounded(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``f(g(x)) -> g(x)``, for f and g two of ceil, floor, rint and trunc, or the same.

    Always valid: whole numbers stay what they are, zeros keep their sign. It pays because one rounding is computed.
    """
    x = node.inputs[0]
    inner = None if x.owner is None else x.owner.op
    rounded = isinstance(inner, Elemwise) and isinstance(inner.scalar_op, _ROUNDING)
    return [x] if rounded and x.type.dtype == node.outputs[0].type.dtype else None
