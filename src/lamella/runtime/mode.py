"""Modes: which rewrites are applied to a graph, and how it is run."""

from __future__ import annotations

from typing import Any, Final, Self

import attrs
from typing_extensions import override

from lamella.config import config
from lamella.ir import FunctionGraph
from lamella.rewriting import GraphRewriter, RewriteDatabase, RewriteDatabaseQuery, optdb
from lamella.runtime.c_linker import CLinker
from lamella.runtime.linking import Executable, Linker, PerformLinker
from lamella.typing_layer import ScheduledGraph

__all__ = ["FAST_COMPILE", "FAST_RUN", "FAST_RUN_QUERY", "Mode"]


@attrs.frozen
class Mode:
    """How `function` compiles: a linker, and a query to the database of rewrites.

    Attributes
    ----------
    linker
        Makes something callable of the scheduled graph.
    query
        Which rewrites are applied.
    database
        The database they come from; `optdb` by default.
    """

    linker: Linker
    query: RewriteDatabaseQuery
    database: RewriteDatabase[Any, GraphRewriter] = attrs.field(default=optdb, repr=False)

    def including(self, *tags: str) -> Self:
        """Return this mode with further rewrites, by tag or name."""
        return attrs.evolve(self, query=self.query.including(*tags))

    def excluding(self, *tags: str) -> Self:
        """Return this mode without some rewrites, by tag or name."""
        return attrs.evolve(self, query=self.query.excluding(*tags))

    def requiring(self, *tags: str) -> Self:
        """Return this mode with only those rewrites that have all of the tags."""
        return attrs.evolve(self, query=self.query.requiring(*tags))

    def rewriter(self) -> GraphRewriter:
        """Return what this mode rewrites graphs with: what is registered now, as the mode and the configuration ask for it."""
        return self.database.query(self._configured_query())

    def rewrite(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph that this mode compiles a graph to."""
        return self.rewriter().rewrite(fgraph)

    def link(self, scheduled: ScheduledGraph, original: FunctionGraph) -> Executable:
        """Return a graph that this mode has rewritten as something to call.

        Parameters
        ----------
        scheduled
            The rewritten graph, with its order and storage facts.
        original
            The graph as it was before.
        """
        return self.linker.link(scheduled)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        # `optdb` is the registry of a process: another process has its own, and rewriters in it may be functions without a name.
        fields = {field.alias: getattr(self, field.name) for field in attrs.fields(type(self))}
        if self.database is optdb:
            del fields["database"]
        return (_restored, (type(self), fields))

    def _configured_query(self) -> RewriteDatabaseQuery:
        include = [tag for tag in config.included_rewrites.split(":") if tag]
        exclude = [tag for tag in config.excluded_rewrites.split(":") if tag]
        return self.query.including(*include).excluding(*exclude)


def _restored(kind: type[Mode], fields: dict[str, Any]) -> Mode:
    return kind(**fields)


FAST_RUN_QUERY: Final = RewriteDatabaseQuery(include=("fast_run",), exclude=("nan_unsafe",))
"""All rewrites but those that assume that there is no NaN or infinity."""

FAST_RUN: Final = Mode(CLinker(), FAST_RUN_QUERY)
"""All rewrites but those that assume that there is no NaN or infinity; compiled to C."""

FAST_COMPILE: Final = Mode(PerformLinker(), RewriteDatabaseQuery(include=("fast_compile",), exclude=("nan_unsafe",)))
"""Hardly any rewrites; run in Python."""
