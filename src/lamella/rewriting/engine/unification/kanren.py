"""`KanrenRelationSub`: relations of miniKanren, which can be read in both directions, as rewrites of nodes.

miniKanren and what it builds on are optional (``pip install lamella[kanren]``) and imported when they are first asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.rewriter import NodeRewriter, TransformResult

__all__ = ["Goal", "KanrenRelationSub", "enable_kanren"]

State = Any
"""What miniKanren knows so far."""

Goal = Callable[[State], Iterator[State]]
"""What miniKanren runs: from a state to the states that satisfy it."""

Relation = Callable[[Any, Any], Goal]
"""A goal about two terms, each a graph, a logic variable, or an expression tuple."""

ResultsFilter = Callable[[Iterator[Any]], Any]
"""Chooses among the terms that a relation gives: expression tuples, Variables, or lists of them; None for no rewrite."""


class _Kanren(Protocol):
    """What the packages do for a rewriter."""

    def answers(self, relation: Relation, term: object) -> Iterator[object]:
        """Visit the terms to which `relation` relates `term`."""

    def value(self, term: object) -> object:
        """Return what a term evaluates to."""


def enable_kanren() -> None:
    """Let ``unify``, ``reify``, ``etuplize``, ``cons`` and the goals of miniKanren take graphs, Ops and Types apart.

    Making a `KanrenRelationSub` does so too. Doing it again changes nothing.

    Raises
    ------
    ModuleNotFoundError
        The packages are not installed.
    """
    _load()


def _load() -> _Kanren:
    try:
        module: _Kanren = importlib.import_module("lamella.rewriting.engine.unification.dispatch")
    except ModuleNotFoundError as error:
        error.add_note("relations need miniKanren, etuples, cons and logical-unification: pip install lamella[kanren]")
        raise
    return module


def _first(results: Iterator[Any]) -> Any:
    return next(results, None)


def _all_nodes(node: Apply[Any]) -> bool:
    return True


@final
@attrs.frozen(repr=False)
class KanrenRelationSub(NodeRewriter):
    """Replaces a node's output by a term that a relation of miniKanren relates it to.

    A relation holds of two terms, whichever of them is known, so ``KanrenRelationSub(lambda x, y: relation(y, x))`` is the rewrite
    in the other direction. A term whose type does not fit the output's replaces nothing.

    Parameters
    ----------
    kanren_relation
        A function of a graph (the node's default output; a list of all where there is none) and of a logic variable that stands for
        the replacement. It returns a goal.
    results_filter
        A function of all answers that returns one, or None; the first by default.
    node_filter
        Says of a node whether to look at it; all by default.
    name
        The name of the rewriter; that of the relation by default.

    Raises
    ------
    ModuleNotFoundError
        miniKanren is not installed.
    """

    kanren_relation: Relation
    results_filter: ResultsFilter = _first
    node_filter: Callable[[Apply[Any]], bool] = _all_nodes
    name: str = attrs.field(
        default=attrs.Factory(
            lambda self: getattr(self.kanren_relation, "__name__", "KanrenRelationSub"), takes_self=True
        )
    )

    reads_graph = False

    def __attrs_post_init__(self) -> None:
        enable_kanren()

    @override
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        if not self.node_filter(node):
            return False
        kanren = _load()
        single = len(node.outputs) == 1 or node.op.default_output is not None
        old = [node.default_output()] if single else list(node.outputs)
        chosen = self.results_filter(kanren.answers(self.kanren_relation, old[0] if single else old))
        if chosen is None:
            return False
        new = _variables(kanren, chosen)
        if new is None or len(new) != len(old) or not all(map(_fits, old, new)):
            return False
        return dict(zip(old, new, strict=True))

    @override
    def __repr__(self) -> str:
        return f"KanrenRelationSub({self.name})"


def _fits(old: Variable[Any], new: Variable[Any]) -> bool:
    return old.type.is_super(new.type) is not None


def _variables(kanren: _Kanren, chosen: object) -> list[Variable[Any]] | None:
    parts: Sequence[object] = chosen if isinstance(chosen, list) else [chosen]
    values = [kanren.value(part) for part in parts]
    found = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
    variables = [value for value in found if isinstance(value, Variable)]
    return variables if len(variables) == len(found) else None
