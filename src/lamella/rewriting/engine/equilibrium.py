"""`EquilibriumGraphRewriter`: rewriters applied again and again, until none changes anything."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.config import config
from lamella.errors import RewriteLoopError
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.normalise import RewriteTable, UseBound
from lamella.rewriting.engine.observer import Observer
from lamella.rewriting.engine.rewriter import GraphRewriter, NodeRewriter, Rewriter, demanding
from lamella.rewriting.engine.walk import single_rewriters, walk_once

__all__ = ["EquilibriumGraphRewriter"]


def _as_rewriters(rewriters: Sequence[Rewriter]) -> tuple[Rewriter, ...]:
    found = tuple(rewriters)
    for rewriter in found:
        if not isinstance(rewriter, GraphRewriter | NodeRewriter):
            raise TypeError(f"{rewriter!r} is neither a GraphRewriter nor a NodeRewriter")
    return found


def _as_graph_rewriters(rewriters: Sequence[GraphRewriter]) -> tuple[GraphRewriter, ...]:
    return tuple(rewriters)


@final
@attrs.frozen
class EquilibriumGraphRewriter(GraphRewriter):
    """Applies rewriters until none changes the graph.

    A round applies the graph rewriters, then the node rewriters all over the graph, inputs first and each node until it is in normal
    form, then the final ones. After the first round, a node that no rewriter changed is looked at again only by
    rewriters that look at the graph around it.

    Parameters
    ----------
    rewriters
        Graph rewriters and node rewriters.
    max_use_ratio
        How often a rewriter may be used per node of the graph (and a thousand times anyway); ``config.max_use_ratio`` by default.
    final_rewriters
        Graph rewriters applied at the end of each round.
    cleanup_rewriters
        Graph rewriters applied after each graph rewriter, and after the node rewriters, that changed something.
    ignore_newtrees
        Leave the nodes that rewriters make to the next round.
    name
        The name of the rewriter.
    """

    rewriters: tuple[Rewriter, ...] = attrs.field(converter=_as_rewriters)
    max_use_ratio: float | None = None
    final_rewriters: tuple[GraphRewriter, ...] = attrs.field(default=(), converter=_as_graph_rewriters)
    cleanup_rewriters: tuple[GraphRewriter, ...] = attrs.field(default=(), converter=_as_graph_rewriters)
    ignore_newtrees: bool = False
    name: str = "EquilibriumGraphRewriter"

    @cached_property
    def _table(self) -> RewriteTable:
        return self._make_table(None)

    def _make_table(self, observer: Observer | None) -> RewriteTable:
        node_rewriters = [r for r in self.rewriters if isinstance(r, NodeRewriter)]
        return RewriteTable(single_rewriters(node_rewriters, self.ignore_newtrees), observer)

    @cached_property
    def _demanding(self) -> tuple[Rewriter, ...]:
        return demanding((*self.rewriters, *self.final_rewriters, *self.cleanup_rewriters))

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        for rewriter in self._demanding:
            fgraph = rewriter.add_requirements(fgraph)
        return fgraph

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        return _Rounds(self, observer).run(fgraph)


class _Rounds:
    """The state of one application."""

    def __init__(self, of: EquilibriumGraphRewriter, observer: Observer | None) -> None:
        self.of = of
        self.observer = observer
        self.graph_rewriters = [r for r in of.rewriters if isinstance(r, GraphRewriter)]
        self.table = of._table if observer is None else of._make_table(observer)
        self.uses = UseBound(config.max_use_ratio if of.max_use_ratio is None else of.max_use_ratio)
        self.settled: set[Apply[Any]] = set()
        self.changed = False  # whether anything changed in this round, be it undone again

    def run(self, fgraph: FunctionGraph) -> FunctionGraph:
        # Nodes are interned, so a graph that comes back is recognised by its outputs.
        met: dict[tuple[Variable[Any], ...], int] = {fgraph.outputs: 0}
        counts: list[dict[str, int]] = [{}]
        while True:
            self.changed = False
            rewritten, is_final = self._round(fgraph)
            if is_final or not self.changed:
                return rewritten
            counts.append(dict(self.uses.counts))
            if rewritten.outputs in met:
                before = counts[met[rewritten.outputs]]
                names = sorted([name for name, uses in counts[-1].items() if uses != before.get(name)])
                raise RewriteLoopError(
                    f"rewriting does not come to an end: {self.of.name} made a graph that it had before; the rewriters that "
                    f"undo one another are among {', '.join(names)}"
                )
            met[rewritten.outputs] = len(met)
            fgraph = rewritten

    def _round(self, fgraph: FunctionGraph) -> tuple[FunctionGraph, bool]:
        """Return the graph after a round, and whether another round is known to change nothing."""
        of = self.of
        for rewriter in self.graph_rewriters:
            fgraph = self._with(rewriter, fgraph, of.cleanup_rewriters)
        walked, beyond = walk_once(
            fgraph, self.table, "in_to_out", of.ignore_newtrees, self.uses, self.observer, self.settled
        )
        cleaned = walked
        if walked is not fgraph:
            self.changed = True
            cleaned = self._clean(walked)
        final = cleaned
        for rewriter in of.final_rewriters:
            final = self._with(rewriter, final)
        nothing_else = final is walked and not self.graph_rewriters and not beyond
        return final, nothing_else and self.table.readers is None and not of.ignore_newtrees

    def _with(
        self, rewriter: GraphRewriter, fgraph: FunctionGraph, cleanup: Sequence[GraphRewriter] = ()
    ) -> FunctionGraph:
        rewritten = rewriter.run(fgraph, self.observer)
        if rewritten.outputs == fgraph.outputs:
            return rewritten
        self.changed = True
        self.uses.allow_for(len(fgraph.order))
        self.uses.count(rewriter.name)
        return self._clean(rewritten) if cleanup else rewritten

    def _clean(self, fgraph: FunctionGraph) -> FunctionGraph:
        for rewriter in self.of.cleanup_rewriters:
            fgraph = self._with(rewriter, fgraph)
        return fgraph
