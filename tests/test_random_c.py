"""Random graphs of all Ops that are lowered to C, on arrays in all layouts: C computes what the interpreter does."""

import pytest
from hypothesis import strategies as st

from lamella.codegen import CffiScalarOp, CScalarOp, c_expression, c_lowering
from lamella.ir import Elemwise, IndexedElemwise, ReducedElemwise
from lamella.testing.strategies import RandomGraph, graphs
from tests.fuzzing import Fuzzing
from tests.graph_batches import Backends, check_random_graphs

SHARES = 4  # tests that can run side by side
GRAPHS_IN_A_FUNCTION = 40

# Of the graph as it is and the graph rewritten one is compiled, with less optimisation: so more graphs are tried in the same time.
BACKENDS: tuple[Backends, ...] = ({"-O1": ["CLinker"]}, {"-O1": ["FAST_RUN"]})
SIDES = (1, 2, 7, 16, 17, 33, 64, 100, 257, 0)

# Made by rewriting, and users' own.
NOT_DRAWN = {
    IndexedElemwise,
    ReducedElemwise,
    CScalarOp,
    CffiScalarOp,
    *[cls for cls in c_lowering.classes if cls.__module__.split(".")[1] != "ir"],
}


@st.composite
def graphs_on_foreign_arrays(draw: st.DrawFn) -> RandomGraph:
    """Draw graphs; some have larger arrays, which take other paths, and the values of some are in the byte order of other machines."""
    size = draw(st.sampled_from([0] * 12 + [2000] * 7 + [70_000]))
    graph = draw(graphs(min_steps=3, sides=SIDES if size else (), max_size=size))
    if draw(st.integers(0, 5)):
        return graph
    return RandomGraph(graph.outputs, {v: x.astype(x.dtype.newbyteorder()) for v, x in graph.inputs.items()})


@pytest.mark.fuzz_c
@pytest.mark.timeout(14400)  # `make fuzz-c` draws thousands
@pytest.mark.parametrize("share", range(SHARES))
def test_c_computes_what_the_interpreter_does(share: int, fuzzing: Fuzzing) -> None:
    mine = fuzzing.share(SHARES + share, SHARES)
    count = 12 if fuzzing.is_gate else mine.count
    drawn: set[type] = set()

    def note_ops(graph: RandomGraph) -> RandomGraph:
        for node in graph.fgraph.order:
            drawn.update(type(node.op).__mro__)
            if isinstance(node.op, Elemwise):
                drawn.update(type(node.op.scalar_op).__mro__)
        return graph

    graphs_of_all_ops = graphs_on_foreign_arrays().map(note_ops)
    backends = BACKENDS[share % len(BACKENDS)]
    check_random_graphs(graphs_of_all_ops, count, backends, mine.seed, mine.report, GRAPHS_IN_A_FUNCTION)
    if count >= 2000:
        assert {*c_lowering.classes, *c_expression.classes} - drawn <= NOT_DRAWN
