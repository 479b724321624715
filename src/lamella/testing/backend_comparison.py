"""`compare_backends`: what every way of running a graph computes, compared with the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.errors import MissingInputError
from lamella.ir import FunctionGraph, SharedVariable, Variable, graph_inputs, interpret
from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import CLinker, Function, In, Linker, Mode, PerformLinker, function, get_mode
from lamella.testing.rounding import rounding_errors
from lamella.testing.value_difference import value_difference

__all__ = ["DEFAULT_BACKENDS", "Backend", "BackendMismatch", "ComparedBackends", "compare_backends"]

Array = npt.NDArray[Any]

Backend = Mode | Linker | str
"""A mode, the name of a mode, or a linker (or the name of one: ``PerformLinker``, ``CLinker``), which runs the graph as it is."""

DEFAULT_BACKENDS: Final[tuple[Backend, ...]] = ("PerformLinker", "CLinker", "FAST_COMPILE", "FAST_RUN")
"""Python and C, each with the graph as it is and with the graph rewritten."""

_LINKERS: Final[Mapping[str, Linker]] = {"PerformLinker": PerformLinker(), "CLinker": CLinker()}
_NO_REWRITES: Final = RewriteDatabaseQuery(include=())


@final
@attrs.frozen(eq=False)
class BackendMismatch(AssertionError):
    """A backend computes something else than the reference interpreter.

    Attributes
    ----------
    backend
        Its name.
    output
        Which output of the graph; None where it is about no single one.
    variable
        That output, as it is written in the graph.
    problem
        What is different.
    """

    backend: str
    output: int | None
    variable: str
    problem: str

    @override
    def __str__(self) -> str:
        where = "" if self.output is None else f", output {self.output} ({self.variable})"
        return f"{self.backend}{where}: {self.problem}"


@final
@attrs.frozen(eq=False)
class ComparedBackends:
    """A graph, compiled by several backends.

    Attributes
    ----------
    graph
        The graph; its inputs are in the order in which values are given.
    functions
        What each backend made of it, by the name of the backend.
    """

    graph: FunctionGraph
    functions: Mapping[str, Function]

    @classmethod
    def compile(
        cls,
        graph: FunctionGraph | Variable[Any] | Sequence[Variable[Any]],
        backends: Sequence[Backend] = DEFAULT_BACKENDS,
        inputs: Sequence[Variable[Any]] | None = None,
    ) -> ComparedBackends:
        """Compile a graph by several backends; see `compare_backends`.

        Raises
        ------
        ConfigError
            A backend has an unknown name.
        """
        fgraph = graph if isinstance(graph, FunctionGraph) else _graph_of(graph, inputs)
        # A graph that overwrites its inputs may only be compiled where that is allowed: each call gets arrays of its own.
        overwrites = any(node.op.destroy_map for node in fgraph.order)
        specs = [In(v, mutable=overwrites) for v in fgraph.inputs if not isinstance(v, SharedVariable)]
        return cls(
            fgraph,
            {
                _name_of(backend): function(
                    specs, list(fgraph.outputs), mode=_mode_of(backend), on_unused_input="ignore"
                )
                for backend in backends
            },
        )

    def mismatches(
        self,
        values: Sequence[Any],
        max_ulps: float = 4.0,
        allowed: Sequence[npt.ArrayLike | None] | None = None,
        expected: Sequence[Any] | None = None,
    ) -> list[BackendMismatch]:
        """Return all differences from the reference interpreter.

        Parameters
        ----------
        values
            A value for each input of the graph that has none.
        max_ulps
            By how many units in the last place floating-point numbers may differ.
        allowed
            For each output by how much its elements may differ otherwise.
        expected
            What the interpreter computes, where it is known.
        """
        wanted = self._reference(values) if expected is None else list(expected)
        found: list[BackendMismatch] = []
        for name, run in self.functions.items():
            found.extend(self._differences(name, run, values, wanted, max_ulps, allowed))
        return found

    def _reference(self, values: Sequence[Any]) -> list[Any] | Exception:
        try:
            return interpret(self._given, self.graph.outputs, _copies(values))
        except Exception as error:  # noqa: BLE001  # the error is the result: all backends must raise it
            return error

    @property
    def _given(self) -> list[Variable[Any]]:
        return [v for v in self.graph.inputs if not isinstance(v, SharedVariable)]

    def _differences(
        self,
        backend: str,
        run: Function,
        values: Sequence[Any],
        wanted: list[Any] | Exception,
        max_ulps: float,
        allowed: Sequence[npt.ArrayLike | None] | None,
    ) -> list[BackendMismatch]:
        overwrites = any(spec.mutable for spec in run.inputs)
        given = _copies(values) if overwrites else list(values)
        before = _copies(given)
        try:
            results = run(*given)
        except Exception as error:  # noqa: BLE001  # as above
            if isinstance(wanted, Exception) and isinstance(error, type(wanted)):
                return []
            instead = (
                f"the interpreter raises {wanted!r}" if isinstance(wanted, Exception) else "the interpreter does not"
            )
            return [BackendMismatch(backend, None, "", f"raises {error!r}, {instead}")]
        if isinstance(wanted, Exception):
            return [BackendMismatch(backend, None, "", f"raises nothing, but the interpreter raises {wanted!r}")]
        found: list[BackendMismatch] = []
        if not overwrites:
            for i, (old, new) in enumerate(zip(before, given, strict=True)):
                if isinstance(old, np.ndarray) and not _same_bits(old, new):
                    found.append(BackendMismatch(backend, None, "", f"changes the array given as input {i}"))
        for i, (variable, result, expected) in enumerate(zip(self.graph.outputs, results, wanted, strict=True)):
            problem = _difference(variable, result, expected, max_ulps, None if allowed is None else allowed[i])
            if problem is None and not overwrites and _shares_memory(result, given):
                problem = "the result shares memory with an input"
            if problem is not None:
                found.append(BackendMismatch(backend, i, str(variable), problem))
        return found


def compare_backends(
    graph: FunctionGraph | Variable[Any] | Sequence[Variable[Any]],
    inputs: Mapping[Any, Any] | Sequence[Any] = (),
    backends: Sequence[Backend] = DEFAULT_BACKENDS,
    max_ulps: float = 4.0,
    conditioned: bool = True,
) -> None:
    """Check that all backends compute what the reference interpreter does.

    Compared are values, dtypes, shapes, NaN and infinities, the sign of zeros, and errors: where the interpreter raises one, a backend must
    raise one of the same class. No backend may change an input, or return memory of one, unless the graph overwrites its inputs.

    Parameters
    ----------
    graph
        A graph, or its outputs.
    inputs
        Values of the inputs: by Variable or name, or in the order of the graph's inputs.
    backends
        Modes, linkers, or their names.
    max_ulps
        By how many units in the last place floating-point numbers may differ.
    conditioned
        Allow in addition what differences of `max_ulps` units in the intermediate results make of the outputs (see
        `rounding_errors`); False where the graph is a single Op that all backends compute in the same way.

    Raises
    ------
    BackendMismatch
        A backend differs; further differences are added as notes.
    MissingInputError
        An input has no value.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> x = lt.vector("x")
    >>> compare_backends(lt.exp(x) / lt.sum(lt.exp(x)), {x: np.array([0.5, 1.0])})
    """
    fgraph = graph if isinstance(graph, FunctionGraph) else _graph_of(graph, None)
    compared = ComparedBackends.compile(fgraph, backends)
    values = _values_for(fgraph, inputs)
    allowed = None
    if conditioned and not isinstance(compared._reference(values), Exception):
        every = dict(zip(compared._given, values, strict=True))
        moved = [every[v] if v in every else v.stored_value() for v in fgraph.inputs]
        allowed = rounding_errors(fgraph, moved, max_ulps)
    found = compared.mismatches(values, max_ulps, allowed)
    if found:
        for other in found[1:]:
            found[0].add_note(str(other))
        raise found[0]


def _difference(
    variable: Variable[Any], found: Any, expected: Any, max_ulps: float, slack: npt.ArrayLike | None
) -> str | None:
    if isinstance(expected, np.ndarray):
        return value_difference(found, expected, max_ulps, 0.0 if slack is None else _allowance(expected, slack))
    same = variable.type.values_eq_approx(found, expected)
    return None if same else f"the value is {found!r}, {expected!r} is expected"


def _allowance(expected: Array, slack: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return how far elements may be off, where some samples of how rounding changes them have been seen to differ by so much."""
    seen = np.asarray(slack, np.float64)
    with np.errstate(all="ignore"):
        # Where no digit is left (of the sine of 1e200 after a rounding, say), a result is anywhere in a range of which the samples may have
        # met one end only.
        no_digit_left = seen > np.abs(expected) / 16
        return np.asarray(np.where(no_digit_left, 32.0, 2.0) * seen)


