"""Pickling of graphs at any depth, without recursion.

A graph is written as a flat list: its roots, then each node as its Op, the places of its inputs in the list so far, and its output
types and names. Reading it back applies the Ops again, so nodes that exist already are found, not made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs

from lamella.ir.graph.traversal import toposort

if TYPE_CHECKING:
    from lamella.ir.graph.core import Apply, Op, Type, Variable

__all__ = ["FlatGraph", "FlatNode", "flatten", "restore_node", "restore_variable", "restore_variables"]


@final
@attrs.frozen
class FlatNode:
    """A node whose inputs are places in a `FlatGraph`: first the roots, then the outputs of the nodes, in order."""

    op: Op[Any, Any]
    inputs: tuple[int, ...]
    types: tuple[Type[Any], ...]
    names: tuple[str | None, ...]
    origin: tuple[str, int, str] | None


@final
@attrs.frozen
class FlatGraph:
    """Variables with everything they are computed from, as lists without nesting."""

    roots: tuple[Variable[Any], ...]
    nodes: tuple[FlatNode, ...]
    outputs: tuple[int, ...]


def flatten(outputs: Sequence[Variable[Any]], inputs: Sequence[Variable[Any]] = ()) -> FlatGraph:
    """Write Variables, and all they are computed from, as a flat list.

    Parameters
    ----------
    outputs
        The Variables.
    inputs
        Variables taken as roots even where a node computes them.
    """
    places: dict[Variable[Any], int] = {}
    roots: list[Variable[Any]] = []
    order = toposort(outputs, inputs)

    def root(variable: Variable[Any]) -> None:
        if variable not in places:
            places[variable] = len(roots)
            roots.append(variable)

    made = {out for node in order for out in node.outputs}
    for variable in [*inputs, *[i for node in order for i in node.inputs], *outputs]:
        if variable not in made:
            root(variable)
    nodes = []
    place = len(roots)
    for node in order:
        nodes.append(
            FlatNode(
                node.op,
                tuple([places[i] for i in node.inputs]),
                tuple([out.type for out in node.outputs]),
                tuple([out.name for out in node.outputs]),
                node._origin,
            )
        )
        for out in node.outputs:
            places.setdefault(out, place)
            place += 1
    return FlatGraph(tuple(roots), tuple(nodes), tuple([places[out] for out in outputs]))


def _restore(apply: type[Apply[Any]], flat: FlatGraph) -> list[Variable[Any]]:
    variables = list(flat.roots)
    for node in flat.nodes:
        inputs = tuple([variables[place] for place in node.inputs])
        variables.extend(apply.with_names(node.op, inputs, node.types, node.names, node.origin).outputs)
    return variables


def restore_variables(apply: type[Apply[Any]], flat: FlatGraph) -> list[Variable[Any]]:
    """Return the Variables that `flatten` was given."""
    variables = _restore(apply, flat)
    return [variables[place] for place in flat.outputs]


def restore_variable(apply: type[Apply[Any]], flat: FlatGraph) -> Variable[Any]:
    """Return the one Variable that `flatten` was given."""
    return restore_variables(apply, flat)[0]


def restore_node(apply: type[Apply[Any]], flat: FlatGraph) -> Apply[Any]:
    """Return the node whose output `flatten` was given."""
    owner = restore_variable(apply, flat).owner
    assert owner is not None
    return owner
