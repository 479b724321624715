"""`verify_rewrite`: a rewrite, tried on random graphs on which it fires, and compared with what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.config import config
from lamella.ir import FunctionGraph, Variable
from lamella.rewriting import GraphRewriter, Observer, Rewriter
from lamella.testing.rewrite_comparison import Comparison, Difference, Faithfulness, show_case
from lamella.testing.rewrite_graphs import Argument, Draw, GraphMaker, graphs_for, graphs_of_pattern
from lamella.testing.rewrite_registered import RegisteredRewrite, as_graph_rewriter, named_rewrites
from lamella.typing_layer import Supervisor

__all__ = ["RewriteContractError", "RewriteReport", "faithfulness_of", "makers_for", "verify_rewrite"]

Source = Callable[[int, int], int]
"""Draws an integer between two."""


@final
@attrs.frozen
class RewriteReport:
    """What `verify_rewrite` did.

    Attributes
    ----------
    rewrite
        The name of the rewrite.
    graphs, fired
        How many graphs were drawn, and on how many of them the rewrite fired; the others were only rewritten.
    fires
        How often it fired in all.
    runs
        How many pairs of results were compared.
    gradients
        How many pairs of gradients were compared.
    """

    rewrite: str
    graphs: int = 0
    fired: int = 0
    fires: int = 0
    runs: int = 0
    gradients: int = 0

    @override
    def __str__(self) -> str:
        return (
            f"{self.rewrite}: fired {self.fires} times, on {self.fired} of {self.graphs} graphs; "
            f"{self.runs} results and {self.gradients} gradients are the same"
        )


@final
@attrs.frozen(eq=False)
class RewriteContractError(AssertionError):
    """A rewrite does not keep what it must keep, or was not seen to fire.

    Attributes
    ----------
    rewrite
        Its name.
    problem
        What is wrong.
    case
        The smallest graph that shows it: before and after, with the values of its inputs.
    """

    rewrite: str
    problem: str
    case: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.rewrite}: {self.problem}" + (f"\n{self.case}" if self.case else "")


def verify_rewrite(
    rewrite: str | Rewriter,
    *makers: GraphMaker,
    tags: Iterable[str] = (),
    graphs: int = 20,
    seed: int = 0,
) -> RewriteReport:
    """Check that a rewrite keeps what a graph means.

    Graphs are drawn on which it should fire; it is applied alone; and the graph before and after are run by the interpreter and
    compared:

    - dtypes are the same, and static shapes the same or narrower;
    - values are the same to the last bit: NaN, infinities and zeros of both signs too. A rewrite with the tag ``reassociates`` may round
      otherwise; one with ``nan_unsafe`` is given ordinary numbers; one that is only in the group ``stabilize`` may be nearer to the exact
      result, which is computed in a wider dtype, and may not be further away;
    - where the graph raised an error, it still does, of the same class (unless the rewrite has the tag ``shape_unsafe``);
    - inferred shapes are those of the values;
    - gradients with respect to inputs of a float dtype are the same, up to rounding.

    This needs Hypothesis: ``pip install hypothesis``.

    Parameters
    ----------
    rewrite
        The name of a rewrite that is registered in `optdb`; or a rewriter.
    *makers
        Generators of graphs on which it fires; by default those that `register_graphs` and this package have for its name, or, for a
        `PatternNodeRewriter`, what its pattern looks for.
    tags
        For a rewriter: what it may change, by ``"reassociates"``, ``"nan_unsafe"``, ``"shape_unsafe"`` and ``"stabilize"``. For a registered
        one, in addition to its own.
    graphs
        On how many graphs the rewrite is to be tried, of all generators together, and at least 4 of each.
    seed
        Of the values.

    Returns
    -------
    RewriteReport
        How much was compared.

    Raises
    ------
    RewriteContractError
        Something differs, or the rewrite did not fire on any graph of a generator; shows the smallest graph for which it is so.
    LookupError
        There is no such rewrite, or there are no generators for it.

    Examples
    --------
    >>> print(verify_rewrite("exp_of_log"))  # doctest: +ELLIPSIS
    exp_of_log: fired ... times, on 20 of ... graphs; ... results and ... gradients are the same
    """
    report: RewriteReport | None = None
    for subject in _subjects(rewrite, frozenset(tags)):
        tried = makers or _known_makers(subject)
        verifier = _Verifier(
            subject.name, as_graph_rewriter(subject.rewriter), faithfulness_of(subject.groups, subject.tags), seed
        )
        for place, make in enumerate(tried):
            count = max(4, graphs // len(tried) + (place < graphs % len(tried)))
            verifier.verify(make, count, f" of generator {place + 1} of {len(tried)}" if len(tried) > 1 else "")
        report = verifier.report
    assert report is not None
    return report


def _subjects(rewrite: str | Rewriter, tags: frozenset[str]) -> Sequence[RegisteredRewrite]:
    if isinstance(rewrite, Rewriter):
        return [RegisteredRewrite(rewrite.name, rewrite, frozenset(), tags)]
    return [attrs.evolve(subject, tags=subject.tags | tags) for subject in named_rewrites(rewrite)]


def makers_for(rewrite: RegisteredRewrite) -> tuple[GraphMaker, ...]:
    """Return the generators of graphs on which a rewrite fires: those that are known for its name, or that of its pattern; or none."""
    known = graphs_for(rewrite.name)
    if known is not None:
        return known.makers
    made = graphs_of_pattern(rewrite.rewriter)
    return () if made is None else (made,)


def _known_makers(rewrite: RegisteredRewrite) -> tuple[GraphMaker, ...]:
    found = makers_for(rewrite)
    if not found:
        raise LookupError(
            f"there is no generator of graphs on which {rewrite.name!r} fires; give one by lamella.testing.register_graphs"
        )
    return found


def faithfulness_of(groups: frozenset[str], tags: frozenset[str]) -> Faithfulness:
    """Return what a rewrite of some groups, with some tags, may change."""
    return Faithfulness(
        "reassociates" in tags,
        groups == {"stabilize"} or "stabilize" in tags,
        "nan_unsafe" in tags,
        "shape_unsafe" in tags,
    )


@final
class _Fires(Observer):
    """Counts the replacements that a rewriter makes."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    @override
    def replaced(
        self, rewriter: str | None, before: Sequence[Variable[Any]], after: Sequence[Variable[Any] | None]
    ) -> None:
        self.count += rewriter is not None


