"""`CLinker`: a whole graph as one C function; `OpWiseCLinker`: each node as one."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.codegen import Entry, lower_to_c, only_choices_are_lazy, write_program
from lamella.errors import CompilerNotFoundError
from lamella.ir import Apply, FunctionGraph, perform_node
from lamella.runtime.c_pieces import CompiledPiece, in_pieces
from lamella.runtime.linking import Executable, Linker, PerformLinker, PerNodeLinker
from lamella.runtime.node_machine import NodeFunction, NodeMachine, NodeRecorder
from lamella.typing_layer import ScheduledGraph, schedule

__all__ = ["CLinker", "OpWiseCLinker"]


class _Once:
    """Lets something happen once in the life of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = False

    def first(self) -> bool:
        with self._lock:
            first, self._done = not self._done, True
            return first


_no_compiler_warning = _Once()


def _warn_of_missing_compiler(error: CompilerNotFoundError) -> None:
    if _no_compiler_warning.first():
        warnings.warn(f"{error} Until then, functions run in Python, on NumPy.", RuntimeWarning, stacklevel=3)


@final
@attrs.frozen
class CLinker(Linker):
    """Compiles a whole graph to one C function; without a C compiler, warns once and runs the graph in Python.

    Steps that only the other branch of an `ifelse` needs are not run. A graph with other lazy Ops becomes several C functions: one for all that is
    needed in any case, up to the next lazy node, and one for what each branch alone needs; they run on demand.

    Attributes
    ----------
    recall_key
        What one C function is kept under in the cache, so that it is found without rewriting; None where it is not to be found.
    """

    recall_key: str | None = attrs.field(default=None, repr=False)

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        try:
            if not only_choices_are_lazy(scheduled):
                pieces = schedule(in_pieces(scheduled))
                return NodeMachine.of(pieces, _c_functions(pieces.order))
            module = lower_to_c(scheduled)
            if self.recall_key is not None:
                module.keep(self.recall_key)
            return module.executable()
        except CompilerNotFoundError as error:
            _warn_of_missing_compiler(error)
            return PerformLinker().link(scheduled)

    @override
    def for_profile(self) -> Linker:
        return _TimedCLinker()


@final
@attrs.frozen
class _TimedCLinker(Linker):
    """Compiles as `CLinker` does, to functions that tell what each node cost. Those with lazy Ops but `ifelse` run node by node."""

    @override
    def link(self, scheduled: ScheduledGraph) -> Executable:
        if not only_choices_are_lazy(scheduled):
            return OpWiseCLinker().link(scheduled)
        try:
            return _TimedFunction(scheduled, lower_to_c(scheduled).executable())
        except CompilerNotFoundError as error:
            _warn_of_missing_compiler(error)
            return PerformLinker().link(scheduled)


@final
@attrs.frozen(eq=False)
class _TimedFunction:
    scheduled: ScheduledGraph
    entry: Entry

    def __call__(self, values: Sequence[Any], /) -> list[Any]:
        return self.entry(values)

    def run_recorded(self, values: Sequence[Any], recorder: NodeRecorder) -> list[Any]:
        results, costs = self.entry.timed(values)
        for step, cost in enumerate(costs):
            if cost is not None:
                recorder.ran(step, *cost)
        return results


@final
@attrs.frozen
class OpWiseCLinker(PerNodeLinker):
    """Compiles each node to a C function of its own; nodes that are computed alike share it.

    Slower to compile and to run than `CLinker`, but one may look in between. Without a C compiler it warns once and runs in Python.
    """

    @override
    def node_function(self, scheduled: ScheduledGraph) -> NodeFunction:
        try:
            return _c_functions(scheduled.order)
        except CompilerNotFoundError as error:
            _warn_of_missing_compiler(error)
            return PerformLinker().node_function(scheduled)


def _c_functions(order: Sequence[Apply[Any]]) -> NodeFunction:
    """Return what computes each node: C functions, Python for lazy nodes, which have nothing to compute but a choice."""
    graphs: dict[int, FunctionGraph] = {}
    read_by: dict[int, tuple[int, ...]] = {}
    for step, node in enumerate(order):
        if node.op.is_lazy:
            continue
        if isinstance(node.op, CompiledPiece):
            graphs[step], read_by[step] = node.op.fgraph, tuple(range(node.nin))
        else:
            read = {v: node.inputs.index(v) for v in node.inputs if not v.is_constant}
            graphs[step], read_by[step] = FunctionGraph(read, node.outputs), tuple(read.values())
    functions = dict(zip(graphs, _compiled_side_by_side(list(graphs.values())), strict=True))

    def compute(step: int, inputs: Sequence[Any]) -> Sequence[Any]:
        function = functions.get(step)
        if function is None:
            return perform_node(order[step], inputs)
        return function([inputs[place] for place in read_by[step]])

    return compute


def _compiled_side_by_side(graphs: Sequence[FunctionGraph]) -> list[Executable]:
    """Compile graphs, several at a time: the compiler is a process of its own."""
    scheduled = [schedule(graph) for graph in graphs]
    alike = {write_program(one).text: one for one in scheduled}
    if len(alike) > 1:
        with ThreadPoolExecutor(min(len(alike), os.cpu_count() or 1)) as pool:
            # Each thread needs the configuration of this one.
            made = [pool.submit(copy_context().run, lower_to_c, one) for one in alike.values()]
        kept = [future.result() for future in made]  # while these are alive, what they loaded is found again
        return [lower_to_c(one).executable() for one in scheduled] if kept else []
    return [lower_to_c(one).executable() for one in scheduled]
