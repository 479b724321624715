"""Matrices that lie in memory in many ways, for the tests of products."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["laid_out"]

Array = npt.NDArray[Any]


def laid_out(array: Array, way: str) -> Array:
    """Return an array of its own size, so that a tool which watches memory sees what is read behind it."""
    if way == "columns":
        return np.asfortranarray(array)
    if way == "part":  # of a wider one, whose other columns are not to be used
        return np.pad(array, ((0, 0), (0, 3)), constant_values=np.nan)[:, : array.shape[1]]
    if way == "spaced":
        return np.repeat(array, 2, axis=1)[:, ::2]
    if way == "reversed":
        return np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]
    if way == "repeated":
        return np.broadcast_to(array[:1], array.shape)
    return np.ascontiguousarray(array)
