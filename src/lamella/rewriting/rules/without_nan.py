"""What would be right if there were no NaN and no infinities: not applied unless asked for."""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    Apply,
    Elemwise,
    Eq,
    FunctionGraph,
    Ge,
    Le,
    Mul,
    Neq,
    Sub,
    Switch,
    TensorVariable,
    TrueDivide,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_number, operands, whole_fill

__all__ = [
    "any_comparison_with_itself",
    "divide_by_itself",
    "mul_by_zero",
    "product_of_switch",
    "sub_from_itself",
    "zero_divided",
]


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


@node_rewriter(elementwise(TrueDivide))
def zero_divided(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``0 / x -> 0``

    Valid where x is neither NaN nor 0, but for the sign of zeros. It pays because nothing is computed.
    """
    return whole_fill(node, 0) if is_number(node.inputs[0], 0) else None


@node_rewriter(elementwise(Mul, TrueDivide))
def product_of_switch(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(c, x, 0) * y -> switch(c, x * y, 0)``, and ``switch(c, x, 0) / y -> switch(c, x / y, 0)``; likewise for ``switch(c, 0, x)``.

    Nothing else needs the choice, which is as large as the result. Valid where y is neither NaN nor infinite (nor 0, where it divides), but for the sign of zeros. It pays because other rewrites see ``x * y``.
    """
    if len(node.inputs) != 2:
        return None
    out = node.outputs[0].type
    for place, variable in enumerate(operands(node)[: 1 if applied(TrueDivide, node.outputs[0]) else 2]):
        found = applied(Switch, variable)
        if found is None or variable.type.broadcastable != out.broadcastable or variable.dtype != out.dtype:
            continue
        condition, *branches = found
        zeros = [is_number(branch, 0) for branch in branches]
        if sum(zeros) != 1 or len(fgraph.get_clients(variable)) > 1:
            continue
        chosen = lt.cast(branches[zeros.index(False)], out.dtype)
        result = node.op(*[chosen if i == place else v for i, v in enumerate(operands(node))])
        zero = constant(0, dtype=out.dtype)
        return instead_of(node, lt.switch(condition, *((zero, result) if zeros[0] else (result, zero))))
    return None


@node_rewriter(elementwise(Eq, Ge, Le, Neq))
def any_comparison_with_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x == x -> True``; ``x >= x -> True``; ``x <= x -> True``; ``x != x -> False``

    Valid where x has no NaN. It pays because nothing is compared.
    """
    x, y = operands(node)
    assert isinstance(node.op, Elemwise)
    return whole_fill(node, not isinstance(node.op.scalar_op, Neq)) if x is y else None
