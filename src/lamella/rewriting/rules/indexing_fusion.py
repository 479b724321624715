"""Elements at an index are read by the node that computes with them, and what it computes is added at an index by that node, in the same pass.

before                                               after
%0 = AdvancedSubtensor1(%x, %i)                      %1, %2 = f{i0 at 0; Sum{axis=(0,)} of 0, 1 added at 0}(%x, %i, %zeros)
%1, %3 = f{Sum{axis=(0,)} of 0, 1}(%0)
%2 = AdvancedIncSubtensor1(%zeros, %3, %i)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import (
    INTEGER_DTYPES,
    AdvancedIncSubtensor1,
    AdvancedSubtensor1,
    Apply,
    CAReduce,
    Composite,
    Elemwise,
    FunctionGraph,
    IndexedElemwise,
    Power,
    ReducedElemwise,
    TensorType,
    Variable,
    rebuild_node,
)
from lamella.rewriting.engine import GraphRewriter, Observer
from lamella.typing_layer import needed_by

__all__ = ["IndexingFusion"]

_MOST_OPERANDS: Final = 24
"""Arrays that one loop reads and writes; more would get in each other's way in caches."""

_MOST_BETWEEN: Final = 64
"""Nodes that are looked at to see whether what is added to can be there in time."""

Needs = Mapping[Apply[Any], Hashable]


@final
@attrs.frozen
class IndexingFusion(GraphRewriter):
    """``sum(f(x[i])), z[i].inc(g(x[i])) -> (sum of f at i, g added at i)(x, i, z)``, for elementwise f and g, and vectors x, z and i.

    Valid always: elements are read, computed and added in the same order; reductions may combine them in other groups. An element that is read is
    needed by nothing else; what is added to does not depend on the node. It pays because what is read, and what is added, is never an array.
    """

    name: str = "indexing_fusion"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        loops = _find_loops(fgraph)
        if not loops:
            return fgraph
        absorbed = {
            node for loop in loops.values() for node in (*loop.gathers.values(), *[s for s, _ in loop.scatters])
        }
        replaced: dict[Variable[Any], Variable[Any]] = {}
        done: set[Apply[Any]] = set(absorbed)

        def rebuild(node: Apply[Any]) -> None:
            done.add(node)
            rebuilt = rebuild_node(node, replaced)
            if rebuilt is not node:
                replaced.update(zip(node.outputs, rebuilt.outputs, strict=True))
                if observer is not None:
                    observer.replaced(None, node.outputs, rebuilt.outputs)

        for node in fgraph.order:
            if node in done:
                continue
            loop = loops.get(node)
            if loop is None:
                rebuild(node)
                continue
            for before in loop.before:
                if before not in done:
                    rebuild(before)
            fused = loop.fused(fgraph, replaced)
            replaced.update(fused)
            if observer is not None:
                members = (*loop.gathers.values(), node, *[s for s, _ in loop.scatters])
                outputs = [out for member in members for out in member.outputs]
                observer.replaced(self.name, outputs, [fused.get(out) for out in outputs])
        return fgraph.with_outputs([replaced.get(out, out) for out in fgraph.outputs])


@final
@attrs.frozen(eq=False)
class _Loop:
    """A node that computes elements, and what becomes part of it.

    Attributes
    ----------
    node
        The node.
    gathers
        For each of its inputs that is read at an index, the node that reads it.
    scatters
        The nodes that add one of its results at an index, each with the number of that output.
    before
        Nodes behind it in the order of the graph that have to come before it.
    """

    node: Apply[Any]
    gathers: Mapping[int, Apply[Any]]
    scatters: tuple[tuple[Apply[Any], int], ...]
    before: tuple[Apply[Any], ...]

    def fused(
        self, fgraph: FunctionGraph, replaced: Mapping[Variable[Any], Variable[Any]]
    ) -> dict[Variable[Any], Variable[Any]]:
        """Return what replaces the results of all of them."""
        node, op = self.node, self.node.op
        assert isinstance(op, Elemwise | ReducedElemwise)
        numbers: dict[Variable[Any], int] = {}

        def number(index: Variable[Any]) -> int:
            return numbers.setdefault(replaced.get(index, index), len(numbers))

        gathers = [number(self.gathers[i].inputs[1]) if i in self.gathers else None for i in range(node.nin)]
        arguments = [self.gathers[i].inputs[0] if i in self.gathers else v for i, v in enumerate(node.inputs)]
        added = {scatter for scatter, _ in self.scatters}
        outputs: list[tuple[int, CAReduce | None, int | None, Variable[Any]]] = []
        for out, (result, reduction) in zip(node.outputs, _uses(op), strict=True):
            if reduction is not None or any([client not in added for client, _ in fgraph.get_clients(out)]):
                outputs.append((result, reduction, None, out))
        for scatter, i in self.scatters:
            outputs.append((_uses(op)[i][0], None, number(scatter.inputs[2]), scatter.outputs[0]))
        made = IndexedElemwise(
            op.scalar_op,
            tuple(gathers),
            tuple([result for result, _, _, _ in outputs]),
            tuple([reduction for _, reduction, _, _ in outputs]),
            tuple([at for _, _, at, _ in outputs]),
        )
        bases = [scatter.inputs[0] for scatter, _ in self.scatters]
        last = self.scatters[-1][0] if self.scatters else node
        applied = Apply.with_names(
            made,
            (*[replaced.get(v, v) for v in arguments], *numbers, *[replaced.get(v, v) for v in bases]),
            tuple([old.type for _, _, _, old in outputs]),
            tuple([old.name for _, _, _, old in outputs]),
            None if last.origin is None else attrs.astuple(last.origin),
        )
        return {old: new for (_, _, _, old), new in zip(outputs, applied.outputs, strict=True)}


