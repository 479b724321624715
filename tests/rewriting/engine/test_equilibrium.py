"""Equilibria and sequences: rounds, clean-up, loops across rounds, and the contract of a graph rewriter."""

from typing import Any

import pytest

from lamella.config import config
from lamella.errors import GraphCheckError, RewriteError, RewriteLoopError
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    FromFunctionGraphRewriter,
    GraphRewriter,
    NodeRewriter,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    node_rewriter,
)
from tests.rewriting.toys import (
    POSITIVE,
    RealOp,
    add,
    exp,
    graph_of,
    identity,
    log,
    mul,
    neg,
    real,
    show,
    sub,
)

x, y = real("x"), real("y")
remove_identity = RemovalNodeRewriter(identity)


@graph_rewriter
def swap_outputs(fgraph: FunctionGraph) -> FunctionGraph:
    return fgraph.with_outputs(fgraph.outputs[::-1])


@graph_rewriter
def mark(fgraph: FunctionGraph) -> FunctionGraph:
    """Put an ``identity`` around a ``log`` that is an output."""
    outputs = [identity(v) if v.owner is not None and v.owner.op == log else v for v in fgraph.outputs]
    return fgraph if tuple(outputs) == fgraph.outputs else fgraph.with_outputs(outputs)


def test_graph_rewriters_and_node_rewriters_take_turns() -> None:
    log_to_neg = PatternNodeRewriter((identity, (log, "x")), (neg, "x"))
    rewriter = EquilibriumGraphRewriter([log_to_neg, mark])
    assert show(rewriter.rewrite(graph_of(log(x), log(exp(y))))) == "neg(x), neg(exp(y))"


def test_final_and_cleanup_rewriters() -> None:
    order: list[str] = []

    def watching(name: str) -> GraphRewriter:
        def watch(fgraph: FunctionGraph) -> FunctionGraph:
            order.append(f"{name}: {show(fgraph)}")
            return fgraph

        return FromFunctionGraphRewriter(watch, name=name)

    rewriter = EquilibriumGraphRewriter(
        [mark, PatternNodeRewriter((identity, "x"), (neg, "x"))],
        final_rewriters=[watching("final")],
        cleanup_rewriters=[watching("cleanup")],
    )
    rewriter.rewrite(graph_of(log(x)))
    assert order == [
        "cleanup: identity(log(x))",
        "cleanup: neg(log(x))",
        "final: neg(log(x))",
        "final: neg(log(x))",
    ]


