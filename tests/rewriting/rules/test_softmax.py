"""Weights of a softmax that underflow: likelihoods of classes, and their gradients."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import special

from lamella.ir import FunctionGraph, TensorType, TensorVariable, grad, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.softmax import log_of_part_of_softmax, slope_of_log_of_softmax
from lamella.typing_layer import schedule
from tests.rewriting.rules.special_values import Array, rewritten
from tests.rewriting.rules.stable_forms import matrix

x, y = matrix()("x"), TensorType("int64", (None,))("y")
LOGITS = np.array([[0.0, 2000.0, -1000.0], [1.0, 2.0, 3.0], [-800.0, 800.0, 0.0]])
CLASSES = np.array([2, 0, 0])

Likelihood = Callable[[TensorVariable], TensorVariable]

LIKELIHOODS: list[tuple[Likelihood, Array]] = [
    (lambda p: lt.sum(lt.log(p[lt.arange(y.shape[0]), y])), np.eye(3)[CLASSES]),
    (lambda p: lt.sum(lt.log(p)[lt.arange(y.shape[0]), y]), np.eye(3)[CLASSES]),
    (lambda p: lt.sum(lt.log(p[:, 0])), np.eye(3)[[0, 0, 0]]),
    (lambda p: lt.sum(lt.log(p[:, 1:])), np.array([[0.0, 1, 1]] * 3)),
    (lambda p: lt.sum(lt.log(p[:, [0, 0, 2]])), np.array([[2.0, 0, 1]] * 3)),
    (lambda p: lt.sum(lt.log(p[2])), np.array([[0.0] * 3, [0] * 3, [1] * 3])),
    (lambda p: lt.sum(lt.log(p.T)), np.ones((3, 3))),
    (lambda p: lt.mean(lt.log(p)) * 9, np.ones((3, 3))),
]


@pytest.mark.parametrize(("likelihood", "counts"), LIKELIHOODS)
def test_likelihoods_and_their_gradients_do_not_underflow(likelihood: Likelihood, counts: Array) -> None:
    value = likelihood(lt.softmax(x, axis=1))
    old = [value, grad(value, x)]
    new = rewrite_graph(old, include=("fast_run",), exclude=("nan_unsafe", "inplace"))
    graph = FunctionGraph([x, y], new)
    found, slope = interpret(graph.inputs, graph.outputs, [LOGITS, CLASSES], schedule(graph).order)
    weights = special.softmax(LOGITS, axis=1)
    np.testing.assert_allclose(found, (counts * special.log_softmax(LOGITS, axis=1)).sum(), rtol=1e-14)
    np.testing.assert_allclose(slope, counts - weights * counts.sum(axis=1, keepdims=True), rtol=1e-13, atol=1e-13)
    plain = interpret([x, y], old, [LOGITS, CLASSES])
    assert not np.isfinite(plain[0])
    assert np.isnan(plain[1]).any()


def test_what_is_picked_out_is_picked_out_of_the_logarithms() -> None:
    weights, logarithms = lt.softmax(x, axis=1), lt.log_softmax(x, axis=1)
    for place in ((slice(None), 0), (np.arange(3), y), (slice(None, None, -1),)):
        assert rewritten(lt.log(weights[place]), log_of_part_of_softmax) is logarithms[place]
    kept = lt.log(lt.square(weights)[:, 0])
    assert rewritten(kept, log_of_part_of_softmax) is kept


def test_other_weights_stay() -> None:
    p, q = lt.softmax(x, axis=1), lt.softmax(x, axis=0)
    zeros = lt.zeros_like(p)
    for kept in (
        lt.reciprocal(q) * p,
        lt.reciprocal(x) * x,
        zeros[:, 0].inc(lt.reciprocal(p[:, 1])) * p,
        zeros[:, 0].inc(lt.reciprocal(q[:, 0])) * p,
        x[:, 0].inc(lt.reciprocal(p[:, 0])) * p,
        (x - lt.reciprocal(p)) * p,
    ):
        assert rewritten(kept, slope_of_log_of_softmax) is rewritten(kept)
