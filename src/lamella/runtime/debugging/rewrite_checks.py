"""What rewriters promise: the same types, the same values, nothing overwritten that is protected.

While a graph is rewritten, `RewriteWatcher` is told of every replacement, and looks at the graph after every rewriter. When the function
runs, `check_values` computes both sides of every replacement from what the function was given; the first one whose sides differ names the
rewriter at fault.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.errors import (
    BadInplaceRewrite,
    BadOptimization,
    BadRewriteType,
    InconsistencyError,
    RewriteTypeError,
)
from lamella.ir import (
    NO_VALUE,
    AnnihilatingMul,
    Apply,
    Elemwise,
    FunctionGraph,
    Variable,
    describe_node,
    perform_node,
    toposort,
)
from lamella.rewriting import GraphRewriter, Observer, RewriteDatabase, RewriteLog, RewriteStep
from lamella.runtime.debugging.comparison import copies, difference, moved, shown
from lamella.runtime.debugging.node_checks import has_meaning
from lamella.typing_layer import Supervisor

__all__ = ["RewriteWatcher", "check_values", "rewrite_watched", "stabilising_names"]


@final
class RewriteWatcher(Observer):
    """Collects the replacements, and has protected inputs seen to after every rewriter."""

    __slots__ = ("_running", "_supervisors", "start", "steps")

    def __init__(self, start: FunctionGraph) -> None:
        self.start = start
        self.steps: list[RewriteStep] = []
        self._running: list[str] = []
        self._supervisors = [feature for feature in start.features if isinstance(feature, Supervisor)]

    @property
    def log(self) -> RewriteLog:
        """The replacements."""
        return RewriteLog(self.start, tuple(self.steps))

    @property
    def running(self) -> str:
        """The name of the graph rewriter that runs."""
        return self._running[-1] if self._running else "rewriting"

    @override
    def entered(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        self._running.append(rewriter.name)

    @override
    def left(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        for supervisor in self._supervisors:
            with self.blamed():
                supervisor.validate(fgraph)
        self._running.pop()

    @override
    def replaced(
        self, rewriter: str | None, before: Sequence[Variable[Any]], after: Sequence[Variable[Any] | None]
    ) -> None:
        self.steps.append(RewriteStep(rewriter, tuple(before), tuple(after)))

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn what rewriting raises into errors that name the rewriter."""
        try:
            yield
        except RewriteTypeError as error:
            raise BadRewriteType(f"{error} (while {self.running} was applied)") from error
        except InconsistencyError as error:
            writers = {
                name: None for step in self.steps for name in (step.rewriter,) if name and _overwrites(step.after)
            }
            made = f"; rewriters that made nodes which overwrite: {', '.join(writers)}" if writers else ""
            raise BadInplaceRewrite(
                f"the rewriter {self.running} made a graph that overwrites what must stay: {error}{made}. A rewriter that works in place "
                "is registered at 50 or later, keeps the features of the graph, and lets them refuse"
            ) from error


def _overwrites(variables: Sequence[Variable[Any] | None]) -> bool:
    return any([v is not None and v.owner is not None and bool(v.owner.op.destroy_map) for v in variables])


def rewrite_watched(rewriter: GraphRewriter, start: FunctionGraph) -> tuple[FunctionGraph, RewriteLog]:
    """Rewrite a graph, and return the new one and what was replaced by what.

    Raises
    ------
    BadRewriteType, BadInplaceRewrite
        A rewriter breaks its promises.
    """
    watcher = RewriteWatcher(start)
    with watcher.blamed():
        rewritten = rewriter.rewrite_observed(start, watcher)
    return rewritten, watcher.log


def stabilising_names(database: RewriteDatabase[Any, GraphRewriter]) -> frozenset[str]:
    """Return the names of the rewriters that may turn a NaN or an infinite number into the number that it stands for."""

    def names(group: str) -> frozenset[str]:
        held = database[group] if group in set(database) else None
        return frozenset(held) if isinstance(held, RewriteDatabase) else frozenset()

    return names("stabilize") - names("canonicalize")


def check_values(
    log: RewriteLog, inputs: Sequence[Variable[Any]], values: Sequence[Any], stabilising: Collection[str]
) -> None:
    """Compute both sides of every replacement, and compare.

    Parameters
    ----------
    log
        The replacements.
    inputs, values
        The inputs of the graph, and their values, which are not changed.
    stabilising
        Names of rewriters that may make a number of a NaN or an infinite number.

    Raises
    ------
    BadOptimization
        A replacement has another value.
    """
    pairs = [
        (step, old, new)
        for step in log
        if step.rewriter is not None
        for old, new in zip(step.before, step.after, strict=True)
        if new is not None and new is not old
    ]
    if not pairs:
        return
    computed = _Values([v for _, old, new in pairs for v in (old, new)], dict(zip(inputs, values, strict=True)))
    for step, old, new in pairs:
        was, now = computed.of(old), computed.of(new)
        if isinstance(was, _Unknown):
            continue
        if isinstance(now, _Unknown):
            if now.error is not None:
                _blame(step, old, new, f"raises {now.error!r}, where the value was {shown(was)}")
            continue
        _compare(step, old, new, was, now, computed, stabilising)


