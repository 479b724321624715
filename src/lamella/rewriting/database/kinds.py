"""The kinds of databases: a sequence, an equilibrium, a group for one node, a group walked over a graph, and a stand-in."""

from __future__ import annotations

from typing import Any, Literal, final

from typing_extensions import override

from lamella.rewriting.database.database import E, Entry, R_co, RewriteDatabase, Row
from lamella.rewriting.database.query import RewriteDatabaseQuery
from lamella.rewriting.engine import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    NodeRewriter,
    Rewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    WalkingGraphRewriter,
)

__all__ = ["EquilibriumDB", "LocalGroupDB", "Position", "ProxyDB", "SequenceDB", "TopoDB"]

Position = float | Literal["first", "last"]
"""A place in a sequence: a number, or before or after all that is there."""


class _OrderedDB(RewriteDatabase[E, R_co]):
    """A database whose entries have positions."""

    has_positions = True

    def _place(self, position: Position) -> float:
        taken = [entry.position for entry in self.entries]
        if position == "first":
            return min(taken, default=1.0) - 1
        if position == "last":
            return max(taken, default=-1.0) + 1
        return float(position)


@final
class SequenceDB(_OrderedDB[GraphRewriter, SequentialGraphRewriter]):
    """Graph rewriters with positions; a query gives a `SequentialGraphRewriter` of those that it takes."""

    def register(
        self,
        name: str,
        rewriter: GraphRewriter | RewriteDatabase[Any, GraphRewriter],
        *tags: str,
        position: Position = "last",
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
    ) -> None:
        """Register a graph rewriter, or a database that gives one.

        Parameters
        ----------
        name
            The name, which nothing else here has.
        rewriter
            The rewriter.
        *tags
            Its tags.
        position
            Its place in the sequence. What has the same place is applied in the order of registration.
        use_db_name_as_tag
            Whether the name of this database is a tag as well.
        overwrite_existing
            Put it in the place of what has the name already.

        Raises
        ------
        ValueError
            The name is taken.
        TypeError
            The rewriter is of another kind.
        """
        place = self._place(position)
        all_tags = frozenset([name, *tags])
        entry = Entry(name, rewriter, all_tags, place, with_database_name=use_db_name_as_tag)
        self._add(entry, GraphRewriter, overwrite_existing)

    @override
    def _make(self, query: RewriteDatabaseQuery) -> SequentialGraphRewriter:
        placed = [(entry.position, rewriter) for entry, rewriter in self._taken(query) if not _does_nothing(rewriter)]
        placed += [(position, rewriter) for rewriter, position in query.extra_rewrites]
        placed = [(position, rewriter) for position, rewriter in placed if position < query.position_cutoff]
        placed.sort(key=lambda pair: pair[0])
        return SequentialGraphRewriter(*[rewriter for _, rewriter in placed], name=self.name or "SequenceDB")


def _does_nothing(rewriter: GraphRewriter) -> bool:
    match rewriter:
        case EquilibriumGraphRewriter():
            return not (rewriter.rewriters or rewriter.final_rewriters)
        case SequentialGraphRewriter():
            return not rewriter.rewriters
        case WalkingGraphRewriter(node_rewriter=SequentialNodeRewriter(rewriters=())):
            return True
        case _:
            return False


@final
class EquilibriumDB(RewriteDatabase[Rewriter, EquilibriumGraphRewriter]):
    """Rewriters to be applied until none changes anything; a query gives an `EquilibriumGraphRewriter`.

    Parameters
    ----------
    name
        The name of the database.
    max_use_ratio, ignore_newtrees
        As in `EquilibriumGraphRewriter`.
    """

    def __init__(
        self, name: str | None = None, max_use_ratio: float | None = None, ignore_newtrees: bool = False
    ) -> None:
        super().__init__(name)
        self.max_use_ratio = max_use_ratio
        self.ignore_newtrees = ignore_newtrees

    def register(
        self,
        name: str,
        rewriter: Rewriter | RewriteDatabase[Any, Rewriter],
        *tags: str,
        final_rewriter: bool = False,
        cleanup: bool = False,
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
    ) -> None:
        """Register a node rewriter, a graph rewriter, or a database that gives one.

        Parameters
        ----------
        name
            The name, which nothing else here has.
        rewriter
            The rewriter.
        *tags
            Its tags.
        final_rewriter
            Apply it, a graph rewriter, at the end of each round.
        cleanup
            Apply it, a graph rewriter, after each change.
        use_db_name_as_tag
            Whether the name of this database is a tag as well.
        overwrite_existing
            Put it in the place of what has the name already.

        Raises
        ------
        ValueError
            The name is taken, or the rewriter is to be both final and a cleanup.
        TypeError
            The rewriter is of another kind.
        """
        if final_rewriter and cleanup:
            raise ValueError(f"{name!r} is either applied at the end of each round or after each change, not both")
        if (final_rewriter or cleanup) and isinstance(rewriter, NodeRewriter):
            raise TypeError(f"{name!r} is a node rewriter; only graph rewriters end rounds or clean up")
        all_tags = frozenset([name, *tags])
        self._add(
            Entry(name, rewriter, all_tags, 0.0, final_rewriter, cleanup, use_db_name_as_tag),
            (GraphRewriter, NodeRewriter),
            overwrite_existing,
        )

    @override
    def _make(self, query: RewriteDatabaseQuery) -> EquilibriumGraphRewriter:
        taken = self._taken(query)
        return EquilibriumGraphRewriter(
            [rewriter for entry, rewriter in taken if not entry.final_rewriter and not entry.cleanup],
            self.max_use_ratio,
            [r for entry, r in taken if entry.final_rewriter and isinstance(r, GraphRewriter)],
            [r for entry, r in taken if entry.cleanup and isinstance(r, GraphRewriter)],
            self.ignore_newtrees,
            self.name or "EquilibriumDB",
        )


