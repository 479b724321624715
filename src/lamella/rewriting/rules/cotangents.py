"""Products of cotangents and slopes, where the cotangent is known not to be 0.

Gradients multiply by `AnnihilatingMul`, which is 0 where its first operand is, though the slope be infinite or NaN.
"""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    BOOL_DTYPES,
    COMPLEX_DTYPES,
    INTEGER_DTYPES,
    AnnihilatingMul,
    Apply,
    FunctionGraph,
    TensorVariable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import elementwise, instead_of, number, operands

__all__ = ["annihilating_mul_of_finite", "annihilating_mul_of_nonzero"]


@node_rewriter(elementwise(AnnihilatingMul))
def annihilating_mul_of_nonzero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``annihilating_mul(c, x) -> c * x``, for a number c that is not 0; ``annihilating_mul(n, m) -> n * m``, for integers and booleans.

    Always valid: integers are 0 where one of them is. It pays because a plain product is seen through, and 1 times x is x.
    """
    g, slope = operands(node)
    dtype = node.outputs[0].type.dtype
    if dtype not in (*INTEGER_DTYPES, *BOOL_DTYPES):
        known = number(g)
        if known is None or known == 0:
            return None
        if known == 1 and dtype not in COMPLEX_DTYPES:
            return instead_of(node, slope)
    return instead_of(node, lt.mul(g, slope))


@node_rewriter(elementwise(AnnihilatingMul))
def annihilating_mul_of_finite(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``annihilating_mul(g, x) -> g * x``

    Valid where x has no NaN or infinity, but for the sign of zeros. It pays because nothing is compared with 0.
    """
    return instead_of(node, lt.mul(*operands(node)))
