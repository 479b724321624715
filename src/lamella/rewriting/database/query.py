"""`RewriteDatabaseQuery`: which rewriters to take from a database."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.rewriting.engine import GraphRewriter

__all__ = ["RewriteDatabaseQuery", "as_query"]


def _as_tags(tags: Iterable[str]) -> frozenset[str]:
    if isinstance(tags, str):
        raise TypeError(f"tags are given as a sequence, as in [{tags!r}]")
    return frozenset(tags)


def _as_subqueries(subqueries: Mapping[str, RewriteDatabaseQuery]) -> tuple[tuple[str, RewriteDatabaseQuery], ...]:
    return tuple(subqueries.items())


@final
@attrs.frozen(init=False, repr=False)
class RewriteDatabaseQuery:
    """Which rewriters to take: those that have one of the tags in `include`, all in `require`, and none in `exclude`.

    A rewriter's name, and the name of its database, are tags as well.

    Parameters
    ----------
    include
        Tags of which a rewriter must have one.
    require
        Tags of which a rewriter must have all.
    exclude
        Tags of which a rewriter must have none.
    subquery
        For a database inside a database, by its name, the query to ask it; others are asked this query.
    position_cutoff
        Leave out what a `SequenceDB` has at this position or later.
    extra_rewrites
        Graph rewriters, with their positions, to be put into the sequence besides its own.
    """

    include: frozenset[str]
    require: frozenset[str]
    exclude: frozenset[str]
    subqueries: tuple[tuple[str, RewriteDatabaseQuery], ...]
    position_cutoff: float
    extra_rewrites: tuple[tuple[GraphRewriter, float], ...]

    def __init__(
        self,
        include: Iterable[str],
        require: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        subquery: Mapping[str, RewriteDatabaseQuery] | None = None,
        position_cutoff: float = math.inf,
        extra_rewrites: Iterable[tuple[GraphRewriter, float]] | None = None,
    ) -> None:
        self.__attrs_init__(
            _as_tags(include),
            _as_tags(require or ()),
            _as_tags(exclude or ()),
            _as_subqueries(subquery or {}),
            position_cutoff,
            tuple(extra_rewrites or ()),
        )

    @property
    def subquery(self) -> Mapping[str, RewriteDatabaseQuery]:
        """The queries for databases inside, by their names."""
        return dict(self.subqueries)

    def including(self, *tags: str) -> RewriteDatabaseQuery:
        """Return the query that takes rewriters with these tags as well; a tag that was excluded is so no longer."""
        return self._with(include=self.include | _as_tags(tags), exclude=self.exclude - _as_tags(tags))

    def excluding(self, *tags: str) -> RewriteDatabaseQuery:
        """Return the query that leaves rewriters with any of these tags out."""
        return self._with(exclude=self.exclude | _as_tags(tags))

    def requiring(self, *tags: str) -> RewriteDatabaseQuery:
        """Return the query that takes only rewriters that have all these tags as well."""
        return self._with(require=self.require | _as_tags(tags))

    def register(self, *rewrites: tuple[GraphRewriter, float]) -> RewriteDatabaseQuery:
        """Return the query that puts more graph rewriters, each with its position, into the sequence."""
        return self._with(extra_rewrites=(*self.extra_rewrites, *rewrites))

    def for_inner(self, name: str) -> RewriteDatabaseQuery:
        """Return the query to ask a database of this name inside the one that is asked this query."""
        # Positions, and what is added at one, are those of the outermost sequence.
        return self.subquery.get(name) or self._with(extra_rewrites=(), position_cutoff=math.inf)

    def accepts(self, tags: frozenset[str]) -> bool:
        """Whether a rewriter with these tags is taken."""
        return not self.include.isdisjoint(tags) and self.require <= tags and self.exclude.isdisjoint(tags)

    def _with(self, **changes: Any) -> RewriteDatabaseQuery:
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        return RewriteDatabaseQuery(**fields | changes)

    @override
    def __repr__(self) -> str:
        shown = [
            f"{name}={sorted(tags)}"
            for name, tags in [("include", self.include), ("require", self.require), ("exclude", self.exclude)]
            if tags or name == "include"
        ]
        shown += [f"{name}={value}" for name, value in [("subquery", self.subquery)] if value]
        if self.position_cutoff != math.inf:
            shown.append(f"position_cutoff={self.position_cutoff}")
        if self.extra_rewrites:
            shown.append(f"extra_rewrites={[(str(rewriter), position) for rewriter, position in self.extra_rewrites]}")
        return f"RewriteDatabaseQuery({', '.join(shown)})"


_FIELDS = ("include", "require", "exclude", "subquery", "position_cutoff", "extra_rewrites")


def as_query(*words: RewriteDatabaseQuery | str) -> RewriteDatabaseQuery:
    """Return a query from a query, or from words: ``"+tag"`` includes, ``"-tag"`` excludes, ``"&tag"`` requires.

    Raises
    ------
    ValueError
        A word begins otherwise.
    """
    query = RewriteDatabaseQuery(include=[])
    for word in words:
        if isinstance(word, RewriteDatabaseQuery):
            if len(words) > 1:
                raise TypeError(
                    "ask by one query, or by words; refine a query by including(), excluding() and requiring()"
                )
            return word
        sign, tag = word[:1], word[1:]
        if sign == "+":
            query = query.including(tag)
        elif sign == "-":
            query = query.excluding(tag)
        elif sign == "&":
            query = query.requiring(tag)
        else:
            raise ValueError(f"{word!r}: a word of a query is '+tag', '-tag' or '&tag'")
    return query
