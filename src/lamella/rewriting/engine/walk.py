"""Node rewriters applied all over a graph: `WalkingGraphRewriter`, with `in2out` and `out2in`."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cached_property
from typing import Any, Literal, final

import attrs
from typing_extensions import override

from lamella.config import config
from lamella.errors import InconsistencyError, MissingInputError, RewriteError
from lamella.ir import Apply, FunctionGraph
from lamella.rewriting.engine.log import LogObserver
from lamella.rewriting.engine.normalise import Entry, NodePass, RewriteTable, UseBound
from lamella.rewriting.engine.observer import Observer
from lamella.rewriting.engine.rewriter import GraphRewriter, NodeRewriter
from lamella.rewriting.engine.sequence import SequentialNodeRewriter

__all__ = [
    "NodeProcessingGraphRewriter",
    "Order",
    "WalkingGraphRewriter",
    "in2out",
    "out2in",
    "single_rewriters",
    "walk_once",
]

Order = Literal["in_to_out", "out_to_in"]
"""Whether a walk meets nodes after what they depend on, or before."""


def single_rewriters(rewriters: Iterable[NodeRewriter], ignore_newtrees: bool) -> list[NodeRewriter]:
    """Return rewriters with those that a sequence holds in its place, where it makes no difference to a walk.

    A walk that brings new nodes to normal form tries them all again anyway. Tried one by one, they are found by what they track
    and have their own names in logs.
    """
    found: list[NodeRewriter] = []
    stack = list(rewriters)[::-1]
    while stack:
        rewriter = stack.pop()
        if isinstance(rewriter, SequentialNodeRewriter) and not (ignore_newtrees and rewriter.apply_all_rewrites):
            stack.extend(reversed(rewriter.rewriters))
        else:
            found.append(rewriter)
    return found


def walk_once(
    fgraph: FunctionGraph,
    table: RewriteTable,
    order: Order,
    ignore_newtrees: bool,
    uses: UseBound,
    observer: Observer | None,
    settled: set[Apply[Any]] | None = None,
) -> tuple[FunctionGraph, bool]:
    """Make one pass of node rewriters over a graph.

    Returns
    -------
    FunctionGraph
        The rewritten graph; the given one where nothing changed.
    bool
        Whether Variables were replaced that are not outputs of the node at hand, so that nodes may not be in normal form.

    Raises
    ------
    RewriteError
        A rewriter returned something that cannot replace what it was given.
    RewriteLoopError
        Rewriting does not end.
    """
    refused: Set[tuple[Entry, Apply[Any]]] = frozenset()
    if observer is not None:
        observer.pass_began(fgraph)
    if fgraph.features:
        # The features judge the result: what they may refuse is told when they have accepted it.
        kept = None if observer is None else LogObserver()
        try:
            walked = _walk(fgraph, NodePass(fgraph, table, ignore_newtrees, uses, kept, settled), order)
        except InconsistencyError:
            refused = _find_refused(fgraph, table, order, ignore_newtrees, uses)
        else:
            if observer is not None and kept is not None:
                for step in kept.steps:
                    observer.replaced(step.rewriter, step.before, step.after)
                observer.pass_ended(walked[0])
            return walked
    walked = _walk(fgraph, NodePass(fgraph, table, ignore_newtrees, uses, observer, settled, refused), order)
    if observer is not None:
        observer.pass_ended(walked[0])
    return walked


def _walk(fgraph: FunctionGraph, a_pass: NodePass, order: Order) -> tuple[FunctionGraph, bool]:
    outputs = a_pass.inputs_first() if order == "in_to_out" else a_pass.outputs_first()
    try:
        rewritten = fgraph if tuple(outputs) == fgraph.outputs else fgraph.with_outputs(outputs)
        if not a_pass.beyond:
            return rewritten, False
        final = a_pass.apply_beyond(rewritten)
    except MissingInputError as error:
        names = sorted({entry.name for entry, _ in a_pass.uses_made})
        error.add_note(f"a rewriter put it there; those that replaced something: {', '.join(names)}")
        raise
    return final, final is not rewritten


def _find_refused(
    fgraph: FunctionGraph, table: RewriteTable, order: Order, ignore_newtrees: bool, uses: UseBound
) -> Set[tuple[Entry, Apply[Any]]]:
    """Find the uses of rewriters that must not happen if the features of the graph are to accept the result.

    Each use is accepted or refused given those before it: the first refused one is found by bisection, then the rest is looked at
    without it. That takes some passes for each refused use: a rewriter that proposes much which is refused asks `accept_inplace`.
    """
    refused: set[tuple[Entry, Apply[Any]]] = set()
    accepted = 0

    def made(limit: int | None) -> list[tuple[Entry, Apply[Any]]] | InconsistencyError:
        a_pass = NodePass(fgraph, table, ignore_newtrees, uses.anew(), None, None, refused, limit)
        try:
            _walk(fgraph, a_pass, order)
        except InconsistencyError as error:
            return error
        return a_pass.uses_made

    while True:
        everything = NodePass(fgraph, table, ignore_newtrees, uses.anew(), None, None, refused)
        try:
            _walk(fgraph, everything, order)
        except InconsistencyError as error:
            bad = len(everything.uses_made)
            while bad - accepted > 1:
                middle = (accepted + bad) // 2
                if isinstance(made(middle), InconsistencyError):
                    bad = middle
                else:
                    accepted = middle
            if bad == 0:
                raise RewriteError("the features of the graph do not accept it as it is") from error
            refused.add(everything.uses_made[bad - 1])
        else:
            return refused


def _as_node_rewriter(rewriter: NodeRewriter) -> NodeRewriter:
    if not isinstance(rewriter, NodeRewriter):
        raise TypeError(f"a walk applies a NodeRewriter, not {rewriter!r}; join several by SequentialNodeRewriter")
    return rewriter


class NodeProcessingGraphRewriter(GraphRewriter):
    """Base of graph rewriters that apply a node rewriter to nodes which they choose.

    A subclass writes `apply`, which calls `process_node`.

    Attributes
    ----------
    node_rewriter
        The node rewriter, which a subclass sets.
    """

    __slots__ = ()

    node_rewriter: NodeRewriter

    @override
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.node_rewriter.add_requirements(fgraph)

    def process_node(
        self, fgraph: FunctionGraph, node: Apply[Any], node_rewriter: NodeRewriter | None = None
    ) -> FunctionGraph:
        """Return the graph with the outputs of one node replaced as a node rewriter says.

        Parameters
        ----------
        fgraph
            The graph.
        node
            One of its nodes.
        node_rewriter
            The rewriter; that of this object by default.

        Returns
        -------
        FunctionGraph
            The given graph itself where the rewriter has nothing to do, or where a feature refuses its result.
        """
        rewriter = self.node_rewriter if node_rewriter is None else node_rewriter
        alone = NodePass(fgraph, RewriteTable([rewriter]), True, UseBound(config.max_use_ratio))
        replaced = alone.only(node)
        try:
            return fgraph.replace_all(replaced) if replaced else fgraph
        except InconsistencyError:
            return fgraph


@final
@attrs.frozen
class WalkingGraphRewriter(NodeProcessingGraphRewriter):
    """Applies a node rewriter to all nodes of a graph.

    Parameters
    ----------
    node_rewriter
        The node rewriter.
    order
        ``"in_to_out"``: a node is met after all that it depends on, so that its inputs are in normal form; ``"out_to_in"``: it is met
        before.
    ignore_newtrees
        Leave the nodes that the rewriter makes as they are; by default they are rewritten in turn.
    name
        The name of the rewriter.
    """

    node_rewriter: NodeRewriter = attrs.field(converter=_as_node_rewriter)
    order: Order = attrs.field(default="in_to_out", validator=attrs.validators.in_(("in_to_out", "out_to_in")))
    ignore_newtrees: bool = False
    name: str = attrs.field(default=attrs.Factory(lambda self: self.node_rewriter.name, takes_self=True))

    @cached_property
    def _table(self) -> RewriteTable:
        return self._make_table(None)

    def _make_table(self, observer: Observer | None) -> RewriteTable:
        return RewriteTable(single_rewriters([self.node_rewriter], self.ignore_newtrees), observer)

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        table = self._table if observer is None else self._make_table(observer)
        uses = UseBound(config.max_use_ratio)
        settled: set[Apply[Any]] = set()
        again = True
        while again:
            fgraph, again = walk_once(fgraph, table, self.order, self.ignore_newtrees, uses, observer, settled)
        return fgraph


def _joined(node_rewriters: tuple[NodeRewriter, ...], name: str | None) -> tuple[NodeRewriter, str]:
    joined = node_rewriters[0] if len(node_rewriters) == 1 else SequentialNodeRewriter(*node_rewriters)
    return joined, name or "_".join([rewriter.name for rewriter in node_rewriters])


def in2out(
    *node_rewriters: NodeRewriter, name: str | None = None, ignore_newtrees: bool = False
) -> WalkingGraphRewriter:
    """Return a rewriter that applies node rewriters from the inputs to the outputs; see `WalkingGraphRewriter`."""
    joined, named = _joined(node_rewriters, name)
    return WalkingGraphRewriter(joined, "in_to_out", ignore_newtrees, named)


def out2in(
    *node_rewriters: NodeRewriter, name: str | None = None, ignore_newtrees: bool = False
) -> WalkingGraphRewriter:
    """Return a rewriter that applies node rewriters from the outputs to the inputs; see `WalkingGraphRewriter`."""
    joined, named = _joined(node_rewriters, name)
    return WalkingGraphRewriter(joined, "out_to_in", ignore_newtrees, named)
