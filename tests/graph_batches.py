"""Random graphs compared with the interpreter, many in one compiled function: it is the compiler that takes the time.

Graphs are drawn a hundred at a time, each hundred from a seed of its own. Some twenty of them are put together into one function of all
their inputs and outputs. Where an output differs, the graph that it belongs to is known: it is compared alone, and where it differs alone,
its hundred is drawn once more, so that Hypothesis shrinks it. What comes of that is shown at once, with the seed, and the hunt goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

import lamella as lm
from lamella.ir import FunctionGraph, interpret
from lamella.testing import Backend, ComparedBackends, rounding_errors
from lamella.testing.strategies import RandomGraph

__all__ = ["Backends", "WrongGraphs", "check_random_graphs"]

DRAWN_TOGETHER = 100
TOLD_OF = 1000
GRAPHS_IN_A_FUNCTION = 20
SHRUNK_OF_A_SEED = 3
MAX_ULPS = 4.0

Backends = Mapping[str, Sequence[Backend]]
"""Ways of running a graph, by the compiler's flags beyond the usual ones."""


@final
class WrongGraphs(AssertionError):
    """Graphs on which a backend differs from the interpreter; each of them has been shown before."""


@attrs.frozen(eq=False)
class _Drawn:
    graph: RandomGraph
    values: list[npt.NDArray[np.generic]]
    expected: list[npt.NDArray[np.generic]]