def _graph_of(
    outputs: Variable[Any] | Sequence[Variable[Any]], inputs: Sequence[Variable[Any]] | None
) -> FunctionGraph:
    wanted = [outputs] if isinstance(outputs, Variable) else list(outputs)
    given = [] if inputs is None else list(inputs)
    roots = [v for v in graph_inputs(wanted, given) if v not in given and not v.is_constant]
    return FunctionGraph([*given, *roots], wanted)


def _values_for(graph: FunctionGraph, inputs: Mapping[Any, Any] | Sequence[Any]) -> list[Any]:
    given = [v for v in graph.inputs if not isinstance(v, SharedVariable)]
    if not isinstance(inputs, Mapping):
        if len(inputs) != len(given):
            raise ValueError(f"the graph has {len(given)} inputs {given}, and {len(inputs)} values were given")
        return [v.type.filter(value) for v, value in zip(given, inputs, strict=True)]
    by_name: dict[Any, Any] = dict(inputs)
    values: list[Any] = []
    for variable in given:
        key: Any = variable if variable in by_name else variable.name
        if key not in by_name:
            raise MissingInputError(f"the input {variable!r} of type {variable.type} was given no value")
        values.append(variable.type.filter(by_name.pop(key)))
    if by_name:
        raise ValueError(f"{', '.join(map(repr, by_name))}: not among the inputs {given} of the graph")
    return values


def _mode_of(backend: Backend) -> Mode:
    if isinstance(backend, Linker):
        return Mode(backend, _NO_REWRITES)
    if isinstance(backend, str) and backend in _LINKERS:
        return Mode(_LINKERS[backend], _NO_REWRITES)
    return get_mode(backend)


def _name_of(backend: Backend) -> str:
    return (
        backend if isinstance(backend, str) else type(backend).__name__ if isinstance(backend, Linker) else str(backend)
    )


def _copies(values: Sequence[Any]) -> list[Any]:
    return [np.array(v) if isinstance(v, np.ndarray) else v for v in values]


def _same_bits(a: Array, b: Array) -> bool:
    return a.tobytes() == b.tobytes()


def _shares_memory(result: Any, given: Sequence[Any]) -> bool:
    if not isinstance(result, np.ndarray):
        return False
    return any(isinstance(x, np.ndarray) and np.may_share_memory(result, x) for x in given)
