"""Random graphs with views of views, writes to parts, shared inputs, inputs that may be overwritten, and updates: in-place rewriting never
changes a value, nor anybody's memory."""

from typing import Any

import pytest
from hypothesis import settings

from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from tests.aliasing_graphs import aliasing_graph, check, check_together

SHARES = 4  # tests that can run side by side
GRAPHS_IN_A_FUNCTION = 10

MODES = (
    Mode(PerformLinker(), FAST_RUN.query),
    Mode(PerformLinker(), FAST_RUN.query.excluding("fusion")),
    Mode(PerformLinker(), RewriteDatabaseQuery(include=("inplace", "merge"))),
)


def _overwriting(function: Any) -> int:
    return sum(bool(node.op.destroy_map) for node in function.scheduled.order)


@pytest.mark.fuzz
@pytest.mark.timeout(3600)  # `make fuzz` draws thousands
@pytest.mark.parametrize("share", range(SHARES))
def test_graphs_agree_with_the_interpreter(share: int) -> None:
    overwritten = 0
    for seed in range(share, settings().max_examples, SHARES):
        graph = aliasing_graph(seed)
        overwritten += _overwriting(check(graph, MODES[seed // SHARES % len(MODES)]))
    assert overwritten > settings().max_examples / SHARES  # more than one node of each graph works in place


@pytest.mark.fuzz
@pytest.mark.timeout(3600)
def test_graphs_in_c_agree_with_the_interpreter() -> None:
    for first in range(0, settings().max_examples // 10, GRAPHS_IN_A_FUNCTION):
        graphs = [aliasing_graph(100_000 + first + i) for i in range(GRAPHS_IN_A_FUNCTION)]
        mode = FAST_RUN if first % 20 else Mode(FAST_RUN.linker, MODES[2].query)
        assert _overwriting(check_together(graphs, mode)) >= GRAPHS_IN_A_FUNCTION // 2
