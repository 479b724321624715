"""Elementwise expressions, bound by arithmetic and by memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["ELEMENTWISE"]


def _vector(n: int, dtype: str = "float64") -> Callable[[np.random.Generator], list[Array]]:
    return lambda rng: [rng.normal(size=n).astype(dtype)]


def _fused(names: Any, x: Any) -> Any:
    return names.exp(-(x**2) / 2) * names.sin(3 * x) + names.log1p(x**2)


def _chain(names: Any, x: Any) -> Any:
    y = x
    for i in range(10):
        y = y * (0.9 + 0.01 * i)
        y = y + 0.1
        y = names.maximum(y, -1.0) if i % 2 else y - 0.3 * x
    return y


FUSED = "exp(-x**2/2)*sin(3x) + log1p(x**2)"

ELEMENTWISE = (
    Workload("fused_1e3", FUSED, _vector(1_000), _fused, bar=4),
    Workload("fused_1e5", FUSED, _vector(100_000), _fused, bar=4),
    Workload("fused_1e7", FUSED, _vector(10_000_000), _fused, bar=4),
    Workload("fused_f32_1e7", f"{FUSED}, float32", _vector(10_000_000, "float32"), _fused, bar=4, rtol=3e-5),
    Workload(
        "axpbypc_1e7",
        "a*x + b*y + c",
        lambda rng: [rng.normal(size=10_000_000), rng.normal(size=10_000_000), *map(np.asarray, (1.5, -0.5, 2.0))],
        lambda names, x, y, a, b, c: a * x + b * y + c,
    ),
    Workload(
        "bcast_2000",
        "matrix*row + column, 2000x2000",
        lambda rng: [rng.normal(size=(2000, 2000)), rng.normal(size=(1, 2000)), rng.normal(size=(2000, 1))],
        lambda names, matrix, row, column: matrix * row + column,
        bar=1,
    ),
    Workload("chain30_1e6", "a chain of 30 cheap operations", _vector(1_000_000), _chain, bar=1),
)
