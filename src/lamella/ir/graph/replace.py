"""Replacing Variables: the nodes that depend on them are applied anew, all others are shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar, overload

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.traversal import ancestors, toposort
from lamella.ir.graph.variable import Variable

K = TypeVar("K", bound=Variable[Any])
VariableT = TypeVar("VariableT", bound=Variable[Any])

# Generic in the class of the Variables, for the key of a Mapping is invariant.
Replacements = Mapping[K, Variable[Any]] | Iterable[tuple[K, Variable[Any]]]

__all__ = ["clone_replace", "graph_replace", "rebuild_node", "substitute"]


def rebuild_node(node: Apply[Any], replaced: Mapping[Variable[Any], Variable[Any]]) -> Apply[Any]:
    """Apply a node's Op to what replaces its inputs; the same node where nothing does."""
    for variable in node.inputs:
        if replaced.get(variable, variable) is not variable:
            return node.clone_with_new_inputs([replaced.get(v, v) for v in node.inputs])
    return node


def substitute(
    outputs: Iterable[Variable[Any]],
    replacements: Mapping[K, Variable[Any]],
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
    replaced: dict[Variable[Any], Variable[Any]] = {old: new for old, new in replacements.items()}  # noqa: C416 -- dict() is invariant in the key
    for node in toposort(wanted, [*inputs, *replacements]):
        rebuilt = rebuild_node(node, replaced)
        if rebuilt is not node:
            for old, new in zip(node.outputs, rebuilt.outputs, strict=True):
                replaced.setdefault(old, new)
    return [replaced.get(variable, variable) for variable in wanted]


@overload
def clone_replace(output: VariableT, replace: Replacements[K] | None = None) -> VariableT: ...


@overload
def clone_replace(output: Sequence[VariableT], replace: Replacements[K] | None = None) -> list[VariableT]: ...


def clone_replace(
    output: VariableT | Sequence[VariableT], replace: Replacements[K] | None = None
) -> VariableT | list[VariableT]:
    """Return Variables with others replaced in all that they are computed from.

    Replacements are made all at once: what stands in them is not replaced again. What does not depend on a replaced
    Variable is shared, not copied.

    Parameters
    ----------
    output
        One Variable, or several.
    replace
        A mapping, or pairs, from Variables to their replacements. A replacement is converted as `Type.filter_variable` does.

    Raises
    ------
    TypeError
        A replacement's type does not fit.
    """
    single = isinstance(output, Variable)
    outputs = [output] if isinstance(output, Variable) else list(output)
    fitting = {old: old.type.filter_variable(new) for old, new in dict(replace or ()).items()}
    found: list[Any] = substitute(outputs, fitting)  # a Type makes the same class of Variable again
    if single:
        only: VariableT = found[0]
        return only
    return found


@overload
def graph_replace(outputs: VariableT, replace: Replacements[K] | None = None, *, strict: bool = True) -> VariableT: ...


@overload
def graph_replace(
    outputs: Sequence[VariableT], replace: Replacements[K] | None = None, *, strict: bool = True
) -> list[VariableT]: ...


def graph_replace(
    outputs: VariableT | Sequence[VariableT], replace: Replacements[K] | None = None, *, strict: bool = True
) -> VariableT | list[VariableT]:
    """Replace Variables, each of which must take part in computing `outputs`; otherwise as `clone_replace`.

    Parameters
    ----------
    outputs
        One Variable, or several.
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
    pairs = dict(replace or ())
    if strict:
        present = set(ancestors([outputs] if isinstance(outputs, Variable) else outputs))
        unused = [variable for variable in pairs if variable not in present]
        if unused:
            raise ValueError(
                f"{unused[0]!r} takes no part in computing the outputs, so it cannot be replaced; strict=False passes over it"
            )
    return clone_replace(outputs, pairs)
