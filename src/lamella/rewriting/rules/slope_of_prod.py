"""Slopes of products of arrays divided by the product again, as in derivatives of its logarithm.

before                                                  after
%0 = Prod{axis=(0,)}(%v)                                %0 = reciprocal(%v)
%1 = reciprocal(%0)
%2 = running product of %v from the left, and from the right
%3 = mul(%1, %2)

These change values on purpose.
"""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    FLOAT_DTYPES,
    AnnihilatingMul,
    Apply,
    Cast,
    DimShuffle,
    FunctionGraph,
    LinearRecurrence,
    Mul,
    Neg,
    Prod,
    Reciprocal,
    TensorVariable,
    Variable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.log_sum_exp import keeps
from lamella.rewriting.rules.operands import applied, elementwise, is_zeros
from lamella.rewriting.rules.products import with_factors_replaced

__all__ = ["slope_of_prod_by_prod"]


def _uncast(variable: TensorVariable) -> TensorVariable:
    found = applied(Cast, variable)
    return variable if found is None or found[0].dtype not in FLOAT_DTYPES else found[0]


def _running_product(variable: Variable[Any]) -> tuple[TensorVariable, LinearRecurrence] | None:
    """Return x and the Op, if the Variable holds for each element of x the product of those before it, or of those after it."""
    node = variable.owner
    if (
        node is None
        or not isinstance(node.op, LinearRecurrence)
        or node.op.initial != 1
        or not is_zeros(node.inputs[1])
    ):
        return None
    return _uncast(as_tensor_variable(node.inputs[0])), node.op


def _all_others(variable: TensorVariable) -> tuple[TensorVariable, int] | None:
    """Return x and the axis, if the Variable holds for each element of x the product of all others along an axis, perhaps computed in float64."""
    found = applied(Mul, _uncast(variable))
    if found is None or len(found) != 2:
        return None
    before, after = _running_product(found[0]), _running_product(found[1])
    if before is None or after is None or before[0] is not after[0]:
        return None
    one, other = before[1], after[1]
    return (before[0], one.axis) if one.axis == other.axis and one.reverse != other.reverse else None


@node_rewriter(elementwise(Mul, AnnihilatingMul), tracks_inputs=elementwise(Mul, Cast, Neg))
def slope_of_prod_by_prod(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / prod(x)) * (products of all others of x) -> g * (1 / x)``, along one axis, with or without g.

    Valid for floats. It pays where the product underflows or overflows, as in derivatives of ``log(prod(x))``, and because less is computed.
    """

    def combined(other: TensorVariable, slope: TensorVariable) -> TensorVariable | None:
        moved = other.owner
        if moved is None or not isinstance(moved.op, DimShuffle):
            return None
        inner = as_tensor_variable(moved.inputs[0])
        product = applied((AnnihilatingMul, Mul), inner) or ()
        g, inner = product if len(product) == 2 else (None, inner)
        reciprocal = applied(Reciprocal, inner)
        whole = None if reciprocal is None else reciprocal[0].owner
        if whole is None or not isinstance(whole.op, Prod):
            return None
        found = _all_others(slope)
        if (
            found is None
            or found[0] is not whole.inputs[0]
            or whole.op.axes != (found[1],)
            or not keeps(moved, (found[1],))
        ):
            return None
        if found[0].dtype not in FLOAT_DTYPES or found[0].dtype != slope.dtype:
            return None
        part = lt.reciprocal(found[0])
        return part if g is None else lt.annihilating_mul(as_tensor_variable(moved.op(g)), part)

    return with_factors_replaced(node, (Mul, Cast), combined)