@final
class _Verifier:
    """Tries one rewriter on graphs, and counts."""

    def __init__(self, name: str, rewriter: GraphRewriter, allowed: Faithfulness, seed: int) -> None:
        self.name = name
        self.rewriter = rewriter
        self.allowed = allowed
        self.seed = seed
        self.report = RewriteReport(name)

    def verify(self, make: GraphMaker, count: int, which: str) -> None:
        """Try the rewriter on some graphs of a generator.

        Raises
        ------
        RewriteContractError
            As `verify_rewrite`.
        """
        fired_before, runs_before = self.report.fired, self.report.runs
        last: list[FunctionGraph] = []

        def fires(integer: Source) -> bool:
            fired = self.report.fired
            last[:] = [self._check(make, integer)]
            return self.report.fired > fired

        with config.override(check_rewrites=True):
            _try_many(fires, count)
        if self.report.fired == fired_before:
            raise RewriteContractError(
                self.name, f"it did not fire on any graph{which}; one was", show_case(last[0], None)
            )
        if self.report.runs == runs_before:
            raise RewriteContractError(self.name, f"no graph{which} could be run; one was", show_case(last[0], None))

    def _check(self, make: GraphMaker, integer: Source) -> FunctionGraph:
        drawn: list[int] = []

        def recorded(low: int, high: int) -> int:
            drawn.append(integer(low, high))
            return drawn[-1]

        before, arguments = _drawn(make, Draw(recorded))
        seed = self.seed + integer(0, 1 << 20)
        after, fires = self._rewritten(before)
        self.report = attrs.evolve(
            self.report,
            graphs=self.report.graphs + 1,
            fired=self.report.fired + (fires > 0),
            fires=self.report.fires + fires,
        )
        if not fires:
            return before
        exact = None
        if self.allowed.stable and any(a.elements.dtype in ("float16", "float32") for a in arguments):
            again = iter(drawn)
            exact, _ = _drawn(make, Draw(lambda low, high: next(again), widened=True))
        compared = Comparison(before, after, arguments, self.allowed, exact)
        try:
            compared.check_types()
            runs = compared.check_values(seed)
            gradients = compared.check_gradients(seed) if seed % 2 == 0 else 0  # they take as long as all else
        except Difference as difference:
            case = show_case(before, after, difference.values)
            raise RewriteContractError(self.name, f"it changes a result: {difference.problem}", case) from difference
        self.report = attrs.evolve(
            self.report, runs=self.report.runs + runs, gradients=self.report.gradients + gradients
        )
        return before

    def _rewritten(self, before: FunctionGraph) -> tuple[FunctionGraph, int]:
        fires = _Fires()
        start = FunctionGraph(before.inputs, before.outputs, [Supervisor(before.inputs)])
        try:
            after = self.rewriter.rewrite_observed(start, fires)
        except Exception as error:
            problem = f"it fails by {type(error).__name__}: {error}"
            raise RewriteContractError(self.name, problem, show_case(before, None)) from error
        changed = after.outputs != start.outputs or after.features != start.features
        return after, fires.count or int(changed)


def _drawn(make: GraphMaker, draw: Draw) -> tuple[FunctionGraph, list[Argument]]:
    made = make(draw)
    outputs = [made] if isinstance(made, Variable) else list(made)
    return FunctionGraph([argument.variable for argument in draw.arguments], outputs), draw.arguments


def _try_many(fires: Callable[[Source], bool], count: int) -> None:
    """Call a function with sources of random integers until it returned True `count` times, or too often False.

    Where it raises an error, raise that of the simplest integers.

    Raises
    ------
    ImportError
        Hypothesis is not installed.
    """
    from hypothesis import HealthCheck, Phase, given, reject, settings
    from hypothesis import strategies as st
    from hypothesis.errors import Unsatisfiable

    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def try_one(data: st.DataObject) -> None:
        if not fires(lambda low, high: data.draw(st.integers(low, high))):
            reject()

    try:
        try_one()
    except Unsatisfiable:
        pass  # it never fired
    except RewriteContractError as error:
        # Hypothesis adds what it drew: integers, of which the graph says more.
        raise attrs.evolve(error) from error.__cause__
