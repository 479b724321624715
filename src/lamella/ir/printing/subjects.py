"""What can be printed, and how its parts are named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op
from lamella.ir.graph.variable import Variable

__all__ = ["GraphLike", "HasFunctionGraph", "HasOrder", "inner_graph", "op_text", "parts_of", "without_addresses"]


@runtime_checkable
class HasFunctionGraph(Protocol):
    """What has a graph: a compiled function, for one."""

    @property
    def fgraph(self) -> FunctionGraph:
        """The graph."""


@runtime_checkable
class HasOrder(Protocol):
    """What knows the order in which its nodes run."""

    @property
    def order(self) -> Sequence[Apply[Any]]:
        """The nodes."""


GraphLike = Variable[Any] | Apply[Any] | FunctionGraph | HasFunctionGraph
"""What can be printed: a Variable, a node (all its outputs), a graph, or what has one."""


def parts_of(
    subject: object,
) -> list[tuple[tuple[Variable[Any], ...], tuple[Variable[Any], ...], Sequence[Apply[Any]] | None]]:
    """Return, for each thing to print (a `GraphLike`, or several), its outputs, its inputs, and the order of its nodes where it has one.

    Raises
    ------
    TypeError
        Something cannot be printed.
    """
    if isinstance(subject, Variable):
        return [((subject,), (), None)]
    if isinstance(subject, Apply):
        return [(subject.outputs, (), None)]
    if isinstance(subject, FunctionGraph):
        return [(subject.outputs, subject.inputs, subject.order)]
    if isinstance(subject, HasFunctionGraph):
        scheduled = getattr(subject, "scheduled", None)
        order = scheduled.order if isinstance(scheduled, HasOrder) else subject.fgraph.order
        return [(subject.fgraph.outputs, subject.fgraph.inputs, order)]
    if isinstance(subject, Iterable) and not isinstance(subject, str | bytes):
        return [part for one in subject for part in parts_of(one)]
    raise TypeError(
        f"a graph is printed of Variables, Apply nodes, FunctionGraphs or compiled functions, not of a {type(subject).__name__}"
    )


def inner_graph(op: Op[Any, Any]) -> FunctionGraph | None:
    """Return the graph that an Op computes, or that the scalar Op computes which it applies to elements."""
    for holder in (op, getattr(op, "scalar_op", None)):
        found = getattr(holder, "fgraph", None)
        if isinstance(found, FunctionGraph):
            return found
    return None


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def without_addresses(text: str) -> str:
    """Return a text without the addresses that functions and objects show: they differ from run to run."""
    return _ADDRESS.sub("", text)


def op_text(op: Op[Any, Any]) -> str:
    """Return the text of an Op, without addresses."""
    return without_addresses(str(op))
