"""`explain`: a rewritten graph as a tree, with the rewriters that made each node, and from which lines of the user's program."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TextIO, TypeGuard, overload

from lamella.ir import Apply, FunctionGraph, Variable, dprint
from lamella.rewriting.engine.log import RewriteLog, Rewritten

__all__ = ["HasRewriteLog", "explain"]


class HasRewriteLog(Protocol):
    """What knows how its graph came about: a compiled function, for one."""

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph."""

    @property
    def rewrite_log(self) -> RewriteLog:
        """How it came about."""


Explainable = HasRewriteLog | Rewritten | FunctionGraph | Variable[Any] | Apply[Any]
"""What is explained: a compiled function, what `GraphRewriter.rewrite_with_log` returned; or, with a log, a graph or a part of one."""


@overload
def explain(
    graph: Explainable,
    log: RewriteLog | HasRewriteLog | None = None,
    *,
    depth: int = -1,
    max_origins: int = 8,
    file: Literal["str"],
) -> str: ...


@overload
def explain(
    graph: Explainable,
    log: RewriteLog | HasRewriteLog | None = None,
    *,
    depth: int = -1,
    max_origins: int = 8,
    file: TextIO | None = None,
) -> None: ...


def explain(
    graph: Explainable,
    log: RewriteLog | HasRewriteLog | None = None,
    *,
    depth: int = -1,
    max_origins: int = 8,
    file: TextIO | Literal["str"] | None = None,
) -> str | None:
    """Print a rewritten graph as `dprint` does, and below each node which rewriters made it from what.

    The same as data is `RewriteLog.explanation` of a node.

    Parameters
    ----------
    graph
        A compiled function, what `GraphRewriter.rewrite_with_log` returned, or a rewritten graph or a Variable of it.
    log
        Where a graph or a Variable is given: the log, or the compiled function it is part of.
    depth
        Number of levels to print; -1 for all.
    max_origins
        How many of the nodes that a node was made from to tell.
    file
        Where to print; ``"str"`` to have the text returned.

    Returns
    -------
    str or None
        The text, for ``file="str"``.

    Raises
    ------
    ValueError
        No log is known.
    """
    known = _log_of(graph if log is None else log)
    shown = graph.fgraph if isinstance(graph, Rewritten) or _has_log(graph) else graph

    def notes(node: Apply[Any]) -> list[str]:
        return known.explanation(node).lines(max_origins)

    if file == "str":
        return dprint(shown, depth, notes=notes, file="str")
    dprint(shown, depth, notes=notes, file=file)
    return None


def _has_log(given: object) -> TypeGuard[HasRewriteLog]:
    # The class is asked, for to ask the object would make the log.
    return hasattr(type(given), "rewrite_log")


def _log_of(given: object) -> RewriteLog:
    if isinstance(given, RewriteLog):
        return given
    if isinstance(given, Rewritten):
        return given.log
    if _has_log(given):
        return given.rewrite_log
    raise ValueError(
        f"{given!r} does not tell how it was made: explain a compiled function, or give its log as well, as in "
        "explain(variable, f)"
    )
