"""What would be right if there were no NaN and no infinities: not applied unless asked for."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, Elemwise, Eq, FunctionGraph, Ge, Le, Mul, Neq, Sub, TensorVariable, TrueDivide
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import elementwise, is_number, operands, whole_fill

__all__ = ["any_comparison_with_itself", "divide_by_itself", "mul_by_zero", "sub_from_itself"]


@node_rewriter(elementwise(Sub))
def sub_from_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x - x -> 0``

    Valid where x has no NaN or infinity. It pays because nothing is computed.
    """
    x, y = operands(node)
    return whole_fill(node, 0) if x is y else None


@node_rewriter(elementwise(TrueDivide))
def divide_by_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x / x -> 1``

    Valid where x has no NaN, infinity or 0. It pays because nothing is computed.
    """
    x, y = operands(node)
    return whole_fill(node, 1) if x is y else None


@node_rewriter(elementwise(Mul))
def mul_by_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x * 0 -> 0``

    Valid where x has no NaN or infinity, but for the sign of zeros. It pays because nothing is computed.
    """
    return whole_fill(node, 0) if any([is_number(v, 0) for v in operands(node)]) else None


@node_rewriter(elementwise(Eq, Ge, Le, Neq))
def any_comparison_with_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x == x -> True``; ``x >= x -> True``; ``x <= x -> True``; ``x != x -> False``

    Valid where x has no NaN. It pays because nothing is compared.
    """
    x, y = operands(node)
    assert isinstance(node.op, Elemwise)
    return whole_fill(node, not isinstance(node.op.scalar_op, Neq)) if x is y else None
