"""Calls that compute next to nothing: what is measured is the call."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.workload import Workload

__all__ = ["OVERHEAD"]


def _ten_in_three_out(_names: Any, *xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = total + x
    return [total, total * 2, total * 3]


OVERHEAD = (
    Workload(
        "overhead_scalar",
        "x*y+1, 0-d",
        lambda rng: [np.asarray(2.0), np.asarray(3.0)],
        lambda names, x, y: x * y + 1,
        bar=2,
    ),
    Workload(
        "overhead_vec8",
        "exp(x-y)*x + y*2, vectors of 8",
        lambda rng: [rng.normal(size=8), rng.normal(size=8)],
        lambda names, x, y: names.exp(x - y) * x + y * 2,
        bar=3,
    ),
    Workload(
        "overhead_10in3out",
        "the sum of ten 0-d inputs, three outputs",
        lambda rng: [np.asarray(x) for x in rng.normal(size=10)],
        _ten_in_three_out,
        bar=3,
    ),
)
