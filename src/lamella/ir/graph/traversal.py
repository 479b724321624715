"""Walks over graphs. None is recursive, so depth does not matter; none changes anything.

Order is always deterministic: it follows from the order of outputs and of inputs, never from addresses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from lamella.ir.graph.core import Apply, Variable

__all__ = [
    "ancestors",
    "applys_between",
    "explicit_graph_inputs",
    "get_var_by_name",
    "graph_inputs",
    "io_toposort",
    "orphans_between",
    "toposort",
    "truncated_graph_inputs",
    "variable_depends_on",
    "vars_between",
    "walk",
]

H = TypeVar("H", bound=Hashable)


def walk(nodes: Iterable[H], expand: Callable[[H], Iterable[H] | None], bfs: bool = True) -> Generator[H, None, None]:
    """Visit everything reachable through `expand`, each once.

    Parameters
    ----------
    nodes
        Where to begin.
    expand
        Gives what comes after a node; None for nothing.
    bfs
        Breadth first; otherwise depth first.
    """
    pending = deque(nodes)
    seen: set[H] = set()
    take = pending.popleft if bfs else pending.pop
    while pending:
        node = take()
        if node in seen:
            continue
        seen.add(node)
        yield node
        following = expand(node)
        if following:
            pending.extend(following)


def toposort(
    outputs: Iterable[Variable[Any]],
    inputs: Iterable[Variable[Any]] = (),
    orderings: Mapping[Apply[Any], Sequence[Apply[Any]]] | None = None,
) -> list[Apply[Any]]:
    """Return the nodes that compute `outputs` from `inputs`, each after those that it needs.

    Parameters
    ----------
    outputs
        The Variables to compute.
    inputs
        Variables not to look behind.
    orderings
        For a node, further nodes that must come before it.

    Raises
    ------
    ValueError
        `orderings` make a cycle.
    """
    known: set[Variable[Any]] = set(inputs)
    done: set[Apply[Any]] = set()
    opened: set[Apply[Any]] = set()
    order: list[Apply[Any]] = []
    # A node is pushed, opened when it is met first (its predecessors are pushed), and closed when it is met again.
    stack = [v.owner for v in reversed(list(outputs)) if v.owner is not None and v not in known]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if node in opened:
            stack.pop()
            done.add(node)
            order.append(node)
            continue
        opened.add(node)
        before = len(stack)
        for variable in reversed(node.inputs):
            owner = variable.owner
            if owner is not None and owner not in done and variable not in known:
                stack.append(owner)
        if orderings:
            stack.extend([other for other in orderings.get(node, ()) if other not in done])
        for other in stack[before:]:
            if other in opened:
                raise ValueError(f"the order of the nodes has a cycle through {other}")
    return order


def io_toposort(
    inputs: Iterable[Variable[Any]],
    outputs: Iterable[Variable[Any]],
    orderings: Mapping[Apply[Any], Sequence[Apply[Any]]] | None = None,
) -> list[Apply[Any]]:
    """Return the nodes between `inputs` and `outputs` in topological order: `toposort` with the tutorial's arguments."""
    return toposort(outputs, inputs, orderings)


def ancestors(
    graphs: Iterable[Variable[Any]], blockers: Collection[Variable[Any]] | None = None
) -> Iterator[Variable[Any]]:
    """Visit the given Variables and all that they are computed from, each once, depth first.

    Parameters
    ----------
    graphs
        Where to begin.
    blockers
        Variables that are visited, but not looked behind.
    """
    blocked = frozenset(blockers or ())

    def expand(variable: Variable[Any]) -> Iterable[Variable[Any]] | None:
        owner = variable.owner
        return None if owner is None or variable in blocked else reversed(owner.inputs)

    yield from walk(reversed(list(graphs)), expand, bfs=False)


def graph_inputs(
    graphs: Iterable[Variable[Any]], blockers: Collection[Variable[Any]] | None = None
) -> Iterator[Variable[Any]]:
    """Visit the roots: inputs and constants that the given Variables are computed from (and blockers met)."""
    blocked = frozenset(blockers or ())
    return (v for v in ancestors(graphs, blockers) if v.owner is None or v in blocked)


def explicit_graph_inputs(graphs: Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the roots that carry no value of their own: neither constants nor shared variables."""
    return (v for v in ancestors(graphs) if v.owner is None and not v.carries_value)


def vars_between(inputs: Iterable[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the Variables on the way from `outputs` back to `inputs`, both ends included."""
    return ancestors(outputs, list(inputs))


def applys_between(inputs: Iterable[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Apply[Any]]:
    """Visit the nodes on the way from `inputs` to `outputs`, each after those that it needs."""
    return iter(toposort(outputs, inputs))


def orphans_between(inputs: Collection[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the roots, other than `inputs`, that `outputs` are computed from."""
    given = frozenset(inputs)
    return (v for v in ancestors(outputs, given) if v.owner is None and v not in given)


def variable_depends_on(variable: Variable[Any], depends_on: Variable[Any] | Collection[Variable[Any]]) -> bool:
    """Whether `variable` is computed from, or is, any of the given Variables."""
    wanted = frozenset([depends_on] if hasattr(depends_on, "owner") else depends_on)
    return any(v in wanted for v in ancestors([variable]))


def truncated_graph_inputs(
    outputs: Iterable[Variable[Any]], ancestors_to_include: Collection[Variable[Any]] | None = None
) -> list[Variable[Any]]:
    """Return a smallest list of Variables from which `outputs` can be computed without what lies behind the wanted ones.

    Parameters
    ----------
    outputs
        The Variables to compute.
    ancestors_to_include
        Variables to have in the list where they suffice.

    Returns
    -------
    list of Variable
        Every one of `ancestors_to_include` that `outputs` depend on and that does not need to be seen through, and the roots that
        are reached past them.
    """
    wanted = frozenset(ancestors_to_include or ())
    found: list[Variable[Any]] = []

    def expand(variable: Variable[Any]) -> Iterable[Variable[Any]] | None:
        owner = variable.owner
        if owner is None or variable in wanted:
            found.append(variable)
            return None
        return owner.inputs

    for _ in walk(outputs, expand):
        pass
    return [v for v in found if not v.is_constant]


def get_var_by_name(graphs: Iterable[Variable[Any]], target_var_id: str) -> tuple[Variable[Any], ...]:
    """Return the Variables of the given name that take part in computing `graphs`."""
    return tuple([v for v in ancestors(graphs) if v.name == target_var_id])
