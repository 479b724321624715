"""Choices inside choices, and choices of truth values."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, BitwiseNot, FunctionGraph, LogicalNot, Switch, TensorVariable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, number, operands

__all__ = ["switch_of_not", "switch_of_one_and_zero", "switch_of_switch"]


@node_rewriter(elementwise(Switch))
def switch_of_not(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(not c, x, y) -> switch(c, y, x)``

    Always valid. It pays because one operation is computed, where nothing else needs ``not c``.
    """
    condition, x, y = operands(node)
    found = applied(LogicalNot, condition)
    if found is None and condition.dtype == "bool":
        found = applied(BitwiseNot, condition)
    return None if found is None else instead_of(node, lt.switch(found[0], y, x))


@node_rewriter(elementwise(Switch))
def switch_of_switch(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(c, switch(c, x, y), z) -> switch(c, x, z)``, and ``switch(c, x, switch(c, y, z)) -> switch(c, x, z)``

    Valid where no operand that goes makes the result larger. It pays because one choice is made, and an operand need not be computed.
    """
    condition, x, y = operands(node)
    first, second = applied(Switch, x), applied(Switch, y)
    chosen = x if first is None or first[0] is not condition else lt.cast(first[1], x.dtype)
    other = y if second is None or second[0] is not condition else lt.cast(second[2], y.dtype)
    if chosen is x and other is y:
        return None
    return instead_of(node, lt.switch(condition, chosen, other))


@node_rewriter(elementwise(Switch))
def switch_of_one_and_zero(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(b, 1, 0) -> cast(b)``, and ``switch(b, 0, 1) -> cast(not b)``; of truth values, ``switch(b, True, False) -> b``

    Valid for truth values b, and for 0 that is not -0.0. It pays because nothing is chosen.
    """
    condition, x, y = operands(node)
    if condition.dtype != "bool":
        return None
    known = [number(x), number(y)]
    if None in known or known not in ([1, 0], [0, 1]) or "-0" in str(known):
        return None
    return instead_of(node, condition if known[0] == 1 else lt.logical_not(condition))
