"""Who needs a node: nodes that only a branch of a choice needs do not run when the other one is taken.

y = ifelse(c, exp(x), log(x)) + sin(x)      exp is needed by input 1 of the choice, log by input 2, all else in any case
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from lamella.ir import Apply, Variable

__all__ = ["needed_by"]

_ALWAYS = "always"


def needed_by(order: Sequence[Apply[Any]], outputs: Sequence[Variable[Any]]) -> Mapping[Apply[Any], Hashable]:
    """Return for each node what stands for those who need it: nodes with equal values are needed in the same calls.

    A rewrite that makes one node of several, and code that runs several as one, may join nodes with equal values only; else something would be
    computed that is not needed.

    Parameters
    ----------
    order
        The nodes of a graph, each after those that it needs.
    outputs
        Its outputs.

    Returns
    -------
    mapping
        The value of each node; empty where no node is lazy (see `Op.required_inputs`), so that all are needed in every call.
    """
    if not any([node.op.is_lazy for node in order]):
        return {}
    always = {v.owner for v in outputs}
    users: dict[Apply[Any], set[Hashable]] = {}
    found: dict[Apply[Any], Hashable] = {}
    for node in reversed(order):
        by = users.pop(node, set())
        if node in always or _ALWAYS in by:
            own: Hashable = _ALWAYS
        else:
            own = by.pop() if len(by) == 1 else node
        found[node] = own
        first = node.op.required_inputs(node, {}) if node.op.is_lazy else range(node.nin)
        for place, variable in enumerate(node.inputs):
            if variable.owner is not None:
                users.setdefault(variable.owner, set()).add(own if place in first else (node, place))
    return found
