"""Models whose values and gradients are computed: what memory and time are measured on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

import lamella as lm
import lamella.tensor as lt
from lamella.ir import TensorVariable

__all__ = ["MODELS", "Model"]

Array = npt.NDArray[Any]


@final
@attrs.frozen
class Model:
    """A graph and values for its inputs.

    Attributes
    ----------
    name
        A name.
    build
        Returns inputs and outputs.
    values
        Makes values of the inputs.
    """

    name: str
    build: Callable[[], tuple[Sequence[TensorVariable], Sequence[TensorVariable]]]
    values: Callable[[np.random.Generator], list[Array]]


def _with_gradient(cost: TensorVariable, wrt: Sequence[TensorVariable]) -> list[TensorVariable]:
    gradients: list[Any] = list(lm.grad(cost, list(wrt)))
    return [cost, *gradients]


def _regression() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    x, y, w, b = lt.matrix("x"), lt.vector("y"), lt.vector("w"), lt.scalar("b")
    z = lt.dot(x, w) + b
    cost = lt.mean(lt.log1p(lt.exp(z)) - y * z) + 0.005 * lt.sum(w**2)
    return [x, y, w, b], _with_gradient(cost, [w, b])


def _regression_values(rng: np.random.Generator) -> list[Array]:
    x, w = rng.normal(size=(10_000, 100)), rng.normal(size=100) * 0.1
    y = (rng.random(10_000) < 1 / (1 + np.exp(-(x @ w)))).astype("float64")
    return [x, y, rng.normal(size=100) * 0.1, np.asarray(0.1)]


def _perceptron() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    x, y = lt.matrix("x"), lt.lvector("y")
    w1, b1, w2, b2 = lt.matrix("w1"), lt.vector("b1"), lt.matrix("w2"), lt.vector("b2")
    hidden = lt.tanh(lt.dot(x, w1) + b1)
    scores = lt.dot(hidden, w2) + b2
    cost = lt.mean(lt.logsumexp(scores, axis=1) - scores[lt.arange(scores.shape[0]), y])
    return [x, y, w1, b1, w2, b2], _with_gradient(cost, [w1, b1, w2, b2])


def _perceptron_values(rng: np.random.Generator) -> list[Array]:
    layers = [rng.normal(size=(784, 256)) * 0.03, np.zeros(256), rng.normal(size=(256, 10)) * 0.06, np.zeros(10)]
    return [rng.normal(size=(128, 784)), rng.integers(0, 10, size=128), *layers]


def _softmax() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    x, w = lt.matrix("x"), lt.matrix("w")
    return [x, w], _with_gradient(lt.sum(lt.softmax(x, axis=1) * w), [x])


def _products() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    y, b, c = lt.matrix("y"), lt.matrix("b"), lt.matrix("c")
    step = y
    for _ in range(3):
        step = 0.07 * lt.dot(step, b) + 0.3 * c
    return [y, b, c], [step]


_POINTS, _DIMENSIONS, _CLUSTERS = 1000, 10, 25


def _mixture() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    """The logarithm of the likelihood of a mixture of Gaussians, whose precisions are given by triangular factors."""
    x, means = lt.matrix("x"), lt.matrix("means")
    weights, log_diagonals, lower = lt.vector("weights"), lt.matrix("log_diagonals"), lt.tensor3("lower")
    centred = x[None, :, :] - means[:, None, :]
    whitened = lt.exp(log_diagonals)[:, None, :] * centred + lt.matmul(centred, lower.transpose(0, 2, 1))
    terms = weights + lt.sum(log_diagonals, axis=1) - 0.5 * lt.sum(whitened**2, axis=2).T
    cost = lt.sum(lt.logsumexp(terms, axis=1)) - x.shape[0] * lt.logsumexp(weights)
    return [x, weights, means, log_diagonals, lower], _with_gradient(cost, [weights, means, log_diagonals, lower])


def _mixture_values(rng: np.random.Generator) -> list[Array]:
    n, d, k = _POINTS, _DIMENSIONS, _CLUSTERS
    lower = np.tril(rng.normal(size=(k, d, d)), -1)
    return [rng.normal(size=(n, d)), rng.normal(size=k), rng.normal(size=(k, d)), rng.normal(size=(k, d)), lower]


def _chain() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    x = lt.vector("x")
    density = lt.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return [x], _with_gradient(lt.sum(density * lt.sin(3 * x) + lt.log1p(x * x)), [x])


def _relaxation() -> tuple[Sequence[TensorVariable], Sequence[TensorVariable]]:
    start = lt.matrix("start")
    x = start
    for _ in range(2):
        mean = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
        x = lt.set_subtensor(x[1:-1, 1:-1], mean)
    return [start], [x]


MODELS: Final[tuple[Model, ...]] = (
    Model("logistic regression", _regression, _regression_values),
    Model("perceptron", _perceptron, _perceptron_values),
    Model("softmax", _softmax, lambda rng: [rng.normal(size=(2000, 500)), rng.normal(size=(2000, 500))]),
    Model("three products", _products, lambda rng: [rng.normal(size=(500, 500)) for _ in range(3)]),
    Model("mixture of Gaussians", _mixture, _mixture_values),
    Model("elementwise chain", _chain, lambda rng: [rng.normal(size=1_000_000)]),
    Model("relaxation", _relaxation, lambda rng: [rng.normal(size=(1000, 1000))]),
)
"""All of them."""
