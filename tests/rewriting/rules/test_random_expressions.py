"""Random expressions, rewritten and not: all rewrites together come to an end, and the exact ones change no bit."""

import numpy as np
import pytest
from hypothesis import given, note, settings

from lamella.ir import FunctionGraph, TensorType, TensorVariable, grad, interpret, is_differentiable_dtype, lt, to_text
from lamella.rewriting import EquilibriumGraphRewriter, GraphRewriter, rewrite_graph
from lamella.rewriting.database.builtin import ALGEBRA, CANONICALIZE, SPECIALIZE, STABILIZE, STRUCTURE
from tests.rewriting.rules.random_expressions import RandomExpressions, random_expressions
from tests.rewriting.rules.special_values import same_bits, special_values

EXACT = EquilibriumGraphRewriter(
    [rewrite.rewriter for rewrite in (*STRUCTURE, *ALGEBRA) if "reassociates" not in rewrite.tags]
)
EVERYTHING = EquilibriumGraphRewriter(
    list({rewrite.rewriter.name: rewrite.rewriter for rewrite in (*CANONICALIZE, *STABILIZE, *SPECIALIZE)}.values())
)
"""Those of all groups at once, with those that assume that there is no NaN: never applied together, but even so no two undo one another."""

FEWER = settings(max_examples=settings.default.max_examples // 4 if settings.default else 50)


def graph_of(expressions: RandomExpressions) -> FunctionGraph:
    return FunctionGraph(expressions.inputs, expressions.made[-3:])


def rewritten(old: FunctionGraph, rewriter: GraphRewriter) -> FunctionGraph:
    note(to_text(old))
    new = rewriter.rewrite(old)
    note(to_text(new))
    for was, now in zip(old.outputs, new.outputs, strict=True):
        assert was.type.is_super(now.type)
    return new


@given(random_expressions())
def test_exact_algebra_changes_no_bit(expressions: RandomExpressions) -> None:
    old = graph_of(expressions)
    new = rewritten(old, EXACT)
    try:
        before = interpret(old.inputs, old.outputs, expressions.values)
    except ValueError:  # integers to negative powers
        return
    for was, now in zip(before, interpret(new.inputs, new.outputs, expressions.values), strict=True):
        assert same_bits(was, now)


@FEWER
@given(random_expressions())
def test_all_rewrites_at_once_come_to_an_end(expressions: RandomExpressions) -> None:
    new = rewritten(graph_of(expressions), EVERYTHING)
    assert EVERYTHING.rewrite(new).outputs == new.outputs


@FEWER
@given(random_expressions(dtypes=("float64", "float32")))
def test_gradients_too(expressions: RandomExpressions) -> None:
    costs = [v for v in expressions.made[-3:] if is_differentiable_dtype(v.dtype)]
    if not costs:
        return
    total: TensorVariable = lt.sum(costs[-1])
    slopes = grad(total, expressions.inputs, disconnected_inputs="ignore", null_gradients="return")
    outputs = [slope for slope in slopes if isinstance(slope, TensorVariable)]
    graph = FunctionGraph(expressions.inputs, [total, *outputs])
    rewritten(graph, EVERYTHING)
    exact = rewritten(graph, EXACT)
    if any([v.dtype not in ("float32", "float64", "bool") for v in expressions.made]):
        return
    for was, now in zip(
        interpret(graph.inputs, graph.outputs, expressions.values),
        interpret(exact.inputs, exact.outputs, expressions.values),
        strict=True,
    ):
        assert same_bits(np.asarray(was), np.asarray(now))


@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
def test_two_constants_that_are_no_numbers_come_to_an_end(include: str) -> None:
    x = TensorType("float64", (None,))("x")
    for expression in (
        x + np.nan + np.nan,
        x * np.nan * np.nan,
        lt.maximum(lt.maximum(x, np.nan), np.nan),
        -(np.nan * x),
    ):
        found = rewrite_graph(expression, include=(include,), exclude=("inplace",))
        assert np.isnan(interpret([x], [found], [special_values("float64")])[0]).all()
