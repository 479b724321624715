"""Random graphs with views of views, writes to parts, shared inputs, inputs that may be overwritten, and updates: in-place rewriting never
changes a value, nor anybody's memory."""

from typing import Any

import pytest

from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from tests.aliasing_graphs import aliasing_graph, check, check_together
from tests.fuzzing import Fuzzing, Hunt

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
@pytest.mark.timeout(7200)  # `make fuzz` draws thousands
@pytest.mark.parametrize("share", range(SHARES))
def test_graphs_agree_with_the_interpreter(share: int, fuzzing: Fuzzing) -> None:
    mine = fuzzing.share(share, SHARES)
    overwritten, hunt = 0, Hunt(mine)
    for i in range(mine.count):
        with hunt.case():
            overwritten += _overwriting(check(aliasing_graph(mine.seed + i), MODES[i % len(MODES)]))
    hunt.end()
    assert overwritten > mine.count  # more than one node of each graph works in place


@pytest.mark.fuzz
@pytest.mark.timeout(7200)
def test_graphs_in_c_agree_with_the_interpreter(fuzzing: Fuzzing) -> None:
    overwritten, functions, hunt = 0, fuzzing.count // 10 // GRAPHS_IN_A_FUNCTION, Hunt(fuzzing)
    for i in range(functions):
        first = fuzzing.seed + 100_000 + i * GRAPHS_IN_A_FUNCTION
        mode = FAST_RUN if i % 2 else Mode(FAST_RUN.linker, MODES[2].query)
        with hunt.case():
            graphs = [aliasing_graph(first + i) for i in range(GRAPHS_IN_A_FUNCTION)]
            overwritten += _overwriting(check_together(graphs, mode))
    hunt.end()
    assert overwritten >= functions * GRAPHS_IN_A_FUNCTION // 2
