"""Elementwise fusion: chains and trees of elementwise nodes become one node, whose function is a `Composite`.

    before                              after
    %0 = mul(%x, 2.0)                   %2 = Composite{exp(i0 * 2.0) + i1}(%x, %y)
    %1 = exp(%0)
    %2 = add(%1, %y)

One pass over memory serves all of them. A node joins the group of its clients where all of them are in one group and the node's value
is as large as theirs, so nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import (
    Apply,
    Composite,
    Elemwise,
    FunctionGraph,
    ScalarOp,
    ScalarType,
    ScalarVariable,
    TensorConstant,
    TensorVariable,
    Variable,
    rebuild_node,
)
from lamella.rewriting.engine import GraphRewriter

__all__ = ["ElementwiseFusion"]

MAX_NODES_IN_A_KERNEL: Final = 128
"""The time a compiler takes for one kernel grows faster than the kernel; past this size nothing is gained by fusing more."""


@final
@attrs.frozen
class ElementwiseFusion(GraphRewriter):
    """``f(g(x), y) -> (f . g)(x, y)``, for elementwise f and g, where g(x) is not needed otherwise and not broadcast.

    Always valid: the fused function rounds wherever the single ones do. It pays because intermediate arrays are neither written nor read.
    """

    name: str = "fusion"
    max_nodes: int = MAX_NODES_IN_A_KERNEL

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        groups = _grouped(fgraph, self.max_nodes)
        if not groups:
            return fgraph
        replaced: dict[Variable[Any], Variable[Any]] = {}
        inner = {node for group in groups.values() for node in group[:-1]}
        for node in fgraph.order:
            if node in inner:
                continue
            fused = _fused(groups[node], replaced) if node in groups else None
            if fused is not None:
                replaced[node.outputs[0]] = fused
                continue
            for member in groups.get(node, [node]):
                rebuilt = rebuild_node(member, replaced)
                if rebuilt is not member:
                    replaced.update(zip(member.outputs, rebuilt.outputs, strict=True))
        return fgraph.with_outputs([replaced.get(out, out) for out in fgraph.outputs])


def _is_fusible(node: Apply[Any]) -> bool:
    op = node.op
    return isinstance(op, Elemwise) and not op.inplace_pattern and len(node.outputs) == 1


def _scalar_op(node: Apply[Any]) -> ScalarOp[Any]:
    assert isinstance(node.op, Elemwise)
    return node.op.scalar_op


def _weight(node: Apply[Any]) -> int:
    op = _scalar_op(node)
    return len(op.program.steps) if isinstance(op, Composite) else 1


def _grouped(fgraph: FunctionGraph, max_nodes: int) -> dict[Apply[Any], list[Apply[Any]]]:
    """Return groups of two nodes or more, by their last node, each in the order of the graph."""
    last: dict[Apply[Any], Apply[Any]] = {}
    weight: dict[Apply[Any], int] = {}
    groups: dict[Apply[Any], list[Apply[Any]]] = {}
    for node in reversed(fgraph.order):
        if not _is_fusible(node):
            continue
        home = _home(fgraph, node, last)
        cost = _weight(node)
        if home is None or weight[home] + cost > max_nodes:
            home = node
        last[node] = home
        weight[home] = weight.get(home, 0) + cost
        groups.setdefault(home, []).append(node)
    return {home: members[::-1] for home, members in groups.items() if len(members) > 1}


def _home(fgraph: FunctionGraph, node: Apply[Any], last: dict[Apply[Any], Apply[Any]]) -> Apply[Any] | None:
    """Return the last node of the one group in which all clients of `node` are; None where there is no such group."""
    (out,) = node.outputs
    if out.type.broadcastable != _own_pattern(node):
        return None  # its clients do not broadcast it; its inputs in its place would be broadcast
    home: Apply[Any] | None = None
    for client, _ in fgraph.get_clients(out):
        if client is None or client not in last or (home is not None and last[client] is not home):
            return None
        home = last[client]
    if home is None or home.outputs[0].type.broadcastable != out.type.broadcastable:
        return None
    return home


def _own_pattern(node: Apply[Any]) -> tuple[bool, ...]:
    """Return where the inputs of an elementwise node all broadcast: there its output has length 1, whatever it is declared as."""
    patterns = zip(*[variable.type.broadcastable for variable in node.inputs], strict=True)
    return tuple([all(axis) for axis in patterns])


def _fused(group: Sequence[Apply[Any]], replaced: dict[Variable[Any], Variable[Any]]) -> TensorVariable | None:
    """Apply the function of a whole group; None where the types do not come out as they were."""
    scalars: dict[Variable[Any], ScalarVariable] = {}
    outer: list[TensorVariable] = []
    inputs: list[ScalarVariable] = []

    def scalar(variable: Variable[Any]) -> ScalarVariable:
        found = scalars.get(variable)
        if found is not None:
            return found
        kind = ScalarType(variable.type.dtype)
        if isinstance(variable, TensorConstant) and all(variable.type.broadcastable):
            found = kind.make_constant(variable.data.reshape(())[()])
        else:
            found = kind()
            inputs.append(found)
            now = replaced.get(variable, variable)
            if isinstance(now, TensorVariable):
                outer.append(now)
        scalars[variable] = found
        return found

    for node in group:
        scalars[node.outputs[0]] = _scalar_op(node)(*[scalar(v) for v in node.inputs])
    result = group[-1].outputs[0]
    if not inputs:
        return None
    fused: TensorVariable = Elemwise[Any](Composite(inputs, [scalars[result]]))(*outer)
    kept = result.type.is_super(fused.type) is not None and fused.type.broadcastable == result.type.broadcastable
    return fused if kept else None
