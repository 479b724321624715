"""The profile of rewriting: how long each rewriter took, how often it fired and what it made; as data and printed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.observer import Observer, Transform
from lamella.rewriting.engine.rewriter import GraphRewriter, NodeRewriter, TransformResult

__all__ = ["NodeRewriterProfile", "PassProfile", "ProfileObserver", "Profiled", "RewriterProfile", "profile_rewriting"]


@final
@attrs.frozen
class NodeRewriterProfile:
    """What a node rewriter did.

    Attributes
    ----------
    name
        Its name.
    seconds
        The time spent in it.
    calls, hits
        How often it looked at a node, and how often it replaced something.
    nodes_made
        How many nodes it made that were not there.
    """

    name: str
    seconds: float = 0.0
    calls: int = 0
    hits: int = 0
    nodes_made: int = 0

    def joined(self, other: NodeRewriterProfile) -> NodeRewriterProfile:
        """Return what this and that come to."""
        return NodeRewriterProfile(
            self.name,
            self.seconds + other.seconds,
            self.calls + other.calls,
            self.hits + other.hits,
            self.nodes_made + other.nodes_made,
        )


@final
@attrs.frozen
class PassProfile:
    """One pass of node rewriters over a graph.

    Attributes
    ----------
    seconds
        The time it took.
    nodes
        How many nodes the graph had before.
    hits
        Who replaced something, and how often; most often first.
    """

    seconds: float
    nodes: int
    hits: tuple[tuple[str, int], ...]


@final
@attrs.frozen
class RewriterProfile:
    """What a graph rewriter did.

    Attributes
    ----------
    name, kind
        Its name and class.
    seconds
        The time it took, with all that is inside it.
    nodes_before, nodes_after
        How many nodes the graph had.
    hits, nodes_made
        How often it, or a graph rewriter of one's own, replaced something by itself, and how many nodes that made.
    passes
        Its passes of node rewriters.
    node_rewriters
        Its node rewriters, those that took longest first.
    inner
        The graph rewriters that it applied, in order.
    """

    name: str
    kind: str
    seconds: float
    nodes_before: int
    nodes_after: int
    hits: int = 0
    nodes_made: int = 0
    passes: tuple[PassProfile, ...] = ()
    node_rewriters: tuple[NodeRewriterProfile, ...] = ()
    inner: tuple[RewriterProfile, ...] = ()

    @property
    def seconds_in_node_rewriters(self) -> float:
        """The time spent in its node rewriters; the rest of its time goes into walking, applying nodes anew, and checking."""
        return sum([rewriter.seconds for rewriter in self.node_rewriters])

    @property
    def most_nodes(self) -> int:
        """How many nodes the graph had at most, before or after it or one of its passes."""
        return max([self.nodes_before, self.nodes_after, *[one.nodes for one in self.passes]])

    def totals(self) -> tuple[NodeRewriterProfile, ...]:
        """Return what each rewriter did in all, wherever it was applied, by name; those that took longest first.

        Graph rewriters that replace something by themselves are among them; their calls are their applications.
        """
        found: dict[str, NodeRewriterProfile] = {}
        stack = [self]
        while stack:
            profile = stack.pop()
            own = NodeRewriterProfile(profile.name, profile.seconds, 1, profile.hits, profile.nodes_made)
            is_leaf = not (profile.inner or profile.node_rewriters)
            for one in (*profile.node_rewriters, *([own] if is_leaf else [])):
                known = found.get(one.name)
                found[one.name] = one if known is None else known.joined(one)
            stack.extend(profile.inner)
        return tuple(sorted(found.values(), key=lambda one: -one.seconds))

    @override
    def __str__(self) -> str:
        return "\n".join(["Rewriter profile", "----------------", *_lines(self)])


_UNUSED_TOLD: Final = 20  # and of these only those that looked at a node


def _lines(profile: RewriterProfile) -> list[str]:
    lines: list[str] = []
    stack = [(profile, 0)]
    while stack:
        shown, level = stack.pop()
        margin = "  " * level
        lines.append(
            f"{margin}{shown.seconds:.6f}s - {shown.name} ({shown.kind}), "
            f"{shown.nodes_before}/{shown.nodes_after} nodes before/after"
            + (f", {shown.hits} replacements, {shown.nodes_made} nodes made" if shown.hits else "")
        )
        if shown.passes:
            inside = shown.seconds_in_node_rewriters
            lines.append(
                f"{margin}    {len(shown.passes)} passes, {inside:.6f}s in node rewriters, at most {shown.most_nodes} nodes"
            )
        for i, one in enumerate(shown.passes):
            hits = " ".join([f"({name}, {count})" for name, count in one.hits])
            lines.append(f"{margin}    pass {i} - {one.seconds:.6f}s - {one.nodes} nodes - {hits}".rstrip(" -"))
        used = [r for r in shown.node_rewriters if r.hits]
        if used:
            lines.append(f"{margin}    time - times applied - nodes made - name")
            lines.extend([f"{margin}    {r.seconds:.6f}s - {r.hits} - {r.nodes_made} - {r.name}" for r in used])
        unused = [r for r in shown.node_rewriters if not r.hits]
        if unused:
            total = sum([r.seconds for r in unused])
            lines.append(f"{margin}    {total:.6f}s - in {len(unused)} rewriters that replaced nothing")
            told = [r for r in unused if r.calls][:_UNUSED_TOLD]
            lines.extend([f"{margin}      {r.seconds:.6f}s - {r.calls} calls - {r.name}" for r in told])
            if len(unused) > len(told):
                lines.append(f"{margin}      and {len(unused) - len(told)} more that took less")
        stack.extend([(inner, level + 1) for inner in reversed(shown.inner)])
    return lines


@final
@attrs.frozen
class Profiled:
    """A rewritten graph, and what rewriting it cost."""

    fgraph: FunctionGraph
    profile: RewriterProfile


def profile_rewriting(rewriter: GraphRewriter, fgraph: FunctionGraph) -> Profiled:
    """Rewrite a graph, and measure.

    Parameters
    ----------
    rewriter
        The rewriter.
    fgraph
        The graph.

    Returns
    -------
    Profiled
        The rewritten graph, and the profile: data, and a table when it is printed.
    """
    observer = ProfileObserver(fgraph)
    rewritten = rewriter.rewrite_observed(fgraph, observer)
    return Profiled(rewritten, observer.profile)


class _Running:
    """A graph rewriter that has begun and not ended."""

    def __init__(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        self.rewriter = rewriter
        self.nodes_before = len(fgraph.order)
        self.node_rewriters: dict[str, _Counts] = {}
        self.own = _Counts()
        self.passes: list[PassProfile] = []
        self.inner: list[RewriterProfile] = []
        self.pass_start = (0.0, 0)
        self.pass_hits: dict[str, int] = {}
        self.start = time.perf_counter()


class _Counts:
    """What a rewriter has done so far."""

    __slots__ = ("calls", "hits", "nodes_made", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self.calls = self.hits = self.nodes_made = 0


@final
class ProfileObserver(Observer):
    """Collects the profile of one graph rewriter, and of all that it applies.

    Parameters
    ----------
    fgraph
        The graph that it is given: its nodes are not counted as made.
    """

    __slots__ = ("_finished", "_known", "_running")

    def __init__(self, fgraph: FunctionGraph) -> None:
        self._running: list[_Running] = []
        self._finished: list[RewriterProfile] = []
        self._known: set[Apply[Any]] = set(fgraph.apply_nodes)

    @property
    def profile(self) -> RewriterProfile:
        """The profile; there is one when the rewriter has ended.

        Raises
        ------
        ValueError
            No rewriter has ended yet.
        """
        if not self._finished:
            raise ValueError("there is no profile yet: no rewriter that was observed has ended")
        return self._finished[0]

    @override
    def entered(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        self._running.append(_Running(rewriter, fgraph))

    @override
    def left(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        ended = self._running.pop()
        counted = sorted(ended.node_rewriters.items(), key=lambda pair: -pair[1].seconds)
        profile = RewriterProfile(
            rewriter.name,
            type(rewriter).__name__,
            time.perf_counter() - ended.start,
            ended.nodes_before,
            len(fgraph.order),
            ended.own.hits,
            ended.own.nodes_made,
            tuple(ended.passes),
            tuple([NodeRewriterProfile(name, c.seconds, c.calls, c.hits, c.nodes_made) for name, c in counted]),
            tuple(ended.inner),
        )
        (self._running[-1].inner if self._running else self._finished).append(profile)

    @override
    def pass_began(self, fgraph: FunctionGraph) -> None:
        self._running[-1].pass_hits = {}
        self._running[-1].pass_start = (time.perf_counter(), len(fgraph.order))

    @override
    def pass_ended(self, fgraph: FunctionGraph) -> None:
        current = self._running[-1]
        start, nodes = current.pass_start
        hits = sorted(current.pass_hits.items(), key=lambda pair: -pair[1])
        current.passes.append(PassProfile(time.perf_counter() - start, nodes, tuple(hits)))

    @override
    def replaced(
        self, rewriter: str | None, before: Sequence[Variable[Any]], after: Sequence[Variable[Any] | None]
    ) -> None:
        made = self._count_new(after)
        if rewriter is None or not self._running:
            return
        current = self._running[-1]
        counts = current.node_rewriters.get(rewriter, current.own)
        counts.hits += 1
        counts.nodes_made += made
        current.pass_hits[rewriter] = current.pass_hits.get(rewriter, 0) + 1

    def _count_new(self, variables: Sequence[Variable[Any] | None]) -> int:
        before = len(self._known)
        stack = [variable.owner for variable in variables if variable is not None]
        while stack:
            node = stack.pop()
            if node is not None and node not in self._known:
                self._known.add(node)
                stack.extend([variable.owner for variable in node.inputs])
        return len(self._known) - before

    @override
    def transform_of(self, rewriter: NodeRewriter, transform: Transform) -> Transform:
        counts = self._running[-1].node_rewriters.setdefault(rewriter.name, _Counts())

        def timed(fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
            start = time.perf_counter()
            result = transform(fgraph, node)
            counts.seconds += time.perf_counter() - start
            counts.calls += 1
            return result

        return timed
