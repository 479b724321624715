"""Regressions, a perceptron and products of matrices: what the BLAS has a part in."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["PRODUCTS"]


def _logistic_inputs(rng: np.random.Generator) -> list[Array]:
    points = rng.normal(size=(10_000, 100))
    weights = rng.normal(size=100) * 0.1
    labels = (rng.random(10_000) < 1 / (1 + np.exp(-(points @ weights)))).astype("float64")
    return [points, labels, rng.normal(size=100) * 0.1, np.asarray(0.1)]


def _logistic(names: Any, points: Any, labels: Any, weights: Any, bias: Any) -> Any:
    z = names.dot(points, weights) + bias
    return names.mean(names.log1p(names.exp(z)) - labels * z) + 0.005 * names.sum(weights**2)


def _logistic_by_hand(points: Array, labels: Array, weights: Array, bias: Array) -> list[Any]:
    z = points @ weights + bias
    e = np.exp(z)
    value = np.mean(np.log1p(e) - labels * z) + 0.005 * np.sum(weights * weights)
    slope = (e / (1 + e) - labels) / labels.shape[0]
    return [value, points.T @ slope + 0.01 * weights, slope.sum()]


def _softmax_inputs(rng: np.random.Generator) -> list[Array]:
    return [0.01 * rng.normal(size=(65, 10)), rng.random((1348, 65)), np.eye(10)[rng.integers(0, 10, 1348)]]


def _softmax(names: Any, weights: Any, images: Any, targets: Any) -> Any:
    scores = names.dot(images, weights)
    fit = names.mean(names.logsumexp(scores, axis=1) - names.sum(scores * targets, axis=1))
    return fit + 1e-3 * names.sum(weights * weights)


def _softmax_by_hand(weights: Array, images: Array, targets: Array) -> list[Any]:
    scores = images @ weights
    top = scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores - top)
    totals = exponentials.sum(axis=1, keepdims=True)
    fit = np.mean(top[:, 0] + np.log(totals[:, 0]) - (scores * targets).sum(axis=1))
    gradient = images.T @ (exponentials / totals - targets) / len(images) + 2e-3 * weights
    return [fit + 1e-3 * (weights * weights).sum(), gradient]


def _perceptron_inputs(rng: np.random.Generator) -> list[Array]:
    layers = [rng.normal(size=(784, 256)) * 0.03, np.zeros(256), rng.normal(size=(256, 10)) * 0.06, np.zeros(10)]
    return [rng.normal(size=(128, 784)), rng.integers(0, 10, size=128), *layers]


def _perceptron(names: Any, x: Any, labels: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    hidden = names.tanh(names.dot(x, w1) + b1)
    scores = names.dot(hidden, w2) + b2
    return names.mean(names.logsumexp(scores, axis=1) - scores[names.arange(128), labels])


def _perceptron_by_hand(x: Array, labels: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> list[Any]:
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    top = scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores - top)
    totals = exponentials.sum(axis=1, keepdims=True)
    rows = np.arange(128)
    value = np.mean(top[:, 0] + np.log(totals[:, 0]) - scores[rows, labels])
    slope = exponentials / totals
    slope[rows, labels] -= 1
    slope /= 128
    inner = (slope @ w2.T) * (1 - hidden * hidden)
    return [value, x.T @ inner, inner.sum(axis=0), hidden.T @ slope, slope.sum(axis=0)]


def _three_products(names: Any, a: Any, b: Any, c: Any) -> Any:
    y = a
    for _ in range(3):
        y = 0.07 * names.dot(y, b) + 0.3 * c
    return y


PRODUCTS = (
    Workload(
        "logreg_vg",
        "logistic regression and its gradient, 10000x100",
        _logistic_inputs,
        _logistic,
        wrt=(2, 3),
        by_hand=_logistic_by_hand,
        bar=1,
    ),
    Workload(
        "softmax_regression_vg",
        "softmax regression and its gradient, 1348 images of 65 pixels, 10 classes",
        _softmax_inputs,
        _softmax,
        wrt=(0,),
        by_hand=_softmax_by_hand,
    ),
    Workload(
        "mlp_vg",
        "perceptron 784-256-10 and its gradients, batch 128",
        _perceptron_inputs,
        _perceptron,
        wrt=(2, 3, 4, 5),
        by_hand=_perceptron_by_hand,
        bar=1,
    ),
    Workload(
        "gemm3_500",
        "three times y = 0.07*(y@b) + 0.3*c, 500x500",
        lambda rng: [rng.normal(size=(500, 500)) for _ in range(3)],
        _three_products,
        bar=1,
    ),
)
