"""`SubstitutionNodeRewriter` and `RemovalNodeRewriter`: one Op in place of another, or in place of none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Op, Variable
from lamella.rewriting.engine.rewriter import NodeRewriter, TransformResult
from lamella.rewriting.engine.tracking import OpKey

__all__ = ["RemovalNodeRewriter", "SubstitutionNodeRewriter"]


@final
@attrs.frozen
class SubstitutionNodeRewriter(NodeRewriter):
    """``op1(x, ...) -> op2(x, ...)``.

    Parameters
    ----------
    op1
        The Op to be replaced.
    op2
        The Op that is applied to the same inputs instead. Where it gives outputs that do not fit, nothing is done.
    name
        The name of the rewriter.
    """

    op1: Op[Any, Any]
    op2: Op[Any, Any]
    name: str = attrs.field(default=attrs.Factory(lambda self: f"{self.op1} -> {self.op2}", takes_self=True))

    reads_graph = False

    @override
    def tracks(self) -> Sequence[OpKey]:
        return [self.op1]

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        if node.op != self.op1:
            return False
        return _fitting(node, self.op2.make_node(*node.inputs).outputs)


@final
@attrs.frozen
class RemovalNodeRewriter(NodeRewriter):
    """``op(x) -> x``, and for several inputs and as many outputs, each output by the input of the same place.

    Parameters
    ----------
    op
        The Op to be removed.
    name
        The name of the rewriter.
    """

    op: Op[Any, Any]
    name: str = attrs.field(default=attrs.Factory(lambda self: f"{self.op}(x) -> x", takes_self=True))

    reads_graph = False

    @override
    def tracks(self) -> Sequence[OpKey]:
        return [self.op]

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        if node.op != self.op or len(node.inputs) != len(node.outputs):
            return False
        return _fitting(node, node.inputs)


def _fitting(node: Apply[Any], replacements: Sequence[Variable[Any]]) -> TransformResult:
    """Return replacements of the outputs of a node, or False where their types do not fit."""
    fit = len(replacements) == len(node.outputs) and all(
        old.type.is_super(new.type) is not None for old, new in zip(node.outputs, replacements, strict=True)
    )
    return replacements if fit else False