def test_new_trees_can_be_left_to_the_next_round() -> None:
    seen: list[str] = []

    @node_rewriter([add])
    def halve(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
        seen.append(show(fgraph))
        rest = node.inputs[:-1]
        return [add(*rest)] if rest else None

    rewriter = EquilibriumGraphRewriter([halve], ignore_newtrees=True)
    assert show(rewriter.rewrite(graph_of(add(x, y, x)))) == "add(x)"
    assert seen == ["add(x, y, x)", "add(x, y)", "add(x)"]


def test_a_graph_that_comes_back_is_an_error_that_names_the_rewriters() -> None:
    to_log = SubstitutionNodeRewriter(neg, log, name="to_log")

    @graph_rewriter
    def to_neg(fgraph: FunctionGraph) -> FunctionGraph:
        return in2out(SubstitutionNodeRewriter(log, neg)).rewrite(fgraph)

    bystander = RemovalNodeRewriter(exp, name="bystander")
    rewriter = EquilibriumGraphRewriter([to_log, to_neg, bystander], name="spinning")
    message = "spinning made a graph that it had before; the rewriters that undo one another are among to_log, to_neg$"
    with pytest.raises(RewriteLoopError, match=message):
        rewriter.rewrite(graph_of(identity(log(x))))
    swapping = EquilibriumGraphRewriter([swap_outputs])
    with pytest.raises(RewriteLoopError, match="among swap_outputs"):
        swapping.rewrite(graph_of(neg(x), log(x)))


def test_rewriters_that_clean_up_or_end_rounds_are_named_too() -> None:
    to_log = SubstitutionNodeRewriter(neg, log, name="to_log")
    to_neg = in2out(SubstitutionNodeRewriter(log, neg), name="to_neg")
    for rewriter in (
        EquilibriumGraphRewriter([to_log], cleanup_rewriters=[to_neg]),
        EquilibriumGraphRewriter([to_log], final_rewriters=[to_neg]),
        EquilibriumGraphRewriter([in2out(to_log), to_neg]),
    ):
        with pytest.raises(RewriteLoopError, match=r"the rewriters that undo one another are among to_log, to_neg$"):
            rewriter.rewrite(graph_of(exp(neg(x))))


def test_a_graph_that_grows_for_ever_is_an_error() -> None:
    @graph_rewriter
    def grow(fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs([neg(v) for v in fgraph.outputs])

    with pytest.raises(RewriteLoopError, match="the rewriter grow was used"):
        EquilibriumGraphRewriter([grow], max_use_ratio=0.0).rewrite(graph_of(x))


def test_the_bound_on_uses_is_set_by_argument_or_configuration() -> None:
    """2 000 nodes are each rewritten once: with a ratio of 1 that is allowed, with one of 1/4 it is not."""
    e = graph_of(*[log(add(x, float(i))) for i in range(2000)])
    to_neg = SubstitutionNodeRewriter(log, neg)
    assert len(EquilibriumGraphRewriter([to_neg], max_use_ratio=1.0).rewrite(e).order) == 4000
    with pytest.raises(RewriteLoopError, match="was used 1401 times"):
        EquilibriumGraphRewriter([to_neg], max_use_ratio=0.1).rewrite(e)
    with config.override(max_use_ratio=0.1), pytest.raises(RewriteLoopError, match="was used 1401 times"):
        in2out(to_neg).rewrite(e)


def test_what_is_no_rewriter() -> None:
    with pytest.raises(TypeError, match="is neither a GraphRewriter nor a NodeRewriter"):
        EquilibriumGraphRewriter([show])  # type: ignore[list-item]  # a planted mistake
    with pytest.raises(TypeError, match="a walk applies a NodeRewriter"):
        WalkingGraphRewriter(swap_outputs)  # type: ignore[arg-type]  # a planted mistake
    with pytest.raises(ValueError, match="'order' must be in"):
        WalkingGraphRewriter(remove_identity, order="sideways")  # type: ignore[arg-type]  # a planted mistake


# Sequences


def test_a_sequence_of_graph_rewriters() -> None:
    first = in2out(SubstitutionNodeRewriter(log, neg))
    second = in2out(SubstitutionNodeRewriter(neg, identity))
    assert show(SequentialGraphRewriter(first, second).rewrite(graph_of(log(x)))) == "identity(x)"
    assert show(SequentialGraphRewriter(second, first).rewrite(graph_of(log(x)))) == "neg(x)"
    assert SequentialGraphRewriter(first, second) == SequentialGraphRewriter(first, second)
    assert SequentialGraphRewriter().rewrite(graph_of(x)) == graph_of(x)


class Watched:
    """A feature that accepts everything."""

    def validate(self, fgraph: FunctionGraph) -> None:
        pass

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply[Any], list[Apply[Any]]]:
        return {}


WATCHED = Watched()


def needs_watching(fgraph: FunctionGraph) -> FunctionGraph:
    return fgraph.with_feature(WATCHED)


@node_rewriter([exp], requirements=[needs_watching])
def watched(fgraph: FunctionGraph, node: Apply[Any]) -> None:
    assert WATCHED in fgraph.features


@pytest.mark.parametrize(
    "rewriter",
    [
        in2out(watched),
        in2out(watched, remove_identity),
        WalkingGraphRewriter(SequentialNodeRewriter(watched), ignore_newtrees=True),
        EquilibriumGraphRewriter([watched]),
        EquilibriumGraphRewriter([remove_identity], final_rewriters=[in2out(watched)]),
        EquilibriumGraphRewriter([remove_identity], cleanup_rewriters=[in2out(watched)]),
        SequentialGraphRewriter(in2out(remove_identity), in2out(watched)),
        FromFunctionGraphRewriter(in2out(watched).apply, [needs_watching]),
    ],
)
def test_requirements_are_added_before_a_rewriter_is_applied(rewriter: GraphRewriter) -> None:
    assert rewriter.rewrite(graph_of(identity(exp(x)))).features == (WATCHED,)


# The contract


class Returns(GraphRewriter):
    def __init__(self, result: Any) -> None:
        self.result = result

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        result: FunctionGraph = self.result
        return result


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            None,
            "Returns.apply returned None, not a FunctionGraph; graphs never change, so a rewriter returns the new one",
        ),
        (FunctionGraph([x], [exp(x)]), r"Returns changed the inputs of the graph from \(x, y\) to \(x,\)"),
        (FunctionGraph([x, y], [exp(x), x]), "Returns made a graph of 2 outputs from one of 1 outputs"),
        (
            FunctionGraph([x, y], [neg(x)]),
            r"Returns replaced output 0, exp.0 of type positive, by neg.0 of type real, which that type does not include",
        ),
    ],
)
def test_a_graph_rewriter_is_held_to_its_contract(result: Any, message: str) -> None:
    e = FunctionGraph([x, y], [exp(x)])
    with pytest.raises(RewriteError, match=message):
        Returns(result).rewrite(e)
    with pytest.raises(RewriteError, match=message):
        SequentialGraphRewriter(in2out(remove_identity), Returns(result)).rewrite(e)


