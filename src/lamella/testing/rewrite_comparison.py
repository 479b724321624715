"""A graph before and after a rewrite, compared: values, dtypes, shapes, errors and gradients."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

from lamella.errors import NullTypeGradError
from lamella.ir import (
    FLOAT_DTYPES,
    FunctionGraph,
    GradientControl,
    Max,
    Min,
    TensorVariable,
    Variable,
    grad,
    interpret,
    lt,
    to_text,
)
from lamella.testing.rewrite_graphs import Argument, Range
from lamella.testing.rounding import rounding_errors
from lamella.testing.value_difference import value_difference
from lamella.typing_layer import schedule, symbolic_shape

__all__ = ["Comparison", "Difference", "Faithfulness", "run_graph", "show_case"]

Array = npt.NDArray[Any]

_FEW_RUNS: Final = 4
_MANY_RUNS: Final = 40
_GRADIENT_TOLERANCE: Final = {"float16": 0.1, "float32": 2e-3, "float64": 1e-7}


@final
@attrs.frozen
class Faithfulness:
    """In what a rewrite may change results.

    Attributes
    ----------
    rounding
        It may round otherwise (tag ``reassociates``).
    stable
        Its results may be nearer to the exact ones (group ``stabilize``).
    finite
        It may assume that there are no NaN and infinities (tag ``nan_unsafe``).
    errors
        It may drop the error of a wrong shape (tag ``shape_unsafe``).
    """

    rounding: bool = False
    stable: bool = False
    finite: bool = False
    errors: bool = False

    @property
    def among(self) -> Range:
        """The values for which the results are to be the same."""
        if self.finite:
            return Range.NONZERO
        if self.stable:
            return Range.WIDE
        return Range.UNBOUNDED if self.rounding else Range.SPECIAL


@final
@attrs.frozen(eq=False)
class Difference(Exception):
    """What is different after a rewrite, and for which values of the inputs."""

    problem: str
    values: Sequence[Array] = ()


def run_graph(fgraph: FunctionGraph, values: Sequence[Array]) -> list[Any]:
    """Run a graph by the interpreter, in an order in which nothing is read after it was overwritten."""
    order = schedule(fgraph).order if _overwrites(fgraph) else fgraph.order
    with np.errstate(all="ignore"):
        return interpret(fgraph.inputs, fgraph.outputs, [np.array(value) for value in values], order)


def _overwrites(fgraph: FunctionGraph) -> bool:
    return any(node.op.destroy_map for node in fgraph.order)


def show_case(before: FunctionGraph, after: FunctionGraph | None, values: Sequence[Array] = ()) -> str:
    """Return both graphs as text, and the values of their inputs."""
    parts = [f"before:\n{to_text(before)}"]
    if after is not None:
        parts.append(f"after:\n{to_text(after)}")
    shown = [
        f"{v} = {np.array2string(x, threshold=40, separator=', ', floatmode='unique')}  # {x.dtype}{list(x.shape)}"
        for v, x in zip(before.inputs, values, strict=False)
    ]
    return "\n".join([*parts, *shown])


class _Outcome(enum.Enum):
    COMPARED = enum.auto()
    RAISED = enum.auto()


@final
@attrs.frozen(eq=False)
class Comparison:
    """Two graphs of the same inputs, of which the second is to mean the same.

    Attributes
    ----------
    before, after
        The graphs.
    arguments
        What may stand for the inputs.
    allowed
        In what the results may differ.
    exact
        The first graph in a wider dtype, where there is one.
    """

    before: FunctionGraph
    after: FunctionGraph
    arguments: Sequence[Argument]
    allowed: Faithfulness
    exact: FunctionGraph | None = None

    def check_types(self) -> None:
        """See that dtypes are kept and that static shapes are only narrowed.

        Raises
        ------
        Difference
            They are not.
        """
        for i, (was, now) in enumerate(zip(self.before.outputs, self.after.outputs, strict=True)):
            if was.type.is_super(now.type) is None:
                raise Difference(f"output {i} is of type {now.type}, which {was.type} does not include")

    def check_values(self, seed: int, rounds: int = 3) -> int:
        """Compare values, errors and shapes, and return how many runs could be compared.

        Raises
        ------
        Difference
            Something differs.
        """
        rng = np.random.default_rng([seed, 1])
        outcomes = [self._check_run(values) for values in self._values(rng, rounds)]
        return outcomes.count(_Outcome.COMPARED)

    def _values(self, rng: np.random.Generator, rounds: int) -> Iterator[list[Array]]:
        among = self.allowed.among
        shapes = [argument.shape for argument in self.arguments]
        tried = [*[shapes] * rounds, self._renamed_lengths(), self._other_lengths(rng), self._other_lengths(rng)]
        if self.allowed.stable or self.allowed.rounding:
            tried = tried[rounds - 1 : -1]  # each run is one of many then
        for lengths in tried:
            yield [a.elements.array(rng, shape, among) for a, shape in zip(self.arguments, lengths, strict=True)]

    def _renamed_lengths(self) -> list[tuple[int, ...]]:
        """Return the shapes with other lengths in the place of those that no type knows; equal ones stay equal."""
        axes = [pair for a in self.arguments for pair in zip(a.shape, a.variable.type.shape, strict=True)]
        known = {n for n, static in axes if static is not None}
        other = {n: m for n, m in {0: 3, 2: 4, 3: 2, 4: 0, 5: 3}.items() if n not in known}
        return [tuple([other.get(n, n) for n in a.shape]) for a in self.arguments]

    def _other_lengths(self, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Return the shapes with some lengths that no type knows changed, so that arguments may not fit any more."""
        return [
            tuple(
                [
                    n if static is not None or rng.integers(0, 2) else int(rng.choice([1, 2, 3, 0]))
                    for n, static in zip(a.shape, a.variable.type.shape, strict=True)
                ]
            )
            for a in self.arguments
        ]

    def _check_run(self, values: Sequence[Array]) -> _Outcome:
        try:
            expected = run_graph(self.before, values)
        except Exception as error:  # noqa: BLE001 -- whatever the graph raises, it is to raise after the rewrite too
            if not self.allowed.errors:
                self._check_raises(error, values)
            return _Outcome.RAISED
        try:
            found = run_graph(self.after, values)
        except Exception as error:
            raise Difference(f"it raises {type(error).__name__}: {error}", values) from error
        problems = self._problems(values, found, expected, _FEW_RUNS)
        if any(problem is not None for problem in problems):  # a few random runs may miss what rounding may do
            problems = self._problems(values, found, expected, _MANY_RUNS)
        for i, problem in enumerate(problems):
            if problem is not None:
                raise Difference(f"output {i}: {problem}", values)
        self._check_shapes(values, found)
        return _Outcome.COMPARED

    def _check_raises(self, error: Exception, values: Sequence[Array]) -> None:
        try:
            run_graph(self.after, values)
        except Exception as other:
            if type(other) is not type(error):
                raise Difference(
                    f"it raises {type(other).__name__}: {other}, where it raised {type(error).__name__}: {error}",
                    values,
                ) from other
        else:
            raise Difference(f"it raises no {type(error).__name__}: {error}", values) from error

    def _problems(
        self, values: Sequence[Array], found: Sequence[Any], expected: Sequence[Any], runs: int
    ) -> list[str | None]:
        pairs = list(zip(found, expected, strict=True))
        if self.allowed.stable:
            return self._instable(values, found, expected, runs)
        if self.allowed.rounding:
            before, after = [rounding_errors(g, values, runs=runs) for g in (self.before, self.after)]
            least = 5e-324 if any(isinstance(node.op, Max | Min) for node in self.before.order) else 0.0
            # Of zeros of both signs, the greatest or the least is the one that comes first, or last.
            slack = [0.0 if a is None or b is None else a + b + least for a, b in zip(before, after, strict=True)]
            return [value_difference(x, y, 8, s) for (x, y), s in zip(pairs, slack, strict=True)]
        slack_of_zero = 1e-300 if self.allowed.finite else 0.0  # a zero may have either sign
        return [value_difference(x, y, 0, slack_of_zero) for x, y in pairs]

    def _instable(
        self, values: Sequence[Array], found: Sequence[Any], expected: Sequence[Any], runs: int
    ) -> list[str | None]:
        """Return where the new results are further from the exact ones than the old ones, and than rounding excuses."""
        graph = self.before if self.exact is None else self.exact
        wide = [np.asarray(x, v.type.dtype) for x, v in zip(values, graph.inputs, strict=True)]
        exact = run_graph(graph, wide)
        # Where the plain form overflows or loses its digits in the wide dtype too, it tells nothing.
        doubt = rounding_errors(graph, wide, runs=runs, short=True, overflows=True)
        own = rounding_errors(self.after, values, runs=runs, short=True)
        return [_further(*each) for each in zip(found, expected, exact, doubt, own, strict=True)]

    def _check_shapes(self, values: Sequence[Array], found: Sequence[Any]) -> None:
        tensors = [(v, x) for v, x in zip(self.after.outputs, found, strict=True) if isinstance(v, TensorVariable)]
        lengths = [length for v, _ in tensors for length in symbolic_shape(v)]
        with np.errstate(all="ignore"):
            inferred = [int(n) for n in interpret(self.after.inputs, lengths, [np.array(x) for x in values])]
        for variable, value in tensors:
            shape, inferred = tuple(inferred[: variable.ndim]), inferred[variable.ndim :]
            if shape != value.shape:
                raise Difference(f"the inferred shape is {shape}, the value has {value.shape}", values)
            if not variable.type.is_valid_value(value):
                raise Difference(f"a value of shape {value.shape} is no {variable.type}", values)

    def check_gradients(self, seed: int) -> int:
        """Compare the gradients of a weighted sum of the outputs with respect to the inputs, and return whether that could be done.

        Raises
        ------
        Difference
            They differ.
        """
        if any(isinstance(node.op, GradientControl) for node in self.before.order) or _overwrites(self.after):
            return 0  # gradients are taken before such rewrites
        wrt = [v for v in self.before.inputs if v.type.dtype in FLOAT_DTYPES]
        places = [i for i, v in enumerate(self.before.outputs) if _is_float(v)]
        if not wrt or not places:
            return 0
        weights = [self.before.outputs[i].type("w") for i in places]
        inputs = [*self.before.inputs, *weights]
        try:
            old, new = [
                FunctionGraph(inputs, _gradients([graph.outputs[i] for i in places], weights, wrt))
                for graph in (self.before, self.after)
            ]
        except NullTypeGradError:
            return 0  # an Op that rewrites put in its place need not have one
        rng = np.random.default_rng([seed, 2])
        values = [a.elements.array(rng, a.shape, Range.SMOOTH) for a in self.arguments]
        try:
            results = run_graph(self.before, values)
            all_values = [*values, *[_weights(rng, results[i]) for i in places]]
            expected = run_graph(old, all_values)
        except Exception:  # noqa: BLE001 -- there is nothing to compare with
            return 0
        for variable, x, y in zip(wrt, run_graph(new, all_values), expected, strict=True):
            known = np.isfinite(y)
            problem = value_difference(
                np.where(known, x, 0), np.where(known, y, 0), 4, _relative(y, _GRADIENT_TOLERANCE[str(y.dtype)])
            )
            if problem is not None:
                raise Difference(f"the gradient with respect to {variable}: {problem}", values)
        return 1


