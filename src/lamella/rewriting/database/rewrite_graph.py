"""`rewrite_graph`: rewrite expressions by a query of `optdb`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from lamella.config import config
from lamella.ir import FunctionGraph, Variable, graph_inputs
from lamella.rewriting.database.optdb import optdb
from lamella.rewriting.database.query import RewriteDatabaseQuery
from lamella.rewriting.engine import GraphRewriter, profile_rewriting

__all__ = ["rewrite_graph"]

V = TypeVar("V", bound=Variable[Any])


@overload
def rewrite_graph(
    graph: FunctionGraph,
    include: Iterable[str] = ...,
    exclude: Iterable[str] = ...,
    custom_rewrite: GraphRewriter | None = ...,
    clone: bool = ...,
) -> FunctionGraph: ...


@overload
def rewrite_graph(
    graph: V,
    include: Iterable[str] = ...,
    exclude: Iterable[str] = ...,
    custom_rewrite: GraphRewriter | None = ...,
    clone: bool = ...,
) -> V: ...


@overload
def rewrite_graph(
    graph: Sequence[V],
    include: Iterable[str] = ...,
    exclude: Iterable[str] = ...,
    custom_rewrite: GraphRewriter | None = ...,
    clone: bool = ...,
) -> list[V]: ...


def rewrite_graph(
    graph: FunctionGraph | V | Sequence[V],
    include: Iterable[str] = ("canonicalize",),
    exclude: Iterable[str] = (),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = False,
) -> FunctionGraph | V | list[V]:
    """Return a graph rewritten by the rewrites of `optdb` that a query takes.

    Rewrites that work in place overwrite no input, unless a `Supervisor` of the graph allows it. Under ``config.profile_rewrites``, a
    listing of what each rewriter did and cost is printed on standard error; `profile_rewriting` gives it as data.

    Parameters
    ----------
    graph
        A graph, a Variable, or several; what they stand for is not changed.
    include, exclude
        Tags and names of rewrites to apply and not to apply; see `RewriteDatabaseQuery`.
    custom_rewrite
        A graph rewriter to apply after those.
    clone
        Has no effect, since graphs never change; it is there for code written for mutable graphs.

    Returns
    -------
    FunctionGraph or Variable or list of Variable
        What stands for what was given, of the same types or narrower ones.
    """
    if isinstance(graph, FunctionGraph):
        return _rewritten(graph, include, exclude, custom_rewrite)
    outputs: Sequence[V] = [graph] if isinstance(graph, Variable) else graph
    roots = [variable for variable in graph_inputs(outputs) if not variable.is_constant]
    rewritten: list[Any] = list(_rewritten(FunctionGraph(roots, outputs), include, exclude, custom_rewrite).outputs)
    return rewritten[0] if isinstance(graph, Variable) else rewritten


def _rewritten(
    fgraph: FunctionGraph, include: Iterable[str], exclude: Iterable[str], custom_rewrite: GraphRewriter | None
) -> FunctionGraph:
    rewritten = _profiled(optdb.query(RewriteDatabaseQuery(include, exclude=exclude)), fgraph)
    return rewritten if custom_rewrite is None else _profiled(custom_rewrite, rewritten)


def _profiled(rewriter: GraphRewriter, fgraph: FunctionGraph) -> FunctionGraph:
    if not config.profile_rewrites:
        return rewriter.rewrite(fgraph)
    profiled = profile_rewriting(rewriter, fgraph)
    print(profiled.profile, file=sys.stderr)
    return profiled.fgraph
