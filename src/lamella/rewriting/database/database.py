"""`RewriteDatabase`: named rewriters with tags, from which a query makes one rewriter."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Generic, TypeVar, final

import attrs
from typing_extensions import override

from lamella.rewriting.database.query import RewriteDatabaseQuery, as_query
from lamella.rewriting.engine import Rewriter

__all__ = ["Entry", "RewriteDatabase"]

E = TypeVar("E", bound=Rewriter)
R_co = TypeVar("R_co", bound=Rewriter, covariant=True)

Row = tuple[str, str, str, str]
"""A line of a printed map: position, name, kind, tags."""

Version = tuple[object, ...]
"""What stands for the contents of a database: its entries, and the versions of the databases inside."""

_lock = threading.RLock()
"""Guards all databases: one is part of another, and registering is rare."""


@final
@attrs.frozen(eq=False)
class Entry(Generic[E]):
    """What a database holds under a name.

    Attributes
    ----------
    name
        The name.
    rewriter
        A rewriter, or a database that gives one.
    tags
        The tags, the name among them.
    position
        The place in a sequence; smaller comes first.
    final_rewriter, cleanup
        When an equilibrium applies it: at the end of each round, or after each change.
    with_database_name
        Whether the name of the database is a tag.
    """

    name: str
    rewriter: E | RewriteDatabase[Any, E]
    tags: frozenset[str]
    position: float = 0.0
    final_rewriter: bool = False
    cleanup: bool = False
    with_database_name: bool = True


class RewriteDatabase(ABC, Generic[E, R_co]):
    """Named rewriters with tags.

    It is a registry: what is registered takes part in the queries that follow. Any thread may register and ask.

    Parameters
    ----------
    name
        The name of the database, which is a tag of all it holds. A database without one is named when it is registered in another.
    """

    has_positions: ClassVar[bool] = False

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self._entries: dict[str, Entry[E]] = {}
        self._inner: dict[str, RewriteDatabase[Any, E]] = {}
        # What queries gave, and of which version of this database.
        self._known: dict[RewriteDatabaseQuery, tuple[Version, R_co]] = {}

    def query(self, *query: RewriteDatabaseQuery | str) -> R_co:
        """Return a rewriter made of the rewriters that a query takes.

        Parameters
        ----------
        *query
            A query, or its words: ``"+tag"`` to include, ``"-tag"`` to exclude, ``"&tag"`` to require.
        """
        asked = as_query(*query)
        with _lock:
            known, version = self._known.get(asked), self.version
            if known is not None and known[0] == version:
                return known[1]
            made = self._make(asked)
            if len(self._known) >= 64:
                self._known.clear()
            self._known[asked] = (version, made)
            return made

    @abstractmethod
    def _make(self, query: RewriteDatabaseQuery) -> R_co:
        """Return a rewriter made of the rewriters that a query takes."""

    @property
    def version(self) -> Version:
        """What stands for all that is registered here and in the databases inside: what was registered for a while leaves it as it was."""
        with _lock:
            return (*self._entries.values(), *[db.version for db in self.inner_databases])

    @property
    def inner_databases(self) -> list[RewriteDatabase[Any, Any]]:
        """The databases inside."""
        return list(self._inner.values())

    @property
    def entries(self) -> tuple[Entry[E], ...]:
        """What is registered, in the order in which it is applied."""
        with _lock:
            return tuple(sorted(self._entries.values(), key=lambda entry: entry.position))

    def tags_of(self, entry: Entry[E]) -> frozenset[str]:
        """Return the tags of an entry, the name of this database among them."""
        return entry.tags if self.name is None or not entry.with_database_name else entry.tags | {self.name}

    def _add(self, entry: Entry[E], kind: type[E] | tuple[type[Rewriter], ...], overwrite: bool) -> None:
        with _lock:
            inner = entry.rewriter
            if not isinstance(inner, RewriteDatabase) and not isinstance(inner, kind):
                kinds = kind if isinstance(kind, tuple) else (kind,)
                raise TypeError(
                    f"{self!r} holds {' and '.join([k.__name__ for k in kinds])} objects, not {inner!r}; a node rewriter is applied "
                    "to a graph by WalkingGraphRewriter"
                )
            if entry.name in self._entries and not overwrite:
                raise ValueError(
                    f"{self!r} has a rewriter named {entry.name!r} already; say overwrite_existing=True to put this one in its place"
                )
            if isinstance(inner, RewriteDatabase):
                if inner is self or self in inner.all_databases():
                    raise ValueError(f"{self!r} cannot hold {inner!r}, which holds it")
                if inner.name is None:
                    inner.name = entry.name
            self._entries[entry.name] = entry
            self._inner.pop(entry.name, None)
            if isinstance(inner, RewriteDatabase):
                self._inner[entry.name] = inner

    def unregister(self, name: str) -> None:
        """Remove what is registered under a name.

        Raises
        ------
        KeyError
            There is no such thing.
        """
        with _lock:
            if self._entries.pop(name, None) is None:
                raise KeyError(f"{self!r} has nothing named {name!r}")
            self._inner.pop(name, None)

    def all_databases(self) -> list[RewriteDatabase[Any, Any]]:
        """Return this database and all those inside it."""
        found: list[RewriteDatabase[Any, Any]] = [self]
        for db in found:
            found.extend([inner for inner in db.inner_databases if inner not in found])
        return found

    def _taken(self, query: RewriteDatabaseQuery) -> list[tuple[Entry[E], E]]:
        """Return the entries that a query takes, in order, and the rewriter that each gives."""
        return [(entry, self._resolve(entry, query)) for entry in self.entries if query.accepts(self.tags_of(entry))]

    def _resolve(self, entry: Entry[E], query: RewriteDatabaseQuery) -> E:
        if isinstance(entry.rewriter, RewriteDatabase):
            return entry.rewriter.query(query.for_inner(entry.name))
        return entry.rewriter

    def add_tags(self, name: str, *tags: str) -> None:
        """Give tags to what is registered under a name."""
        self._retag(name, lambda old: old | frozenset(tags))

    def remove_tags(self, name: str, *tags: str) -> None:
        """Take tags from what is registered under a name."""
        self._retag(name, lambda old: old - frozenset(tags))

    def _retag(self, name: str, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        with _lock:
            entry = self._entries.get(name)
            if entry is None:
                raise KeyError(f"{self!r} has nothing named {name!r}")
            self._entries[name] = attrs.evolve(entry, tags=change(entry.tags))

    def __getitem__(self, name: str) -> E | RewriteDatabase[Any, E]:
        """Return what is registered under a name, or the only thing that has it as a tag.

        Raises
        ------
        KeyError
            There is no such thing, or there are several.
        """
        entries = self.entries
        found = [entry for entry in entries if entry.name == name] or [e for e in entries if name in e.tags]
        if len(found) != 1:
            raise KeyError(f"{self!r} has {len(found) or 'nothing'} under {name!r}")
        return found[0].rewriter

    def __contains__(self, name: object) -> bool:
        return any(entry.name == name for entry in self.entries)

    def __iter__(self) -> Iterator[str]:
        """Visit the names, in order."""
        return iter([entry.name for entry in self.entries])

    def describe(self, depth: int | None = None) -> str:
        """Return a table of what the database holds, in the order of application: position, name, kind and tags.

        Parameters
        ----------
        depth
            How many databases inside one another to look into; all by default.
        """
        rows = [("position", "name", "kind", "tags"), *self._rows(0, depth)]
        widths = [max([len(row[column]) for row in rows]) for column in range(3)]
        return "\n".join(
            [
                f"{p:>{widths[0]}}  {name:<{widths[1]}}  {kind:<{widths[2]}}  {tags}".rstrip()
                for p, name, kind, tags in rows
            ]
        )

    def _rows(self, level: int, depth: int | None) -> list[Row]:
        rows = []
        for entry in self.entries:
            kind = type(entry.rewriter).__name__
            if entry.final_rewriter or entry.cleanup:
                kind += " (ends a round)" if entry.final_rewriter else " (cleans up)"
            position = f"{entry.position:g}" if self.has_positions else ""
            rows.append((position, "  " * level + entry.name, kind, " ".join(sorted(entry.tags - {entry.name}))))
            if isinstance(entry.rewriter, RewriteDatabase) and (depth is None or level + 1 < depth):
                rows.extend(entry.rewriter._rows(level + 1, depth))
        return rows

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name or ''})"
