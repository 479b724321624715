"""Axes as people write them: one or several, negative ones counted from the last."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

__all__ = ["as_axes", "normalize_axes", "normalize_axis"]


def as_axes(axis: int | Sequence[int]) -> tuple[int, ...]:
    """Return one axis, or several, as a tuple of Python integers.

    Raises
    ------
    TypeError
        An axis is no integer.
    """
    return tuple([index(a) for a in axis]) if isinstance(axis, Sequence | np.ndarray) else (index(axis),)


def normalize_axis(axis: int, ndim: int) -> int:
    """Return an axis counted from the first.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    return int(normalize_axis_index(axis, ndim))


def normalize_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return axes counted from the first, in the order given; all of them for None.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        An axis is given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    return tuple([int(a) for a in normalize_axis_tuple(axis, ndim)])
