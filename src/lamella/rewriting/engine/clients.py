"""Who uses a Variable while the graph is being rewritten.

A pass reads clients from the graph it began with. Variables that were made since are not in it, so each is counted as used by those
who used what it stands for, and by the new nodes that have been met so far. That is good enough to decide whether a rewrite pays, and
nothing else may depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, final

from typing_extensions import override

from lamella.ir import Apply, Client, FunctionGraph, Variable

__all__ = ["PassClients", "graph_during_pass"]


@final
class PassClients(Mapping[Variable[Any], tuple[Client, ...]]):
    """The clients in the graph a pass began with, and those of the Variables that the pass made.

    Parameters
    ----------
    fgraph
        The graph the pass began with; its clients are derived when somebody asks for any.
    """

    __slots__ = ("_fgraph", "_met", "_replaced")

    def __init__(self, fgraph: FunctionGraph) -> None:
        self._fgraph = fgraph
        self._replaced: dict[Variable[Any], Variable[Any]] = {}
        self._met: dict[Variable[Any], list[Client]] = {}

    def stands_for(self, new: Variable[Any], old: Variable[Any]) -> None:
        """Count those who use `old` as the users of `new`, unless users of `new` are known."""
        if new is not old and new not in self._met:
            self._replaced.setdefault(new, old)

    def met(self, node: Apply[Any]) -> None:
        """Count a node that a rewriter made as a user of its inputs, unless their users are known."""
        for place, variable in enumerate(node.inputs):
            if variable.owner is not None and variable not in self._replaced:
                self._met.setdefault(variable, []).append((node, place))

    @override
    def __getitem__(self, variable: Variable[Any]) -> tuple[Client, ...]:
        start = self._fgraph.clients
        asked, followed = variable, {variable}
        while True:
            found = start.get(variable)
            if found is not None:
                return found
            replaced = self._replaced.get(variable)
            if replaced is None or replaced in followed:
                return tuple(self._met.get(variable, ()) if asked in self._replaced else self._met[variable])
            followed.add(replaced)
            variable = replaced

    @override
    def __iter__(self) -> Iterator[Variable[Any]]:
        yield from dict.fromkeys([*self._fgraph.clients, *self._replaced, *self._met])

    @override
    def __len__(self) -> int:
        return len(list(iter(self)))


def graph_during_pass(fgraph: FunctionGraph, clients: PassClients) -> FunctionGraph:
    """Return `fgraph` with clients that are known for the Variables of the pass as well."""
    # It is the same graph, which was validated when it was made: only the fact derived from it, kept in its slot, differs.
    seen = object.__new__(FunctionGraph)
    for name, value in [
        ("inputs", fgraph.inputs),
        ("outputs", fgraph.outputs),
        ("features", fgraph.features),
        ("order", fgraph.order),
        ("clients", clients),
    ]:
        object.__setattr__(seen, name, value)
    return seen
