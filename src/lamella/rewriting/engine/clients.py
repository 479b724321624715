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
    start
        The clients in the graph the pass began with.
    """

    __slots__ = ("_inherited", "_met", "_start")

    def __init__(self, start: Mapping[Variable[Any], tuple[Client, ...]]) -> None:
        self._start = start
        self._inherited: dict[Variable[Any], tuple[Client, ...]] = {}
        self._met: dict[Variable[Any], tuple[Client, ...]] = {}

    def stands_for(self, new: Variable[Any], old: Variable[Any]) -> None:
        """Count those who use `old` as the users of `new`, unless users of `new` are known."""
        if new not in self._start and new not in self._inherited:
            self._inherited[new] = self.get(old, ())

    def met(self, node: Apply[Any]) -> None:
        """Count a node that a rewriter made as a user of its inputs, unless their users are known."""
        for place, variable in enumerate(node.inputs):
            if variable.owner is not None and variable not in self._start and variable not in self._inherited:
                self._met[variable] = (*self._met.get(variable, ()), (node, place))

    @override
    def __getitem__(self, variable: Variable[Any]) -> tuple[Client, ...]:
        for known in (self._start, self._inherited, self._met):
            found = known.get(variable)
            if found is not None:
                return found
        raise KeyError(variable)

    @override
    def __iter__(self) -> Iterator[Variable[Any]]:
        yield from dict.fromkeys([*self._start, *self._inherited, *self._met])

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
