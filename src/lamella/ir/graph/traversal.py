"""Walks over graphs. None is recursive, so depth does not matter; none changes anything.

Order is always deterministic: it follows from the order of outputs and of inputs, never from addresses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from typing_extensions import TypeIs

from lamella.errors import InconsistencyError

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply
    from lamella.ir.graph.variable import Variable

__all__ = [
    "ancestors",
    "apply_ancestors",
    "apply_depends_on",
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


@overload
def walk(
    nodes: Iterable[H],
    expand: Callable[[H], Iterable[H] | None],
    bfs: bool = True,
    return_children: Literal[False] = False,
) -> Iterator[H]: ...


@overload
def walk(
    nodes: Iterable[H], expand: Callable[[H], Iterable[H] | None], bfs: bool, return_children: Literal[True]
) -> Iterator[tuple[H, Iterable[H] | None]]: ...


def walk(
    nodes: Iterable[H],
    expand: Callable[[H], Iterable[H] | None],
    bfs: bool = True,
    return_children: bool = False,
) -> Iterator[H] | Iterator[tuple[H, Iterable[H] | None]]:
    """Visit everything reachable through `expand`, each once.

    Parameters
    ----------
    nodes
        Where to begin.
    expand
        Gives what comes after a node; None for nothing. It is called once for each, after the node was yielded.
    bfs
        Breadth first; otherwise depth first, the last child first.
    return_children
        Yield pairs: what is visited, and what `expand` gave for it.
    """
    return _walk_with_children(nodes, expand, bfs) if return_children else _walk(nodes, expand, bfs)


def _walk(nodes: Iterable[H], expand: Callable[[H], Iterable[H] | None], bfs: bool) -> Iterator[H]:
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


def _walk_with_children(
    nodes: Iterable[H], expand: Callable[[H], Iterable[H] | None], bfs: bool
) -> Iterator[tuple[H, Iterable[H] | None]]:
    found: dict[H, Iterable[H] | None] = {}

    def remember(node: H) -> Iterable[H] | None:
        return found[node]

    for node in _walk(nodes, remember, bfs):
        found[node] = expand(node)
        yield node, found[node]


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
    InconsistencyError
        `orderings` make a cycle.
    """
    known: set[Variable[Any]] = set(inputs)
    done: set[Apply[Any]] = set()
    opened: set[Apply[Any]] = set()
    order: list[Apply[Any]] = []
    # A node is pushed, opened when it is met first (its predecessors are pushed), and closed when it is met again, or at once.
    stack = [v.owner for v in reversed(list(outputs)) if v.owner is not None and v not in known]
    while stack:
        node = stack[-1]
        if node in done:
            stack.pop()
            continue
        if node not in opened:
            before = len(stack)
            for variable in reversed(node.inputs):
                owner = variable.owner
                if owner is not None and owner not in done and variable not in known:
                    stack.append(owner)
            if orderings:
                stack.extend([other for other in orderings.get(node, ()) if other not in done])
                for other in stack[before:]:
                    if other in opened or other is node:
                        raise InconsistencyError(f"the order of the nodes has a cycle through {other}")
            if len(stack) > before:
                opened.add(node)
                continue
        stack.pop()
        done.add(node)
        order.append(node)
    return order


def io_toposort(
    inputs: Iterable[Variable[Any]],
    outputs: Iterable[Variable[Any]],
    orderings: Mapping[Apply[Any], Sequence[Apply[Any]]] | None = None,
) -> list[Apply[Any]]:
    """Return the nodes between `inputs` and `outputs` in topological order: `toposort` with the tutorial's arguments."""
    return toposort(outputs, inputs, orderings)


