"""Models as statisticians write them: densities and their gradients."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["MODELS"]

_ROWS, _GROUPS = 919, 85


@cache
def _groups() -> tuple[Array, Array, Array]:
    """Return for each row its group, a covariate and what was measured."""
    rng = np.random.default_rng(20)
    group = np.sort(rng.integers(0, _GROUPS, size=_ROWS))
    return group, rng.binomial(1, 0.5, size=_ROWS).astype("float64"), rng.normal(size=_ROWS)


def _partial_pooling(names: Any, q: Any) -> Any:
    """The log-density of a model with an intercept and a slope for each group (as of radon in houses by county), of all its parameters."""
    group, covariate, y = map(names.constant, _groups())
    mean_a, log_a, raw_a = q[0], q[1], q[2:87]
    mean_b, log_b, raw_b, log_y = q[87], q[88], q[89:174], q[174]
    scale_a, scale_b, scale_y = names.exp(log_a), names.exp(log_b), names.exp(log_y)
    a = mean_a + scale_a * raw_a
    b = mean_b + scale_b * raw_b
    z = (y - (a[group] + b[group] * covariate)) / scale_y
    prior_a = -0.5 * (mean_a / 10) ** 2 - 0.5 * scale_a**2 + log_a - 0.5 * names.sum(raw_a**2)
    prior_b = -0.5 * (mean_b / 2) ** 2 - 0.5 * scale_b**2 + log_b - 0.5 * names.sum(raw_b**2)
    return prior_a + prior_b - 0.5 * scale_y**2 + log_y + names.sum(-0.5 * z**2 - log_y)


def _partial_pooling_by_hand(q: Array) -> list[Any]:
    group, covariate, y = _groups()
    mean_a, log_a, raw_a = q[0], q[1], q[2:87]
    mean_b, log_b, raw_b, log_y = q[87], q[88], q[89:174], q[174]
    scale_a, scale_b, scale_y = math.exp(log_a), math.exp(log_b), math.exp(log_y)
    a = mean_a + scale_a * raw_a
    b = mean_b + scale_b * raw_b
    z = (y - (a[group] + b[group] * covariate)) / scale_y
    squares = z @ z
    value = -0.5 * (mean_a / 10) ** 2 - 0.5 * scale_a**2 + log_a - 0.5 * (raw_a @ raw_a)
    value += -0.5 * (mean_b / 2) ** 2 - 0.5 * scale_b**2 + log_b - 0.5 * (raw_b @ raw_b)
    value += -0.5 * scale_y**2 + log_y - 0.5 * squares - _ROWS * log_y
    slope = z / scale_y
    by_a = np.bincount(group, slope, minlength=_GROUPS)
    by_b = np.bincount(group, slope * covariate, minlength=_GROUPS)
    gradient = np.empty_like(q)
    gradient[0] = -mean_a / 100 + by_a.sum()
    gradient[1] = -scale_a * scale_a + 1 + scale_a * (by_a @ raw_a)
    gradient[2:87] = -raw_a + scale_a * by_a
    gradient[87] = -mean_b / 4 + by_b.sum()
    gradient[88] = -scale_b * scale_b + 1 + scale_b * (by_b @ raw_b)
    gradient[89:174] = -raw_b + scale_b * by_b
    gradient[174] = -scale_y * scale_y + 1 + squares - _ROWS
    return [value, gradient]


_POINTS, _DIMENSIONS, _CLUSTERS = 1000, 10, 25
_BELOW: Final = _DIMENSIONS * (_DIMENSIONS - 1) // 2


@cache
def _places_of_triangle() -> Array:
    """Return for each entry of a square matrix its place in the entries below the diagonal, column by column, and the place after them elsewhere."""
    places = np.full((_DIMENSIONS, _DIMENSIONS), _BELOW)
    columns, rows = np.triu_indices(_DIMENSIONS, 1)
    places[rows, columns] = np.arange(_BELOW)
    return places


def _constant_of_prior() -> float:
    """The logarithm of what a Wishart density of identity scale and one degree of freedom more than dimensions is divided by."""
    d, freedom = _DIMENSIONS, _DIMENSIONS + 1
    of_gamma = sum([math.lgamma(0.5 * freedom + 0.5 * (1 - j)) for j in range(1, d + 1)])
    return -0.5 * freedom * d * math.log(2) - (d * (d - 1) / 4 * math.log(math.pi) + of_gamma)


def _mixture(names: Any, x: Any, weights: Any, means: Any, factors: Any) -> Any:
    """The log-likelihood of a mixture of Gaussians and the prior of its precisions, as the benchmark ADBench has them.

    Each precision is given by the logarithms of the diagonal of its triangular factor and by what is below.
    """
    logs, below = factors[:, :_DIMENSIONS], factors[:, _DIMENSIONS:]
    diagonals, totals = names.exp(logs), names.sum(logs, axis=1)
    padded = names.concatenate([below, names.zeros((_CLUSTERS, 1))], axis=1)
    triangles = padded[:, names.constant(_places_of_triangle())]
    centred = x[None, :, :] - means[:, None, :]
    whitened = diagonals[:, None, :] * centred + names.matmul(centred, triangles.transpose(0, 2, 1))
    terms = weights + totals - 0.5 * names.sum(whitened**2, axis=2).T
    fit = names.sum(names.logsumexp(terms, axis=1)) - _POINTS * names.logsumexp(weights, axis=0)
    prior = names.sum(0.5 * (names.sum(diagonals**2, axis=1) + names.sum(below**2, axis=1)))
    return fit + prior - _CLUSTERS * _constant_of_prior() - _POINTS * _DIMENSIONS * 0.5 * math.log(2 * math.pi)


def _mixture_by_hand(x: Array, weights: Array, means: Array, factors: Array) -> list[Any]:
    d = _DIMENSIONS
    logs, below = factors[:, :d], factors[:, d:]
    diagonals, totals = np.exp(logs), logs.sum(axis=1)
    places = _places_of_triangle()
    triangles = np.concatenate([below, np.zeros((_CLUSTERS, 1))], axis=1)[:, places]
    triangles[:, np.arange(d), np.arange(d)] = diagonals
    centred = x[None] - means[:, None]
    whitened = centred @ triangles.transpose(0, 2, 1)
    terms = (weights + totals)[:, None] - 0.5 * np.einsum("kni,kni->kn", whitened, whitened)
    top = terms.max(axis=0)
    exponentials = np.exp(terms - top)
    sums = exponentials.sum(axis=0)
    of_weights = np.exp(weights - weights.max())
    value = np.sum(top + np.log(sums)) - _POINTS * (weights.max() + math.log(of_weights.sum()))
    value += 0.5 * (np.sum(diagonals * diagonals) + np.sum(below * below)) - _CLUSTERS * _constant_of_prior()
    value -= _POINTS * d * 0.5 * math.log(2 * math.pi)
    shares = exponentials / sums
    pulled = shares[:, :, None] * whitened
    by_triangle = -(pulled.transpose(0, 2, 1) @ centred)
    by_factors = np.empty_like(factors)
    on_diagonal = by_triangle[:, np.arange(d), np.arange(d)]
    by_factors[:, :d] = on_diagonal * diagonals + shares.sum(axis=1)[:, None] + diagonals * diagonals
    stored = places < _BELOW
    by_below = np.empty_like(below)
    by_below[:, places[stored]] = by_triangle[:, stored]
    by_factors[:, d:] = by_below + below
    by_means = np.einsum("kni,kij->kj", pulled, triangles, optimize=True)
    return [value, shares.sum(axis=1) - _POINTS * of_weights / of_weights.sum(), by_means, by_factors]


MODELS = (
    Workload(
        "radon_vg",
        "partial pooling, 919 rows in 85 groups, and its gradient",
        lambda rng: [rng.normal(size=175) * 0.3],
        _partial_pooling,
        wrt=(0,),
        by_hand=_partial_pooling_by_hand,
        bar=1.5,
        static=True,
    ),
    Workload(
        "gmm_vg",
        "mixture of 25 Gaussians, 1000 points in 10 dimensions, and its gradients",
        lambda rng: [
            rng.normal(size=(_POINTS, _DIMENSIONS)),
            rng.normal(size=_CLUSTERS),
            rng.normal(size=(_CLUSTERS, _DIMENSIONS)),
            rng.normal(size=(_CLUSTERS, _DIMENSIONS + _BELOW)) * 0.3,
        ],
        _mixture,
        wrt=(1, 2, 3),
        by_hand=_mixture_by_hand,
        bar=1.2,
        rtol=1e-7,
    ),
)
