"""`to_text`: a graph as lines of assignments, the same in every run: for golden tests and for comparing graphs by eye.

::

    graph(%x: float64[?], %y: float64[?]) {
      %c0: float64[1] = constant 2.0
      %0: float64[?] = Mul(%x, %c0)
      %loss: float64[?] = Add(%0, %y)
      return %loss
    }

Each Variable is assigned once, before it is used. Roots and named Variables keep their names, the others are numbered in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

import attrs

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.traversal import graph_inputs, toposort
from lamella.ir.graph.variable import Constant, Variable
from lamella.ir.printing.subjects import GraphLike, inner_graph, op_text, parts_of
from lamella.ir.printing.values import value_text

__all__ = ["to_text"]

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def to_text(graph: GraphLike | Iterable[GraphLike]) -> str:
    """Return a graph as text.

    The text follows from the structure of the graph, its types, names and constants, and from nothing else: neither addresses nor
    the order in which nodes were made. Nodes stand in the order in which they run. What a node overwrites or views is noted behind
    it. Graphs inside of Ops follow, each once; the Op refers to them as ``@0``, ``@1``, ...

    Parameters
    ----------
    graph
        A FunctionGraph, a compiled function, a Variable or Apply node (with all it is computed from), or several of them.

    Raises
    ------
    TypeError
        Something cannot be printed.
    """
    inner = _InnerGraphs()
    blocks = []
    for outputs, inputs, order in parts_of(graph):
        if order is None:
            inputs = tuple([v for v in graph_inputs(outputs) if not v.is_constant])
            order = toposort(outputs)
        blocks.append(_block("graph", inputs, outputs, order, inner))
    blocks.extend(inner.blocks())
    return "\n\n".join(blocks) + "\n"


@final
class _InnerGraphs:
    """The graphs inside of Ops, in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[FunctionGraph, int] = {}

    def reference(self, node: Apply[Any]) -> str:
        fgraph = inner_graph(node.op)
        return "" if fgraph is None else f" @{self._numbers.setdefault(fgraph, len(self._numbers))}"

    def blocks(self) -> Iterator[str]:
        written = 0
        while written < len(self._numbers):  # a graph may bring others
            fgraph = list(self._numbers)[written]
            yield _block(f"graph @{written}", fgraph.inputs, fgraph.outputs, fgraph.order, self)
            written += 1


def _block(
    title: str,
    inputs: Sequence[Variable[Any]],
    outputs: Sequence[Variable[Any]],
    order: Sequence[Apply[Any]],
    inner: _InnerGraphs,
) -> str:
    names = _Names()
    given = ", ".join([f"{names.root(v, 'arg')}: {v.type}" for v in inputs])
    assigned = frozenset(inputs)
    lines = [f"{title}({given}) {{"]
    needed = [*[v for node in order for v in node.inputs], *outputs]
    constants = [v for v in dict.fromkeys(needed) if isinstance(v, Constant) and v not in assigned]
    lines.extend([f"  {names.root(v, 'c')}: {v.type} = constant {value_text(v.data, digest=True)}" for v in constants])
    for node in order:
        results = ", ".join([f"{names.result(out)}: {out.type}" for out in node.outputs])
        arguments = ", ".join([names.known[v] for v in node.inputs])
        lines.append(
            f"  {results} = {op_text(node.op)}{inner.reference(node)}({arguments}){_storage_note(node, names.known)}"
        )
    lines.append(f"  return {', '.join([names.known[v] for v in outputs])}".rstrip())
    return "\n".join([*lines, "}"])


@final
@attrs.define
class _Names:
    """Names of Variables in one block; no two are the same."""

    known: dict[Variable[Any], str] = attrs.field(factory=dict)
    _used: set[str] = attrs.field(factory=set)
    _counts: dict[str, int] = attrs.field(factory=dict)

    def root(self, variable: Variable[Any], prefix: str) -> str:
        return self._assign(variable, self._own(variable) or self._counted(prefix))

    def result(self, variable: Variable[Any]) -> str:
        if variable in self.known:  # an input that a node computes too
            return "%_"
        return self._assign(variable, self._own(variable) or self._counted(""))

    def _own(self, variable: Variable[Any]) -> str:
        name = variable.name
        if not name:
            return ""
        return name if _PLAIN_NAME.fullmatch(name) else '"' + name.replace("\\", r"\\").replace('"', r"\"") + '"'

    def _counted(self, prefix: str) -> str:
        number = self._counts.get(prefix, 0)
        self._counts[prefix] = number + 1
        return f"{prefix}{number}"

    def _assign(self, variable: Variable[Any], wanted: str) -> str:
        name = wanted
        while name in self._used:
            number = self._counts.get(f"{wanted}.", 1)
            self._counts[f"{wanted}."] = number + 1
            name = f"{wanted}.{number}"
        self._used.add(name)
        self.known[variable] = f"%{name}"
        return self.known[variable]


def _storage_note(node: Apply[Any], known: dict[Variable[Any], str]) -> str:
    notes = []
    for verb, places in (("destroys", node.op.destroy_map), ("views", node.op.view_map)):
        met = dict.fromkeys([known[node.inputs[i]] for output in sorted(places) for i in places[output]])
        if met:
            notes.append(f"{verb} {', '.join(met)}")
    return f"  # {'; '.join(notes)}" if notes else ""
