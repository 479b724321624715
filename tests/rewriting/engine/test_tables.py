"""Rewriters are made once and used often: what they keep of the Ops that they have met, and what they must not."""

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from lamella.ir import Apply, FunctionGraph, OutputStorage, Variable
from lamella.rewriting import EquilibriumGraphRewriter, GraphRewriter, OpPattern, in2out, node_rewriter, optdb
from tests.rewriting.toys import REAL, RealOp, graph_of, identity, real, show


@attrs.frozen(repr=False)
class Shift(RealOp):
    """An Op of which there are as many as there are numbers."""

    symbol: str = "shift"
    function: Callable[..., float] = float
    by: int = 0
    even: bool = False

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] + self.by


@node_rewriter([OpPattern(Shift, even=True)])
def no_even_shift(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    return list(node.inputs)


@node_rewriter([OpPattern(Shift, even=False)])
def asks_for_clients(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    return None if fgraph.get_clients(node.outputs[0]) else list(node.inputs)


rewriters = pytest.mark.parametrize(
    "rewriter",
    [
        in2out(no_even_shift, asks_for_clients),
        EquilibriumGraphRewriter([no_even_shift, asks_for_clients]),
        optdb.query("+fast_run"),
    ],
    ids=["walk", "equilibrium", "optdb"],
)


def shifted(by: int) -> Apply[Any]:
    return Shift(by=by, even=by % 2 == 0).make_node(real("x"))


@rewriters
def test_a_rewriter_keeps_no_op_alive(rewriter: GraphRewriter) -> None:
    node = shifted(1)
    op = weakref.ref(node.op)
    for _ in range(2):
        rewriter.rewrite(graph_of(node.outputs[0]))
    del node
    gc.collect()
    assert op() is None


@pytest.mark.parametrize(
    "rewriter", [in2out(no_even_shift, asks_for_clients), EquilibriumGraphRewriter([no_even_shift, asks_for_clients])]
)
def test_an_op_in_the_place_of_one_that_died_is_met_as_what_it_is(rewriter: GraphRewriter) -> None:
    # Each Op dies before the next is made, which then is likely to have its address.
    places = set()
    for by in range(200):
        node = shifted(by)
        places.add(id(node.op))
        found = rewriter.rewrite(graph_of(node.outputs[0])).outputs[0]
        assert (found is node.inputs[0]) == (by % 2 == 0)
        del node, found
    assert len(places) < 200


def test_a_rewriter_knows_what_many_others_have_left_alone() -> None:
    outer = in2out(no_even_shift, asks_for_clients)
    node = identity.make_node(shifted(1).outputs[0])
    for i in range(150):

        @node_rewriter([RealOp], reads_graph=False)
        def nothing(fgraph: FunctionGraph, node: Apply[Any]) -> None:
            return None

        in2out(nothing, name=f"nothing{i}").rewrite(graph_of(node.outputs[0]))
        assert outer.rewrite(graph_of(node.outputs[0])).outputs == node.outputs
    assert show(outer.rewrite(graph_of(identity(shifted(2).outputs[0]))).outputs[0]) == "identity(x)"
    assert node.outputs[0].type == REAL
