"""Rewriters one after the other: `SequentialGraphRewriter` on graphs, `SequentialNodeRewriter` on a node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.observer import Observer
from lamella.rewriting.engine.rewriter import GraphRewriter, NodeRewriter, TransformResult
from lamella.rewriting.engine.tracking import DispatchTable, OpKey

__all__ = ["SequentialGraphRewriter", "SequentialNodeRewriter"]


@final
@attrs.frozen(init=False)
class SequentialGraphRewriter(GraphRewriter):
    """Applies graph rewriters one after the other.

    Parameters
    ----------
    *rewriters
        The rewriters, in order.
    name
        The name of the sequence.
    """

    rewriters: tuple[GraphRewriter, ...]
    name: str

    def __init__(self, *rewriters: GraphRewriter, name: str = "SequentialGraphRewriter") -> None:
        self.__attrs_init__(rewriters, name)

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        for rewriter in self.rewriters:
            fgraph = rewriter.add_requirements(fgraph)
        return fgraph

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        for rewriter in self.rewriters:
            fgraph = rewriter.run(fgraph, observer)
        return fgraph


@final
@attrs.frozen(init=False)
class SequentialNodeRewriter(NodeRewriter):
    """Tries node rewriters on a node one after the other.

    Parameters
    ----------
    *rewriters
        The rewriters, in order. Each is tried on the nodes that it tracks.
    apply_all_rewrites
        When one fires and makes all outputs anew with one node, go on with that node, until none fires; otherwise the first
        that fires ends it.
    name
        The name of the sequence.
    """

    rewriters: tuple[NodeRewriter, ...]
    apply_all_rewrites: bool
    name: str

    def __init__(
        self, *rewriters: NodeRewriter, apply_all_rewrites: bool = False, name: str = "SequentialNodeRewriter"
    ) -> None:
        self.__attrs_init__(rewriters, apply_all_rewrites, name)

    @cached_property
    def _table(self) -> DispatchTable[NodeRewriter]:
        return DispatchTable([(rewriter.tracks(), rewriter) for rewriter in self.rewriters])

    @property
    @override
    def reads_graph(self) -> bool:
        return any(rewriter.reads_graph for rewriter in self.rewriters)

    @override
    def tracks(self) -> Sequence[OpKey] | None:
        tracked = [rewriter.tracks() for rewriter in self.rewriters]
        known = [keys for keys in tracked if keys is not None]
        return [key for keys in known for key in keys] if len(known) == len(tracked) else None

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        for rewriter in self.rewriters:
            fgraph = rewriter.add_requirements(fgraph)
        return fgraph

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        first = node
        replaced: Sequence[Variable[Any] | None] | None = None
        met = {node}
        while True:
            made = self._first(fgraph, node)
            if not made:
                return replaced
            if isinstance(made, Mapping):
                return made if node is first else _joined(first, node, made)
            replaced = made
            following = _node_of(made, len(first.outputs))
            if not self.apply_all_rewrites or following is None or following in met:
                return replaced
            met.add(following)
            node = following

    def _first(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        for rewriter in self._table.find(node.op):
            made = rewriter.transform(fgraph, node)
            if made is not None and made is not False:
                return made
        return None


def _joined(
    first: Apply[Any], last: Apply[Any], made: Mapping[Variable[Any], Variable[Any]]
) -> Mapping[Variable[Any], Variable[Any]]:
    """Return what replaces the outputs of `first`, which `last` has replaced, and all else that `made` replaces."""
    own = {old: made.get(new, new) for old, new in zip(first.outputs, last.outputs, strict=True)}
    return own | {old: new for old, new in made.items() if old.owner is not last}


def _node_of(outputs: Sequence[Variable[Any] | None], count: int) -> Apply[Any] | None:
    """Return the node whose outputs these are, all and in order."""
    if len(outputs) != count or outputs[0] is None:
        return None
    node: Apply[Any] | None = outputs[0].owner
    if node is None or len(node.outputs) != count:
        return None
    return node if all(a is b for a, b in zip(outputs, node.outputs, strict=True)) else None
