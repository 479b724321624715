"""Ops applied to batches element by element, which can be applied to all at once."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import (
    Apply,
    Blockwise,
    CAReduce,
    CumOp,
    DimShuffle,
    Dot,
    Elemwise,
    FunctionGraph,
    LogSoftmax,
    LogSumExp,
    Max,
    Min,
    Softmax,
    SortOp,
    Variable,
    vectorize_node,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.ifelse import fitting

__all__ = ["blockwise_at_once", "blockwise_of_one"]


_ALSO_OF_NOTHING: Final = (Elemwise, DimShuffle, CAReduce, Dot, Softmax, LogSoftmax, LogSumExp, CumOp, SortOp)
"""Ops that raise nothing when a batch has no elements, whatever the shape of an element would be."""


@node_rewriter([Blockwise])
def blockwise_of_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any] | None] | None:
    """``Blockwise(f)(x) -> f(x)``, for x without batch axes

    Always valid, but for the error that lengths of one name differ, which f need not raise. It pays because there is no loop.
    """
    op = node.op
    if not isinstance(op, Blockwise) or op.batch_ndim(node):
        return None
    make: Any = op.core_op.make_node
    made: Apply[Any] = make(*node.inputs)
    found = [fitting(new, old) for new, old in zip(made.outputs, node.outputs, strict=True)]
    return None if None in found else found


@node_rewriter([Blockwise])
def blockwise_at_once(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any] | None] | None:
    """``Blockwise(dot)(x, y) -> batched_dot(x, y)``, ``Blockwise(sum{axis=0})(x) -> sum{axis=1}(x)``, and so on

    Valid for Ops that have a rule for batches (`vectorize_node`), but for the error that lengths of one name differ, which the Op need not raise; and
    where there is an element, or the Op raises nothing of no elements. It pays because there is no loop in Python.
    """
    op = node.op
    if not isinstance(op, Blockwise) or not vectorize_node.has_rule(op.core_op):
        return None
    lengths = node.outputs[0].type.shape[: op.batch_ndim(node)]
    harmless = isinstance(op.core_op, _ALSO_OF_NOTHING) and not isinstance(op.core_op, Max | Min)
    if not harmless and not all(lengths):
        return None
    one = op.node_of_an_element(node.inputs, op.batch_ndim(node))
    made = vectorize_node(one, node.inputs)
    if any([new.owner is not None and isinstance(new.owner.op, Blockwise) for new in made]):
        return None
    found = [fitting(new, old) for new, old in zip(made, node.outputs, strict=True)]
    return None if None in found else found
