"""Pickling of graphs at any depth, without recursion.

A graph is written as flat tables: its roots, the Ops and Types that occur, then each node as places in these tables. Reading it
back applies the Ops again, so nodes that exist already are found, not made twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import attrs

from lamella.ir.graph.origin import Line
from lamella.ir.graph.traversal import toposort

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply
    from lamella.ir.graph.op import Op
    from lamella.ir.graph.type import Type
    from lamella.ir.graph.variable import Variable

__all__ = ["FlatGraph", "FlatNode", "flatten", "restore_node", "restore_variable", "restore_variables"]

T = TypeVar("T")
Names = tuple[str | None, ...]

FlatNode = tuple[int, tuple[int, ...], tuple[int, ...], Names | None, int | None]
"""A node: the place of its Op, those of its inputs, those of its output types, its output names (None where it has none), the place of
the line that built it. An input's place counts the roots first, then the outputs of the nodes, in order."""


@final
@attrs.frozen
class FlatGraph:
    """Variables with everything they are computed from, as tables without nesting."""

    roots: tuple[Variable[Any], ...]
    ops: tuple[Op[Any, Any], ...]
    types: tuple[Type[Any], ...]
    lines: tuple[Line, ...]
    nodes: tuple[FlatNode, ...]
    outputs: tuple[int, ...]


class _Table(Generic[T]):
    """Things in the order they were first met, and their places."""

    def __init__(self) -> None:
        self.things: list[T] = []
        self._places: dict[Hashable, int] = {}

    def place(self, key: Hashable, thing: T) -> int:
        found = self._places.setdefault(key, len(self.things))
        if found == len(self.things):
            self.things.append(thing)
        return found


def flatten(outputs: Sequence[Variable[Any]], inputs: Sequence[Variable[Any]] = ()) -> FlatGraph:
    """Write Variables, and all they are computed from, as flat tables.

    Parameters
    ----------
    outputs
        The Variables.
    inputs
        Variables taken as roots even where a node computes them.
    """
    order = toposort(outputs, inputs)
    computed = {out for node in order for out in node.outputs}.difference(inputs)
    needed = [*inputs, *[variable for node in order for variable in node.inputs], *outputs]
    roots = tuple(dict.fromkeys([variable for variable in needed if variable not in computed]))
    places: dict[Variable[Any], int] = {variable: i for i, variable in enumerate(roots)}
    ops: _Table[Op[Any, Any]] = _Table()
    types: _Table[Type[Any]] = _Table()
    lines: _Table[Line] = _Table()
    nodes: list[FlatNode] = []
    place = len(roots)
    for node in order:
        names = tuple([out.name for out in node.outputs])
        nodes.append(
            (
                ops.place(id(node.op), node.op),
                tuple([places[variable] for variable in node.inputs]),
                tuple([types.place(id(out.type), out.type) for out in node.outputs]),
                names if any(name is not None for name in names) else None,
                None if node.built_at is None else lines.place(node.built_at, node.built_at),
            )
        )
        for out in node.outputs:
            places.setdefault(out, place)
            place += 1
    return FlatGraph(
        roots,
        tuple(ops.things),
        tuple(types.things),
        tuple(lines.things),
        tuple(nodes),
        tuple([places[out] for out in outputs]),
    )


def restore_variables(apply: type[Apply[Any]], flat: FlatGraph) -> list[Variable[Any]]:
    """Return the Variables that `flatten` was given."""
    variables = list(flat.roots)
    for op, inputs, types, names, line in flat.nodes:
        node = apply.with_names(
            flat.ops[op],
            tuple([variables[place] for place in inputs]),
            tuple([flat.types[place] for place in types]),
            names or (None,) * len(types),
            None if line is None else flat.lines[line],
        )
        variables.extend(node.outputs)
    return [variables[place] for place in flat.outputs]


def restore_variable(apply: type[Apply[Any]], flat: FlatGraph) -> Variable[Any]:
    """Return the one Variable that `flatten` was given."""
    return restore_variables(apply, flat)[0]


def restore_node(
    apply: type[Apply[Any]],
    flat: FlatGraph,
    op: Op[Any, Any],
    types: tuple[Type[Any], ...],
    names: Names,
    line: Line | None,
) -> Apply[Any]:
    """Return the application of `op` to the Variables that `flatten` was given."""
    return apply.with_names(op, tuple(restore_variables(apply, flat)), types, names, line)
