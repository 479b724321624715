"""Truth values with known ones, and with themselves."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, FunctionGraph, LogicalAnd, LogicalOr, LogicalXor, TensorVariable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, operands, whole_fill, with_number

__all__ = ["logic_with_itself", "logic_with_known"]


@node_rewriter(elementwise(LogicalAnd, LogicalOr, LogicalXor))
def logic_with_known(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``b and True -> b``; ``b and False -> False``; ``b or False -> b``; ``b or True -> True``; ``b xor False -> b``; ``b xor True -> not b``

    Always valid; where b is no truth value, but a number that counts as one, it is compared with 0. It pays because nothing is computed.
    """
    known = with_number(node)
    if known is None:
        return None
    value, _, x = known
    out = node.outputs[0]
    if applied(LogicalXor, out):
        return instead_of(node, lt.logical_not(x) if value else _truth(x))
    if applied(LogicalAnd, out):
        return instead_of(node, _truth(x)) if value else whole_fill(node, False)
    return whole_fill(node, True) if value else instead_of(node, _truth(x))


@node_rewriter(elementwise(LogicalAnd, LogicalOr, LogicalXor))
def logic_with_itself(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``b and b -> b``; ``b or b -> b``; ``b xor b -> False``

    Always valid; a number that counts as a truth value is compared with 0. It pays because less is computed, or nothing.
    """
    x, y = operands(node)
    if x is not y:
        return None
    return whole_fill(node, False) if applied(LogicalXor, node.outputs[0]) else instead_of(node, _truth(x))


def _truth(x: TensorVariable) -> TensorVariable:
    return x if x.dtype == "bool" else lt.cast(x, "bool")
