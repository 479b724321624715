"""Which nodes become one: groups of elementwise nodes that one pass over memory can compute.

A value may flow from one node of a group to another where neither broadcasts it; then all of the group have one shape. To see that no
path leaves a group and comes back, each node has a *level*: how many edges that leave groups there are, at most, from it to the end.
Levels never rise along an edge, and fall along one that no group may contain; so a path between two nodes of one level stays on it,
and all that it meets belongs to their group. Nodes that are not needed in the same calls (see `needed_by`) are in no group together.

    x -> exp -> e -> sum      level 1: exp (its value leaves for sum, which is no elementwise node)
              e -> mul -> z   level 0: sum; mul, which is raised to level 1, where it joins exp
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final, final

import attrs

from lamella.ir import Apply, CAReduce, FunctionGraph, TensorType, Variable
from lamella.typing_layer import needed_by

__all__ = ["Groups", "group_nodes"]

AnyNode = Apply[Any]

_MOST_STREAMS: Final = 32
"""Arrays that one pass reads and writes; more would get in each other's way in caches."""

_MOST_MOVED: Final = 8
"""Nodes in no group, each of which needs the one before, that are computed earlier for what needs the last."""


@final
@attrs.frozen(eq=False)
class Groups:
    """The groups of a graph, and an order in which all can be computed, one after the other.

    Attributes
    ----------
    parts
        The nodes of the graph: groups of several, each in the order of the graph, and single nodes.
    """

    parts: tuple[tuple[AnyNode, ...], ...]


def group_nodes(
    fgraph: FunctionGraph, is_member: Callable[[AnyNode], bool], weight: Callable[[AnyNode], int], most: int
) -> Groups:
    """Group the nodes of a graph.

    The cost grows with the number of nodes and edges.

    Parameters
    ----------
    fgraph
        The graph.
    is_member
        Whether a node may be in a group: it is elementwise, and all of its outputs have the shape of the broadcast inputs.
    weight
        How much a node adds to the size of a group.
    most
        The greatest size of a group.
    """
    grouping = _Grouping(fgraph, is_member)
    grouping.set_levels()
    components = grouping.components()
    if grouping.raise_levels(components):
        components = grouping.components()
    grouping.join_siblings(components)
    return Groups(tuple(grouping.parts(weight, most)))


