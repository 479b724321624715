"""Products that are added to something: what becomes one call of the BLAS, what does not, what is written in place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import FunctionGraph, Gemm, Gemv, TensorVariable, interpret
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.gemm import dot_plus_scaled
from lamella.rewriting.rules.inplace_blas import InplaceBlas
from lamella.typing_layer import Supervisor
from tests.rewriting.rules.before_and_after import applied, body
from tests.rewriting.rules.special_values import rewritten

x, y, z = lt.matrix("x"), lt.matrix("y"), lt.matrix("z")
v, w, s = lt.vector("v"), lt.vector("w"), lt.scalar("s")
INPUTS: list[TensorVariable] = [x, y, z, v, w, s]
one = lt.constant(1.0)

LAWS: list[tuple[TensorVariable, TensorVariable]] = [
    (lt.dot(x, y) + z, Gemm()(z, one, x, y, one)),
    (z - lt.dot(x, y), Gemm()(z, -1.0, x, y, one)),
    (lt.dot(x, y) - z, Gemm()(z, one, x, y, -1.0)),
    (0.5 * lt.dot(x, y) + z * 2.0, Gemm()(z, 0.5, x, y, 2.0)),
    (s * lt.dot(x, y) - z, Gemm()(z, s, x, y, -1.0)),
    (z - s * lt.dot(x, y), Gemm()(z, lt.neg(s), x, y, one)),
    (lt.neg(lt.dot(x, y)) + z, Gemm()(z, -1.0, x, y, one)),
    (lt.dot(x, v) + w, Gemv()(w, one, x, v, one)),
    (w * s - lt.dot(v, x), Gemv()(w, -1.0, x.T, v, s)),
    (lt.dot(x, y) + lt.dot(y, x), Gemm()(lt.dot(y, x), one, x, y, one)),
    (lt.dot(x.T, y.T) + z, Gemm()(z, one, x.T, y.T, one)),
]


@pytest.mark.parametrize(("before", "after"), LAWS, ids=[str(i) for i in range(len(LAWS))])
def test_the_law(before: TensorVariable, after: TensorVariable) -> None:
    assert rewritten(before, dot_plus_scaled) is after
    rng = np.random.default_rng(0)
    values = [*[rng.normal(size=(3, 3)) for _ in range(3)], rng.normal(size=3), rng.normal(size=3), np.asarray(0.5)]
    for spoil in (None, 0, 2):
        given = [np.array(value) for value in values]
        if spoil is not None:
            given[spoil][0, 1] = np.inf
        old, new = interpret(INPUTS, [before, after], given)
        np.testing.assert_allclose(new, old, rtol=1e-13)


@pytest.mark.parametrize(
    "expression",
    [
        lt.tanh(lt.dot(x, y) + z),  # one elementwise pass does all of it
        lt.sum(lt.dot(x, y) + z),
        lt.dot(x, y) + v,  # broadcast
        lt.dot(x, y) - (z > 0),
        lt.dot(x, y) + s,
        lt.dot(v, w) + s,
        lt.dot(lt.cast(x, "int64"), lt.cast(y, "int64")) + lt.cast(z, "int64"),
        lt.cast(lt.dot(lt.cast(x, "float32"), lt.cast(y, "float32")), "float64") + z,
    ],
)
def test_what_stays(expression: TensorVariable) -> None:
    assert rewritten(expression, dot_plus_scaled) is expression


def test_what_is_of_another_dtype_stays() -> None:
    x, flags = lt.dvector("x"), lt.tensor("flags", dtype="bool", shape=(None,))
    for expression in (x - flags, lt.dot(lt.dmatrix("m"), x) - flags):
        assert rewritten(expression, dot_plus_scaled) is expression


def test_a_product_that_others_need_is_not_computed_twice() -> None:
    product = lt.dot(x, y)
    graph = FunctionGraph(INPUTS, [product + z, product])
    assert applied(graph, dot_plus_scaled).outputs == graph.outputs
    graph = FunctionGraph(INPUTS, [2.0 * product + z, 2.0 * product])
    assert applied(graph, dot_plus_scaled).outputs == graph.outputs


def _in_place(outputs: Sequence[TensorVariable]) -> str:
    graph = FunctionGraph(INPUTS, outputs).with_feature(Supervisor(INPUTS))
    return body(InplaceBlas().rewrite(applied(graph, dot_plus_scaled)))


def test_what_nobody_needs_is_added_to_in_place() -> None:
    assert "Gemm{inplace}(%0, %c0, %x, %y, %c0)  # destroys %0" in _in_place([lt.dot(x, y) + lt.dot(y, x)])
    assert "inplace" not in _in_place([lt.dot(x, y) + z])
    e = lt.exp(z)
    assert "inplace" not in _in_place([lt.dot(x, y) + e, e])
    assert "inplace" in _in_place([lt.dot(x, y) + e, lt.sum(e)])


def test_words_of_a_query_switch_it() -> None:
    expression: Any = lt.dot(x, y) + z
    assert isinstance(rewrite_graph(expression, include=["fast_run"]).owner.op, Gemm)
    for word in ("blas", "gemm", "reassociates"):
        assert not isinstance(rewrite_graph(expression, include=["fast_run"], exclude=[word]).owner.op, Gemm)


def test_updates_in_c_with_factors_of_zero_and_infinity() -> None:
    state = lm.shared(np.ones((2, 2)))
    product = lt.dot(x, y)
    f = lm.function([x, y, s], [s * product + z], updates={state: state * s - product}, givens={z: state})
    a, b = np.array([[1.0, np.inf], [0.0, 2.0]]), np.array([[1.0, 0.0], [3.0, 1.0]])
    with np.errstate(all="ignore"):
        for factor in (2.0, 0.0, np.inf):
            before = state.get_value()
            (found,) = f(a, b, factor)
            np.testing.assert_array_equal(found, factor * (a @ b) + before)
            np.testing.assert_array_equal(state.get_value(), before * factor - a @ b)


def test_three_steps_of_a_product_and_a_sum() -> None:
    step = x
    for _ in range(3):
        step = 0.07 * lt.dot(step, y) + 0.3 * z
    f = lm.function([x, y, z], step)
    assert [str(node.op) for node in f.scheduled.order] == ["Gemm"] * 3
    values = [np.random.default_rng(i).normal(size=(20, 20)) for i in range(3)]
    expected = values[0]
    for _ in range(3):
        expected = 0.07 * (expected @ values[1]) + 0.3 * values[2]
    np.testing.assert_allclose(f(*values), expected, rtol=1e-12)