def ancestors(
    graphs: Iterable[Variable[Any]], blockers: Iterable[Variable[Any]] | None = None
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

    return _walk(reversed(list(graphs)), expand, bfs=False)


def apply_ancestors(
    graphs: Iterable[Variable[Any]], blockers: Iterable[Variable[Any]] | None = None
) -> Iterator[Apply[Any]]:
    """Visit the nodes that the given Variables are computed by, each once, from the Variables downwards.

    Parameters
    ----------
    graphs, blockers
        As `ancestors`.
    """
    blocked = frozenset(blockers or ())
    seen: set[Apply[Any]] = set()
    for variable in ancestors(graphs, blocked):
        owner = variable.owner
        if owner is not None and variable not in blocked and owner not in seen:
            seen.add(owner)
            yield owner


def graph_inputs(
    graphs: Iterable[Variable[Any]], blockers: Iterable[Variable[Any]] | None = None
) -> Iterator[Variable[Any]]:
    """Visit the roots, computed by no node, that the given Variables are computed from.

    Parameters
    ----------
    graphs, blockers
        As `ancestors`.
    """
    return (v for v in ancestors(graphs, blockers) if v.owner is None)


def explicit_graph_inputs(graphs: Variable[Any] | Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the roots that carry no value of their own: neither constants nor shared variables."""
    return (v for v in ancestors(_several(graphs)) if v.owner is None and not v.carries_value)


def vars_between(inputs: Iterable[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the Variables on the way from `outputs` back to `inputs`, both ends included.

    All outputs of a node on the way are visited, used or not.
    """
    given = frozenset(inputs)

    def expand(variable: Variable[Any]) -> Iterable[Variable[Any]] | None:
        owner = variable.owner
        return None if owner is None or variable in given else reversed(owner.inputs + owner.outputs)

    return _walk(reversed(list(outputs)), expand, bfs=False)


def applys_between(inputs: Iterable[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Apply[Any]]:
    """Visit the nodes on the way from `inputs` to `outputs`, each after those that it needs."""
    return iter(toposort(outputs, inputs))


def orphans_between(inputs: Iterable[Variable[Any]], outputs: Iterable[Variable[Any]]) -> Iterator[Variable[Any]]:
    """Visit the roots, other than `inputs`, that `outputs` are computed from."""
    given = frozenset(inputs)
    return (v for v in ancestors(outputs, given) if v.owner is None and v not in given)


def variable_depends_on(variable: Variable[Any], depends_on: Variable[Any] | Iterable[Variable[Any]]) -> bool:
    """Whether `variable` is computed from, or is, any of the given Variables.

    A Variable may depend on one output of a node and not on the others.
    """
    wanted = frozenset(_several(depends_on))
    return any(v in wanted for v in ancestors([variable]))


def apply_depends_on(apply: Apply[Any], depends_on: Apply[Any] | Iterable[Apply[Any]]) -> bool:
    """Whether any of the given nodes is `apply`, or computes something that it needs."""
    wanted = frozenset(depends_on if isinstance(depends_on, Iterable) else [depends_on])
    return apply in wanted or any(node in wanted for node in apply_ancestors(apply.inputs))


def truncated_graph_inputs(
    outputs: Sequence[Variable[Any]], ancestors_to_include: Iterable[Variable[Any]] | None = None
) -> list[Variable[Any]]:
    """Return Variables from which `outputs` can be computed, as close to them as `ancestors_to_include` allow.

    Parameters
    ----------
    outputs
        The Variables to compute.
    ancestors_to_include
        Variables to compute from. None of the others that are returned depends on them.

    Returns
    -------
    list of Variable
        Those of `ancestors_to_include` that are met on the way down from the outputs (and behind one another), and, of the
        rest that is needed, the first that depends on none of these. Apart from the Variables that were asked for, none that is returned
        depends on another one. Without `ancestors_to_include` these are the outputs themselves.

    Examples
    --------
    For ``o = f(g(c), n)``, ``truncated_graph_inputs([o], [c])`` is ``[c, n]``, whatever computes ``n``.
    """
    wanted = frozenset(ancestors_to_include or ())
    if not wanted:
        return list(dict.fromkeys(outputs))
    order = toposort(outputs)
    behind_wanted = _computed_from(order, wanted)
    sources = set(wanted)
    while True:
        dependent = _computed_from(order, sources)

        def expand(
            variable: Variable[Any], dependent: set[Variable[Any]] = dependent
        ) -> Iterable[Variable[Any]] | None:
            look_behind = behind_wanted if variable in wanted else dependent
            return variable.owner.inputs if variable.owner is not None and variable in look_behind else None

        met = list(_walk(outputs, expand, bfs=True))
        found = [variable for variable in met if variable in wanted or variable not in dependent]
        # What was found may be computed from something else that was found: then the latter suffices, with what is beside it.
        before = len(sources)
        sources.update(found)
        if len(sources) == before:
            return found


def _computed_from(order: Iterable[Apply[Any]], sources: Collection[Variable[Any]]) -> set[Variable[Any]]:
    """Return the Variables that depend on, and are not, one of the sources (but may be another one)."""
    found: set[Variable[Any]] = set()
    for node in order:
        if any(variable in sources or variable in found for variable in node.inputs):
            found.update(node.outputs)
    return found


def get_var_by_name(graphs: Iterable[Variable[Any]], target_var_id: str) -> tuple[Variable[Any], ...]:
    """Return the Variables of the given name that take part in computing `graphs`, inside of inner graphs too."""

    def expand(variable: Variable[Any]) -> Iterable[Variable[Any]] | None:
        owner = variable.owner
        if owner is None:
            return None
        inner = getattr(owner.op, "fgraph", None)  # much faster than asking whether it is a HasInnerGraph
        return owner.inputs if inner is None else (*owner.inputs, *inner.outputs)

    return tuple([v for v in _walk(graphs, expand, bfs=True) if v.name == target_var_id])


def _several(variables: Variable[Any] | Iterable[Variable[Any]]) -> Iterable[Variable[Any]]:
    return [variables] if _is_variable(variables) else variables


def _is_variable(thing: object) -> TypeIs[Variable[Any]]:
    # `Variable` is defined above this module. Being iterable says nothing: a tensor may be, over its first axis.
    return hasattr(thing, "owner")
