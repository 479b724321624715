"""Nodes that overwrite an input: elementwise ones, and those that write to a part; never what is needed otherwise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import FunctionGraph, TensorVariable, Variable
from lamella.rewriting import GraphRewriter, rewrite_graph
from lamella.rewriting.rules.inplace import InplaceElementwise
from lamella.rewriting.rules.inplace_subtensor import InplaceIncSubtensor
from lamella.typing_layer import Supervisor
from tests.rewriting.rules.before_and_after import assert_same_meaning, body

x, y, m = lt.vector("x"), lt.vector("y"), lt.matrix("m")
X, Y, M = np.array([1.0, -0.0, 4.0]), np.array([2.0, 3.0, 5.0]), np.ones((3, 3))


def _rewritten(
    rewriter: GraphRewriter, inputs: Sequence[TensorVariable], outputs: Sequence[Variable[Any]], values: Any
) -> str:
    old = FunctionGraph(inputs, outputs).with_feature(Supervisor(inputs))
    new = rewriter.rewrite(old)
    assert_same_meaning(old, new, values)
    return body(new)


def test_an_elementwise_node_overwrites_what_it_alone_needs() -> None:
    text = _rewritten(InplaceElementwise(), [x, y], [lt.exp(lt.sin(x)) + y], [X, Y])
    assert text.splitlines()[1:3] == [
        "%1: float64[?] = Exp{inplace=[(0, 0)]}(%0)  # destroys %0",
        "%2: float64[?] = Add{inplace=[(0, 0)]}(%1, %y)  # destroys %1",
    ]


def test_protected_inputs_outputs_constants_and_what_is_broadcast_are_never_overwritten() -> None:
    assert "destroys" not in _rewritten(InplaceElementwise(), [x], [lt.exp(x)], [X])
    s = lt.sin(x)
    assert "destroys" not in _rewritten(InplaceElementwise(), [x], [s, lt.exp(s)], [X])
    assert "destroys" not in _rewritten(InplaceElementwise(), [m], [lt.exp(lt.constant([1.0])) + m], [M])
    small = lt.sin(x).dimshuffle("x", 0)
    assert "Add{inplace" not in _rewritten(InplaceElementwise(), [x, m], [small + m], [X, M])


def test_another_dtype_does_not_fit() -> None:
    s = lt.sin(x)
    assert "destroys" not in _rewritten(InplaceElementwise(), [x], [lt.cast(s, "float32")], [X])


def test_a_part_is_written_to_in_place() -> None:
    text = _rewritten(InplaceIncSubtensor(), [x, y], [lt.set_subtensor(lt.exp(x)[1:], y[1:])], [X, Y])
    assert text.splitlines()[-2] == "%2: float64[?] = SetSubtensor{1:, inplace}(%0, %1)  # destroys %0"
    places = lt.constant([0, 2, 2])
    for index in (places, (places,), x > 0):
        text = _rewritten(InplaceIncSubtensor(), [x, y], [lt.inc_subtensor(lt.exp(x)[index], 2.0)], [X, Y])
        assert "inplace" in text


def test_an_input_and_what_is_read_afterwards_are_copied() -> None:
    assert "destroys" not in _rewritten(InplaceIncSubtensor(), [x], [lt.set_subtensor(x[1:], 0.0)], [X])
    e = lt.exp(x)
    both = [lt.set_subtensor(e[1:], 0.0), lt.set_subtensor(e[:1], 0.0)]
    assert _rewritten(InplaceIncSubtensor(), [x], both, [X]).count("destroys") == 1
    assert "destroys" not in _rewritten(InplaceIncSubtensor(), [x], [both[0], e], [X])


def test_the_gradient_of_a_part_is_written_into_zeros() -> None:
    gradient = lm.grad(lt.sum(lt.square(m[1:, ::2])), m)
    new = rewrite_graph(FunctionGraph([m], [gradient]).with_feature(Supervisor([m])), include=["fast_run"])
    assert "inplace}" in body(new)
    assert_same_meaning(FunctionGraph([m], [gradient]), new, [M])


@pytest.mark.parametrize("word", ["inplace", "inplace_elemwise", "inplace_subtensor"])
def test_words_of_a_query_switch_it(word: str) -> None:
    graph = FunctionGraph([x, y, m], [lt.exp(lt.sum(m, axis=0)), lt.set_subtensor(lt.sum(m, axis=1)[1:], 0.0)])
    graph = graph.with_feature(Supervisor([x, y, m]))
    assert body(rewrite_graph(graph, include=["fast_run"])).count("destroys") == 2
    left = {"inplace": 0, "inplace_elemwise": 1, "inplace_subtensor": 1}[word]
    assert body(rewrite_graph(graph, include=["fast_run"], exclude=[word])).count("destroys") == left
    assert "destroys" not in body(rewrite_graph(graph, include=["fast_compile"]))


def test_a_mutable_input_is_overwritten_and_no_other() -> None:
    f = lm.function([lm.In(x, mutable=True), y], lt.exp(x) * y, mode="FAST_RUN")
    values = [X.copy(), Y.copy()]
    np.testing.assert_allclose(f(*values), np.exp(X) * Y)
    np.testing.assert_array_equal(values[1], Y)
