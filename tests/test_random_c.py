"""Random graphs of all Ops that are lowered to C, on arrays in all layouts: C computes what the interpreter does."""

import pytest
from hypothesis import strategies as st

from lamella.testing.strategies import RandomGraph, graphs
from tests.fuzzing import Fuzzing
from tests.graph_batches import Backends, check_random_graphs

SHARES = 4  # tests that can run side by side
GRAPHS_IN_A_FUNCTION = 40

# Of the graph as it is and the graph rewritten one is compiled, with less optimisation: so more graphs are tried in the same time.
BACKENDS: tuple[Backends, ...] = ({"-O1": ["CLinker"]}, {"-O1": ["FAST_RUN"]})


@st.composite
def graphs_on_foreign_arrays(draw: st.DrawFn) -> RandomGraph:
    """Draw graphs; the values of some are in the byte order of other machines."""
    graph = draw(graphs(min_steps=3))
    if draw(st.integers(0, 5)):
        return graph
    return RandomGraph(graph.outputs, {v: x.astype(x.dtype.newbyteorder()) for v, x in graph.inputs.items()})


@pytest.mark.fuzz_c
@pytest.mark.timeout(14400)  # `make fuzz-c` draws thousands
@pytest.mark.parametrize("share", range(SHARES))
def test_c_computes_what_the_interpreter_does(share: int, fuzzing: Fuzzing) -> None:
    mine = fuzzing.share(SHARES + share, SHARES)
    count = 12 if fuzzing.is_gate else mine.count
    backends = BACKENDS[share % len(BACKENDS)]
    check_random_graphs(graphs_on_foreign_arrays(), count, backends, mine.seed, mine.report, GRAPHS_IN_A_FUNCTION)