def _is_float(variable: Variable[Any]) -> bool:
    return isinstance(variable, TensorVariable) and variable.dtype in FLOAT_DTYPES


def _gradients(outputs: Sequence[Any], weights: Sequence[Any], wrt: Sequence[Any]) -> list[Variable[Any]]:
    cost = lt.zeros(())
    for out, weight in zip(outputs, weights, strict=True):
        cost = cost + lt.sum(out * weight)
    return list(grad(cost, wrt, disconnected_inputs="ignore"))


def _weights(rng: np.random.Generator, like: Array) -> Array:
    weights = rng.choice([-1.0, 1.0], like.shape) * rng.uniform(0.5, 1.5, like.shape)
    # Where a function is not defined, neither is its slope.
    return np.where(np.isfinite(like), weights, 0.0).astype(like.dtype)


def _relative(expected: Any, tolerance: float) -> npt.NDArray[np.float64] | float:
    """Return how far results may be off that are about as large as these."""
    if not isinstance(expected, np.ndarray) or expected.dtype.kind not in "fc":
        return 0.0
    sizes = np.abs(expected[np.isfinite(expected)]).astype(np.float64)
    return tolerance * max(1.0, float(np.max(sizes, initial=0.0)))


def _further(
    found: Any, plain: Any, exact: Any, doubt: npt.NDArray[np.float64] | None, own: npt.NDArray[np.float64] | None
) -> str | None:
    if not isinstance(plain, np.ndarray) or plain.dtype.kind != "f" or doubt is None or own is None:
        return value_difference(found, plain)
    if not isinstance(found, np.ndarray) or found.dtype != plain.dtype or found.shape != plain.shape:
        return value_difference(found, plain)
    limits = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        # What is too large for the dtype is infinite in it.
        truth = np.asarray(exact, np.float64)
        truth = np.where(np.abs(truth) > float(limits.max), np.copysign(np.inf, truth), truth)
        now, before = _error(found, truth), _error(plain, truth)
        rounding = 16 * float(limits.eps) * np.abs(np.where(np.isfinite(truth), truth, 0)) + float(limits.tiny)
        excused = (now <= 4 * own) & ~np.isnan(found)  # no rounding excuses a NaN
        wrong = (now > rounding + 4 * doubt) & (now > 4 * before) & ~excused & ~np.isnan(truth)
    if not wrong.any():
        return None
    index = tuple([int(i) for i in np.argwhere(wrong)[0]])
    return f"element {list(index)} is {found[index]!r}, further from {exact[index]!r} than {plain[index]!r} was"


def _error(found: Array, truth: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    off = np.abs(found.astype(np.float64) - truth)
    return np.where(found == truth, 0.0, np.where(np.isnan(off), np.inf, off))