@final
class LocalGroupDB(_OrderedDB[NodeRewriter, SequentialNodeRewriter]):
    """Node rewriters with positions; a query gives a `SequentialNodeRewriter` of those that it takes.

    Parameters
    ----------
    name
        The name of the database.
    apply_all_rewrites
        As in `SequentialNodeRewriter`.
    """

    def __init__(self, name: str | None = None, apply_all_rewrites: bool = False) -> None:
        super().__init__(name)
        self.apply_all_rewrites = apply_all_rewrites

    def register(
        self,
        name: str,
        rewriter: NodeRewriter | RewriteDatabase[Any, NodeRewriter],
        *tags: str,
        position: Position = "last",
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
    ) -> None:
        """Register a node rewriter, or a database that gives one.

        Parameters
        ----------
        name
            The name, which nothing else here has.
        rewriter
            The rewriter.
        *tags
            Its tags.
        position
            Its place in the group.
        use_db_name_as_tag
            Whether the name of this database is a tag as well.
        overwrite_existing
            Put it in the place of what has the name already.

        Raises
        ------
        ValueError
            The name is taken.
        TypeError
            The rewriter is of another kind.
        """
        place = self._place(position)
        all_tags = frozenset([name, *tags])
        entry = Entry(name, rewriter, all_tags, place, with_database_name=use_db_name_as_tag)
        self._add(entry, NodeRewriter, overwrite_existing)

    @override
    def _make(self, query: RewriteDatabaseQuery) -> SequentialNodeRewriter:
        return SequentialNodeRewriter(
            *[rewriter for _, rewriter in self._taken(query)],
            apply_all_rewrites=self.apply_all_rewrites,
            name=self.name or "LocalGroupDB",
        )


@final
class TopoDB(RewriteDatabase[NodeRewriter, WalkingGraphRewriter]):
    """What a database of node rewriters gives, walked over the graph.

    Parameters
    ----------
    db
        A database whose queries give a node rewriter.
    order, ignore_newtrees
        As in `WalkingGraphRewriter`.
    name
        The name of the database.
    """

    def __init__(
        self,
        db: RewriteDatabase[Any, NodeRewriter],
        order: Literal["in_to_out", "out_to_in"] = "in_to_out",
        ignore_newtrees: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.db = db
        self.order = order
        self.ignore_newtrees = ignore_newtrees

    @property
    @override
    def inner_databases(self) -> list[RewriteDatabase[Any, Any]]:
        return [self.db]

    @property
    @override
    def entries(self) -> tuple[Entry[NodeRewriter], ...]:
        return self.db.entries

    @override
    def _rows(self, level: int, depth: int | None) -> list[Row]:
        return self.db._rows(level, depth)

    @override
    def _make(self, query: RewriteDatabaseQuery) -> WalkingGraphRewriter:
        return WalkingGraphRewriter(
            self.db.query(query), self.order, self.ignore_newtrees, self.name or self.db.name or "TopoDB"
        )


@final
class ProxyDB(RewriteDatabase[Any, R_co]):
    """Stands for another database, under a name and tags of its own.

    Parameters
    ----------
    db
        The database that is asked.
    name
        The name of the stand-in.
    """

    def __init__(self, db: RewriteDatabase[Any, R_co], name: str | None = None) -> None:
        super().__init__(name)
        self.db = db

    @property
    @override
    def inner_databases(self) -> list[RewriteDatabase[Any, Any]]:
        return [self.db]

    @property
    @override
    def entries(self) -> tuple[Entry[Any], ...]:
        return self.db.entries

    @override
    def _rows(self, level: int, depth: int | None) -> list[Row]:
        return self.db._rows(level, depth)

    @override
    def _make(self, query: RewriteDatabaseQuery) -> R_co:
        return self.db.query(query)
