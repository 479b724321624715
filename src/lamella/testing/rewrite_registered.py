"""`RegisteredRewrite`: what `optdb` holds, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import attrs

from lamella.rewriting import GraphRewriter, NodeRewriter, RewriteDatabase, Rewriter, WalkingGraphRewriter, optdb

__all__ = ["RegisteredRewrite", "as_graph_rewriter", "named_rewrites", "registered_rewrites"]


@final
@attrs.frozen
class RegisteredRewrite:
    """A rewriter of `optdb`, which may be registered in several of its groups.

    Attributes
    ----------
    name
        The name it is registered under.
    rewriter
        The rewriter.
    groups
        The databases that hold it.
    tags
        The tags it has in any of them.
    """

    name: str
    rewriter: Rewriter
    groups: frozenset[str]
    tags: frozenset[str]


def registered_rewrites(
    db: RewriteDatabase[Any, Any] = optdb, name: str | None = None
) -> tuple[RegisteredRewrite, ...]:
    """Return every rewriter of a database and of those inside it, each once, in the order in which they are applied.

    Parameters
    ----------
    db
        The database.
    name
        Only those of this name.
    """
    found: list[RegisteredRewrite] = []
    for group, entry_name, tags, rewriter in _entries(db):
        if name is not None and entry_name != name:
            continue
        for place, known in enumerate(found):
            if known.name == entry_name and known.rewriter == rewriter:
                found[place] = attrs.evolve(known, groups=known.groups | {group}, tags=known.tags | tags)
                break
        else:
            found.append(RegisteredRewrite(entry_name, rewriter, frozenset([group]), tags))
    return tuple(found)


def named_rewrites(name: str) -> tuple[RegisteredRewrite, ...]:
    """Return the rewriters of `optdb` that have a name: usually one, which may be in several groups.

    Raises
    ------
    LookupError
        There is none.
    """
    found = registered_rewrites(name=name)
    if not found:
        raise LookupError(f"no rewrite named {name!r} is registered in optdb; see optdb.describe()")
    return found


def _entries(db: RewriteDatabase[Any, Any]) -> Iterator[tuple[str, str, frozenset[str], Rewriter]]:
    stack: list[tuple[str, RewriteDatabase[Any, Any]]] = [(db.name or "", db)]
    while stack:
        group, current = stack.pop()
        inner = []
        for entry in current.entries:
            if isinstance(entry.rewriter, RewriteDatabase):
                inner.append((entry.name, entry.rewriter))
            else:
                yield group, entry.name, entry.tags, entry.rewriter
        stack.extend(reversed(inner))


def as_graph_rewriter(rewriter: Rewriter) -> GraphRewriter:
    """Return a graph rewriter that applies a rewriter, and no other, wherever it can be applied.

    Raises
    ------
    TypeError
        It is neither a graph rewriter nor a node rewriter.
    """
    if isinstance(rewriter, GraphRewriter):
        return rewriter
    if isinstance(rewriter, NodeRewriter):
        return WalkingGraphRewriter(rewriter)
    raise TypeError(f"{rewriter!r} is neither a GraphRewriter nor a NodeRewriter")
