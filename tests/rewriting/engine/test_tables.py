"""Rewriters are made once and used often: what they keep of the Ops that they have met, and what they must not."""

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from lamella.ir import Apply, FunctionGraph, OutputStorage, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    OpPattern,
    RemovalNodeRewriter,
    in2out,
    node_rewriter,
    optdb,
    profile_rewriting,
)
from tests.rewriting.toys import REAL, RealOp, add, exp, graph_of, identity, log, neg, real, show


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


def test_a_rewriter_that_tracks_inputs_is_tried_where_one_is_computed_by_them() -> None:
    tried: list[str] = []

    @node_rewriter([neg, add], tracks_inputs=[exp, OpPattern(Shift, even=True)])
    def watched(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
        tried.append(show(node.outputs[0]))
        return None

    x, y = real("x"), real("y")
    even, odd = shifted(2).op(x), shifted(1).op(x)
    graph = graph_of(neg(x), neg(exp(x)), neg(log(x)), add(x, exp(y)), add(x, y), log(exp(x)), neg(even), neg(odd))
    assert in2out(watched).rewrite(graph) is graph
    assert tried == ["neg(exp(x))", "add(x, exp(y))", "neg(shift(x))"]
    assert watched.tracks_inputs() == (exp, OpPattern(Shift, even=True))
    assert no_even_shift.tracks_inputs() is None


def test_inputs_are_those_that_the_node_has_by_then() -> None:
    @node_rewriter([neg], tracks_inputs=[exp])
    def neg_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        return list(node.inputs)

    hidden = neg(identity(exp(real("x"))))
    without_identity = RemovalNodeRewriter(identity)
    assert show(in2out(neg_of_exp).rewrite(graph_of(hidden))) == "neg(identity(exp(x)))"
    assert show(in2out(neg_of_exp, without_identity).rewrite(graph_of(hidden))) == "exp(x)"
    profiled = profile_rewriting(in2out(neg_of_exp, without_identity), graph_of(hidden))
    assert show(profiled.fgraph) == "exp(x)"


def test_a_pattern_may_name_what_cannot_be_a_key() -> None:
    @attrs.frozen(repr=False)
    class Listed(RealOp):
        symbol: str = "listed"
        function: Callable[..., float] = float
        parts: tuple[int, ...] = (1, 2)

        @property
        def listed(self) -> list[int]:
            return list(self.parts)

    @node_rewriter([OpPattern(Listed, parts=tuple, listed=[1, 2])])
    def removed(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        return list(node.inputs)

    x = real("x")
    assert show(in2out(removed).rewrite(graph_of(Listed()(x), Listed(parts=(2, 1))(x)))) == "x, listed(x)"


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
