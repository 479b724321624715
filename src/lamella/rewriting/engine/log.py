"""`RewriteLog`: what replaced what, and which rewriter did it, as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.observer import Observer

__all__ = ["Explanation", "LogObserver", "RewriteLog", "RewriteStep", "Rewritten"]


@final
@attrs.frozen
class RewriteStep:
    """One replacement.

    Attributes
    ----------
    rewriter
        The name of the rewriter; None where a node was applied anew because its inputs were replaced.
    before, after
        The Variables that were replaced, and what stands for each of them since; None for what was used no longer.
    """

    rewriter: str | None
    before: tuple[Variable[Any], ...]
    after: tuple[Variable[Any] | None, ...]

    @override
    def __str__(self) -> str:
        before = ", ".join([str(variable) for variable in self.before])
        after = ", ".join([str(variable) for variable in self.after])
        return f"{self.rewriter or '(inputs rewritten)'}: {before} -> {after}"


@final
@attrs.frozen
class Explanation:
    """What a node was made from, and by whom.

    Attributes
    ----------
    node
        The node.
    steps
        The steps that led to it, the earliest first; none for a node of the graph at the start.
    rewriters
        The names of the rewriters among them, the earliest first, each once.
    origins
        The nodes of the graph at the start that it was made from; itself where it was there already.
    roots
        Inputs and constants that it stands for.
    is_known
        Whether the log tells of it: it was there, or a step made it.
    """

    node: Apply[Any]
    steps: tuple[RewriteStep, ...]
    rewriters: tuple[str, ...]
    origins: tuple[Apply[Any], ...]
    roots: tuple[Variable[Any], ...]
    is_known: bool

    def lines(self, max_origins: int = 8) -> list[str]:
        """Return who made it from what, with the lines of the user's program that built what it was made from.

        Parameters
        ----------
        max_origins
            How many of these to tell; of others their number is told.
        """
        if not self.is_known:
            return ["the log does not tell where this is from"]
        if not self.rewriters:
            but = ", but for its inputs" if self.steps else ""
            return [f"as it was built{but}{_at(self.origins[0])}" if self.origins else f"as it was built{but}"]
        made = f"made by {', '.join(self.rewriters)}"
        from_nodes = [f"from {origin}{_at(origin)}" for origin in self.origins[:max_origins]]
        more = len(self.origins) - max_origins
        from_roots = [f"from {root}" for root in self.roots]
        return [made, *from_nodes, *([f"and from {more} more"] if more > 0 else []), *from_roots]

    @override
    def __str__(self) -> str:
        return "\n".join([repr(self.node), *[f"  {line}" for line in self.lines()]])


def _at(node: Apply[Any]) -> str:
    return "" if node.origin is None else f", at {node.origin}"


@final
@attrs.frozen(repr=False)
class RewriteLog:
    """How a rewritten graph came from another.

    Attributes
    ----------
    start
        The graph it all began with.
    steps
        The replacements, in the order in which they were made.
    """

    start: FunctionGraph
    steps: tuple[RewriteStep, ...] = ()

    def __add__(self, later: RewriteLog) -> RewriteLog:
        """Return the log of one rewriting and then another."""
        return RewriteLog(self.start, self.steps + later.steps)

    def __iter__(self) -> Iterator[RewriteStep]:
        """Visit the steps in order."""
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    @cached_property
    def _made_by(self) -> Mapping[Apply[Any], int]:
        """For each node that was made, the step that made it first."""
        known: dict[Apply[Any], int] = dict.fromkeys(self.start.apply_nodes, -1)
        for place, step in enumerate(self.steps):
            # A step into a region that no step has begun with (the graph was changed between two logs) makes nothing.
            stack = [variable.owner for variable in step.after if variable is not None]
            while stack:
                node = stack.pop()
                if node is not None and node not in known:
                    known[node] = place
                    stack.extend([variable.owner for variable in node.inputs])
        return MappingProxyType({node: place for node, place in known.items() if place >= 0})

    def step_of(self, node: Apply[Any]) -> RewriteStep | None:
        """Return the step that made a node; None for a node of the graph at the start (or of another graph)."""
        place = self._made_by.get(node)
        return None if place is None else self.steps[place]

    def history(self, node: Apply[Any]) -> tuple[RewriteStep, ...]:
        """Return the steps that led to a node, the earliest first.

        Each step made the node, or what a later one of these steps has replaced. A node of the graph at the start has no history.
        """
        wanted = [node]
        found: set[int] = set()
        while wanted:
            place = self._made_by.get(wanted.pop())
            if place is not None and place not in found:
                found.add(place)
                wanted.extend([v.owner for v in self.steps[place].before if v.owner is not None])
        return tuple([self.steps[place] for place in sorted(found)])

    def origins(self, node: Apply[Any]) -> tuple[Apply[Any], ...]:
        """Return the nodes of the graph at the start that a node was made from; itself where it was there already."""
        return self._origins(node, self.history(node))

    def _origins(self, node: Apply[Any], steps: Sequence[RewriteStep]) -> tuple[Apply[Any], ...]:
        if not steps:
            return (node,)
        first = [v.owner for step in steps for v in step.before if v.owner is not None]
        return tuple(dict.fromkeys([owner for owner in first if owner not in self._made_by]))

    def rewriters_of(self, node: Apply[Any]) -> tuple[str, ...]:
        """Return the names of the rewriters that led to a node, the earliest first, each once."""
        return _names(self.history(node))

    def explanation(self, node: Apply[Any]) -> Explanation:
        """Return what a node was made from, and by whom."""
        known = node in self._made_by or node in self.start.apply_nodes
        steps = self.history(node)
        roots = dict.fromkeys([v for step in steps for v in step.before if v.owner is None])
        return Explanation(node, steps, _names(steps), self._origins(node, steps), tuple(roots), known)

    def explain(self, node: Apply[Any]) -> str:
        """Return, as text, what a node was made from, step by step."""
        steps = self.history(node)
        if not steps:
            return f"{node}\n  as it was built"
        return "\n".join([str(node), *[f"  {step}" for step in steps]])

    @override
    def __repr__(self) -> str:
        return f"RewriteLog({len(self.steps)} steps)"


def _names(steps: Sequence[RewriteStep]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([step.rewriter for step in steps if step.rewriter is not None]))


@final
@attrs.frozen
class Rewritten:
    """A rewritten graph, and how it came about."""

    fgraph: FunctionGraph
    log: RewriteLog


class LogObserver(Observer):
    """Collects the steps of a log."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps: list[RewriteStep] = []

    @override
    def replaced(
        self, rewriter: str | None, before: Sequence[Variable[Any]], after: Sequence[Variable[Any] | None]
    ) -> None:
        self.steps.append(RewriteStep(rewriter, tuple(before), tuple(after)))
