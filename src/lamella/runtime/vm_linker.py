"""`VMLinker`: a graph run node by node, on demand, each node by the thunk that its Op makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.errors import OutputTypeError
from lamella.ir import Apply, Variable, annotate_error, perform_node
from lamella.runtime.linking import Executable, PerNodeLinker
from lamella.runtime.node_machine import NodeFunction, NodeMachine
from lamella.runtime.wrap_linker import NodeThunk
from lamella.typing_layer import ScheduledGraph

__all__ = ["VMCallback", "VMLinker"]


class VMCallback(Protocol):
    """Is called for every node that has run."""

    def __call__(
        self,
        node: Apply[Any],
        thunk: NodeThunk,
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        /,
    ) -> None:
        """Look at a node that has run.

        Parameters
        ----------
        node
            The node.
        thunk
            What computed it, with the cells of its inputs and outputs.
        storage_map
            The cells by Variable.
        compute_map
            For each input and output, whether it has been computed: True for all but inputs that a lazy Op did not need.
        """


@final
@attrs.frozen
class VMLinker(PerNodeLinker):
    """Runs a graph one node at a time. What only the unneeded inputs of lazy Ops need is not computed.

    A node runs by the thunk that `Op.make_thunk` makes; an Op with a thunk of its own makes it once, not for every call.

    Parameters
    ----------
    allow_gc
        Drop a value after its last reader; otherwise values live until the call ends.
    callback
        Called for every node that has run.
    lazy
        Ask lazy Ops what they need; otherwise everything is computed.
    """

    allow_gc: bool = True
    callback: VMCallback | None = None
    lazy: bool = True

    @override
    def node_function(self, scheduled: ScheduledGraph) -> NodeFunction:
        order = scheduled.order
        own = {i: _OwnThunk(node) for i, node in enumerate(order) if node.op.makes_own_thunk}
        callback = self.callback

        def compute(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
            thunk = own.get(step)
            return perform_node(order[step], inputs) if thunk is None else thunk(inputs)

        if callback is None:
            return compute

        def compute_and_call(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
            node = order[step]
            thunk = NodeThunk(compute, step, inputs, node.nout)
            thunk()
            storage = dict(zip((*node.inputs, *node.outputs), (*thunk.inputs, *thunk.outputs), strict=True))
            callback(node, thunk, storage, {v: [cell[0] is not None] for v, cell in storage.items()})
            return [cell[0] for cell in thunk.outputs]

        return compute_and_call

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        return NodeMachine.of(scheduled, self.node_function(scheduled), self.lazy, self.allow_gc)


@final
class _OwnThunk:
    """The thunk of an Op that makes its own. Calls at the same time get thunks of their own, with cells of their own."""

    def __init__(self, node: Apply[Any]) -> None:
        self._node = node
        self._idle = [_Prepared(node)]

    def __call__(self, inputs: Sequence[Any]) -> Sequence[Any]:
        try:
            prepared = self._idle.pop()
        except IndexError:  # all are running
            prepared = _Prepared(self._node)
        try:
            return prepared.run(inputs)
        except Exception as error:
            annotate_error(error, self._node, inputs)
            raise
        finally:
            prepared.clear()
            self._idle.append(prepared)


@final
class _Prepared:
    """A thunk, and the cells that it reads and fills."""

    def __init__(self, node: Apply[Any]) -> None:
        self._node = node
        self._cells: dict[Variable[Any], list[Any]] = {v: [None] for v in (*node.inputs, *node.outputs)}
        self._computed = {v: [v.owner is not node] for v in self._cells}
        self._thunk = node.op.make_thunk(node, self._cells, self._computed)

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        for variable, value in zip(self._node.inputs, inputs, strict=True):
            self._cells[variable][0] = value
        self._thunk()
        return [self._checked(variable) for variable in self._node.outputs]

    def _checked(self, variable: Variable[Any]) -> Any:
        try:
            return variable.type.filter(self._cells[variable][0], strict=True)
        except (TypeError, ValueError) as error:
            raise OutputTypeError(
                f"output {variable.index} of {self._node.op} is declared as {variable.type}, but its thunk stored {error}"
            ) from error

    def clear(self) -> None:
        for cell in self._cells.values():
            cell[0] = None
        for variable in self._node.outputs:
            self._computed[variable][0] = False
