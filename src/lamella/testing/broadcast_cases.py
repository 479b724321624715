"""Cases for elementwise Ops: shapes that broadcast, and dtypes that mix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["broadcast_cases"]

Array = npt.NDArray[Any]

_SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "same_shapes": ((2, 3), (2, 3)),
    "fewer_dimensions": ((2, 3), (3,)),
    "scalar": ((2, 3), ()),
    "unit": ((2, 3), (1, 1)),
    "row": ((2, 3), (1, 3)),
    "column": ((2, 3), (2, 1)),
    "empty": ((0, 3), (0, 3)),
}


def broadcast_cases(
    n_inputs: int = 2,
    dtypes: Sequence[str] = ("float64", "float32", "int64", "int8"),
    low: float = -5.0,
    high: float = 5.0,
    inplace: bool = False,
    seed: int = 0,
) -> dict[str, tuple[Array, ...]]:
    """Return cases for an elementwise Op, by name: all ways to broadcast, all dtypes, and pairs of them.

    Parameters
    ----------
    n_inputs
        How many inputs.
    dtypes
        The dtypes to try; unsigned integers and booleans take their numbers from the part of the range that they have.
    low, high
        The range of the numbers. No integer is 0.
    inplace
        Leave out cases in which the result has not the shape and, by promotion, the dtype of the first input.
    seed
        Of the numbers.
    """
    rng = np.random.default_rng(seed)

    def numbers(shape: tuple[int, ...], dtype: str) -> Array:
        drawn = rng.uniform(low, high, shape)
        kind = np.dtype(dtype).kind
        if kind == "b":
            return np.asarray(drawn > (low + high) / 2)
        if kind in "iu":
            least = max(low, 1) if kind == "u" else low
            whole = rng.integers(int(np.ceil(least)), int(high), shape, endpoint=True)
            return np.where(whole == 0, 1, whole).astype(dtype)
        return (drawn + 1j * rng.uniform(low, high, shape) if kind == "c" else drawn).astype(dtype)

    def case(first: tuple[int, ...], others: tuple[int, ...], *kinds: str) -> tuple[Array, ...]:
        shapes = [first, *[others if i % 2 else first for i in range(1, n_inputs)]]
        return tuple([numbers(s, kinds[i % len(kinds)]) for i, s in enumerate(shapes)])

    found = {name: case(a, b, dtypes[0]) for name, (a, b) in _SHAPES.items()}
    if n_inputs > 1 and not inplace:
        found["outer"] = case((2, 1), (1, 3), dtypes[0])
        found["more_dimensions"] = case((3,), (2, 3), dtypes[0])
    for dtype in dtypes[1:]:
        found[dtype] = case((2, 3), (2, 3), dtype)
    if n_inputs > 1:
        for a in dtypes:
            for b in dtypes:
                if a != b and not (inplace and np.promote_types(a, b) != np.dtype(a)):
                    found[f"{a}_{b}"] = case((2, 3), (2, 3), a, b)
    return found
