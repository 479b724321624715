"""`explain` and `RewriteLog.explanation`: for each node of a rewritten graph, which rewriters made it from what."""

import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import FunctionGraph, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    RewriteLog,
    RewriteStep,
    SequentialGraphRewriter,
    SubstitutionNodeRewriter,
    explain,
    graph_rewriter,
    in2out,
)
from tests.rewriting.toys import add, exp, graph_of, identity, log, mul, neg, pair, real, show, sub, true_div

x, y, z = real("x"), real("y"), real("z")
remove_identity = RemovalNodeRewriter(identity, name="remove_identity")
sub_to_add = PatternNodeRewriter((sub, "x", "y"), (add, "x", (neg, "y")), name="sub_to_add")


def model() -> Variable[Any]:
    inner = identity(exp(x))
    return mul(sub(inner, y), log(z))


def without_lines(text: str) -> str:
    return re.sub(r", at [^\n]*test_explain\.py:(\d+), in ", r" @ ", text)


rewritten = SequentialGraphRewriter(in2out(remove_identity), in2out(sub_to_add)).rewrite_with_log(graph_of(model()))

EXPECTED = """\
mul [id A] 4
 ┆ as it was built, but for its inputs @ model
 ├─ add [id B] 2
 │  ┆ made by sub_to_add
 │  ┆ from sub(identity.0, y) @ model
 │  ├─ exp [id C] 0
 │  │  ┆ as it was built @ model
 │  │  └─ x [id D]
 │  └─ neg [id E] 1
 │     ┆ made by sub_to_add
 │     ┆ from sub(identity.0, y) @ model
 │     └─ y [id F]
 └─ log [id G] 3
    ┆ as it was built @ model
    └─ z [id H]
"""


def test_a_graph_explained() -> None:
    text = explain(rewritten, file="str")
    assert without_lines(text) == EXPECTED
    assert f"{__file__}:{model.__code__.co_firstlineno + 1}, in model" in text


def test_a_part_of_a_graph_explained() -> None:
    (product,) = rewritten.fgraph.outputs
    assert product.owner is not None
    total = product.owner.inputs[0]
    shown = without_lines(explain(total, rewritten.log, file="str"))
    assert shown.splitlines()[:3] == ["add [id A]", " ┆ made by sub_to_add", " ┆ from sub(identity.0, y) @ model"]
    assert without_lines(explain(rewritten.fgraph, rewritten.log, depth=1, file="str")).count("┆") == 1
    assert without_lines(explain(total.owner, rewritten.log, file="str")) == shown if total.owner else False


def test_explaining_prints(capsys: pytest.CaptureFixture[str]) -> None:
    explain(rewritten)
    target = io.StringIO()
    explain(rewritten, file=target)
    assert capsys.readouterr().out == target.getvalue() == explain(rewritten, file="str")


def test_the_log_has_to_be_known() -> None:
    with pytest.raises(ValueError, match="explain a compiled function, or give its log as well, as in explain"):
        explain(rewritten.fgraph)


def test_explanations_as_data() -> None:
    by_op = {node.op: rewritten.log.explanation(node) for node in rewritten.fgraph.order}
    assert by_op[add].rewriters == ("sub_to_add",)
    assert [step.rewriter for step in by_op[add].steps] == [None, "sub_to_add"]
    assert [origin.op for origin in by_op[add].origins] == [sub]
    assert (by_op[mul].rewriters, [step.rewriter for step in by_op[mul].steps]) == ((), [None, None])
    assert by_op[exp].steps == ()
    assert all(explanation.is_known for explanation in by_op.values())
    assert without_lines(str(by_op[neg])).splitlines() == [
        "neg(y)",
        "  made by sub_to_add",
        "  from sub(identity.0, y) @ model",
    ]
    foreign = exp(exp(z))
    assert foreign.owner is not None
    unknown = rewritten.log.explanation(foreign.owner)
    assert not unknown.is_known
    assert unknown.lines() == ["the log does not tell where this is from"]


