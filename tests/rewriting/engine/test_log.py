"""The log: for any node of a rewritten graph, which rewriters made it from what."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    RewriteLog,
    RewriteStep,
    SequentialGraphRewriter,
    SubstitutionNodeRewriter,
    in2out,
    node_rewriter,
    out2in,
)
from tests.rewriting.toys import add, exp, graph_of, identity, log, mul, neg, real, show, sub

x, y = real("x"), real("y")
remove_identity = RemovalNodeRewriter(identity, name="remove_identity")
neg_to_log = SubstitutionNodeRewriter(neg, log, name="neg_to_log")


def names(steps: tuple[RewriteStep, ...]) -> list[str | None]:
    return [step.rewriter for step in steps]


def test_the_history_of_a_node() -> None:
    inner, between = neg(x), identity(neg(x))
    outer = add(between, y)
    rewritten = EquilibriumGraphRewriter([remove_identity, neg_to_log]).rewrite_with_log(graph_of(outer))
    assert show(rewritten.fgraph) == "add(log(x), y)"
    made_log, made_add = rewritten.fgraph.order
    # neg(x) -> log(x); so identity and add are applied anew; identity goes
    assert names(rewritten.log.history(made_log)) == ["neg_to_log"]
    assert rewritten.log.origins(made_log) == (inner.owner,)
    assert rewritten.log.step_of(made_add) == RewriteStep(None, (outer,), (made_add.out,))
    assert rewritten.log.origins(made_add) == (outer.owner,)
    assert rewritten.log.rewriters_of(made_log) == ("neg_to_log",)
    assert rewritten.log.explain(made_log) == "log(x)\n  neg_to_log: neg.0 -> log.0"
    assert rewritten.log.explain(made_add) == "add(log.0, y)\n  (inputs rewritten): add.0 -> add.0"
    assert len(rewritten.log) == 4
    assert repr(rewritten.log) == "RewriteLog(4 steps)"
    assert [str(step) for step in rewritten.log] == [
        "neg_to_log: neg.0 -> log.0",
        "(inputs rewritten): identity.0 -> identity.0",
        "remove_identity: identity.0 -> log.0",
        "(inputs rewritten): add.0 -> add.0",
    ]


def test_nodes_that_were_there_have_no_history() -> None:
    e = graph_of(add(identity(x), exp(y)))
    rewritten = in2out(remove_identity).rewrite_with_log(e)
    kept = next(node for node in rewritten.fgraph.order if node.op == exp)
    assert rewritten.log.history(kept) == ()
    assert rewritten.log.step_of(kept) is None
    assert rewritten.log.origins(kept) == (kept,)
    assert rewritten.log.rewriters_of(kept) == ()
    assert rewritten.log.explain(kept) == "exp(y)\n  as it was built"


def test_all_that_a_step_made_is_told() -> None:
    expand = PatternNodeRewriter((sub, "x", "y"), (add, "x", (neg, (identity, "y"))), name="expand")
    start = sub(x, y)
    rewritten = in2out(expand).rewrite_with_log(graph_of(start))
    for node in rewritten.fgraph.order:
        assert names(rewritten.log.history(node)) == ["expand"]
        assert rewritten.log.origins(node) == (start.owner,)


def test_steps_that_follow_one_another() -> None:
    chain = [
        SubstitutionNodeRewriter(a, b, name=f"{a}_to_{b}") for a, b in [(neg, identity), (identity, log), (log, exp)]
    ]
    rewritten = in2out(*chain[:2]).rewrite_with_log(graph_of(neg(x)))
    (node,) = rewritten.fgraph.order
    assert rewritten.log.rewriters_of(node) == ("neg_to_identity", "identity_to_log")
    assert rewritten.log.explain(node) == (
        "log(x)\n  neg_to_identity: neg.0 -> identity.0\n  identity_to_log: identity.0 -> log.0"
    )


@pytest.mark.parametrize("walk", [in2out, out2in])
def test_the_rewriters_of_a_sequence_report_under_their_own_names(walk: Any) -> None:
    rewritten = walk(remove_identity, neg_to_log).rewrite_with_log(graph_of(neg(identity(x))))
    assert {step.rewriter for step in rewritten.log} >= {"remove_identity", "neg_to_log"}


def test_merging_is_logged() -> None:
    rewritten = MergeOptimizer().rewrite_with_log(graph_of(mul(add(x, y), add(y, x))))
    assert [step.rewriter for step in rewritten.log] == ["merge", None]


def test_replacements_beyond_a_node_are_logged() -> None:
    target = exp(x)

    @node_rewriter([log])
    def reaches(fgraph: FunctionGraph, node: Apply[Any]) -> dict[Variable[Any], Variable[Any]]:
        return {target: exp(y)}

    rewritten = in2out(reaches).rewrite_with_log(FunctionGraph([x, y], [neg(target), log(x)]))
    made = next(node for node in rewritten.fgraph.order if node.op == exp)
    assert rewritten.log.rewriters_of(made) == ("reaches",)
    assert rewritten.log.origins(made) == (target.owner,)


def test_a_rewriter_of_ones_own_is_logged_by_what_it_changed() -> None:
    class Mine(GraphRewriter):
        def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
            return fgraph.replace(neg(x), exp(x))

    e = graph_of(add(neg(x), y), log(y))
    rewritten = SequentialGraphRewriter(Mine(), in2out(remove_identity)).rewrite_with_log(e)
    for node in rewritten.fgraph.order:
        assert rewritten.log.rewriters_of(node) == (("Mine",) if node.op == exp else ())


def test_logs_add_up() -> None:
    e = graph_of(add(neg(identity(x)), y))
    first = in2out(remove_identity).rewrite_with_log(e)
    second = in2out(neg_to_log).rewrite_with_log(first.fgraph)
    both = first.log + second.log
    made = next(node for node in second.fgraph.order if node.op == log)
    assert both.start == e
    assert names(both.history(made)) == [None, "neg_to_log"]
    assert both.origins(made) == (neg(identity(x)).owner,)


def test_an_empty_log() -> None:
    e = graph_of(neg(x))
    rewritten = in2out(remove_identity).rewrite_with_log(e)
    assert rewritten.fgraph is e
    assert rewritten.log == RewriteLog(e)
    assert list(rewritten.log) == []


def test_inputs_that_are_computed() -> None:
    given_input = exp(x)
    e = FunctionGraph([given_input], [neg(identity(given_input))])
    rewritten = in2out(remove_identity).rewrite_with_log(e)
    assert rewritten.fgraph.outputs == (neg(given_input),)
    (node,) = rewritten.fgraph.order
    assert rewritten.log.rewriters_of(node) == ("remove_identity",) or rewritten.log.history(node)


@given(st.integers(0, 2**24))
def test_every_new_node_is_accounted_for(bits: int) -> None:
    """Whatever happened, a node of the result was there, or has a step, and its origins were there."""
    v: Variable[Any] = add(x, y)
    for i in range(12):
        v = [neg(v), identity(v), sub(v, y), add(identity(v), neg(v))][bits >> 2 * i & 3]
    e = FunctionGraph([x, y], [v])
    rewriters = [remove_identity, PatternNodeRewriter((sub, "x", "y"), (add, "x", (neg, "y"))), neg_to_log]
    for rewriter in [EquilibriumGraphRewriter(rewriters), in2out(*rewriters), out2in(*rewriters)]:
        rewritten = rewriter.rewrite_with_log(e)
        assert rewritten.fgraph == rewriter.rewrite(e)
        for node in rewritten.fgraph.order:
            there = node in e.apply_nodes
            assert (rewritten.log.step_of(node) is None) == there
            assert set(rewritten.log.origins(node)) <= e.apply_nodes
            assert rewritten.log.origins(node)
