"""Random graphs: every mode computes what the interpreter does, in value, dtype, shape, NaN, the sign of zero, and errors."""

from typing import Any

import pytest

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import RewriteDatabaseQuery, SequenceDB, in2out, node_rewriter
from lamella.runtime import FAST_RUN, Mode, PerformLinker
from lamella.testing.strategies import Step, graphs
from tests.fuzzing import Fuzzing
from tests.graph_batches import Backends, WrongGraphs, check_random_graphs

SHARES = 4  # tests that can run side by side

# Compiling takes nearly all the time, so the graph as it is is compiled with less optimisation.
BACKENDS: Backends = {
    "": ["PerformLinker", "FAST_COMPILE", Mode(PerformLinker(), FAST_RUN.query), "FAST_RUN"],
    "-O1": ["CLinker"],
}


@pytest.mark.fuzz
@pytest.mark.timeout(7200)  # `make fuzz` draws thousands
@pytest.mark.parametrize("share", range(SHARES))
def test_every_mode_computes_what_the_interpreter_does(share: int, fuzzing: Fuzzing) -> None:
    mine = fuzzing.share(share, SHARES)
    check_random_graphs(graphs(min_steps=3), mine.count, BACKENDS, mine.seed, mine.report)


def test_a_wrong_graph_is_found_among_others_and_shrunk() -> None:
    @node_rewriter([lt.exp])
    def exp_is_expm1(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        (x,) = node.inputs
        assert isinstance(x, lt.TensorVariable)
        return [lt.expm1(x)]

    planted = SequenceDB("planted")
    planted.register("wrong", in2out(exp_is_expm1), "planted", position=0)
    mode = Mode(PerformLinker(), RewriteDatabaseQuery(include=("planted",)), planted)
    steps: list[Step] = [lambda pool: [lt.exp(pool.pick("f"))], lambda pool: [lt.sin(pool.pick("f"))]]
    reports: list[str] = []
    with pytest.raises(WrongGraphs, match=r"^\d+ of 60 graphs from seed 3 are wrong") as caught:
        check_random_graphs(graphs(steps, max_steps=4), 60, {"": ["PerformLinker", mode]}, 3, reports.append)
    assert "a graph of seed 3 is wrong" in reports[0]
    assert "= Exp(" in reports[0]
    assert reports[0].count(" = ") < 20
    assert all(report in str(caught.value) for report in reports)
