"""Linkers make something callable of a scheduled graph. `PerformLinker` calls `Op.perform` for each node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.ir import NO_VALUE, Apply, Variable, perform_node
from lamella.typing_layer import ScheduledGraph

__all__ = ["Executable", "Linker", "PerformLinker"]


class Executable(Protocol):
    """A linked graph. It keeps no state between calls, so that threads may call it at once."""

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        """Return the values of the graph's outputs, given those of its inputs."""


class Linker(ABC):
    """Makes something callable of a scheduled graph."""

    @abstractmethod
    def link(self, scheduled: ScheduledGraph) -> Executable:
        """Return the graph as something to call."""


@final
@attrs.frozen
class PerformLinker(Linker):
    """Runs a graph in Python, one `Op.perform` a node."""

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        return _PerformedGraph.of(scheduled)


@final
@attrs.frozen
class _Step:
    """A node, the places of its inputs and outputs, and the places that nothing reads afterwards."""

    node: Apply[Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    released: tuple[int, ...]


@final
@attrs.frozen(eq=False)
class _PerformedGraph:
    """A list of places for values, filled with the constants, and the steps that fill the rest."""

    n_inputs: int
    template: list[Any]
    steps: tuple[_Step, ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, scheduled: ScheduledGraph) -> _PerformedGraph:
        places: dict[Variable[Any], int] = {}
        template: list[Any] = []

        def place(variable: Variable[Any]) -> int:
            found = places.get(variable)
            if found is None:
                found = places[variable] = len(template)
                value = variable.stored_value() if variable.is_constant else NO_VALUE
                template.append(None if value is NO_VALUE else value)
            return found

        inputs = [place(variable) for variable in scheduled.fgraph.inputs]
        steps = [
            _Step(
                node,
                tuple([place(v) for v in node.inputs]),
                tuple([place(v) for v in node.outputs]),
                tuple([place(v) for v in released]),
            )
            for node, released in zip(scheduled.order, scheduled.storage.last_read_after, strict=True)
        ]
        return cls(len(inputs), template, tuple(steps), tuple([place(v) for v in scheduled.fgraph.outputs]))

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        storage = self.template.copy()
        storage[: self.n_inputs] = values
        for step in self.steps:
            results = perform_node(step.node, [storage[i] for i in step.inputs])
            for i, result in zip(step.outputs, results, strict=True):
                storage[i] = result
            for i in step.released:
                storage[i] = None
        return [storage[i] for i in self.outputs]