def check_random_graphs(
    strategy: SearchStrategy[RandomGraph],
    count: int,
    backends: Backends,
    number: int,
    report: Callable[[str], None] = print,
    together: int = GRAPHS_IN_A_FUNCTION,
) -> None:
    """Draw graphs, and compare what every backend computes with what the interpreter does.

    Parameters
    ----------
    strategy
        Draws them.
    count
        How many.
    backends
        What is compared.
    number
        The seed of the first hundred; the seeds of the others follow it.
    report
        Shows a wrong graph when it has been found and shrunk, and now and then how far the hunt is.
    together
        How many graphs make a function.

    Raises
    ------
    WrongGraphs
        A backend differs.
    """
    wrong: list[str] = []
    for first in range(0, count, DRAWN_TOGETHER):
        here = number + first // DRAWN_TOGETHER
        drawing = settings(
            max_examples=min(DRAWN_TOGETHER, count - first),
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        suspects = _suspects(_drawn(strategy, here, drawing), backends, together)
        for i, (graph, problem) in enumerate(suspects):
            differing = {flags: [b for b in some if _differs(graph, {flags: [b]})] for flags, some in backends.items()}
            differing = {flags: some for flags, some in differing.items() if some}
            if not differing:
                text = f"only where it is compiled together with others: {problem}\n{graph!r}"
            elif i < SHRUNK_OF_A_SEED:
                text = _shrunk(strategy, here, drawing, graph, differing)
            else:
                text = f"{problem}\n{graph!r}"
            wrong.append(f"a graph of seed {here} is wrong\n{text}")
            report(wrong[-1])
        done = first + DRAWN_TOGETHER
        if done % TOLD_OF == 0:
            report(f"{done} of {count} graphs from seed {number} tried, {len(wrong)} wrong")
    if wrong:
        raise WrongGraphs(f"{len(wrong)} of {count} graphs from seed {number} are wrong\n\n" + "\n\n".join(wrong))


def _drawn(strategy: SearchStrategy[RandomGraph], number: int, drawing: settings) -> list[RandomGraph]:
    found: list[RandomGraph] = []

    @seed(number)
    @drawing
    @given(graph=strategy)
    def collect(graph: RandomGraph) -> None:
        found.append(graph)

    collect()
    return found


def _suspects(graphs: Sequence[RandomGraph], backends: Backends, together: int) -> list[tuple[RandomGraph, str]]:
    """Return the graphs for which something differs, and what."""
    found: dict[RandomGraph, str] = {}
    waiting: list[_Drawn] = []
    for graph in graphs:
        try:
            values = _filtered(graph)
            waiting.append(_Drawn(graph, values, interpret(list(graph.inputs), graph.outputs, values)))
        except Exception:  # noqa: BLE001 -- the backends are to raise it too: it can be no part of a function of several
            problem = _difference(graph, backends)
            if problem is not None:
                found[graph] = problem
    for first in range(0, len(waiting), together):
        for graph, problem in _wrong_together(waiting[first : first + together], backends):
            found.setdefault(graph, problem)
    return list(found.items())


def _wrong_together(batch: Sequence[_Drawn], backends: Backends) -> list[tuple[RandomGraph, str]]:
    """Compare graphs in one function."""
    inputs = [v for drawn in batch for v in drawn.graph.inputs]
    outputs = [out for drawn in batch for out in drawn.graph.outputs]
    owners = [drawn.graph for drawn in batch for _ in drawn.graph.outputs]
    values = [x for drawn in batch for x in drawn.graph.inputs.values()]
    expected = [x for drawn in batch for x in drawn.expected]
    allowed = [slack for drawn in batch for slack in rounding_errors(drawn.graph.fgraph, drawn.values, MAX_ULPS)]
    found: list[tuple[RandomGraph, str]] = []
    for flags, some in backends.items():
        anyones: list[str] = []
        try:
            with lm.config.override(compiler_flags=flags):
                compared = ComparedBackends.compile(FunctionGraph(inputs, outputs), some)
            for mismatch in compared.mismatches(values, MAX_ULPS, allowed, expected):
                if mismatch.output is None:
                    anyones.append(str(mismatch))
                else:
                    found.append((owners[mismatch.output], str(mismatch)))
        except Exception as problem:  # noqa: BLE001 -- it is reported, with the graph
            anyones.append(repr(problem))
        if anyones:
            # What is about no single output (an error, a changed input) is about those that differ alone, or else about any of them.
            alone = [(drawn.graph, _difference(drawn.graph, {flags: some})) for drawn in batch]
            known = [(graph, problem) for graph, problem in alone if problem is not None]
            found.extend(known or [(batch[0].graph, "\n".join(anyones))])
    return found


def _filtered(graph: RandomGraph) -> list[npt.NDArray[np.generic]]:
    """Return copies of the values as the inputs' types have them: in the machine's byte order."""
    return [np.array(v.type.filter(x)) for v, x in graph.inputs.items()]


def _difference(graph: RandomGraph, backends: Backends) -> str | None:
    """Return what is different where a graph is compiled alone."""
    allowed: list[npt.NDArray[np.float64] | None] | None = None
    expected: list[npt.NDArray[np.generic]] | None = None
    try:
        allowed = rounding_errors(graph.fgraph, _filtered(graph), MAX_ULPS)
        expected = interpret(list(graph.inputs), graph.outputs, _filtered(graph))
    except Exception:  # noqa: BLE001 -- the backends are to raise it too
        expected = None
    for flags, some in backends.items():
        try:
            with lm.config.override(compiler_flags=flags):
                compared = ComparedBackends.compile(graph.fgraph, some)
            found = compared.mismatches(list(graph.inputs.values()), MAX_ULPS, allowed, expected)
        except Exception as problem:  # noqa: BLE001 -- an error of any kind is a difference
            return repr(problem)
        if found:
            return "\n".join([str(mismatch) for mismatch in found])
    return None


def _differs(graph: RandomGraph, backends: Backends) -> bool:
    return _difference(graph, backends) is not None


def _shrunk(
    strategy: SearchStrategy[RandomGraph], number: int, drawing: settings, wrong: RandomGraph, backends: Backends
) -> str:
    """Draw the graphs of a seed once more, and shrink one of them; return it, with what is wrong."""
    wanted = repr(wrong)
    last: list[str] = []

    @seed(number)
    @settings(drawing, phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False, print_blob=False)
    @given(graph=strategy)
    def find_and_shrink(graph: RandomGraph) -> None:
        if last or repr(graph) == wanted:
            problem = _difference(graph, backends)
            if problem is not None:
                last[:] = [f"{problem}\n{graph!r}"]  # the last one is the smallest: Hypothesis ends with it
            assert problem is None

    _run_quietly(find_and_shrink)
    return last[0] if last else f"not found again: {wanted}"


def _run_quietly(hunt: Callable[..., Any]) -> None:
    try:
        hunt()
    except Exception:  # noqa: BLE001 -- the graph has been noted
        return