def test_names() -> None:
    class Named(NodeRewriter):
        name = "by class"

        def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> None:
            return None

    class Renamed(Named):
        def __init__(self) -> None:
            self.name = "by object"

    assert (Returns(None).name, Named().name, Renamed().name) == ("Returns", "by class", "by object")
    assert str(swap_outputs) == swap_outputs.name == "swap_outputs"
    assert repr(swap_outputs) == "FromFunctionGraphRewriter(swap_outputs)"
    assert watched.name == "watched"
    assert repr(watched) == "FromFunctionNodeRewriter(watched)"
    assert in2out(watched).name == "watched"
    assert in2out(watched, remove_identity).name == "watched_identity(x) -> x"
    assert in2out(watched, name="walk").name == "walk"
    assert EquilibriumGraphRewriter([]).name == "EquilibriumGraphRewriter"


class Lies(RealOp):
    """Says of an output that it has not that it is a view."""

    view_map = {3: [0]}


def test_the_graph_checker_runs_after_each_stage_where_it_is_asked_for() -> None:
    e = graph_of(neg(log(x)))
    lies = in2out(SubstitutionNodeRewriter(neg, Lies("lies", abs)), name="liar")
    back = in2out(SubstitutionNodeRewriter(Lies("lies", abs), neg))
    assert SequentialGraphRewriter(lies, back).rewrite(e) == e
    with config.override(check_rewrites=True):
        assert show(in2out(SubstitutionNodeRewriter(neg, exp), remove_identity).rewrite(e)) == "exp(log(x))"
        with pytest.raises(GraphCheckError, match="the view_map of lies speaks of output 3") as caught:
            SequentialGraphRewriter(lies, back).rewrite(e)
    assert caught.value.__notes__ == ["this is the graph that the rewriter liar made"]


def test_positive_outputs_stay_positive() -> None:
    e = graph_of(exp(add(x, 0.0)))
    drop = PatternNodeRewriter((add, "x", 0), "x")
    assert EquilibriumGraphRewriter([drop]).rewrite(e).outputs[0].type == POSITIVE
    assert show(
        EquilibriumGraphRewriter([drop, PatternNodeRewriter((sub, "x", "x"), 0)]).rewrite(graph_of(mul(sub(x, x), y)))
    ) == ("mul(0.0, y)")
