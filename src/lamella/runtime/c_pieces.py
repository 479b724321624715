"""A graph with lazy Ops as compiled pieces: what is needed together becomes one node, which is one C function.

    c = ...; a = f(g(x)); b = h(x); y = ifelse(c, a, b); z = k(y)

    ->  c = piece0(...); a = piece1(x); b = piece2(x); y = ifelse(c, a, b); z = piece3(y)

The nodes of a piece are neighbours in an order that is right whatever they overwrite, so the order of the pieces is. Either all of
them are needed in a call, or none is: they are needed by the same input of the same lazy node, or in any case. Of the orders that are right,
one is taken that makes few pieces.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import groupby
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, Variable, interpret
from lamella.typing_layer import DestroyHandler, ScheduledGraph, find_aliases, needed_by

__all__ = ["CompiledPiece", "in_pieces"]

AnyVariable = Variable[Any]

_Kind = tuple[Hashable, bool]
"""Who needs a node, and whether it is lazy."""


@final
@attrs.frozen
class CompiledPiece(Op[..., Any]):
    """Computes a graph that holds no lazy Op.

    Attributes
    ----------
    fgraph
        The graph.
    view_map, destroy_map
        Which of its outputs may lie in the memory of which inputs, and what it overwrites.
    """

    fgraph: FunctionGraph
    view_map: Mapping[int, Sequence[int]] = attrs.field(eq=False)
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(eq=False)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        values = interpret(self.fgraph.inputs, self.fgraph.outputs, inputs)
        for cell, value in zip(output_storage, values, strict=True):
            cell[0] = value


def in_pieces(scheduled: ScheduledGraph) -> FunctionGraph:
    """Return a graph that computes the same, of lazy nodes and of nodes that are compiled as they are.

    Parameters
    ----------
    scheduled
        The graph.
    """
    fgraph = scheduled.fgraph
    needs = needed_by(scheduled.order, fgraph.outputs)
    new: dict[AnyVariable, AnyVariable] = {}
    kinds: dict[Apply[Any], _Kind] = {node: (needs.get(node), node.op.is_lazy) for node in scheduled.order}
    for (_, is_lazy), run in groupby(_grouped(scheduled, kinds), kinds.__getitem__):
        nodes = list(run)
        for part in [[node] for node in nodes] if is_lazy or not _is_piece(nodes, scheduled) else [nodes]:
            new.update(_replaced(part, new) if is_lazy else _compiled(part, scheduled, new))
    return FunctionGraph(fgraph.inputs, [new.get(v, v) for v in fgraph.outputs])


def _grouped(scheduled: ScheduledGraph, kinds: Mapping[Apply[Any], _Kind]) -> list[Apply[Any]]:
    """Return the nodes in an order that is right, too, and has few changes from one kind of node to another."""
    order = scheduled.order
    given = frozenset(scheduled.fgraph.inputs)
    places = {node: i for i, node in enumerate(order)}
    overwriting = DestroyHandler().orderings(scheduled.fgraph)
    waiting: dict[Apply[Any], int] = {}
    followers: dict[Apply[Any], list[Apply[Any]]] = {}
    ready: dict[_Kind, list[int]] = {}
    for node in order:
        needed = {v.owner for v in node.inputs if v.owner in places and v not in given}
        needed.update([other for other in overwriting.get(node, ()) if other in places])
        waiting[node] = len(needed)
        for other in needed:
            if other is not None:
                followers.setdefault(other, []).append(node)
        if not needed:
            heappush(ready.setdefault(kinds[node], []), places[node])
    found: list[Apply[Any]] = []
    kind: _Kind | None = None
    while ready:
        if kind not in ready:  # what others may wait for comes first, then lazy nodes
            kind = min(ready, key=lambda other: (other[1], ready[other][0]))
        node = order[heappop(ready[kind])]
        if not ready[kind]:
            del ready[kind]
        found.append(node)
        for follower in followers.get(node, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready.setdefault(kinds[follower], []), places[follower])
    return found


def _ends(nodes: Sequence[Apply[Any]], scheduled: ScheduledGraph) -> tuple[list[AnyVariable], list[AnyVariable]]:
    """Return what nodes read that others compute, and what they compute that others read, or that is returned."""
    inside = set(nodes)
    made = {v for node in nodes for v in node.outputs}.difference(scheduled.fgraph.inputs)
    read = dict.fromkeys([v for node in nodes for v in node.inputs if v not in made and not v.is_constant])
    clients = scheduled.fgraph.clients
    given = [v for node in nodes for v in node.outputs if any([user not in inside for user, _ in clients.get(v, ())])]
    return list(read), [v for v in given if v in made]


def _is_piece(nodes: Sequence[Apply[Any]], scheduled: ScheduledGraph) -> bool:
    """Whether nodes can run as a whole: their graph by itself tells all that matters of who shares memory with whom."""
    inputs, outputs = _ends(nodes, scheduled)
    aliases = scheduled.aliases
    overwritten = aliases.overwritten(nodes)
    shared: set[AnyVariable] = set()
    for variable in inputs:
        roots = overwritten.intersection(aliases.roots(variable))
        if roots & shared:
            return False
        shared |= roots
    shared = set()
    for variable in outputs:
        own = set(aliases.roots(variable))
        if own & shared:
            return False
        shared |= own
    return True


def _replaced(nodes: Sequence[Apply[Any]], new: Mapping[AnyVariable, AnyVariable]) -> dict[AnyVariable, AnyVariable]:
    (node,) = nodes
    made = node.clone_with_new_inputs([new.get(v, v) for v in node.inputs])
    return dict(zip(node.outputs, made.outputs, strict=True))


def _compiled(
    nodes: Sequence[Apply[Any]], scheduled: ScheduledGraph, new: Mapping[AnyVariable, AnyVariable]
) -> dict[AnyVariable, AnyVariable]:
    inputs, outputs = _ends(nodes, scheduled)
    if not outputs:
        return {}
    aliases = find_aliases(nodes, inputs)
    places = {v: i for i, v in enumerate(inputs)}
    overwritten = aliases.overwritten(nodes)
    destroyed = tuple([i for v, i in places.items() if v in overwritten])
    shown = {o: tuple([places[r] for r in aliases.roots(v) if r in places]) for o, v in enumerate(outputs)}
    # An output that lies in memory which the piece overwrites shows what has been written there.
    written = {o: tuple([i for i in found if i in destroyed]) for o, found in shown.items()}
    written[0] = (*written[0], *[i for i in destroyed if not any([i in found for found in written.values()])])
    viewed = {o: tuple([i for i in found if i not in destroyed]) for o, found in shown.items()}
    piece = CompiledPiece(
        FunctionGraph(inputs, outputs),
        {o: found for o, found in viewed.items() if found},
        {o: found for o, found in written.items() if found},
    )
    made = Apply(piece, [new.get(v, v) for v in inputs], [v.type for v in outputs])
    return dict(zip(outputs, made.outputs, strict=True))
