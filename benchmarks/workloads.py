"""What is measured: each workload is written once, over a namespace of functions with NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["WORKLOADS", "Workload"]

Array = npt.NDArray[Any]


@final
@attrs.frozen
class Workload:
    """Inputs, an expression of them, and whether its gradient with respect to the first input is wanted.

    Attributes
    ----------
    name, about
        A name, and what it is.
    inputs
        Makes the inputs.
    body
        The expression, given a namespace and symbolic (or real) inputs.
    gradient
        Return the value and its gradient with respect to the first input.
    by_hand
        The same in NumPy, for workloads with a gradient.
    """

    name: str
    about: str
    inputs: Callable[[np.random.Generator], list[Array]]
    body: Callable[..., Any]
    gradient: bool = False
    by_hand: Callable[..., list[Array]] | None = None


def _vectors(n: int, dtype: str = "float64") -> Callable[[np.random.Generator], list[Array]]:
    return lambda rng: [rng.normal(size=n).astype(dtype)]


def _matrix(rng: np.random.Generator) -> list[Array]:
    return [rng.normal(size=(3000, 3000))]


def _fused(ns: Any, x: Any) -> Any:
    return ns.exp(-x * x / 2) * ns.sin(3 * x) + ns.log1p(x * x)


def _regression_inputs(rng: np.random.Generator) -> list[Array]:
    images = rng.random((1348, 65))
    labels = rng.integers(0, 10, 1348)
    return [0.01 * rng.normal(size=(65, 10)), images, np.eye(10)[labels]]


def _regression(ns: Any, weights: Any, images: Any, targets: Any) -> Any:
    scores = ns.dot(images, weights)
    fit = ns.mean(ns.logsumexp(scores, 1) - ns.sum(scores * targets, axis=1))
    return fit + 1e-3 * ns.sum(weights * weights)


def _regression_by_hand(weights: Array, images: Array, targets: Array) -> list[Array]:
    scores = images @ weights
    top = scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores - top)
    totals = exponentials.sum(axis=1, keepdims=True)
    fit = np.mean(top[:, 0] + np.log(totals[:, 0]) - (scores * targets).sum(axis=1))
    gradient = images.T @ (exponentials / totals - targets) / len(images) + 2e-3 * weights
    return [np.asarray(fit + 1e-3 * (weights * weights).sum()), gradient]


def _ten_in_three_out(ns: Any, *xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return [total, total * 2.0, xs[0] - total]


WORKLOADS = (
    Workload(
        "overhead_scalar", "x*y+1, 0-d", lambda rng: [np.asarray(2.0), np.asarray(3.0)], lambda ns, x, y: x * y + 1
    ),
    Workload(
        "overhead_vec8",
        "exp(x-y)*x + y*2 on 8-vectors",
        lambda rng: [rng.normal(size=8), rng.normal(size=8)],
        lambda ns, x, y: ns.exp(x - y) * x + y * 2,
    ),
    Workload(
        "overhead_10in3out",
        "ten 0-d inputs, three outputs",
        lambda rng: [np.asarray(float(i)) for i in range(10)],
        _ten_in_three_out,
    ),
    Workload("fused_1e3", "exp(-x*x/2)*sin(3x)+log1p(x*x)", _vectors(1_000), _fused),
    Workload("fused_1e5", "the same", _vectors(100_000), _fused),
    Workload("fused_1e7", "the same", _vectors(10_000_000), _fused),
    Workload("fused_1e7_float32", "the same, float32", _vectors(10_000_000, "float32"), _fused),
    Workload("sum_exp_1e7", "sum(exp(x))", _vectors(10_000_000), lambda ns, x: ns.sum(ns.exp(x))),
    Workload("sum_axis0", "3000x3000", _matrix, lambda ns, x: ns.sum(x, axis=0)),
    Workload("sum_axis1", "3000x3000", _matrix, lambda ns, x: ns.sum(x, axis=1)),
    Workload("max_axis1", "3000x3000", _matrix, lambda ns, x: ns.max(x, axis=1)),
    Workload("argmax_axis1", "3000x3000", _matrix, lambda ns, x: ns.argmax(x, axis=1)),
    Workload("var_axis0", "3000x3000", _matrix, lambda ns, x: ns.var(x, axis=0)),
    Workload(
        "logsumexp", "2000x500, axis 1", lambda rng: [rng.normal(size=(2000, 500))], lambda ns, x: ns.logsumexp(x, 1)
    ),
    Workload("softmax", "2000x500, axis 1", lambda rng: [rng.normal(size=(2000, 500))], lambda ns, x: ns.softmax(x, 1)),
    Workload(
        "softmax_regression",
        "value and gradient, 1348 images of 65 pixels, 10 classes",
        _regression_inputs,
        _regression,
        gradient=True,
        by_hand=_regression_by_hand,
    ),
)
