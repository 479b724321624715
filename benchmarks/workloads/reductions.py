"""Reductions, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["REDUCTIONS"]


def _square(rng: np.random.Generator) -> list[Array]:
    return [rng.normal(size=(3000, 3000))]


def _scores(rng: np.random.Generator) -> list[Array]:
    return [rng.normal(size=(2000, 500))]


def _softmax_by_hand(x: Array, weights: Array) -> list[Any]:
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    shares = exponentials / exponentials.sum(axis=1, keepdims=True)
    weighted = shares * weights
    totals = weighted.sum(axis=1, keepdims=True)
    return [weighted.sum(), weighted - shares * totals]


REDUCTIONS = (
    Workload(
        "sumexp_1e7",
        "sum(exp(x))",
        lambda rng: [rng.normal(size=10_000_000)],
        lambda names, x: names.sum(names.exp(x)),
        bar=1.1,
    ),
    Workload("sum_ax0_3000", "3000x3000", _square, lambda names, x: names.sum(x, axis=0), bar=1, rtol=1e-7),
    Workload("sum_ax1_3000", "3000x3000", _square, lambda names, x: names.sum(x, axis=1), bar=1, rtol=1e-7),
    Workload("sum_all_3000", "3000x3000", _square, lambda names, x: names.sum(x), bar=1, rtol=1e-7),
    Workload("max_ax1_3000", "3000x3000", _square, lambda names, x: names.max(x, axis=1), bar=1),
    Workload("argmax_ax1_3000", "3000x3000", _square, lambda names, x: names.argmax(x, axis=1), bar=1),
    Workload("var_ax0_3000", "3000x3000", _square, lambda names, x: names.var(x, axis=0), bar=1),
    Workload("logsumexp_2000x500", "axis 1", _scores, lambda names, x: names.logsumexp(x, axis=1), bar=1),
    Workload("softmax_2000x500", "axis 1", _scores, lambda names, x: names.softmax(x, axis=1), bar=1),
    Workload(
        "softmax_vg_2000x500",
        "sum(softmax(x)*w) and its gradient",
        lambda rng: [rng.normal(size=(2000, 500)), rng.normal(size=(2000, 500))],
        lambda names, x, weights: names.sum(names.softmax(x, axis=1) * weights),
        wrt=(0,),
        by_hand=_softmax_by_hand,
        bar=1.5,
    ),
)
