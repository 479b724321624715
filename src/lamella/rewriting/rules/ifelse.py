"""Choices between branches that are known, or make no difference."""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    Apply,
    BitwiseNot,
    FunctionGraph,
    IfElse,
    LogicalNot,
    TensorVariable,
    Variable,
    as_tensor_variable,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted_to
from lamella.rewriting.rules.operands import applied
from lamella.typing_layer import uniform_value

__all__ = ["ifelse_of_ifelse", "ifelse_of_known", "ifelse_of_not", "ifelse_of_same"]

Replacements = list[Variable[Any] | None] | None


def fitting(value: Variable[Any], replaced: Variable[Any]) -> Variable[Any] | None:
    """Return what can stand for a Variable and has the value of another one, of any Type; None where there is no such thing."""
    if replaced.type.is_super(value.type) is not None:
        return value
    if isinstance(value, TensorVariable) and isinstance(replaced, TensorVariable):
        return fitted_to(value, replaced.type)
    return None


@node_rewriter([IfElse])
def ifelse_of_known(fgraph: FunctionGraph, node: Apply[Any]) -> Replacements:
    """``ifelse(True, x, y) -> x``, and ``ifelse(False, x, y) -> y``

    Always valid. It pays because nothing is decided when the graph runs, and the other branch is gone.
    """
    known = uniform_value(as_tensor_variable(node.inputs[0]))
    if known is None or not isinstance(node.op, IfElse):
        return None
    chosen = [node.inputs[place] for place in node.op.branch(bool(known))]
    found = [fitting(value, out) for value, out in zip(chosen, node.outputs, strict=True)]
    return None if None in found else found


@node_rewriter([IfElse])
def ifelse_of_same(fgraph: FunctionGraph, node: Apply[Any]) -> Replacements:
    """``ifelse(c, (x, y), (x, z)) -> x, ifelse(c, y, z)``

    Valid but for the errors of computing c, which are not raised where nothing depends on it any more. It pays because there is less to choose.
    """
    if not isinstance(node.op, IfElse):
        return None
    condition = node.inputs[0]
    then = [node.inputs[place] for place in node.op.branch(True)]
    other = [node.inputs[place] for place in node.op.branch(False)]
    found: list[Variable[Any] | None] = [
        fitting(a, out) if a is b else None for a, b, out in zip(then, other, node.outputs, strict=True)
    ]
    left = [i for i, value in enumerate(found) if value is None]
    if len(left) == len(found):
        return None
    if left:
        chosen = IfElse(len(left)).make_node(condition, *[then[i] for i in left], *[other[i] for i in left])
        for i, out in zip(left, chosen.outputs, strict=True):
            found[i] = fitting(out, node.outputs[i])
    return None if None in found else found


@node_rewriter([IfElse])
def ifelse_of_ifelse(fgraph: FunctionGraph, node: Apply[Any]) -> Replacements:
    """``ifelse(c, ifelse(c, x, y), z) -> ifelse(c, x, z)``, and ``ifelse(c, x, ifelse(c, y, z)) -> ifelse(c, x, z)``

    Always valid. It pays because one choice is made instead of two.
    """
    if not isinstance(node.op, IfElse):
        return None
    condition = node.inputs[0]
    values: list[Variable[Any]] = []
    for taken in (True, False):
        values += [_seen_through(node.inputs[place], condition, taken) for place in node.op.branch(taken)]
    if all([new is old for new, old in zip(values, node.inputs[1:], strict=True)]):
        return None
    made = node.op.make_node(condition, *values)
    found = [fitting(new, old) for new, old in zip(made.outputs, node.outputs, strict=True)]
    return None if None in found else found


def _seen_through(value: Variable[Any], condition: Variable[Any], taken: bool) -> Variable[Any]:
    """Return the value that a choice by a condition takes where that is known."""
    inner = value.owner
    if inner is None or not isinstance(inner.op, IfElse) or inner.inputs[0] is not condition:
        return value
    chosen = inner.inputs[inner.op.branch(taken)[value.index or 0]]
    fit = fitting(chosen, value)
    return value if fit is None else fit


@node_rewriter([IfElse])
def ifelse_of_not(fgraph: FunctionGraph, node: Apply[Any]) -> Replacements:
    """``ifelse(not c, x, y) -> ifelse(c, y, x)``

    Always valid. It pays because c need not be negated, and because choices by c and by not c are seen to be about the same.
    """
    condition = as_tensor_variable(node.inputs[0])
    negated = applied(LogicalNot, condition) or applied(BitwiseNot, condition)
    if negated is None or not isinstance(node.op, IfElse):
        return None
    then = [node.inputs[place] for place in node.op.branch(True)]
    other = [node.inputs[place] for place in node.op.branch(False)]
    return list(node.op.make_node(negated[0], *other, *then).outputs)
