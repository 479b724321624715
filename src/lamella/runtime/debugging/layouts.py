"""The same values in other layouts of memory, and arrays with meaningless contents for output storage."""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from lamella.ir import TensorType, Type

__all__ = ["LAYOUTS", "PREALLOCATED", "Layout", "Preallocated", "in_layout", "preallocated"]

Array = npt.NDArray[Any]

Layout = Literal["f_contiguous", "strided", "reversed"]
LAYOUTS: Final[tuple[Layout, ...]] = ("f_contiguous", "strided", "reversed")

Preallocated = Literal["previous", "c_contiguous", "f_contiguous", "strided", "wrong_size"]
PREALLOCATED: Final[tuple[Preallocated, ...]] = ("previous", "c_contiguous", "f_contiguous", "strided", "wrong_size")


def in_layout(value: Any, layout: Layout) -> Any:
    """Return a copy of a value whose elements, where it is an array, lie in memory in another way."""
    if not isinstance(value, np.ndarray):
        return value
    if layout == "f_contiguous" or not value.ndim:
        return np.array(value, order="F")
    if layout == "strided":
        made = np.zeros([2 * n + 1 for n in value.shape], value.dtype)[tuple([slice(1, None, 2)] * value.ndim)]
    else:
        made = np.flip(np.zeros(value.shape, value.dtype))
    made[...] = value
    return made


def preallocated(kind: Preallocated, type: Type[Any], result: Any) -> Any:
    """Return what an Op may find in its output storage: an array of the right dtype, with contents that mean nothing; None for no array.

    Parameters
    ----------
    kind
        What kind of array: the result of an earlier call, one in some layout, or one of another shape.
    type
        The Type of the output.
    result
        What the Op computed before.
    """
    if not isinstance(result, np.ndarray):
        return None
    if kind == "previous":
        return np.array(result)
    if kind == "wrong_size":
        known = type.shape if isinstance(type, TensorType) else (None,) * result.ndim
        shape = [n + 1 if static is None else n for n, static in zip(result.shape, known, strict=True)]
        return np.full(shape, 7, result.dtype)
    meaningless = np.full(result.shape, 7, result.dtype)
    if kind == "c_contiguous":
        return meaningless
    return in_layout(meaningless, "f_contiguous" if kind == "f_contiguous" else "strided")
