"""Checks that are known to succeed, or are made twice."""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, CheckAndRaise, FunctionGraph, Variable, as_tensor_variable
from lamella.rewriting.engine import node_rewriter
from lamella.typing_layer import uniform_value

__all__ = ["check_of_known", "check_of_same"]


@node_rewriter([CheckAndRaise])
def check_of_known(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``assert(x, True, c, c) -> assert(x, c)``, and ``assert(x) -> x``

    Always valid: what is known to be false stays, and fails when the function runs. It pays because nothing is looked at.
    """
    value, *conditions = node.inputs
    left = [c for c in dict.fromkeys(conditions) if not uniform_value(as_tensor_variable(c))]
    if len(left) == len(conditions) and left:
        return None
    return [value] if not left else list(node.op.make_node(value, *left).outputs)


@node_rewriter([CheckAndRaise])
def check_of_same(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``assert(assert(x, c), c, d) -> assert(assert(x, c), d)``

    Always valid: what has been checked once holds. It pays because it is checked once. Messages may differ; the first check is made first.
    """
    value, *conditions = node.inputs
    inner = value.owner
    if inner is None or not isinstance(inner.op, CheckAndRaise):
        return None
    left = [c for c in conditions if c not in inner.inputs[1:]]
    if len(left) == len(conditions):
        return None
    return [value] if not left else list(node.op.make_node(value, *left).outputs)