def _uses(op: Elemwise[Any] | ReducedElemwise) -> list[tuple[int, CAReduce | None]]:
    """Return, for each output, which result it is made of, and its reduction."""
    if isinstance(op, Elemwise):
        return [(result, None) for result in range(op.scalar_op.nout)]
    return list(zip(op.results, op.reductions, strict=True))


def _find_loops(fgraph: FunctionGraph) -> dict[Apply[Any], _Loop]:
    """Return the nodes that something becomes part of. No path leads from one of them around to itself.

    Between a node, in the order of the graph, and what it adds to, there is no other one that something may become part of. So the new nodes
    depend on others only that are made of nodes which come before their own.
    """
    loops: dict[Apply[Any], _Loop] = {}
    if not any([isinstance(node.op, AdvancedSubtensor1 | AdvancedIncSubtensor1) for node in fgraph.order]):
        return loops
    needs = needed_by(fgraph.order, fgraph.outputs)
    place = {node: i for i, node in enumerate(fgraph.order)}
    for node in fgraph.order:
        if not _computes_elements(node) or not _is_without_errors(node):
            continue
        gathers = {
            i: v.owner
            for i, v in enumerate(node.inputs)
            if v.owner in place and _is_read_at_index(fgraph, v.owner, node, needs)
        }
        scatters: list[tuple[Apply[Any], int]] = []
        before: dict[Apply[Any], None] = {}
        for i, out in enumerate(node.outputs):
            for client, at in dict(fgraph.get_clients(out)).items():
                if client is None or at != 1 or not _adds_at_index(client, out) or needs.get(client) != needs.get(node):
                    continue
                late = _between(fgraph, node, (client.inputs[0], client.inputs[2]), place)
                if late is not None:
                    scatters.append((client, i))
                    before.update(dict.fromkeys(late))
        if (gathers or scatters) and node.nin + len(node.outputs) + 2 * len(scatters) <= _MOST_OPERANDS:
            ordered = tuple(sorted(before, key=lambda between: place[between]))
            loops[node] = _Loop(node, gathers, tuple(scatters), ordered)
    return loops


def _computes_elements(node: Apply[Any]) -> bool:
    """Whether a node computes vectors element by element."""
    op = node.op
    if not isinstance(op, Elemwise | ReducedElemwise) or op.inplace_pattern:
        return False
    return all([v.type.ndim == 1 for v in node.inputs]) and any([not v.type.broadcastable[0] for v in node.inputs])


def _is_without_errors(node: Apply[Any]) -> bool:
    """Whether elements are never errors: for those that may be, all are looked at before the first is computed."""
    assert isinstance(node.op, Elemwise | ReducedElemwise)
    op = node.op.scalar_op
    steps = [step for step, _ in op.program.steps] if isinstance(op, Composite) else [op]
    return not any([isinstance(step, Power) for step in steps]) or not any(
        [v.type.dtype in INTEGER_DTYPES for v in node.inputs]
    )


def _is_read_at_index(fgraph: FunctionGraph, read: Apply[Any], node: Apply[Any], needs: Needs) -> bool:
    """Whether a node reads elements of a vector at an index, for another one alone."""
    if not isinstance(read.op, AdvancedSubtensor1) or read.inputs[0].type.ndim != 1 or _may_broadcast(read.inputs[1]):
        return False
    clients: Iterable[Apply[Any] | None] = [client for client, _ in fgraph.get_clients(read.outputs[0])]
    return all([client is node for client in clients]) and needs.get(read) == needs.get(node)


def _adds_at_index(node: Apply[Any], value: Variable[Any]) -> bool:
    """Whether a node adds the elements of a vector to another one at an index, each at one place."""
    op = node.op
    if not isinstance(op, AdvancedIncSubtensor1) or op.set_instead_of_inc or op.inplace:
        return False
    base, _, index = node.inputs
    if base is value or index is value or _may_broadcast(value) or _may_broadcast(index):
        return False
    return isinstance(base.type, TensorType) and base.type.ndim == 1 and base.type.dtype == value.type.dtype


def _may_broadcast(vector: Variable[Any]) -> bool:
    return bool(vector.type.broadcastable[0])


def _between(
    fgraph: FunctionGraph, node: Apply[Any], needed: Sequence[Variable[Any]], place: Mapping[Apply[Any], int]
) -> list[Apply[Any]] | None:
    """Return the nodes behind a node in the order of the graph that some Variables depend on; None if something may become part of one."""
    found: dict[Apply[Any], None] = {}
    stack = [v.owner for v in needed]
    while stack:
        owner = stack.pop()
        if owner is None or owner in found or place.get(owner, -1) < place[node]:
            continue
        if owner is node or _may_become_a_loop(fgraph, owner) or len(found) == _MOST_BETWEEN:
            return None
        found[owner] = None
        stack += [v.owner for v in owner.inputs]
    return list(found)


def _may_become_a_loop(fgraph: FunctionGraph, node: Apply[Any]) -> bool:
    """Whether a node computes what is read at an index, or is added at one."""
    if not _computes_elements(node):
        return False
    reads = any([v.owner is not None and isinstance(v.owner.op, AdvancedSubtensor1) for v in node.inputs])
    clients = [
        client for out in node.outputs for client, at in fgraph.get_clients(out) if client is not None and at == 1
    ]
    return reads or any([isinstance(client.op, AdvancedIncSubtensor1) for client in clients])
