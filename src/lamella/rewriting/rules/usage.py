"""Who uses what a rule would compute otherwise, and how far it would go.

A rule that moves work pays only where nothing else needs the work done as it was. One that moves a view towards what an array is computed from could
move each of many views all along a chain, in time that grows with the square of the chain: it looks ahead first, and goes where the way is short.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from lamella.ir import Apply, FunctionGraph, Variable

__all__ = ["behind", "is_near", "used_once"]

_MOST_BETWEEN: Final = 8


def used_once(fgraph: FunctionGraph, variable: Variable[Any]) -> bool:
    """Whether one node uses a Variable, at one place, as far as the graph that a pass began with tells."""
    return len(fgraph.get_clients(variable)) <= 1


def is_near(fgraph: FunctionGraph, variable: Variable[Any], passes: Callable[[Apply[Any]], bool]) -> bool:
    """Whether few nodes are between a Variable and what `behind` finds."""
    return behind(fgraph, variable, passes) is not None


def behind(
    fgraph: FunctionGraph, variable: Variable[Any], passes: Callable[[Apply[Any]], bool]
) -> list[Variable[Any]] | None:
    """Return where a view stops that is moved from a Variable towards what it is computed from; None where that is far.

    It passes nodes of some kinds whose results nothing else uses.

    Parameters
    ----------
    fgraph
        The graph, which is asked for clients.
    variable
        Where the view is now.
    passes
        Says of a node whether the view is moved from its result to its inputs.
    """
    passed = 0
    ends: list[Variable[Any]] = []
    stack = [variable]
    while stack:
        current = stack.pop()
        node = current.owner
        if node is None or not passes(node) or not used_once(fgraph, current):
            ends.append(current)
            continue
        passed += 1
        if passed > _MOST_BETWEEN:
            return None
        stack.extend(node.inputs)
    return ends
