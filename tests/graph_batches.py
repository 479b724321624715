"""Random graphs compared with the interpreter, many in one compiled function: it is the compiler that takes the time.

Graphs are drawn, put together some twenty at a time, and each batch is one function of all their inputs and outputs. Where an output
differs, the graph that it belongs to is known. Then the same graphs are drawn once more, and that one is compared alone, so that
Hypothesis shrinks it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

import lamella as lm
from lamella.ir import FunctionGraph, interpret
from lamella.testing import Backend, ComparedBackends, compare_backends, rounding_errors
from lamella.testing.strategies import RandomGraph

__all__ = ["check_random_graphs"]

BATCH = 20
MAX_ULPS = 4.0

Backends = Mapping[str, Sequence[Backend]]
"""Ways of running a graph, by the compiler's flags beyond the usual ones."""


class _Batch:
    """Graphs that wait to be compared, and those that were found wrong, as text, with what is wrong."""

    def __init__(self, backends: Backends) -> None:
        self.backends = backends
        self.waiting: list[tuple[RandomGraph, list[npt.NDArray[np.generic]]]] = []
        self.wrong: dict[str, str] = {}

    def add(self, graph: RandomGraph) -> None:
        try:
            expected = interpret(list(graph.inputs), graph.outputs, [np.array(x) for x in graph.inputs.values()])
        except Exception:  # noqa: BLE001 -- whatever it raises, every backend is to raise: it can be no part of a batch
            try:
                _compare(graph, self.backends)
            except Exception as problem:  # noqa: BLE001 -- it is reported when all graphs have been drawn
                self.wrong[repr(graph)] = str(problem)
            return
        self.waiting.append((graph, expected))
        if len(self.waiting) == BATCH:
            self.flush()

    def flush(self) -> None:
        """Compare the graphs that wait."""
        if not self.waiting:
            return
        batch, self.waiting = self.waiting, []
        whole = FunctionGraph(
            [v for graph, _ in batch for v in graph.inputs], [out for graph, _ in batch for out in graph.outputs]
        )
        values = [x for graph, _ in batch for x in graph.inputs.values()]
        owners = [graph for graph, _ in batch for _ in graph.outputs]
        expected = [x for _, results in batch for x in results]
        allowed = [
            slack
            for graph, _ in batch
            for slack in rounding_errors(graph.fgraph, list(graph.inputs.values()), MAX_ULPS)
        ]
        for flags, backends in self.backends.items():
            try:
                with lm.config.override(compiler_flags=flags):
                    compared = ComparedBackends.compile(whole, backends)
            except Exception as problem:  # noqa: BLE001 -- as above
                self.wrong.update({repr(graph): str(problem) for graph, _ in batch})
                continue
            for mismatch in compared.mismatches(values, MAX_ULPS, allowed, expected):
                # What is about no single output (an error, a changed input) may be any graph's.
                suspects = batch if mismatch.output is None else [(owners[mismatch.output], [])]
                self.wrong.update({repr(graph): str(mismatch) for graph, _ in suspects})


def _compare(graph: RandomGraph, backends: Backends) -> None:
    for flags, several in backends.items():
        with lm.config.override(compiler_flags=flags):
            compare_backends(graph.fgraph, list(graph.inputs.values()), several, MAX_ULPS)


def check_random_graphs(
    strategy: SearchStrategy[RandomGraph], count: int, backends: Backends, number: int | None = None
) -> None:
    """Draw some graphs, others each time unless they are given a number, and compare what every backend computes with what the interpreter does.

    Raises
    ------
    BackendMismatch
        A backend differs, on a graph that was shrunk.
    AssertionError
        It differs only where the graph is compiled together with others.
    """
    number = secrets.randbits(64) if number is None else number
    batch = _Batch(backends)
    drawing = settings(
        max_examples=count, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck)
    )

    @seed(number)
    @drawing
    @given(graph=strategy)
    def collect(graph: RandomGraph) -> None:
        batch.add(graph)

    collect()
    batch.flush()
    if not batch.wrong:
        return
    shrinking = False

    @seed(number)  # the same graphs once more
    @settings(drawing, phases=[Phase.generate, Phase.shrink])
    @given(graph=strategy)
    def find_and_shrink(graph: RandomGraph) -> None:
        nonlocal shrinking
        if shrinking or repr(graph) in batch.wrong:
            try:
                _compare(graph, backends)
            except Exception:
                shrinking = True
                raise

    find_and_shrink()
    shown = "\n\n".join([f"{problem}\n{text}" for text, problem in batch.wrong.items()])
    raise AssertionError(f"in a batch of graphs, though not in any of them alone:\n{shown}")