def test_what_stands_for_an_input_is_told() -> None:
    @graph_rewriter
    def doubles(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs([add(v, v) for v in fgraph.outputs])

    assert explain(doubles.rewrite_with_log(graph_of(x)), file="str").splitlines()[1:3] == [
        " ┆ made by doubles",
        " ┆ from x",
    ]


def test_what_many_were_joined_into_is_told_in_short() -> None:
    terms = [exp(add(x, float(i))) for i in range(12)]
    joined = real("joined")
    total = add(*terms)
    assert total.owner is not None
    step = RewriteStep("join", (*terms, total), (*[None] * len(terms), neg(joined)))
    log_of_it = RewriteLog(FunctionGraph([x, joined], [total]), (step,))
    explanation = log_of_it.explanation(neg(joined).owner)  # type: ignore[arg-type]  # a node computes it
    assert explanation.origins == (*[term.owner for term in terms], total.owner)
    assert len(explanation.lines()) == 10
    assert explanation.lines()[-1] == "and from 5 more"
    assert len(explanation.lines(max_origins=20)) == 14


# What a rewriter replaced that tells nothing by itself


class Simplify(GraphRewriter):
    """x*y/y -> x, with no walk."""

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        for node in fgraph.toposort():
            if node.op == true_div:
                numerator, denominator = node.inputs
                if numerator.owner and numerator.owner.op == mul and denominator == numerator.owner.inputs[1]:
                    fgraph = fgraph.replace(node.outputs[0], numerator.owner.inputs[0])
        return fgraph


def told(rewriter: GraphRewriter, graph: FunctionGraph) -> list[tuple[str | None, str, str]]:
    return [
        (step.rewriter, ", ".join(map(show, step.before)), ", ".join([show(v) if v else "-" for v in step.after]))
        for step in rewriter.rewrite_with_log(graph).log
    ]


def test_replacements_are_told_from_nodes_applied_anew() -> None:
    graph = graph_of(add(z, mul(true_div(mul(x, y), y), true_div(z, x))))
    assert told(Simplify(), graph) == [
        ("Simplify", "true_div(mul(x, y), y)", "x"),
        (None, "mul(true_div(mul(x, y), y), true_div(z, x))", "mul(x, true_div(z, x))"),
        (None, show(graph), "add(z, mul(x, true_div(z, x)))"),
    ]


def test_shared_parts_are_told_once_and_several_outputs_together() -> None:
    part = true_div(mul(x, y), y)
    total, difference = pair(part, z)
    assert told(Simplify(), graph_of(total, difference, neg(part))) == [
        ("Simplify", "true_div(mul(x, y), y)", "x"),
        (None, "Pair(true_div(mul(x, y), y), z).0, Pair(true_div(mul(x, y), y), z).1", "Pair(x, z).0, Pair(x, z).1"),
        (None, "neg(true_div(mul(x, y), y))", "neg(x)"),
    ]


def test_exchanged_operands_are_one_replacement() -> None:
    @graph_rewriter
    def turn(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.replace(add(neg(x), exp(y)), add(exp(y), neg(x)))

    assert told(turn, graph_of(log(add(neg(x), exp(y))))) == [
        ("turn", "add(neg(x), exp(y))", "add(exp(y), neg(x))"),
        (None, "log(add(neg(x), exp(y)))", "log(add(exp(y), neg(x)))"),
    ]


terms = st.recursive(
    st.sampled_from([x, y, z]),
    lambda inner: (
        st.builds(lambda op, u: op(u), st.sampled_from([exp, neg, identity]), inner)
        | st.builds(lambda op, u, v: op(u, v), st.sampled_from([add, sub, mul]), inner, inner)
    ),
    max_leaves=10,
)


@given(st.lists(terms, min_size=1, max_size=3))
def test_every_node_of_a_rewritten_graph_has_an_explanation(outputs: list[Variable[Any]]) -> None:
    """Whether rewriters report by themselves or not; and what a node is from was in the graph at the start."""
    graph = graph_of(*outputs)
    walk = EquilibriumGraphRewriter(
        [remove_identity, sub_to_add, SubstitutionNodeRewriter(exp, neg, name="exp_to_neg")]
    )

    @graph_rewriter
    def silent(fgraph: FunctionGraph) -> FunctionGraph:
        return walk.rewrite(fgraph)

    for rewriter in (walk, silent):
        result = rewriter.rewrite_with_log(graph)
        assert result.fgraph == walk.rewrite(graph)
        for node in result.fgraph.order:
            explanation = result.log.explanation(node)
            assert explanation.is_known
            assert (explanation.steps == ()) == (node in graph.apply_nodes)
            assert set(explanation.origins) <= graph.apply_nodes
            assert explanation.origins


def test_long_chains() -> None:
    chain = x
    for _ in range(5_000):
        chain = neg(identity(chain))
    result = in2out(remove_identity).rewrite_with_log(graph_of(chain))
    text = explain(result, file="str")
    assert text.count("┆") == 5_000
