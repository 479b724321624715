"""`WrapLinker`: run every node by a function of one's own, which is given what computes the node, by one linker or by several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph
from lamella.runtime.linking import PerNodeLinker
from lamella.runtime.node_machine import NodeFunction
from lamella.typing_layer import ScheduledGraph

__all__ = ["NodeThunk", "WrapLinker", "WrapLinkerMany", "Wrapper"]


@final
class NodeThunk:
    """Computes a node of a running function: called without arguments, it reads the input cells and fills the output cells.

    Attributes
    ----------
    inputs, outputs
        A one-element list for each input and output of the node, with its value. An input that a lazy Op does not need, and an output that
        has not been computed, is None.
    """

    __slots__ = ("_compute", "_step", "inputs", "outputs")

    def __init__(self, compute: NodeFunction, step: int, inputs: Sequence[Any], n_outputs: int) -> None:
        self._compute = compute
        self._step = step
        self.inputs: tuple[list[Any], ...] = tuple([[value] for value in inputs])
        self.outputs: tuple[list[Any], ...] = tuple([[None] for _ in range(n_outputs)])

    def __call__(self) -> None:
        """Compute the outputs."""
        results = self._compute(self._step, [cell[0] for cell in self.inputs])
        for cell, value in zip(self.outputs, results, strict=True):
            cell[0] = value


class Wrapper(Protocol):
    """Runs a node."""

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply[Any], /, *thunks: NodeThunk) -> None:
        """Run a node: call the first thunk, whose outputs are passed on, and whatever else is wanted.

        Parameters
        ----------
        fgraph
            The compiled graph.
        i
            The place of the node in the order in which nodes run.
        node
            The node.
        *thunks
            What computes it, by each linker.
        """


def _as_linkers(linkers: Iterable[PerNodeLinker]) -> tuple[PerNodeLinker, ...]:
    return tuple(linkers)


def _as_wrappers(wrappers: Iterable[Wrapper]) -> tuple[Wrapper, ...]:
    return tuple(wrappers)


@final
@attrs.frozen
class WrapLinker(PerNodeLinker):
    """Runs every node by a function, which is given what computes the node.

    Parameters
    ----------
    linkers
        Linkers that run a graph one node at a time. The values that the first one computes go on to the next nodes.
    wrapper
        Called for every node that runs. With several linkers each thunk gets inputs of its own where the node overwrites any.
    """

    linkers: tuple[PerNodeLinker, ...] = attrs.field(converter=_as_linkers)
    wrapper: Wrapper

    @linkers.validator
    def _check_linkers(self, attribute: object, linkers: tuple[PerNodeLinker, ...]) -> None:
        if not linkers:
            raise ValueError("WrapLinker wraps one linker at least")

    @override
    def node_function(self, scheduled: ScheduledGraph) -> NodeFunction:
        functions = [linker.node_function(scheduled) for linker in self.linkers]
        fgraph, order, wrapper = scheduled.fgraph, scheduled.order, self.wrapper

        def run(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
            node = order[step]
            given = [inputs, *[_separate(node, inputs) for _ in functions[1:]]]
            thunks = [NodeThunk(f, step, values, node.nout) for f, values in zip(functions, given, strict=True)]
            wrapper(fgraph, step, node, *thunks)
            results = [cell[0] for cell in thunks[0].outputs]
            if any([value is None for value in results]):
                for variable, value in zip(node.outputs, results, strict=True):
                    if value is None and not variable.type.is_valid_value(None):
                        raise ValueError(
                            f"{node!r} has no value: the wrapper {wrapper!r} must call the first thunk that it is given"
                        )
            return results

        return run


def WrapLinkerMany(linkers: Iterable[PerNodeLinker], wrappers: Iterable[Wrapper]) -> WrapLinker:
    """Return a `WrapLinker` that calls several functions for every node, one after the other, with the same thunks."""
    return WrapLinker(linkers, _InTurn(wrappers))


@final
@attrs.frozen
class _InTurn:
    wrappers: tuple[Wrapper, ...] = attrs.field(converter=_as_wrappers)

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply[Any], /, *thunks: NodeThunk) -> None:
        for wrapper in self.wrappers:
            wrapper(fgraph, i, node, *thunks)


def _separate(node: Apply[Any], inputs: Sequence[Any]) -> list[Any]:
    if not node.op.destroy_map:
        return list(inputs)
    return [value if value is None else v.type.copy_value(value) for v, value in zip(node.inputs, inputs, strict=True)]
