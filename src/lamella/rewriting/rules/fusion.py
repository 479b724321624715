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
    ScalarConstant,
    ScalarOp,
    ScalarProgram,
    ScalarType,
    TensorConstant,
    TensorType,
    TensorVariable,
    Variable,
    broadcast_static_shapes,
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


def _fused(group: Sequence[Apply[Any]], replaced: dict[Variable[Any], Variable[Any]]) -> Variable[Any] | None:
    """Apply the function of a whole group; None where the types do not come out as they were."""
    result = group[-1].outputs[0]
    function = _Function()
    for node in group:
        function.add(node)
    inputs = [now for v in function.inputs if isinstance(now := replaced.get(v, v), TensorVariable)]
    if not inputs:
        return None
    composite = function.composite(result)
    kind = TensorType(composite.outputs[0].dtype, broadcast_static_shapes(inputs))
    if result.type.is_super(kind) is None or kind.broadcastable != result.type.broadcastable:
        return None
    origin = group[-1].origin  # an error is to name the line where the last of them was built
    made = Apply.with_names(
        Elemwise[Any](composite),
        tuple(inputs),
        (kind,),
        (result.name,),
        None if origin is None else attrs.astuple(origin),
    )
    return made.outputs[0]


@final
class _Function:
    """The function that a group of nodes computes, being written down."""

    def __init__(self) -> None:
        self.inputs: list[Variable[Any]] = []
        self._constants: list[ScalarConstant] = []
        self._steps: list[tuple[ScalarOp[Any], list[Variable[Any]]]] = []
        # Where values stand: among inputs, constants, and results of steps.
        self._places: dict[Variable[Any], tuple[int, int]] = {}

    def add(self, node: Apply[Any]) -> None:
        """Add a node whose inputs are computed by those added before, or are inputs of the function."""
        for variable in node.inputs:
            if variable not in self._places:
                self._meet(variable)
        self._places[node.outputs[0]] = (2, len(self._steps))
        self._steps.append((_scalar_op(node), list(node.inputs)))

    def _meet(self, variable: Variable[Any]) -> None:
        if isinstance(variable, TensorConstant) and all(variable.type.broadcastable):
            self._places[variable] = (1, len(self._constants))
            number = variable.data.reshape(())[()]
            self._constants.append(ScalarType(variable.type.dtype).make_constant(number))
        else:
            self._places[variable] = (0, len(self.inputs))
            self.inputs.append(variable)

    def composite(self, result: Variable[Any]) -> Composite:
        """Return the function as a scalar Op."""
        starts = (0, len(self.inputs), len(self.inputs) + len(self._constants))

        def slot(variable: Variable[Any]) -> int:
            kind, number = self._places[variable]
            return starts[kind] + number

        steps = tuple([(op, tuple([slot(v) for v in operands])) for op, operands in self._steps])
        program = ScalarProgram(tuple(self._constants), steps, (slot(result),))
        return Composite.of_program([variable.type.dtype for variable in self.inputs], program)
