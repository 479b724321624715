"""Elementwise fusion: elementwise nodes that one pass over memory can compute become one node, whose function is a `Composite`.

    before                              after
    %0 = mul(%x, 2.0)                   %1, %3 = Composite{t = exp(i0 * 2.0); t, t + i1}(%x, %y)
    %1 = exp(%0)
    %2 = sum(%1)                        %2 = sum(%1)
    %3 = add(%1, %y)

What others need is a result of the new node; nothing is computed twice, and nothing is broadcast before it has been computed. See
`fusion_groups` for which nodes go together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import (
    BUILT_FOR,
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
from lamella.rewriting.engine import GraphRewriter, Observer
from lamella.rewriting.rules.fusion_groups import group_nodes
from lamella.typing_layer import find_aliases

__all__ = ["MAX_NODES_IN_A_KERNEL", "ElementwiseFusion", "broadcast_pattern", "elementwise_weight"]

MAX_NODES_IN_A_KERNEL: Final = 64
"""The time a compiler takes for one kernel grows faster than the kernel; past this size nothing is gained by fusing more."""


@final
@attrs.frozen
class ElementwiseFusion(GraphRewriter):
    """``f(x), g(f(x), y) -> (f, g . f)(x, y)``, for elementwise f and g, where f(x) is not broadcast; ``f(x), g(x) -> (f, g)(x)`` likewise.

    Always valid: the fused function rounds wherever the single ones do. It pays because intermediate arrays are neither written nor read
    (or written, but not read), and what several need is read once.
    """

    name: str = "fusion"
    max_nodes: int = MAX_NODES_IN_A_KERNEL

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        threatened = _threatened(fgraph)

        def is_member(node: Apply[Any]) -> bool:
            return _is_fusible(node) and threatened.isdisjoint(node.inputs)

        parts = group_nodes(fgraph, is_member, elementwise_weight, self.max_nodes).parts
        if len(parts) == len(fgraph.order):
            return fgraph
        replaced: dict[Variable[Any], Variable[Any]] = {}
        for part in parts:
            if len(part) > 1:
                fused = _fused(fgraph, part, replaced)
                if fused is not None:
                    replaced.update(fused)
                    if observer is not None:
                        outputs = [out for node in part for out in node.outputs]
                        observer.replaced(self.name, outputs, [fused.get(out) for out in outputs])
                    continue
            for node in part:
                rebuilt = rebuild_node(node, replaced)
                if rebuilt is not node:
                    replaced.update(zip(node.outputs, rebuilt.outputs, strict=True))
                    if observer is not None:
                        observer.replaced(None, node.outputs, rebuilt.outputs)
        return fgraph.with_outputs([replaced.get(out, out) for out in fgraph.outputs])


def _threatened(fgraph: FunctionGraph) -> frozenset[Variable[Any]]:
    """Return what a node of the graph overwrites, and all that lies in the same memory: its readers have to run before that node."""
    destroyers = [node for node in fgraph.order if node.op.destroy_map]
    if not destroyers:
        return frozenset()
    aliases = find_aliases(fgraph.order, fgraph.inputs)
    places = [(node, i) for node in destroyers for of in node.op.destroy_map.values() for i in of]
    roots = dict.fromkeys([root for node, i in places for root in aliases.roots(node.inputs[i])])
    return frozenset([v for root in roots for v in (root, *aliases.viewers(root))])


def _is_fusible(node: Apply[Any]) -> bool:
    op = node.op
    if not isinstance(op, Elemwise) or op.inplace_pattern:
        return False
    # Where all inputs broadcast, an output has length 1, whatever it is declared as; to take its inputs in its place would broadcast them.
    own = broadcast_pattern(node)
    return all([out.type.broadcastable == own for out in node.outputs])


def broadcast_pattern(node: Apply[Any]) -> tuple[bool, ...]:
    """Return along which axes all inputs of an elementwise node broadcast."""
    first, *others = [variable.type.broadcastable for variable in node.inputs]
    own: tuple[bool, ...] = first
    for pattern in others:
        if pattern != own:
            own = tuple([a and b for a, b in zip(own, pattern, strict=True)])
    return own


def _scalar_op(node: Apply[Any]) -> ScalarOp[Any]:
    assert isinstance(node.op, Elemwise)
    return node.op.scalar_op


def elementwise_weight(node: Apply[Any]) -> int:
    """Return how many scalar Ops an elementwise node computes."""
    op = _scalar_op(node)
    return len(op.program.steps) if isinstance(op, Composite) else 1


def _fused(
    fgraph: FunctionGraph, group: Sequence[Apply[Any]], replaced: dict[Variable[Any], Variable[Any]]
) -> dict[Variable[Any], Variable[Any]] | None:
    """Apply the function of a whole group, for those outputs that others need; None where the types do not come out as they were."""
    inside = frozenset(group)
    function = _Function()
    results: list[Variable[Any]] = []
    clients = fgraph.clients
    for node in group:
        function.add(node)
        results += [out for out in node.outputs if any([c not in inside for c, _ in clients.get(out, ())])]
    inputs = [now for v in function.inputs if isinstance(now := replaced.get(v, v), TensorVariable)]
    if not inputs:
        return None
    last = group[-1].built_at  # an error is to name the line where the last of them was built
    attributed = BUILT_FOR.set(last)
    try:
        composite = function.composite(results)
    finally:
        BUILT_FOR.reset(attributed)
    shape = broadcast_static_shapes(inputs)
    kinds = [TensorType(out.dtype, shape) for out in composite.outputs]
    for result, kind in zip(results, kinds, strict=True):
        if result.type.is_super(kind) is None or kind.broadcastable != result.type.broadcastable:
            return None
    made = Apply.with_names(
        Elemwise[Any](composite),
        tuple(inputs),
        tuple(kinds),
        tuple([result.name for result in results]),
        last,
    )
    return dict(zip(results, made.outputs, strict=True))


@final
class _Function:
    """The function that a group of nodes computes, being written down."""

    def __init__(self) -> None:
        self.inputs: list[Variable[Any]] = []
        self._constants: list[ScalarConstant] = []
        self._steps: list[tuple[ScalarOp[Any], Sequence[Variable[Any]]]] = []
        self._n_results = 0
        # Where values stand: among inputs, constants, and results of steps.
        self._places: dict[Variable[Any], tuple[int, int]] = {}

    def add(self, node: Apply[Any]) -> None:
        """Add a node whose inputs are computed by those added before, or are inputs of the function."""
        for variable in node.inputs:
            if variable not in self._places:
                self._meet(variable)
        for out in node.outputs:
            self._places[out] = (2, self._n_results)
            self._n_results += 1
        self._steps.append((_scalar_op(node), node.inputs))

    def _meet(self, variable: Variable[Any]) -> None:
        if isinstance(variable, TensorConstant) and all(variable.type.broadcastable):
            self._places[variable] = (1, len(self._constants))
            number = variable.data.reshape(())[()]
            self._constants.append(ScalarType(variable.type.dtype).make_constant(number))
        else:
            self._places[variable] = (0, len(self.inputs))
            self.inputs.append(variable)

    def composite(self, results: Sequence[Variable[Any]]) -> Composite:
        """Return the function as a scalar Op."""
        starts = (0, len(self.inputs), len(self.inputs) + len(self._constants))
        slots = {variable: starts[kind] + number for variable, (kind, number) in self._places.items()}
        steps = tuple([(op, tuple([slots[v] for v in operands])) for op, operands in self._steps])
        program = ScalarProgram(tuple(self._constants), steps, tuple([slots[result] for result in results]))
        return Composite.of_program([variable.type.dtype for variable in self.inputs], program)
