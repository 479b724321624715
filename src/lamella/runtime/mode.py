"""Modes: which rewrites are applied to a graph, and how it is run."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.config import config
from lamella.errors import ConfigError
from lamella.ir import FunctionGraph
from lamella.rewriting import GraphRewriter, RewriteDatabase, RewriteDatabaseQuery, optdb
from lamella.runtime.c_linker import CLinker
from lamella.runtime.linking import Linker, PerformLinker

__all__ = ["FAST_COMPILE", "FAST_RUN", "Mode", "get_mode", "predefined_modes", "register_mode"]


@final
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

    def including(self, *tags: str) -> Mode:
        """Return this mode with further rewrites, by tag or name."""
        return attrs.evolve(self, query=self.query.including(*tags))

    def excluding(self, *tags: str) -> Mode:
        """Return this mode without some rewrites, by tag or name."""
        return attrs.evolve(self, query=self.query.excluding(*tags))

    def requiring(self, *tags: str) -> Mode:
        """Return this mode with only those rewrites that have all of the tags."""
        return attrs.evolve(self, query=self.query.requiring(*tags))

    def rewrite(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph that this mode compiles a graph to."""
        return self.database.query(self._configured_query()).rewrite(fgraph)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        # `optdb` is the registry of a process: another process has its own, and rewriters in it may be functions without a name.
        return (_restored, (self.linker, self.query, None if self.database is optdb else self.database))

    def _configured_query(self) -> RewriteDatabaseQuery:
        include = [tag for tag in config.included_rewrites.split(":") if tag]
        exclude = [tag for tag in config.excluded_rewrites.split(":") if tag]
        return self.query.including(*include).excluding(*exclude)


def _restored(
    linker: Linker, query: RewriteDatabaseQuery, database: RewriteDatabase[Any, GraphRewriter] | None
) -> Mode:
    return Mode(linker, query) if database is None else Mode(linker, query, database)


FAST_RUN = Mode(CLinker(), RewriteDatabaseQuery(include=("fast_run",), exclude=("nan_unsafe",)))
"""All rewrites but those that assume that there is no NaN or infinity; compiled to C."""

FAST_COMPILE = Mode(PerformLinker(), RewriteDatabaseQuery(include=("fast_compile",), exclude=("nan_unsafe",)))
"""Hardly any rewrites; run in Python."""

_modes: dict[str, Mode] = {"FAST_RUN": FAST_RUN, "FAST_COMPILE": FAST_COMPILE}
_lock = threading.Lock()


def predefined_modes() -> Mapping[str, Mode]:
    """Return the modes that have a name."""
    return MappingProxyType(dict(_modes))


def register_mode(name: str, mode: Mode) -> None:
    """Give a mode a name, for ``mode=`` and the configuration.

    Raises
    ------
    ValueError
        The name is taken by another mode.
    """
    with _lock:
        if _modes.setdefault(name, mode) != mode:
            raise ValueError(f"another mode is named {name!r}")


def get_mode(mode: Mode | str | None = None) -> Mode:
    """Return a mode: the one given, the one of that name, or the configured one.

    Raises
    ------
    ConfigError
        No mode has that name.
    """
    if isinstance(mode, Mode):
        return mode
    name = config.mode if mode is None else mode
    if name not in _modes:
        raise ConfigError(f"no mode is named {name!r}; there are {', '.join(_modes)}")
    return _modes[name]
