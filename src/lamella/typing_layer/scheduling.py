"""`schedule`: from a graph to a graph with its order and storage facts, the form that code is generated from."""

from __future__ import annotations

from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph
from lamella.typing_layer.aliasing import Aliases, find_aliases
from lamella.typing_layer.checker import check
from lamella.typing_layer.destruction import destruction_order
from lamella.typing_layer.liveness import StoragePlan, plan_storage

__all__ = ["ScheduledGraph", "schedule"]


@final
@attrs.frozen(repr=False)
class ScheduledGraph:
    """A checked graph with the order in which its nodes run, and what is known of the memory of its Variables.

    Made by `schedule`. Two of them are equal where their graphs are: all else follows from the graph.

    Attributes
    ----------
    fgraph
        The graph.
    order
        Its nodes: each after those that it needs, and after those that read what it overwrites.
    aliases
        Who may share memory with whom.
    storage
        How long values are needed, whose memory is whose, and which outputs a caller must receive as copies.
    """

    fgraph: FunctionGraph
    order: tuple[Apply[Any], ...] = attrs.field(eq=False)
    aliases: Aliases = attrs.field(eq=False)
    storage: StoragePlan = attrs.field(eq=False)

    @override
    def __repr__(self) -> str:
        return f"ScheduledGraph({self.fgraph!r}, {len(self.order)} nodes)"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (schedule, (self.fgraph,))


def schedule(fgraph: FunctionGraph) -> ScheduledGraph:
    """Return a graph together with an order of its nodes and the storage facts that this order allows.

    Parameters
    ----------
    fgraph
        The graph. Its inputs may be overwritten by nodes that say so, except those that a `Supervisor` among its features
        protects.

    Raises
    ------
    GraphCheckError
        The graph is not well formed.
    InconsistencyError
        No order of the nodes satisfies what they overwrite.
    """
    check(fgraph, remake=False)
    order = destruction_order(fgraph)
    aliases = find_aliases(order, fgraph.inputs)
    return ScheduledGraph(fgraph, order, aliases, plan_storage(fgraph.inputs, fgraph.outputs, order, aliases))
