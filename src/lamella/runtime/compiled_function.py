"""`Function`: a compiled graph, to be called."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, final, runtime_checkable

import attrs
from typing_extensions import override

from lamella.codegen import ArgumentRule, Entry
from lamella.ir import FunctionGraph, SharedVariable, StorageCell
from lamella.runtime.inputs import REQUIRED, In
from lamella.runtime.signature import Signature

if TYPE_CHECKING:  # a function from the cache is called without these
    from lamella.rewriting import GraphRewriter, RewriteLog, RewriterProfile
    from lamella.runtime.compile_profile import CompileProfile
    from lamella.runtime.linking import Executable
    from lamella.runtime.mode import Mode
    from lamella.runtime.profile import FunctionProfile
    from lamella.typing_layer import ScheduledGraph

__all__ = ["CompiledGraph", "Function", "made_function"]


@runtime_checkable
class Profiled(Protocol):
    """A linked graph that keeps statistics of its calls."""

    @property
    def profile(self) -> FunctionProfile:
        """The statistics."""


@final
@attrs.frozen
class CompiledGraph:
    """The graph of a function, as it was written and as it is run.

    Attributes
    ----------
    original
        As it was written.
    scheduled
        As it was rewritten, with its order and storage facts.
    mode
        The mode it was compiled in.
    profiled
        Whether its calls are profiled.
    rewriter
        What rewrote it; None where it was unpickled.
    """

    original: FunctionGraph
    scheduled: ScheduledGraph
    mode: Mode
    profiled: bool
    rewriter: GraphRewriter | None = None


@final
class Function:
    """A compiled graph. Call it with values of its inputs, in order or by name.

    Where the graph is one C function, so is a call whose arguments are what that reads: arrays of the dtype, the dimensions and the known
    lengths of the input, and numbers where there are no dimensions. Other calls, and errors, are this class's own.

    Threads may call one function at once. A function that updates shared variables holds their locks while it runs, so that
    each update sees the one before it.

    Attributes
    ----------
    trust_input
        Pass values on as they are: the caller promises arrays of the right dtype and shape. A wrong one is an error still, not a crash,
        where the compiled code checks it, but conversions are no longer made.
    """

    __slots__ = (
        "_cells",
        "_compile_profile",
        "_defaults",
        "_find_graph",
        "_keywords",
        "_mutable",
        "_rewrite_log",
        "_run",
        "_signature",
        "trust_input",
    )

    def __init__(
        self,
        signature: Signature,
        graph: Callable[[], CompiledGraph],
        run: Executable,
        compile_profile: CompileProfile | None = None,
        trust_input: bool = False,
    ) -> None:
        self._signature = signature
        self._find_graph = graph
        self._run = run
        self._compile_profile = compile_profile
        self._rewrite_log: RewriteLog | None = None
        self._cells: tuple[StorageCell, ...] = tuple([variable.cell for variable in signature.shared])
        self._keywords = {spec.keyword: i for i, spec in enumerate(signature.inputs) if spec.keyword is not None}
        self._mutable = tuple([i for i, spec in enumerate(signature.inputs) if spec.mutable])
        self._defaults = tuple([self._default(i, spec) for i, spec in enumerate(signature.inputs)])
        self.trust_input = trust_input

    @property
    def name(self) -> str | None:
        """The name for people."""
        return self._signature.name

    @property
    def graph(self) -> CompiledGraph:
        """The graph as it was written and as it is run, and the mode.

        Where the function was taken from the cache, the graph is rewritten when this, or what is a part of it, is first asked for.

        Raises
        ------
        RecallError
            The function was taken from the cache, and the rewrites that are registered now do not make the graph that it computes.
        """
        return self._find_graph()

    @property
    def profile(self) -> FunctionProfile | None:
        """The time and memory of its calls so far; None where it was compiled without ``profile``. Copies share it."""
        return self._run.profile if isinstance(self._run, Profiled) else None

    @property
    def fgraph(self) -> FunctionGraph:
        """The rewritten graph, with shared variables among its inputs and updates among its outputs."""
        return self.graph.scheduled.fgraph

    @property
    def original_fgraph(self) -> FunctionGraph:
        """The graph before rewriting."""
        return self.graph.original

    @property
    def scheduled(self) -> ScheduledGraph:
        """The rewritten graph with its order and storage facts."""
        return self.graph.scheduled

    @property
    def inputs(self) -> tuple[In, ...]:
        """The inputs that calls give."""
        return self._signature.inputs

    @property
    def mode(self) -> Mode:
        """The mode it was compiled in."""
        return self.graph.mode

    @property
    def rewrite_log(self) -> RewriteLog:
        """How the rewritten graph came from the original one: which rewriters made each node, from what; see `explain`.

        It costs nothing until it is asked for: then the graph is rewritten once more, by the same rewriter, and the nodes being
        interned, to the same nodes. A function that was unpickled asks for what is registered where it is now.
        """
        if self._rewrite_log is None:
            self._rewrite_log = self._logged()
        return self._rewrite_log

    def export_c(
        self, folder: str | os.PathLike[str], name: str | None = None, example: Sequence[Any] | None = None
    ) -> tuple[Path, ...]:
        """Write the function as a C library, which needs no Python at run time: header, source, an example program, and a script that compiles them.

        The header tells how the library is used: ``<name>_call`` takes arrays as structures and returns 0 or an error code; shared variables
        are a state that C makes and frees, with their present values to begin with. Outputs have the bits that the function gives here, where
        the library is compiled by the script on the same machine, but for products of float matrices, which depend on the BLAS.

        Parameters
        ----------
        folder
            Where the files are put; it is made where there is none.
        name
            What the names of files and C symbols begin with: the name of the function by default, or else that of the folder.
        example
            Values of the inputs for the example program; by default small numbers, three of them along axes of unknown lengths.

        Returns
        -------
        tuple of Path
            The files: ``<name>.h``, ``<name>.c``, ``<name>_example.c``, ``<name>_build.sh``.

        Raises
        ------
        ExportError
            Some nodes need Python (the message names them), or an input, output or shared variable is no tensor.
        FileExistsError
            A file of such a name exists that was not written by this method, or was changed since.
        ValueError, TypeError
            The example does not fit the inputs.
        """
        from lamella.runtime.export import Exportable  # here, as few programs need it

        signature, graph = self._signature, self.graph
        made = Exportable(
            self.name,
            signature.inputs,
            signature.shared,
            signature.updated,
            signature.form.keys,
            graph.original,
            graph.scheduled,
        )
        return made.write(folder, name, example)

    def _logged(self) -> RewriteLog:
        from lamella.runtime.derivation import rewrite_log  # here, as a function from the cache is called without it

        return rewrite_log(self._signature, self.graph)

    @property
    def compile_profile(self) -> CompileProfile | None:
        """What compiling it cost; None where it was not compiled but unpickled."""
        return self._compile_profile

    @property
    def rewrite_profile(self) -> RewriterProfile | None:
        """What each rewriter did, and the time it took; None unless it was compiled under ``config.profile_rewrites``."""
        return None if self.compile_profile is None else self.compile_profile.rewriting

    @property
    def defaults(self) -> tuple[Any, ...]:
        """For each input its default value, or `REQUIRED`."""
        return self._defaults

    @property
    def shared_variables(self) -> tuple[SharedVariable[Any], ...]:
        """The shared variables that it reads."""
        return self._signature.shared

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs.

        Parameters
        ----------
        *args, **kwargs
            Values of the inputs, in order or by name.

        Raises
        ------
        TypeError
            An input is missing, given twice, unknown, or has a value that does not fit its Type.
        Exception
            Whatever a node raises, with notes that describe the node.
        """
        signature = self._signature
        values = self._arguments(args, kwargs) if kwargs or len(args) != len(signature.inputs) else list(args)
        if not self.trust_input:
            values = [self._filtered(i, value) for i, value in enumerate(values)]
        if self._mutable:
            self._separate(values)
        if not signature.updated:
            values.extend([cell.value for cell in self._cells])
            return signature.form.pack(self._run(values))
        with ExitStack() as held:
            for cell in in_order([variable.cell for variable in signature.updated]):
                held.enter_context(cell.lock)
            values.extend([cell.value for cell in self._cells])
            results = self._run(values)
            n_outputs = len(results) - len(signature.updated)
            for variable, value in zip(signature.updated, results[n_outputs:], strict=True):
                variable.cell.value = value
        return signature.form.pack(results[:n_outputs])

    def _default(self, place: int, spec: In) -> Any:
        if spec.value is REQUIRED:
            return REQUIRED
        value = self._filtered(place, spec.value)
        return value if spec.borrow else spec.variable.type.copy_value(value)

    def _separate(self, values: list[Any]) -> None:
        """Copy arguments that may be overwritten and share memory with another argument or a shared variable."""
        specs = self._signature.inputs
        for i in self._mutable:
            kind = specs[i].variable.type
            others = [*values[:i], *values[i + 1 :], *[cell.value for cell in self._cells]]
            if any(kind.may_share_memory(values[i], other) for other in others):
                values[i] = kind.copy_value(values[i])

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        specs = self._signature.inputs
        if len(args) > len(specs):
            raise TypeError(f"{self._title} takes {len(specs)} inputs, but {len(args)} were given")
        values = [*args, *self._defaults[len(args) :]]
        for keyword, value in kwargs.items():
            place = self._keywords.get(keyword)
            if place is None:
                raise TypeError(f"{self._title} has no input named {keyword!r}; there are {', '.join(self._keywords)}")
            if place < len(args):
                raise TypeError(f"{self._title} was given its input {keyword!r} twice")
            values[place] = value
        for place, value in enumerate(values):
            if value is REQUIRED:
                raise TypeError(f"{self._title} was not given its input {place} ({specs[place].keyword or 'unnamed'})")
        for place in self._mutable:
            if values[place] is self._defaults[place]:  # the next call is given it again
                values[place] = specs[place].variable.type.copy_value(values[place])
        return values

    def _filtered(self, place: int, value: Any) -> Any:
        spec = self._signature.inputs[place]
        try:
            return spec.variable.type.filter(value, spec.strict, spec.allow_downcast)
        except (TypeError, ValueError, OverflowError) as error:
            named = f"input {place} ({spec.keyword or 'unnamed'}, {spec.variable.type})"
            error.add_note(
                f"this was given to {self._title} as {'the default of ' if value is spec.value else ''}{named}"
            )
            raise

    @property
    def _title(self) -> str:
        return f"the function {self.name!r}" if self.name else "the function"

    @override
    def __repr__(self) -> str:
        shown = ", ".join([spec.keyword or str(spec.variable.type) for spec in self._signature.inputs])
        return f"<Function {self.name or ''}({shown})>"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        graph = self.graph
        parts = (self._signature, graph.original, graph.scheduled.fgraph, graph.mode, graph.profiled, self.trust_input)
        return (_restored, parts)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        signature = self._signature
        copies = {v: copy.deepcopy(v, memo) for v in (*signature.shared, *signature.updated)}
        changed = attrs.evolve(
            signature,
            shared=tuple([copies[v] for v in signature.shared]),
            updated=tuple([copies[v] for v in signature.updated]),
        )
        return made_function(changed, self._find_graph, self._run, self._compile_profile, self.trust_input)

    def copy(self) -> Function:
        """Return another function of the same code and the same shared variables."""
        return made_function(self._signature, self._find_graph, self._run, self._compile_profile, self.trust_input)


