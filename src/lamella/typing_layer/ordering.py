"""Orders of nodes under more constraints than the data flow gives, and the cycle where there is none."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, final

import attrs

from lamella.ir import Apply, Variable

__all__ = ["Cycle", "constrained_order"]

AnyNode = Apply[Any]
AnyVariable = Variable[Any]


@final
@attrs.frozen
class Cycle:
    """Nodes each of which must come before the next one, and the last before the first."""

    nodes: tuple[AnyNode, ...]


def data_edges(order: Sequence[AnyNode], inputs: Collection[AnyVariable]) -> dict[AnyNode, list[AnyNode]]:
    """Return, for each node, the nodes of `order` that compute its inputs, each once."""
    given = frozenset(inputs)
    present = frozenset(order)
    found: dict[AnyNode, list[AnyNode]] = {}
    for node in order:
        owners = dict.fromkeys([v.owner for v in node.inputs if v.owner is not None and v not in given])
        found[node] = [owner for owner in owners if owner in present]
    return found


def constrained_order(
    order: Sequence[AnyNode],
    before: Mapping[AnyNode, Iterable[AnyNode]],
    inputs: Collection[AnyVariable] = (),
) -> tuple[AnyNode, ...] | Cycle:
    """Return the order nearest to a given one in which further nodes come before some nodes, or a cycle.

    Parameters
    ----------
    order
        The nodes, each after those that it needs.
    before
        For a node, further nodes that must come before it.
    inputs
        Variables not to look behind.
    """
    place = {node: i for i, node in enumerate(order)}
    if all(place[other] < place[node] for node, others in before.items() for other in others):
        return tuple(order)
    needs = data_edges(order, inputs)
    for node, others in before.items():
        needs[node] = list(dict.fromkeys([*needs[node], *others]))
    followers: dict[AnyNode, list[AnyNode]] = {}
    waiting = {node: len(needed) for node, needed in needs.items()}
    for node, needed in needs.items():
        for other in needed:
            followers.setdefault(other, []).append(node)
    # Of the nodes that may run, the one that stood first runs first.
    ready = [place[node] for node in order if not waiting[node]]
    heapq.heapify(ready)
    found: list[AnyNode] = []
    while ready:
        node = order[heapq.heappop(ready)]
        found.append(node)
        for follower in followers.get(node, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, place[follower])
    if len(found) == len(order):
        return tuple(found)
    return _cycle(order, needs, set(found))


def _cycle(order: Sequence[AnyNode], needs: Mapping[AnyNode, Sequence[AnyNode]], done: set[AnyNode]) -> Cycle:
    node = next(node for node in order if node not in done)
    seen: dict[AnyNode, int] = {}
    path: list[AnyNode] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        node = next(other for other in needs[node] if other not in done)
    return Cycle(tuple(reversed(path[seen[node] :])))
