"""The same values in every layout of memory that an array can have."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["MEMORY_LAYOUTS", "in_layout", "memory_layouts"]

Array = npt.NDArray[Any]

MEMORY_LAYOUTS: Final = ("contiguous", "fortran", "strided", "reversed", "unaligned", "read-only")
"""Names of the layouts; the arrays of the last one may not be written to, in all others they may."""


def in_layout(array: npt.ArrayLike, layout: str) -> Array:
    """Return a copy of an array in a layout of memory.

    Parameters
    ----------
    array
        The values.
    layout
        One of `MEMORY_LAYOUTS`: ``contiguous`` (C's order), ``fortran`` (the first axis runs fastest), ``strided`` (gaps between the
        elements along every axis), ``reversed`` (negative strides along every axis), ``unaligned`` (at an odd address), ``read-only``.

    Raises
    ------
    ValueError
        There is no layout of this name.

    Examples
    --------
    >>> import numpy as np
    >>> in_layout(np.arange(6.0).reshape(2, 3), "reversed").strides
    (-24, -8)
    """
    values = np.asarray(array)
    every_second: tuple[Any, ...] = (..., *[slice(1, None, 2)] * values.ndim)
    backwards: tuple[Any, ...] = (..., *[slice(None, None, -1)] * values.ndim)
    made: Array
    match layout:
        case "contiguous":
            return np.array(values, order="C")
        case "fortran":
            return np.array(values, order="F")
        case "strided":
            made = np.zeros([2 * n + 1 for n in values.shape], values.dtype)[every_second]
        case "reversed":
            made = np.zeros(values.shape, values.dtype)[backwards]
        case "unaligned":
            memory = np.zeros(values.nbytes + 1, np.uint8)
            odd = memory[1:] if memory.ctypes.data % 2 == 0 else memory[:-1]
            made = odd.view(values.dtype).reshape(values.shape)
        case "read-only":
            made = np.array(values, order="C")
            made.setflags(write=False)
            return made
        case _:
            raise ValueError(f"no layout is named {layout!r}; there are {', '.join(MEMORY_LAYOUTS)}")
    made[...] = values
    return made


def memory_layouts(array: npt.ArrayLike) -> dict[str, Array]:
    """Return copies of an array in all layouts of memory, by name; see `in_layout`."""
    return {layout: in_layout(array, layout) for layout in MEMORY_LAYOUTS}