def _compare(
    step: RewriteStep,
    old: Variable[Any],
    new: Variable[Any],
    was: Any,
    now: Any,
    computed: _Values,
    stabilising: Collection[str],
) -> None:
    arrays = isinstance(was, np.ndarray) and isinstance(now, np.ndarray) and was.shape == now.shape
    if arrays and step.rewriter in stabilising and was.dtype == now.dtype and was.dtype.kind in "fc":
        was = np.where(np.isfinite(was) & ~computed.annihilated(old, now), was, now)
    stabilises = (
        step.rewriter in stabilising
    )  # numbers with few digits too, such as 1, may be what others were rounded to
    problem = difference(old.type, now, was, lambda rng: computed.moved(old, rng, stabilises))
    # Rounding may have moved either side.
    if problem is not None and difference(old.type, was, now, lambda rng: computed.moved(new, rng)) is not None:
        _blame(step, old, new, problem)


def _blame(step: RewriteStep, old: Variable[Any], new: Variable[Any], problem: str) -> None:
    where = "\n".join(describe_node(old.owner)) if old.owner is not None else ""
    raise BadOptimization(
        f"the rewriter {step.rewriter} replaced\n  {old} of type {old.type}\nby\n  {new} of type {new.type}\nwhose value is another one: "
        f"{problem}\n{where}".rstrip()
    )


@final
@attrs.frozen
class _Unknown:
    """Stands for a value that is not known: because computing it raised an error, or needs such a value."""

    error: Exception | None


@final
class _Values:
    """The values of Variables and of all that they are computed from. Nothing is overwritten."""

    def __init__(self, variables: Sequence[Variable[Any]], given: Mapping[Variable[Any], Any]) -> None:
        self._order = toposort(variables, given)
        self._given = given
        self._known = self._computed(lambda value: value, self._order)

    def of(self, variable: Variable[Any]) -> Any:
        """Return the value, or an `_Unknown`."""
        return _value(variable, self._known)

    def annihilated(self, variable: Variable[Any], replacement: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which elements of a product of cotangents are 0 for an infinite slope, or a NaN, and would be numbers otherwise."""
        node = variable.owner
        if node is None or not isinstance(node.op, Elemwise) or not isinstance(node.op.scalar_op, AnnihilatingMul):
            return np.zeros(replacement.shape, bool)
        with np.errstate(all="ignore"):
            product = np.multiply(*[self.of(v) for v in node.inputs])
        return np.asarray(~np.isfinite(product) & np.isfinite(replacement))

    def moved(self, variable: Variable[Any], rng: np.random.Generator, also_short: bool = False) -> Any:
        """Return the value where everything that is rounded is moved a little; see `moved` of numbers."""
        needed = toposort([variable], self._given)
        found = _value(variable, self._computed(lambda value: moved(value, rng, also_short), needed))
        if isinstance(found, _Unknown):
            raise ValueError("it cannot be computed from numbers that have moved")
        return found

    def _computed(self, change: Callable[[Any], Any], order: Sequence[Apply[Any]]) -> dict[Variable[Any], Any]:
        known: dict[Variable[Any], Any] = {variable: change(value) for variable, value in self._given.items()}
        for node in order:
            for variable, value in zip(node.outputs, _performed(node, known), strict=True):
                known[variable] = value if isinstance(value, _Unknown) else change(value)
        return known


def _value(variable: Variable[Any], known: Mapping[Variable[Any], Any]) -> Any:
    if variable in known:
        return known[variable]
    value = variable.stored_value()
    return _Unknown(None) if value is NO_VALUE else value


def _performed(node: Apply[Any], known: Mapping[Variable[Any], Any]) -> Sequence[Any]:
    needed: Collection[int] = range(node.nin)
    if not has_meaning(node):
        return [_Unknown(None)] * node.nout
    try:
        with np.errstate(all="ignore"):
            if node.op.is_lazy:
                first = node.op.required_inputs(node, {})
                deciding = {i: _value(node.inputs[i], known) for i in first}
                unknown = [v for v in deciding.values() if isinstance(v, _Unknown)]
                if unknown:
                    return [_Unknown(None)] * node.nout
                needed = {*first, *node.op.required_inputs(node, deciding)}
            inputs = [_value(v, known) if i in needed else None for i, v in enumerate(node.inputs)]
            if any([isinstance(value, _Unknown) for value in inputs]):
                errors = [value.error for value in inputs if isinstance(value, _Unknown)]
                return [_Unknown(next((error for error in errors if error is not None), None))] * node.nout
            return perform_node(node, copies([v.type for v in node.inputs], inputs))
    except Exception as error:  # noqa: BLE001  # whatever is raised, there is no value
        return [_Unknown(error)] * node.nout
