"""Ops that contain a graph, and inner graphs in normal form: those that compute the same are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.interning import InternTable
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.type import Type
from lamella.ir.graph.value import canonical
from lamella.ir.graph.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HasInnerGraph", "normal_graph", "placeholder"]


@runtime_checkable
class HasInnerGraph(Protocol):
    """What an Op that computes a graph of its own has: walks by name and printing look into it."""

    @property
    def fgraph(self) -> FunctionGraph:
        """The inner graph."""


_placeholders: InternTable[Variable[Any]] = InternTable()


def placeholder(kind: Type[Any], index: int) -> Variable[Any]:
    """Return the Variable that is input `index`, of some Type, of every inner graph in normal form."""
    key = (id(canonical(kind)), index)
    known = _placeholders.find(key)
    # The key is that of the Variable's own Type, which it keeps alive.
    return _placeholders.keep(key, kind.make_variable(f"i{index}")) if known is None else known


def normal_graph(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> FunctionGraph:
    """Return a graph in normal form: its inputs are placeholders, and what it computes has no names.

    Graphs that compute the same from inputs of the same Types have the same normal form, so Ops that contain them are equal.

    Parameters
    ----------
    inputs, outputs
        The ends of the graph.

    Raises
    ------
    MissingInputError
        The outputs need a Variable that is neither an input nor a Constant.
    """
    checked = FunctionGraph(inputs, outputs)
    replaced: dict[Variable[Any], Variable[Any]] = {
        variable: placeholder(variable.type, i) for i, variable in enumerate(checked.inputs)
    }
    for node in toposort(checked.outputs, checked.inputs):
        rebuilt = _without_names(node, replaced)
        for old, new in zip(node.outputs, rebuilt.outputs, strict=True):
            replaced.setdefault(old, new)
    return FunctionGraph([replaced[v] for v in checked.inputs], [replaced.get(v, v) for v in checked.outputs])


def _without_names(node: Apply[Any], replaced: Mapping[Variable[Any], Variable[Any]]) -> Apply[Any]:
    inputs = tuple([replaced.get(v, v) for v in node.inputs])
    types = tuple([v.type for v in node.outputs])
    return Apply.with_names(node.op, inputs, types, (None,) * len(types))
