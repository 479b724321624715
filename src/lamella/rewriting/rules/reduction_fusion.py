"""Reductions of what an elementwise node computes are done by that node, in the same pass.

before                    after
%0 = Exp(%x)              %0 = Exp{Sum{axis=(0,)} of 0}(%x)
%1 = Sum{axis=(0,)}(%0)
"""

from __future__ import annotations

from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import (
    COMPLEX_DTYPES,
    Apply,
    CAReduce,
    Elemwise,
    FunctionGraph,
    Max,
    Min,
    ReducedElemwise,
    Variable,
    rebuild_node,
)
from lamella.rewriting.engine import GraphRewriter, Observer
from lamella.rewriting.rules.fusion import MAX_NODES_IN_A_KERNEL, broadcast_pattern, elementwise_weight
from lamella.typing_layer import needed_by

__all__ = ["ReductionFusion"]

_MOST_REDUCTIONS: Final = 8


@final
@attrs.frozen
class ReductionFusion(GraphRewriter):
    """``sum(f(x, y)) -> (sum of f)(x, y)``, for elementwise f and any reduction, or several, of any of its results.

    Valid always; floats are added up in other groups. A reduction needs nothing but the node it is joined with, so no path can come
    back to it, and nothing is computed twice: a result that others need is an output as well. It pays because a result that only
    reductions need is never written to memory, and others are not read again.
    """

    name: str = "reduction_fusion"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        replaced: dict[Variable[Any], Variable[Any]] = {}
        done: set[Apply[Any]] = set()
        needs = needed_by(fgraph.order, fgraph.outputs)
        for node in fgraph.order:
            if node in done:
                continue
            reductions = [of for of in _reductions(fgraph, node) if needs.get(of) == needs.get(node)]
            if reductions:
                done.update(reductions)
                joined = _joined(fgraph, node, reductions, replaced)
                replaced.update(joined)
                if observer is not None:
                    outputs = [out for member in (node, *reductions) for out in member.outputs]
                    observer.replaced(self.name, outputs, [joined.get(out) for out in outputs])
                continue
            rebuilt = rebuild_node(node, replaced)
            if rebuilt is not node:
                replaced.update(zip(node.outputs, rebuilt.outputs, strict=True))
                if observer is not None:
                    observer.replaced(None, node.outputs, rebuilt.outputs)
        return fgraph.with_outputs([replaced.get(out, out) for out in fgraph.outputs]) if replaced else fgraph


def _reductions(fgraph: FunctionGraph, node: Apply[Any]) -> list[Apply[Any]]:
    """Return the reductions of the results of a node that can be joined with it."""
    op = node.op
    if not isinstance(op, Elemwise) or op.inplace_pattern:
        return []
    found = [
        client
        for out in node.outputs
        for client, _ in fgraph.get_clients(out)
        if client is not None and _is_joinable(client)
    ]
    if not found or len(found) > _MOST_REDUCTIONS or elementwise_weight(node) > MAX_NODES_IN_A_KERNEL:
        return []
    own = broadcast_pattern(node)
    return found if own and all([v.type.broadcastable == own for v in node.outputs]) else []


def _is_joinable(node: Apply[Any]) -> bool:
    op = node.op
    if not isinstance(op, CAReduce) or not op.axes:
        return False
    return not (isinstance(op, Max | Min) and node.inputs[0].type.dtype in COMPLEX_DTYPES)


def _joined(
    fgraph: FunctionGraph,
    node: Apply[Any],
    reductions: list[Apply[Any]],
    replaced: dict[Variable[Any], Variable[Any]],
) -> dict[Variable[Any], Variable[Any]]:
    """Return what replaces the results of a node and of its reductions."""
    joined = frozenset(reductions)
    outputs: list[tuple[int, CAReduce | None, Variable[Any]]] = []
    for i, out in enumerate(node.outputs):
        if any([client not in joined for client, _ in fgraph.get_clients(out)]):
            outputs.append((i, None, out))
    outputs += [
        (node.outputs.index(reduction.inputs[0]), reduction.op, reduction.outputs[0])
        for reduction in reductions
        if isinstance(reduction.op, CAReduce)
    ]
    assert isinstance(node.op, Elemwise)
    op = ReducedElemwise(
        node.op.scalar_op, tuple([i for i, _, _ in outputs]), tuple([reduction for _, reduction, _ in outputs])
    )
    made = Apply.with_names(
        op,
        tuple([replaced.get(v, v) for v in node.inputs]),
        tuple([old.type for _, _, old in outputs]),
        tuple([old.name for _, _, old in outputs]),
        reductions[-1].built_at,
    )
    return {old: new for (_, _, old), new in zip(outputs, made.outputs, strict=True)}
