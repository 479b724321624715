"""The tutorial's own examples: three ways to simplify x*y/y, and the ready-made node rewriters."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    NodeProcessingGraphRewriter,
    NodeRewriter,
    OpKey,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    ReplaceValidate,
    SubstitutionNodeRewriter,
    TransformResult,
    WalkingGraphRewriter,
    in2out,
    node_rewriter,
)
from tests.rewriting.toys import add, exp, graph_of, identity, mul, real, show, true_div

x, y, z = real("x"), real("y"), real("z")


class Simplify(GraphRewriter):
    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        for node in fgraph.toposort():
            if node.op == true_div:
                x, y = node.inputs
                z = node.outputs[0]
                if x.owner and x.owner.op == mul:
                    a, b = x.owner.inputs
                    if y == a:
                        fgraph = fgraph.replace_validate(z, b)
                    elif y == b:
                        fgraph = fgraph.replace_validate(z, a)
        return fgraph


class LocalSimplify(NodeRewriter):
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        if node.op == true_div:
            x, y = node.inputs
            if x.owner and x.owner.op == mul:
                a, b = x.owner.inputs
                if y == a:
                    return [b]
                elif y == b:
                    return [a]
        return False

    def tracks(self) -> list[OpKey]:
        return [true_div]


@node_rewriter([true_div])
def local_simplify(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    x, y = node.inputs
    if x.owner and x.owner.op == mul and y in x.owner.inputs:
        a, b = x.owner.inputs
        return [b if y is a else a]
    return None


class SimplifyAtOutputs(NodeProcessingGraphRewriter):
    """The tutorial's exercise: a traversal of one's own, with the method that the base class publishes."""

    def __init__(self) -> None:
        self.node_rewriter = local_simplify

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        for node in fgraph.toposort():
            fgraph = self.process_node(fgraph, node)
        return fgraph


local_simplify_1 = PatternNodeRewriter((true_div, (mul, "x", "y"), "y"), "x")
local_simplify_2 = PatternNodeRewriter((true_div, (mul, "x", "y"), "x"), "y")

WAYS: dict[str, GraphRewriter] = {
    "graph rewriter": Simplify(),
    "node rewriter": WalkingGraphRewriter(LocalSimplify()),
    "decorated": WalkingGraphRewriter(local_simplify),
    "outputs first": WalkingGraphRewriter(local_simplify, order="out_to_in"),
    "process_node": SimplifyAtOutputs(),
    "patterns": in2out(local_simplify_1, local_simplify_2),
    "equilibrium": EquilibriumGraphRewriter([local_simplify_1, local_simplify_2]),
}


@pytest.fixture(params=WAYS)
def simplify(request: pytest.FixtureRequest) -> GraphRewriter:
    return WAYS[request.param]


def test_the_first_example(simplify: GraphRewriter) -> None:
    a = add(z, mul(true_div(mul(y, x), y), true_div(z, x)))
    e = FunctionGraph([x, y, z], [a])
    rewritten = simplify.rewrite(e)
    assert show(rewritten) == "add(z, mul(x, true_div(z, x)))"
    assert rewritten.inputs == e.inputs
    assert show(e) == "add(z, mul(true_div(mul(y, x), y), true_div(z, x)))"
    assert simplify(e) == rewritten


def test_the_second_example_needs_no_merging(simplify: GraphRewriter) -> None:
    a = true_div(mul(add(y, z), x), add(y, z))
    e = FunctionGraph([x, y, z], [a])
    assert MergeOptimizer().rewrite(e) is e
    assert simplify.rewrite(e).outputs == (x,)


def test_merge_first(simplify: GraphRewriter) -> None:
    """Nodes that differ in their names are two nodes, until they are merged."""
    a = true_div(mul(add(y, z).named("sum"), x), add(y, z))
    e = FunctionGraph([x, y, z], [a])
    assert simplify.rewrite(e).outputs == (a,)
    merged = MergeOptimizer().rewrite(e)
    assert show(merged) == show(e)
    assert len(merged.order) == len(e.order) - 1
    assert simplify.rewrite(merged).outputs == (x,)


def test_a_graph_with_nothing_to_do_stays(simplify: GraphRewriter) -> None:
    e = graph_of(true_div(mul(x, y), z))
    assert simplify.rewrite(e).outputs[0] is e.outputs[0]


def test_many_instances() -> None:
    a = x
    for _ in range(50):
        a = true_div(mul(a, y), y)
    e = graph_of(add(a, a), a, y)
    for name in ["node rewriter", "decorated", "outputs first", "patterns", "equilibrium"]:
        assert show(WAYS[name].rewrite(e)) == "add(x, x), x, y"


def test_replacing_one_op_by_another() -> None:
    add_to_mul = SubstitutionNodeRewriter(add, mul)
    e = graph_of(add(add(x, y), true_div(x, y)))
    assert show(in2out(add_to_mul).rewrite(e)) == "mul(mul(x, y), true_div(x, y))"


def test_a_substitution_that_does_not_fit_is_not_made() -> None:
    e = graph_of(exp(x))
    assert in2out(SubstitutionNodeRewriter(exp, identity)).rewrite(e) is e


def test_removing_an_op() -> None:
    remove_identity = RemovalNodeRewriter(identity)
    e = graph_of(identity(add(identity(identity(x)), y)))
    assert show(in2out(remove_identity).rewrite(e)) == "add(x, y)"


# The same on tensors


local_simplify_tensors_1 = PatternNodeRewriter((lt.true_div, (lt.mul, "x", "y"), "y"), "x")
local_simplify_tensors_2 = PatternNodeRewriter((lt.true_div, (lt.mul, "x", "y"), "x"), "y")


class SimplifyTensors(GraphRewriter):
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        for node in fgraph.toposort():
            if node.op == lt.true_div:
                x, y = node.inputs
                z = node.outputs[0]
                if x.owner and x.owner.op == lt.mul:
                    a, b = x.owner.inputs
                    if y == a:
                        fgraph = fgraph.replace(z, b)
                    elif y == b:
                        fgraph = fgraph.replace(z, a)
        return fgraph


@pytest.mark.parametrize(
    "simplify",
    [
        SimplifyTensors(),
        in2out(local_simplify_tensors_1, local_simplify_tensors_2),
        EquilibriumGraphRewriter([local_simplify_tensors_1, local_simplify_tensors_2]),
    ],
)
def test_the_examples_on_tensors(simplify: GraphRewriter) -> None:
    x, y, z = lt.dscalar("x"), lt.dscalar("y"), lt.dscalar("z")
    a = lt.add(z, lt.mul(lt.true_div(lt.mul(y, x), y), lt.true_div(z, x)))
    assert simplify.rewrite(FunctionGraph([x, y, z], [a])).outputs[0] is lt.add(z, lt.mul(x, lt.true_div(z, x)))
    again = lt.true_div(lt.mul(lt.add(y, z), x), lt.add(y, z))
    assert simplify.rewrite(FunctionGraph([x, y, z], [again])).outputs[0] is x


def test_a_pattern_compares_constants_of_any_dimension_by_value() -> None:
    """Fault B19: the pattern for 1/(exp(x) + 1) must leave 1/(exp(x) + 2) and 1/(exp(x) - 1) alone."""
    x = lt.dvector("x")
    sigmoid = PatternNodeRewriter((lt.true_div, 1, (lt.add, (lt.exp, "x"), 1)), (lt.sigmoid, (lt.neg, "x")))
    assert in2out(sigmoid).rewrite(graph_of(1 / (lt.exp(x) + 1))).outputs[0] is lt.sigmoid(-x)
    for expression, expected in [
        (1 / (lt.exp(x) + 2), [0.2119415576, 0.1065069789]),
        (1 / (lt.exp(x) - 1), [0.5819767069, 0.1565176427]),
    ]:
        kept = in2out(sigmoid).rewrite(graph_of(expression)).outputs[0]
        assert kept is expression
        np.testing.assert_allclose(kept.eval({x: [1.0, 2.0]}), expected)


def test_a_pattern_is_not_applied_where_the_shape_would_change() -> None:
    """x*y/y has the shape that x and y broadcast to, which is not that of a scalar x."""
    x, y = lt.dscalar("x"), lt.dvector("y")
    expression = x * y / y
    rewritten = in2out(local_simplify_tensors_1, local_simplify_tensors_2).rewrite(graph_of(expression))
    assert rewritten.outputs[0] is expression
