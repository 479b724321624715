"""Random graphs: every mode computes what the interpreter does, in value, dtype, shape, NaN, the sign of zero, and errors."""

import pytest
from hypothesis import HealthCheck, given, settings

from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.testing import Backend, compare_backends
from lamella.testing.strategies import RandomGraph, graphs

# One test for each way of compiling, so that they can run side by side; what runs in Python costs next to nothing.
BACKENDS: dict[str, list[Backend]] = {
    "python": ["PerformLinker", "FAST_COMPILE", Mode(PerformLinker(), FAST_RUN.query)],
    "c": ["CLinker"],
    "fast_run": ["FAST_RUN"],
}


@pytest.mark.fuzz
@pytest.mark.timeout(3600)  # hundreds of graphs, each compiled
@pytest.mark.parametrize("backends", BACKENDS.values(), ids=BACKENDS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graph=graphs(min_steps=3))
def test_every_mode_computes_what_the_interpreter_does(backends: list[Backend], graph: RandomGraph) -> None:
    compare_backends(graph.fgraph, list(graph.inputs.values()), backends)
