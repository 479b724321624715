"""Elements gathered, added up where they came from, and written into slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["INDEXING"]


def _gather_by_hand(table: Array, places: Array) -> list[Any]:
    gathered = table[places]
    return [np.sum(gathered * gathered), 2 * np.bincount(places, gathered, minlength=table.shape[0])]


def _relaxation(names: Any, x: Any) -> Any:
    mean = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])
    return names.with_entries(x, (slice(1, -1), slice(1, -1)), mean)


INDEXING = (
    Workload(
        "gather_vg_1e6",
        "sum(table[places]**2) and its gradient, 1e6 of 1e4",
        lambda rng: [rng.normal(size=10_000), rng.integers(0, 10_000, size=1_000_000)],
        lambda names, table, places: names.sum(table[places] ** 2),
        wrt=(0,),
        by_hand=_gather_by_hand,
        bar=1,
    ),
    Workload(
        "setsub_jacobi_2000",
        "the mean of four shifted slices written into a fifth, 2000x2000",
        lambda rng: [rng.normal(size=(2000, 2000))],
        _relaxation,
        bar=1,
    ),
)
