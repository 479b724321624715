"""`NodeMachine`: runs a graph one node at a time, whatever computes a node.

Without lazy Ops the nodes run in the order of the schedule, and a value is dropped after its last reader. With lazy Ops they run on
demand, see `Op.required_inputs`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, Protocol, final

import attrs

from lamella.errors import MissingInputError
from lamella.ir import NO_VALUE, Apply, OnDemand, Variable
from lamella.typing_layer import ScheduledGraph

__all__ = ["NodeFunction", "NodeMachine", "NodeRecorder"]


class NodeFunction(Protocol):
    """Computes the outputs of a node."""

    def __call__(self, step: int, inputs: Sequence[Any], /) -> Sequence[Any]:
        """Return the outputs of a node, given its place in the order of the graph, and the values of its inputs."""


class NodeRecorder(Protocol):
    """Is told of every node that has run."""

    def ran(self, step: int, seconds: float, size: int) -> None:
        """Note that the node in that place of the order has taken that time, and computed new values of so many bytes."""


@final
@attrs.frozen
class _Step:
    """The places of a node's inputs and outputs, and the places that nothing reads afterwards."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    released: tuple[int, ...]


@final
@attrs.frozen(eq=False)
class NodeMachine:
    """A scheduled graph, and what computes its nodes; made by `of`. It keeps no state between calls.

    Attributes
    ----------
    scheduled
        The graph.
    compute
        What computes a node.
    """

    scheduled: ScheduledGraph
    compute: NodeFunction
    _template: list[Any]
    _steps: tuple[_Step, ...]
    _outputs: tuple[int, ...]
    _demand: OnDemand | None
    _places: Mapping[Apply[Any], int]

    @classmethod
    def of(
        cls, scheduled: ScheduledGraph, compute: NodeFunction, lazy: bool = True, allow_gc: bool = True
    ) -> NodeMachine:
        """Prepare a graph to be run.

        Parameters
        ----------
        scheduled
            The graph.
        compute
            What computes a node.
        lazy
            Whether lazy Ops are asked what they need; otherwise everything is computed.
        allow_gc
            Whether a value is dropped after its last reader; otherwise at the end of a call.
        """
        places: dict[Variable[Any], int] = {}
        template: list[Any] = []

        def place(variable: Variable[Any]) -> int:
            found = places.get(variable)
            if found is None:
                found = places[variable] = len(template)
                value = variable.stored_value() if variable.is_constant else NO_VALUE
                template.append(None if value is NO_VALUE else value)
            return found

        fgraph, order = scheduled.fgraph, scheduled.order
        for variable in fgraph.inputs:
            place(variable)
        steps = [
            _Step(
                tuple([place(v) for v in node.inputs]),
                tuple([place(v) for v in node.outputs]),
                tuple([place(v) for v in released]) if allow_gc else (),
            )
            for node, released in zip(order, scheduled.storage.last_read_after, strict=True)
        ]
        asks = lazy and any([node.op.is_lazy for node in order])
        return cls(
            scheduled,
            compute,
            template,
            tuple(steps),
            tuple([place(v) for v in fgraph.outputs]),
            OnDemand.of(order, fgraph.inputs, fgraph.outputs) if asks else None,
            {node: i for i, node in enumerate(order)} if asks else {},
        )

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        """Return the values of the outputs, given those of the inputs."""
        return self.run(values, self.compute)

    def run_recorded(self, values: Sequence[Any], recorder: NodeRecorder) -> list[Any]:
        """Do what a call does, and tell of each node what it cost."""
        compute, order, aliases = self.compute, self.scheduled.order, self.scheduled.aliases

        def timed(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
            start = perf_counter()
            outputs = compute(step, inputs)
            seconds = perf_counter() - start
            values = zip(order[step].outputs, outputs, strict=True)
            new = [v.type.get_size(v.type.get_shape_info(value)) for v, value in values if aliases.is_fresh(v)]
            recorder.ran(step, seconds, sum(new))
            return outputs

        return self.run(values, timed)

    def run(self, values: Sequence[Any], compute: NodeFunction) -> list[Any]:
        """Do what a call does, with something else to compute the nodes."""
        if self._demand is not None:
            return self._run_on_demand(self._demand, values, compute)
        storage = self._template.copy()
        storage[: len(values)] = values
        for i, step in enumerate(self._steps):
            results = compute(i, [storage[place] for place in step.inputs])
            for place, result in zip(step.outputs, results, strict=True):
                storage[place] = result
            for place in step.released:
                storage[place] = None
        return [storage[place] for place in self._outputs]

    def _run_on_demand(self, demand: OnDemand, values: Sequence[Any], compute: NodeFunction) -> list[Any]:
        fgraph = self.scheduled.fgraph
        computed = dict(zip(fgraph.inputs, values, strict=True))

        def value_of(variable: Variable[Any], needed_by: object) -> Any:
            value = computed.get(variable, NO_VALUE)
            if value is NO_VALUE:
                value = variable.stored_value()
            if value is NO_VALUE:
                raise MissingInputError(f"{variable!r} of type {variable.type} has no value, and {needed_by} needs it")
            return value

        demand.run(computed, value_of, lambda node, inputs: compute(self._places[node], inputs))
        return [value_of(variable, "the result") for variable in fgraph.outputs]
