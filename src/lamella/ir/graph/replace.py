"""Replacing Variables: the nodes that depend on them are applied anew, all others are shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lamella.ir.graph.core import Apply, Variable
from lamella.ir.graph.traversal import toposort

__all__ = ["clone_replace", "graph_replace", "rebuild_node", "substitute"]


def rebuild_node(node: Apply[Any], replaced: Mapping[Variable[Any], Variable[Any]]) -> Apply[Any]:
    """Apply a node's Op to what replaces its inputs; the same node where nothing does."""
    inputs = [replaced.get(variable, variable) for variable in node.inputs]
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return node
    return node.clone_with_new_inputs(inputs)


def substitute(
    outputs: Iterable[Variable[Any]],
    replacements: Mapping[Variable[Any], Variable[Any]],
    inputs: Sequence[Variable[Any]] = (),
) -> list[Variable[Any]]:
    """Return `outputs` with Variables replaced, all at once.

    Replacements are taken as they are: what stands in them is not replaced again.

    Parameters
    ----------
    outputs
        The graph.
    replacements
        What replaces what. The type of each replacement must be included in that of what it replaces.
    inputs
        Variables not to look behind.

    Raises
    ------
    TypeError
        A replacement's type does not fit.
    """
    wanted = list(outputs)
    for variable, replacement in replacements.items():
        if variable.type.is_super(replacement.type) is None:
            raise TypeError(
                f"{replacement!r} of type {replacement.type} cannot replace {variable!r} of type {variable.type}"
            )
    replaced: dict[Variable[Any], Variable[Any]] = dict(replacements)
    for node in toposort(wanted, [*inputs, *replacements]):
        rebuilt = rebuild_node(node, replaced)
        if rebuilt is not node:
            for old, new in zip(node.outputs, rebuilt.outputs, strict=True):
                replaced.setdefault(old, new)
    return [replaced.get(variable, variable) for variable in wanted]


Replacements = Mapping[Variable[Any], Variable[Any]] | Iterable[tuple[Variable[Any], Variable[Any]]]


def clone_replace(output: Sequence[Variable[Any]], replace: Replacements | None = None) -> list[Variable[Any]]:
    """Return Variables with others replaced in all that they are computed from (the tutorial's name for `substitute`).

    Parameters
    ----------
    output
        The Variables.
    replace
        A mapping, or pairs, from Variables to their replacements.

    Raises
    ------
    TypeError
        A replacement's type does not fit.
    """
    pairs = dict(replace) if replace is not None else {}
    fitting = {old: old.type.filter_variable(new) for old, new in pairs.items()}
    return substitute(output, fitting)


def graph_replace(outputs: Sequence[Variable[Any]], replace: Replacements, strict: bool = True) -> list[Variable[Any]]:
    """Replace Variables, each of which must take part in computing `outputs`.

    Parameters
    ----------
    outputs
        The Variables.
    replace
        A mapping, or pairs, from Variables to their replacements.
    strict
        Refuse a Variable that `outputs` do not depend on.

    Raises
    ------
    ValueError
        Under `strict`, a Variable to replace takes no part.
    TypeError
        A replacement's type does not fit.
    """
    pairs = dict(replace)
    if strict:
        present = {variable for node in toposort(outputs) for variable in (*node.inputs, *node.outputs)} | set(outputs)
        missing = [variable for variable in pairs if variable not in present]
        if missing:
            raise ValueError(f"{missing[0]!r} takes no part in computing the outputs, so it cannot be replaced")
    return clone_replace(outputs, pairs)
