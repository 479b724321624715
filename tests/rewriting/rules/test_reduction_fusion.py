"""Reductions that are done while what they reduce is computed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import Elemwise, FunctionGraph, ReducedElemwise, ifelse
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.reduction_fusion import ReductionFusion
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, computed

x, m = lt.vector("x"), lt.matrix("m")
X, M = np.array([1.0, -0.0, 4.0]), np.arange(9.0).reshape(3, 3) - 4
fusion = ReductionFusion()


def test_the_law() -> None:
    assert after([x], lt.sum(lt.exp(x)), [X], fusion) == "%0: float64[] = Exp{Sum{axis=(0,)} of 0}(%x)\nreturn %0"


def test_several_reductions_and_the_result_itself() -> None:
    e = lt.exp(m)
    text = after([m], [lt.sum(e, axis=0), lt.max(e, axis=1), e], [M], fusion)
    assert text.splitlines()[0].endswith("= Exp{0, Sum{axis=(0,)} of 0, Max{axis=(1,)} of 0}(%m)")


def test_results_of_a_fused_node() -> None:
    d = lt.exp(m) - m
    outputs = [lt.sum(lt.square(d)), d * 2.0, lt.max(d, axis=0)]
    new = applied(applied(FunctionGraph([m], outputs), ElementwiseFusion()), fusion)
    assert [type(node.op) for node in new.order] == [ReducedElemwise]
    assert_same_meaning(FunctionGraph([m], outputs), new, [M])


def test_what_is_no_elementwise_result_is_reduced_as_before() -> None:
    for output in (lt.sum(x), lt.sum(m.T, axis=0), lt.argmax(lt.exp(x))):
        graph = FunctionGraph([x, m], [output])
        assert fusion.rewrite(graph) is graph


def test_a_reduction_that_only_a_branch_needs_waits_for_it() -> None:
    e, c = lt.exp(x), lt.bscalar("c")
    graph = FunctionGraph([c, x], [ifelse(c, lt.sum(e), lt.constant(0.0)), e])
    assert fusion.rewrite(graph) is graph


@pytest.mark.parametrize("word", ["fusion", "reduction_fusion", "reassociates"])
def test_words_of_a_query_switch_it(word: str) -> None:
    expression: Any = lt.sum(lt.exp(x))
    assert isinstance(rewrite_graph(expression, include=["fast_run"]).owner.op, ReducedElemwise)
    assert not isinstance(rewrite_graph(expression, include=["fast_run"], exclude=[word]).owner.op, ReducedElemwise)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=14))
def test_any_graph(steps: list[tuple[int, int, int]]) -> None:
    made: list[Any] = [m, x, lt.constant(2.0)]
    unary: list[Any] = [lt.exp, lt.neg, lt.square, lt.cos]
    for kind, a, b in steps:
        first, second = made[-1 - a % len(made)], made[-1 - b % len(made)]
        if kind < 4:
            made.append(unary[kind](first))
        elif kind < 6:
            made.append(first + second if kind == 4 else first - second)
        elif first.ndim:
            made.append(lt.sum(first, axis=-1) if kind == 6 else lt.max(first, axis=0, keepdims=True))
    old = FunctionGraph([m, x], [made[-1], made[len(made) // 2]])
    new = applied(applied(old, ElementwiseFusion()), fusion)
    with np.errstate(all="ignore"):
        for found, expected in zip(computed(new, [M, X]), computed(old, [M, X]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert not [a for a in new.order if isinstance(a.op, Elemwise) and a.op.inplace_pattern]
