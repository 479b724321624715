"""Random graphs: every mode computes what the interpreter does."""

import pytest
from hypothesis import HealthCheck, given, settings

from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.testing import Backend, compare_backends
from lamella.testing.strategies import RandomGraph, graphs

REWRITTEN_IN_PYTHON = Mode(PerformLinker(), FAST_RUN.query)
BACKENDS: list[Backend] = ["CLinker", "FAST_RUN", "FAST_COMPILE", REWRITTEN_IN_PYTHON]


@pytest.mark.fuzz
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(graphs(min_steps=3))
def test_every_mode_computes_what_the_interpreter_does(graph: RandomGraph) -> None:
    compare_backends(graph.fgraph, list(graph.inputs.values()), BACKENDS)
