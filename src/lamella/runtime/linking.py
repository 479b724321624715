"""Linkers make something callable of a scheduled graph. `PerformLinker` calls `Op.perform` for each node."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.ir import perform_node
from lamella.runtime.node_machine import NodeFunction, NodeMachine
from lamella.typing_layer import ScheduledGraph

__all__ = ["Executable", "Linker", "PerNodeLinker", "PerformLinker"]


class Executable(Protocol):
    """A linked graph. It keeps no state between calls, so that threads may call it at once."""

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        """Return the values of the graph's outputs, given those of its inputs."""


class Linker(ABC):
    """Makes something callable of a scheduled graph."""

    @abstractmethod
    def link(self, scheduled: ScheduledGraph) -> Executable:
        """Return the graph as something to call."""

    def for_profile(self) -> Linker:
        """Return the linker whose graphs are profiled in place of this one's: one that runs nodes one by one, where there is one."""
        return self


class PerNodeLinker(Linker):
    """A linker whose graphs run one node at a time, so that one may look in between. A subclass writes `node_function`."""

    @abstractmethod
    def node_function(self, scheduled: ScheduledGraph) -> NodeFunction:
        """Return what computes the outputs of each node, given the place of the node in ``scheduled.order``."""

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        return NodeMachine.of(scheduled, self.node_function(scheduled))


@final
@attrs.frozen
class PerformLinker(PerNodeLinker):
    """Runs a graph in Python, one `Op.perform` a node; what a lazy Op does not need is not computed."""

    @override
    def node_function(self, scheduled: ScheduledGraph) -> NodeFunction:
        order = scheduled.order

        def perform(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
            return perform_node(order[step], inputs)

        return perform