def made_function(
    signature: Signature,
    graph: Callable[[], CompiledGraph],
    run: Executable,
    compile_profile: CompileProfile | None = None,
    trust_input: bool = False,
) -> Function:
    """Return the function of a linked graph. Where the graph is one C function, so are most of the calls; see `Entry.plan_calls`."""
    if not isinstance(run, Entry):
        return Function(signature, graph, run, compile_profile, trust_input)
    made = run.function_type(Function)(signature, graph, run, compile_profile, trust_input)
    updated = [variable.cell for variable in signature.updated]
    run.plan_calls(
        made,
        Function.__call__,
        bytes([_rule(spec) for spec in signature.inputs]),
        tuple([spec.keyword for spec in signature.inputs]),
        made.defaults,
        REQUIRED,
        tuple([variable.cell for variable in signature.shared]),
        tuple(updated),
        tuple([cell.lock for cell in in_order(updated)]),
        signature.form.kind,
        signature.form.keys,
    )
    return made


def _rule(spec: In) -> int:
    rounds = spec.allow_downcast is None or bool(spec.allow_downcast)
    return (
        ArgumentRule.TAKES_NUMBERS * (not spec.strict)
        | ArgumentRule.ROUNDS * rounds
        | ArgumentRule.MUTABLE * bool(spec.mutable)
    )


def in_order(cells: Iterable[StorageCell]) -> list[StorageCell]:
    """Return the cells whose locks are held, each once, in the order in which every function acquires them."""
    return sorted(set(cells), key=id)


def _restored(
    signature: Signature, original: FunctionGraph, fgraph: FunctionGraph, mode: Mode, profiled: bool, trust_input: bool
) -> Function:
    from lamella.runtime.derivation import linked  # here, as a function from the cache is called without it

    graph, run = linked(signature, original, fgraph, mode, profiled)
    return made_function(signature, lambda: graph, run, trust_input=trust_input)
