"""`lower_to_c`: from a scheduled graph to a compiled module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.codegen.c.cache import default_cache
from lamella.codegen.c.entry import Entry, Library
from lamella.codegen.c.graph_records import GraphRecord
from lamella.codegen.c.interfaces.user_code import Build
from lamella.codegen.c.loading import UserUnit, library_keys, load_library, load_user_library
from lamella.codegen.c.program import CProgram, write_program
from lamella.config import config
from lamella.ir import annotate_error, perform_node
from lamella.typing_layer import ScheduledGraph

__all__ = ["CompiledModule", "lower_to_c", "unit_of"]


_MOST_BYTES_OF_CONSTANTS: Final = 1 << 24


@final
@attrs.frozen(eq=False, repr=False)
class CompiledModule:
    """A graph as a loaded C library; made by `lower_to_c`.

    Attributes
    ----------
    scheduled
        The graph.
    source
        The C text.
    library
        The library that was compiled from it; equal texts share one.
    constants
        The values of the constants that are not part of the text.
    program
        What the library was made of.
    """

    scheduled: ScheduledGraph
    source: str
    library: Library
    constants: tuple[Any, ...]
    program: CProgram

    def executable(self) -> Entry:
        """Return the function: called with the values of the graph's inputs, it returns a list of those of its outputs.

        Arrays are checked as far as memory safety needs: an input of another dtype, number of dimensions or known length is a
        `TypeError`. An error of a node carries notes that describe the node. Threads may call the function at once. As with every
        linker, outputs may share memory with inputs where the schedule says so.

        Kernels use as many threads as the flag `threads` says.
        """
        order = self.scheduled.order

        def perform(step: int, inputs: list[Any]) -> Sequence[Any]:
            return perform_node(order[step], inputs)

        def annotate(step: int, error: BaseException) -> None:
            if 0 <= step < len(order):
                annotate_error(error, order[step])

        if self.program.build is None:
            entry = self.library.link(self.constants, perform, annotate)
        elif not self.program.build.is_stateful:
            entry = self.library.link(self.constants, perform, annotate, self.program.params)
        else:
            entry = _user_unit(self.program).link_alone(self.constants, perform, annotate, self.program.params)
        if config.threads > 0:
            entry.threads = config.threads
        return entry

    def keep(self, key: str) -> bool:
        """Let `recall` find the graph under a key, in this and in other processes; return whether that is possible.

        It is where nothing but C runs, none of it a user's, and constants take no more than 16 MiB.

        Parameters
        ----------
        key
            A hash of all that the graph was made of, and of the machine.
        """
        size = sum([getattr(value, "nbytes", 0) for value in self.constants])
        if self.program.build is not None or self.program.needs_python or size > _MOST_BYTES_OF_CONSTANTS:
            return False
        unit, host = library_keys(self.source)
        record = GraphRecord(unit, host, self.constants, len(self.scheduled.order))
        facts = {"key": key, "description": f"graph of {len(self.scheduled.order)} nodes, computed by {unit[:12]}"}
        default_cache().keep(f"{key}.graph", record.to_bytes(), facts)
        return True

    @override
    def __repr__(self) -> str:
        return f"CompiledModule({len(self.scheduled.order)} nodes, {len(self.source.splitlines())} lines of C)"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (lower_to_c, (self.scheduled,))


def lower_to_c(scheduled: ScheduledGraph) -> CompiledModule:
    """Return a graph as compiled C, from the cache where it has been compiled before.

    Parameters
    ----------
    scheduled
        The graph, with the order of its nodes and the storage facts.

    Raises
    ------
    CompilerNotFoundError
        There is no compiler.
    CompileError
        The compiler failed.
    """
    program = write_program(scheduled)
    title = f"{len(scheduled.order)} nodes: {', '.join([str(v.type) for v in scheduled.fgraph.inputs])[:80]}"
    if program.build is None:
        library = load_library(program.text, title)
    else:
        library = load_user_library(_user_unit(program, title))
    return CompiledModule(scheduled, program.text, library, program.constants, program)


def unit_of(scheduled: ScheduledGraph) -> str:
    """Return the key under which the cache keeps the shared object of a graph without C code of users'."""
    return library_keys(write_program(scheduled).text)[0]


def _user_unit(program: CProgram, title: str = "users' code") -> UserUnit:
    return UserUnit(program.text, program.cxx, program.build or Build(), title)