@final
class _Grouping:
    def __init__(self, fgraph: FunctionGraph, is_member: Callable[[AnyNode], bool]) -> None:
        self._fgraph = fgraph
        self._order = fgraph.order
        given = frozenset(fgraph.inputs)
        self._needs = needed_by(self._order, fgraph.outputs)
        self._members = frozenset([node for node in self._order if is_member(node)])
        self._patterns = {node: _pattern(node.outputs[0]) for node in self._members}
        self._owners: dict[AnyNode, Sequence[tuple[AnyNode, bool]]] = {
            node: self._edges(node, given) for node in self._order
        }
        # The inputs that have the shape of the results of a node, but constants.
        self._whole_inputs: dict[AnyNode, list[Variable[Any]]] = {
            node: [v for v in node.inputs if _pattern(v) == pattern and not v.is_constant]
            for node, pattern in self._patterns.items()
        }
        self._level: dict[AnyNode, int] = {}
        self._parent: dict[AnyNode, AnyNode] = {}

    def _edges(self, node: AnyNode, given: frozenset[Variable[Any]]) -> Sequence[tuple[AnyNode, bool]]:
        """Return the nodes that a node needs, each with whether the two may be in one group."""
        found: dict[AnyNode, bool] = {}
        pattern = self._patterns.get(node)
        for variable in node.inputs:
            owner = variable.owner
            if owner is None or variable in given:
                continue
            joins = pattern is not None and owner in self._members and _pattern(variable) == pattern
            if joins and self._needs:
                joins = self._needs.get(owner) == self._needs.get(node)
            found[owner] = joins and found.get(owner, True)
        return tuple(found.items())

    def set_levels(self) -> None:
        """Put each node as near to the end as the nodes that need it allow."""
        level = self._level = dict.fromkeys(self._order, 0)
        for node in reversed(self._order):
            at = level[node]
            for owner, joins in self._owners[node]:
                least = at if joins else at + 1
                if level[owner] < least:
                    level[owner] = least

    def components(self) -> dict[AnyNode, list[AnyNode]]:
        """Return the nodes of one level that values flow between, by one that stands for them."""
        level = self._level
        parent = self._parent = {node: node for node in self._order if node in self._members}
        for node in parent:
            at = level[node]
            for owner, joins in self._owners[node]:
                if joins and level[owner] == at:
                    self._unite(owner, node)
        found: dict[AnyNode, list[AnyNode]] = {}
        for node in parent:
            found.setdefault(self._find(node), []).append(node)
        return found

    def _find(self, node: AnyNode) -> AnyNode:
        parent = self._parent
        root = parent[node]
        if parent[root] is root:  # as a rule
            return root
        while parent[root] is not root:
            root = parent[root]
        while parent[node] is not root:
            parent[node], node = root, parent[node]
        return root

    def _unite(self, a: AnyNode, b: AnyNode) -> None:
        self._parent[self._find(b)] = self._find(a)

    def raise_levels(self, components: Mapping[AnyNode, Sequence[AnyNode]]) -> bool:
        """Move each component to the level of one that it could join, if what it needs is there by then, or can be; say whether any moved.

        That is one whose results it uses; or, for one whose results are only reduced, so that none has to be kept until later, one that
        reads the same array.
        """
        level = self._level
        moved = False
        readers: dict[tuple[Variable[Any], Hashable], int] = {}
        ceilings: dict[AnyNode, tuple[int, int]] = {}
        others = [(node,) for node in self._order if node not in self._members]
        for members in sorted([*components.values(), *others], key=lambda nodes: -level[nodes[0]]):
            if members[0] not in self._members:
                ceilings[members[0]] = self._ceiling(members[0], ceilings)
                continue
            own = level[members[0]]
            inside = frozenset(members)
            edges = [edge for node in members for edge in self._owners[node] if edge[0] not in inside]
            allowed = [
                (ceilings[owner][0] if owner in ceilings else level[owner]) - (0 if joins else 1)
                for owner, joins in edges
            ]
            highest = min(allowed, default=None)
            read = [(v, self._needs.get(node)) for node in members for v in self._whole_inputs[node]]
            target = own
            if highest is not None and any([joins and level[owner] == highest for owner, joins in edges]):
                target = max(own, highest)
            elif self._is_only_reduced(members, inside):
                met = [readers[key] for key in read if key in readers]
                target = min([at for at in met if at > own and (highest is None or at <= highest)], default=own)
            if target != own:
                level.update(dict.fromkeys(members, target))
                self._raise_others(edges, target)
                moved = True
            readers.update(dict.fromkeys(read, target))
        return moved

    def _ceiling(self, node: AnyNode, ceilings: Mapping[AnyNode, tuple[int, int]]) -> tuple[int, int]:
        """Return the highest level that a node in no group can be on, and how many nodes in no group move with it."""
        owners = [owner for owner, _ in self._owners[node]]
        moved = 1 + max([ceilings[owner][1] for owner in owners if owner in ceilings], default=0)
        if moved > _MOST_MOVED:
            return self._level[node], 0
        highest = [ceilings[owner][0] if owner in ceilings else self._level[owner] for owner in owners]
        return min(highest, default=sys.maxsize) - 1, moved

    def _raise_others(self, edges: Iterable[tuple[AnyNode, bool]], target: int) -> None:
        """Put nodes in no group, which a raised component needs, above it."""
        level = self._level
        waiting = [(owner, target + 1) for owner, joins in edges if not joins]
        while waiting:
            node, least = waiting.pop()
            if level[node] < least:
                level[node] = least
                waiting.extend([(owner, least + 1) for owner, _ in self._owners[node]])

    def _is_only_reduced(self, members: Iterable[AnyNode], inside: frozenset[AnyNode]) -> bool:
        """Whether nothing but reductions needs what some nodes compute."""
        for node in members:
            for out in node.outputs:
                for client, _ in self._fgraph.get_clients(out):
                    if client not in inside and (client is None or not isinstance(client.op, CAReduce)):
                        return False
        return True

    def join_siblings(self, components: Mapping[AnyNode, Sequence[AnyNode]]) -> None:
        """Join components of one level that read the same array: there is no path between them."""
        readers: dict[tuple[Variable[Any], int, Hashable], AnyNode] = {}
        for members in components.values():
            for node in members:
                for variable in self._whole_inputs[node]:
                    first = readers.setdefault((variable, self._level[node], self._needs.get(node)), node)
                    if first is not node:
                        self._unite(first, node)

    def parts(self, weight: Callable[[AnyNode], int], most: int) -> Iterable[tuple[AnyNode, ...]]:
        """Give groups and single nodes, each after all that it needs; a group that is too large is cut along the order of the graph."""
        groups: dict[AnyNode, list[AnyNode]] = {}
        for node in self._order:
            if node in self._members:
                groups.setdefault(self._find(node), []).append(node)
        first: dict[AnyNode, tuple[AnyNode, ...]] = {}
        for members in groups.values():
            for piece in self._cut(members, weight, most):
                first[piece[0]] = piece
        for node in sorted(self._order, key=lambda node: -self._level[node]):
            if node not in self._members:
                yield (node,)
            elif node in first:
                yield first[node]

    def _cut(
        self, members: Sequence[AnyNode], weight: Callable[[AnyNode], int], most: int
    ) -> Iterable[tuple[AnyNode, ...]]:
        inside = frozenset(members)
        clients = self._fgraph.clients
        piece: list[AnyNode] = []
        size = 0
        made: set[Variable[Any]] = set()
        streams: set[Variable[Any]] = set()
        for node in members:
            cost = weight(node)
            read = {v for v in node.inputs if v not in made and v not in streams and not v.is_constant}
            if piece and (size + cost > most or len(streams) + len(read) > _MOST_STREAMS):
                yield tuple(piece)
                piece, size, made, streams = [], 0, set(), set()
                read = {v for v in node.inputs if not v.is_constant}
            piece.append(node)
            size += cost
            made.update(node.outputs)
            streams |= read
            for out in node.outputs:
                for client, _ in clients.get(out, ()):
                    if client not in inside:
                        streams.add(out)
        yield tuple(piece)


def _pattern(variable: Variable[Any]) -> tuple[bool, ...] | None:
    type = variable.type
    return type.broadcastable if isinstance(type, TensorType) else None
