"""`dprint`: a graph as a tree of lines.

::

    Add [id A]
     ├─ Exp [id B] 'y'
     │  └─ x [id C]
     └─ Exp [id B] 'y'
        └─ ···

A node is written out where it is met first; elsewhere its id refers to it. So the text is as long as the graph has edges, however much is
shared.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TextIO, final, overload

import attrs

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.printing.subjects import GraphLike, inner_graph, op_text, parts_of

__all__ = ["IdType", "char_from_number", "dprint"]

IdType = Literal["CHAR", "int", "id", ""]
"""How ids are written: letters, numbers, memory addresses, or not at all."""

Notes = Callable[[Apply[Any]], Iterable[str]]
"""What is to be told about a node, line by line."""

_BAR, _NO_BAR, _BRANCH, _LAST, _REPEATED, _NOTE = " │ ", "   ", " ├─ ", " └─ ", " └─ ···", " ┆ "
_DEEPEST = 40  # levels drawn in full: beyond, lines would grow with depth, and the text with its square


def char_from_number(number: int) -> str:
    """Return a number of 0 or more in base 26, with the letters A to Z as digits."""
    digits = ""
    while True:
        number, digit = divmod(number, 26)
        digits = chr(ord("A") + digit) + digits
        if not number:
            return digits


@overload
def dprint(
    graph: GraphLike | Iterable[GraphLike],
    depth: int = -1,
    print_type: bool = False,
    *,
    print_shape: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_order: bool | None = None,
    print_fgraph_inputs: bool = False,
    id_type: IdType = "CHAR",
    stop_on_name: bool = False,
    used_ids: dict[object, str] | None = None,
    notes: Notes | None = None,
    file: Literal["str"],
) -> str: ...


@overload
def dprint(
    graph: GraphLike | Iterable[GraphLike],
    depth: int = -1,
    print_type: bool = False,
    *,
    print_shape: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_order: bool | None = None,
    print_fgraph_inputs: bool = False,
    id_type: IdType = "CHAR",
    stop_on_name: bool = False,
    used_ids: dict[object, str] | None = None,
    notes: Notes | None = None,
    file: TextIO | None = None,
) -> None: ...


def dprint(
    graph: GraphLike | Iterable[GraphLike],
    depth: int = -1,
    print_type: bool = False,
    *,
    print_shape: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_order: bool | None = None,
    print_fgraph_inputs: bool = False,
    id_type: IdType = "CHAR",
    stop_on_name: bool = False,
    used_ids: dict[object, str] | None = None,
    notes: Notes | None = None,
    file: TextIO | Literal["str"] | None = None,
) -> str | None:
    """Print a graph as a tree, from its outputs down to its inputs.

    A line shows the Op (and which of its outputs, where it has several) or the name of a root; its id; on demand its type and static
    shape; its name; what it destroys and views; and its place in the order of the nodes. Graphs inside of Ops follow, each once.

    Parameters
    ----------
    graph
        A Variable, an Apply node, a FunctionGraph, a compiled function, or several of them.
    depth
        Number of levels to print; -1 for all. Levels beyond the fortieth are drawn at its distance, with their number.
    print_type
        Show types.
    print_shape
        Show static shapes.
    print_destroy_map, print_view_map
        Show, for nodes that overwrite or view inputs, which output does so with which inputs.
    print_order
        Show the place of each node in the order in which they run; by default where the graph has such an order.
    print_fgraph_inputs
        List the inputs of graphs first.
    id_type
        How ids are written.
    stop_on_name
        Do not look behind Variables that have names.
    used_ids
        Ids given so far, by node or root; extended. Pass one dictionary to several calls to have them agree.
    notes
        Returns, for a node that is in no inner graph, lines to put below it.
    file
        Where to print; ``"str"`` to have the text returned.

    Returns
    -------
    str or None
        The text, for ``file="str"``.

    Raises
    ------
    TypeError
        Something cannot be printed.
    """
    printer = _TreePrinter(
        depth,
        print_type,
        print_shape,
        print_destroy_map,
        print_view_map,
        id_type,
        stop_on_name,
        {} if used_ids is None else used_ids,
        notes,
    )
    lines = printer.lines(parts_of(graph), print_order, print_fgraph_inputs)
    target = io.StringIO() if file == "str" else file or sys.stdout
    target.writelines([f"{line}\n" for line in lines] if file == "str" else (f"{line}\n" for line in lines))
    return target.getvalue() if isinstance(target, io.StringIO) and file == "str" else None


@final
@attrs.define
class _TreePrinter:
    depth: int
    print_type: bool
    print_shape: bool
    print_destroy_map: bool
    print_view_map: bool
    id_type: IdType
    stop_on_name: bool
    ids: dict[object, str]
    notes: Notes | None = None
    expanded: set[Apply[Any]] = attrs.field(factory=set)
    told: set[Apply[Any]] = attrs.field(factory=set)
    with_inner: dict[Apply[Any], FunctionGraph] = attrs.field(factory=dict)

    def lines(
        self,
        parts: Sequence[tuple[tuple[Variable[Any], ...], tuple[Variable[Any], ...], Sequence[Apply[Any]] | None]],
        print_order: bool | None,
        print_fgraph_inputs: bool,
    ) -> Iterator[str]:
        if print_fgraph_inputs:
            for _, inputs, _ in parts:
                for variable in inputs:
                    yield f"→ {self._root(variable, {})}"
        for outputs, _, order in parts:
            wanted = order if print_order is not False else None
            if wanted is None and print_order:
                wanted = toposort(outputs)
            places = {node: i for i, node in enumerate(wanted or ())}
            for variable in outputs:
                yield from self._tree(variable, "", "", places, {})
        yield from self._inner_graphs()

    def _inner_graphs(self) -> Iterator[str]:
        shown: set[Apply[Any]] = set()
        self.notes = None
        while len(shown) < len(self.with_inner):
            for node, fgraph in list(self.with_inner.items()):
                if node in shown:
                    continue
                if not shown:
                    yield ""
                    yield "Inner graphs:"
                shown.add(node)
                yield ""
                yield f"{op_text(node.op)}{self._id(node)}"
                one_to_one = len(fgraph.inputs) == len(node.inputs)
                outer = dict(zip(fgraph.inputs, node.inputs, strict=True)) if one_to_one else {}
                for variable in fgraph.outputs:
                    yield from self._tree(variable, " ← ", _NO_BAR, {}, outer)

    def _tree(
        self,
        top: Variable[Any],
        lead: str,
        below: str,
        places: Mapping[Apply[Any], int],
        outer: Mapping[Variable[Any], Variable[Any]],
    ) -> Iterator[str]:
        if self.depth == 0:
            return
        # What a line begins with, what the lines below it begin with, the level.
        pending: list[tuple[Variable[Any], str, str, int]] = [(top, lead, below, 1)]
        while pending:
            variable, lead, below, level = pending.pop()
            node = variable.owner
            # The inputs of an inner graph may be computed by nodes of another one.
            if node is None or variable in outer:
                yield f"{lead}{self._root(variable, outer)}"
                continue
            yield f"{lead}{self._node(variable, node, places)}"
            if self.notes is not None and node not in self.told:
                self.told.add(node)
                yield from [f"{below}{_NOTE}{line}" for line in self.notes(node)]
            if level == self.depth:
                continue
            if node in self.expanded or (self.stop_on_name and variable.name is not None):
                if node.inputs:
                    yield f"{below}{_REPEATED}"
                continue
            self.expanded.add(node)
            fgraph = inner_graph(node.op)
            if fgraph is not None:
                self.with_inner.setdefault(node, fgraph)
            branches = [_BRANCH] * (len(node.inputs) - 1) + [_LAST]
            for child, branch in reversed(list(zip(node.inputs, branches, strict=True))):
                further = below + (_BAR if branch is _BRANCH else _NO_BAR)
                if level > _DEEPEST:
                    further = further[-3 * _DEEPEST :]
                number = f"{level + 1:>5} ⋯" if level > _DEEPEST else ""
                pending.append((child, f"{number}{below}{branch}", further, level + 1))

    def _id(self, thing: Apply[Any] | Variable[Any]) -> str:
        known = self.ids.get(thing)
        if known is None:
            text = self._new_id(thing)
            known = self.ids[thing] = f" [id {text}]" if text else ""
        return known

    def _new_id(self, thing: Apply[Any] | Variable[Any]) -> str:
        match self.id_type:
            case "CHAR":
                return char_from_number(len(self.ids))
            case "int":
                return str(len(self.ids))
            case "id":
                return str(id(thing))
            case "":
                return ""

    def _facts(self, variable: Variable[Any]) -> str:
        text = f" <{variable.type}>" if self.print_type else ""
        shape = getattr(variable.type, "shape", None)
        if self.print_shape and isinstance(shape, tuple):
            lengths = ", ".join(["?" if length is None else str(length) for length in shape])
            text += f" shape=({lengths}{',' if len(shape) == 1 else ''})"
        return text

    def _root(self, variable: Variable[Any], outer: Mapping[Variable[Any], Variable[Any]]) -> str:
        text = f"{variable}{self._id(variable)}{self._facts(variable)}"
        if variable in outer:
            given = outer[variable]
            text += f" ->{self._id(given.owner or given)}"
        return text

    def _node(self, variable: Variable[Any], node: Apply[Any], places: Mapping[Apply[Any], int]) -> str:
        text = op_text(node.op)
        if len(node.outputs) > 1:
            text += f".{variable.index}"
        text += f"{self._id(node)}{self._facts(variable)}"
        if variable.name is not None:
            text += f" '{variable.name}'"
        if self.print_destroy_map and node.op.destroy_map:
            text += f" d={_map_text(node.op.destroy_map)}"
        if self.print_view_map and node.op.view_map:
            text += f" v={_map_text(node.op.view_map)}"
        if node in places:
            text += f" {places[node]}"
        return text


def _map_text(places: Mapping[int, Sequence[int]]) -> str:
    return str({output: list(inputs) for output, inputs in places.items()})
