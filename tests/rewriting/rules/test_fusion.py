"""Elementwise fusion: what becomes one node, and what must not."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import Apply, Composite, Elemwise, FunctionGraph, TensorType, as_tensor_variable, interpret
from lamella.ir import lt as ops
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.fusion import ElementwiseFusion
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

x, y, m = lt.vector("x"), lt.vector("y"), lt.matrix("m")
X, Y, M = np.array([1.0, -0.0, np.nan]), np.array([np.inf, 2.0, 3.0]), np.ones((2, 3))
fusion = ElementwiseFusion()


def _fused(*outputs: Any) -> FunctionGraph:
    return applied(FunctionGraph([x, y, m], outputs), fusion)


def test_a_chain_becomes_one_node() -> None:
    text = after([x, y], lt.exp(x * 2.0) + y, [X, Y], fusion)
    assert text == "%0: float64[?] = Composite{Add(Exp(Mul(i0, 2.0)), i1)} @0(%x, %y)\nreturn %0"


def test_a_value_used_twice_in_one_group_is_computed_once() -> None:
    e = lt.exp(x)
    text = after([x, y], e * y + e, [X, Y], fusion)
    assert text == "%0: float64[?] = Composite{t0 = Exp(i0); Add(Mul(t0, i1), t0)} @0(%x, %y)\nreturn %0"


def _elementwise(graph: FunctionGraph) -> list[str]:
    return [str(node.op) for node in graph.order if isinstance(node.op, Elemwise)]


def test_what_others_need_is_a_result_too() -> None:
    e = lt.exp(x)
    graph = _fused(lt.sin(lt.cos(e)), lt.sum(e))
    assert _elementwise(graph) == ["Composite{t0 = Exp(i0); t0, Sin(Cos(t0))}"]
    assert_same_meaning(FunctionGraph([x, y, m], [lt.sin(lt.cos(e)), lt.sum(e)]), graph, [X, Y, M])


def test_what_reads_the_same_array_is_one_node() -> None:
    assert _elementwise(_fused(lt.exp(x), lt.sin(x) + y, lt.cos(m))) == [
        "Composite{Exp(i0), Add(Sin(i0), i1)}",
        "Cos",
    ]


def test_what_is_only_reduced_joins_what_reads_the_same_array_earlier() -> None:
    """The total could be computed last, but there the array would be read once more."""
    outputs = [lt.exp(m) / lt.sum(lt.square(m), axis=1, keepdims=True), lt.sum(lt.sin(m))]
    graph = _fused(*outputs)
    assert "Composite{Square(i0), Sin(i0)}" in _elementwise(graph)
    assert_same_meaning(FunctionGraph([x, y, m], outputs), graph, [X, Y, M])


def test_what_a_group_reads_is_computed_early_enough() -> None:
    """The sum and the view of it could wait until the last pass needs them, but that pass can join the first one."""
    e = lt.exp(m)
    outputs = [lt.cumsum(lt.cumsum(e, axis=0), axis=1), lt.sum(e * lt.sum(x))]
    graph = _fused(*outputs)
    assert _elementwise(graph) == ["Composite{t0 = Exp(i0); t0, Mul(t0, i1)}"]
    assert_same_meaning(FunctionGraph([x, y, m], outputs), graph, [X, Y, M])


def test_a_path_that_leaves_a_group_does_not_come_back() -> None:
    e = lt.exp(x)
    outputs = [lt.sin(e) * lt.sum(e), lt.cos(e)]
    graph = _fused(*outputs)
    assert _elementwise(graph) == ["Composite{t0 = Exp(i0); t0, Cos(t0)}", "Composite{Mul(Sin(i0), i1)}"]
    assert_same_meaning(FunctionGraph([x, y, m], outputs), graph, [X, Y, M])


def test_a_graph_that_overwrites_keeps_its_order() -> None:
    """A node must not be joined with one that runs after what it reads has been overwritten."""
    e = lt.exp(x)
    (over,) = Elemwise(ops.add.scalar_op, ((0, 0),)).make_node(x, y).outputs
    old = FunctionGraph([x, y], [e * as_tensor_variable(over)])
    new = applied(old, fusion)
    assert_same_meaning(old, new, [X, Y])


def test_what_is_broadcast_is_computed_once_for_all() -> None:
    graph = _fused(lt.exp(lt.sin(x) * 2.0) + m)
    assert [str(node.op) for node in graph.order if isinstance(node.op, Elemwise)] == [
        "Composite{Exp(Mul(Sin(i0), 2.0))}",
        "Add",
    ]


def test_a_single_node_stays_what_it_is() -> None:
    graph = FunctionGraph([x], [lt.exp(x)])
    assert fusion.rewrite(graph) is graph


def test_inputs_that_are_the_same_are_one() -> None:
    graph = _fused(lt.exp(x) * x + x)
    assert [len(node.inputs) for node in graph.order] == [1]


def test_groups_have_a_bound() -> None:
    v = x
    for _ in range(10):
        v = lt.sin(v)
    graph = ElementwiseFusion(max_nodes=4).rewrite(FunctionGraph([x], [v]))
    assert 3 <= len(graph.order) <= 4
    assert_same_meaning(FunctionGraph([x], [v]), graph, [X])


def test_fused_nodes_fuse_again() -> None:
    once = _fused(lt.exp(x) * y)
    more = FunctionGraph(once.inputs, [lt.sin(as_tensor_variable(once.outputs[0])) + x])
    again = fusion.rewrite(more)
    assert [type(node.op.scalar_op) for node in again.order if isinstance(node.op, Elemwise)] == [Composite]
    assert "Composite{Composite" not in str(again.order[0].op)


def test_a_constant_of_unknown_length_1_does_not_begin_to_broadcast() -> None:
    one = TensorType("float64", (None,)).make_constant(np.array([2.0]))
    old = FunctionGraph([x], [lt.exp(x * one)])
    for graph in (old, applied(old, fusion)):
        with pytest.raises(BroadcastError):
            interpret([x], graph.outputs, [X])


def test_a_node_declared_of_less_than_its_inputs_tell() -> None:
    """Fault B27: the type of a node may know less than could be computed from its inputs."""
    one = lt.tensor("one", dtype="float64", shape=(1,))
    node = Apply(Elemwise(ops.power.scalar_op), [one, lt.constant([3.0])], [TensorType("float64", (None,))])
    power = as_tensor_variable(node.outputs[0])
    for outputs in ([lt.exp(power)], [lt.exp(power) + lt.sin(power)]):
        old = FunctionGraph([one], outputs)
        assert_same_meaning(old, applied(old, fusion), [[2.0]])
    old = FunctionGraph([one, x], [lt.exp(power) + x])
    new = applied(old, fusion)
    assert_same_meaning(old, new, [[2.0], [1.0]])
    for graph in (old, new):
        with pytest.raises(BroadcastError):
            interpret(graph.inputs, graph.outputs, [np.array([2.0]), X])


def test_lengths_must_agree_as_before() -> None:
    old = FunctionGraph([x, y], [lt.exp(x) * y + 1.0])
    for graph in (old, applied(old, fusion)):
        with pytest.raises(BroadcastError):
            interpret(graph.inputs, graph.outputs, [np.zeros(1), np.zeros(3)])


def test_words_of_a_query_switch_it() -> None:
    expression = lt.exp(x) * y
    assert "Composite" in str(rewrite_graph(expression, include=["fast_run"]).owner)
    for word in ("fusion",):
        assert "Composite" not in str(rewrite_graph(expression, include=["fast_run"], exclude=[word]).owner)
    assert "Composite" not in str(rewrite_graph(expression, include=["fast_compile"]).owner)


def test_the_gradient_of_a_sum_is_one_node() -> None:
    gradient = lm.grad(lt.sum(lt.exp(x * 2.0) * y), x)
    new = rewrite_graph(FunctionGraph([x, y], [gradient]), include=["fast_run"], exclude=["inplace"])
    assert [type(node.op) for node in new.order] == [Elemwise]
    np.testing.assert_array_equal(
        interpret(new.inputs, new.outputs, [np.array([0.5, 1.0]), np.array([3.0, -1.0])])[0],
        np.exp(np.array([1.0, 2.0])) * np.array([3.0, -1.0]) * 2.0,
    )


UNARY: list[Any] = [lt.exp, lt.sin, lt.neg, lt.square, lt.tensor_copy, lt.sum]
BINARY: list[Any] = [lt.add, lt.mul, lt.maximum, lt.second, lt.sub]


@given(
    st.lists(st.tuples(st.integers(0, 10), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=20),
    st.integers(1, 6),
)
def test_any_graph(steps: list[tuple[int, int, int]], max_nodes: int) -> None:
    """Graphs with sharing, broadcasting, dtypes and constants; with groups of all sizes."""
    i = lt.lvector("i")
    made: list[Any] = [x, y, m, i, lt.constant([[2.0]]), lt.constant(-0.0)]
    for kind, a, b in steps:
        first, second = made[-1 - a % len(made)], made[-1 - b % len(made)]
        made.append(UNARY[kind](first) if kind < 6 else BINARY[kind - 6](first, second))
    inputs, values = [x, y, m, i], [X, Y, M, [1, -2, 3]]
    old = FunctionGraph(inputs, [made[-1], made[len(made) // 2]])
    new = applied(old, ElementwiseFusion(max_nodes=max_nodes))
    assert_same_meaning(old, new, values)
