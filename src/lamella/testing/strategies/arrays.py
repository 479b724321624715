"""Strategies for arrays: of all dtypes, in all layouts of memory, with the values where mistakes are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from lamella.ir import TensorType
from lamella.testing.strategies.layouts import in_any_layout
from lamella.testing.strategies.types import dtypes

__all__ = ["array_shapes", "arrays", "elements", "values_of"]

Array = npt.NDArray[Any]

_MOST_DRAWN = 8


def array_shapes(
    min_dims: int = 0, max_dims: int = 4, min_side: int = 0, max_side: int = 4
) -> st.SearchStrategy[tuple[int, ...]]:
    """Generate shapes: with no axis, with lengths of 0 and 1, and others.

    Parameters
    ----------
    min_dims, max_dims
        Limits of the number of dimensions.
    min_side, max_side
        Limits of the lengths.
    """
    return st.lists(st.integers(min_side, max_side), min_size=min_dims, max_size=max_dims).map(tuple)


def elements(dtype: str, special: bool = True) -> st.SearchStrategy[Any]:
    """Generate numbers of a dtype.

    Parameters
    ----------
    dtype
        The dtype.
    special
        Also generate NaN, infinities, zeros of both signs, and the largest and smallest numbers; without it only small ones, of few digits.
    """
    kind = np.dtype(dtype).kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        info = np.iinfo(dtype)
        small = st.integers(max(info.min, -5), 9)
        return st.one_of(small, st.sampled_from([info.min, info.max, info.max - 1])) if special else small
    if kind == "c":
        part = elements({"complex64": "float32"}.get(dtype, "float64"), special)
        return st.builds(complex, part, part)
    halves = st.integers(-16, 16).map(lambda n: n / 4)
    if not special:
        return halves
    limits = np.finfo(dtype)
    rare = [math.nan, math.inf, -math.inf, -0.0, 0.0, float(limits.max), float(limits.tiny), float(limits.eps)]
    return st.one_of(halves, halves, st.sampled_from(rare), st.floats(-100.0, 100.0, width=16))


@st.composite
def arrays(
    draw: st.DrawFn,
    dtype: str | None = None,
    shape: Sequence[int] | None = None,
    special: bool = True,
    layouts: bool = True,
) -> Array:
    """Generate arrays.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    dtype
        The dtype; any when not given.
    shape
        The shape; any when not given.
    special
        Include special values; see `elements`.
    layouts
        Lay the arrays out in memory in all ways, for which some are the same all along an axis; otherwise they are in C's order.
    """
    chosen = draw(dtypes()) if dtype is None else dtype
    lengths = draw(array_shapes()) if shape is None else tuple(shape)
    size = math.prod(lengths)
    few = min(size, _MOST_DRAWN)
    drawn = draw(st.lists(elements(chosen, special), min_size=few, max_size=few))
    with np.errstate(all="ignore"):
        some = np.array(drawn).astype(chosen)
    # Of a large array only some elements are drawn: Hypothesis is quicker so, and shrinks better.
    array = np.resize(some, lengths) if size else np.zeros(lengths, chosen)
    if not layouts:
        return array
    if array.ndim and size > 1 and draw(st.integers(0, 5)) == 0:
        axis = draw(st.integers(0, array.ndim - 1))
        array = np.repeat(array.take([0], axis), lengths[axis], axis)
    return draw(in_any_layout(array))


@st.composite
def values_of(
    draw: st.DrawFn, tensor_type: TensorType, special: bool = True, layouts: bool = True, max_side: int = 4
) -> Array:
    """Generate arrays that a type of tensors includes.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    tensor_type
        The type.
    special, layouts
        As in `arrays`.
    max_side
        The largest length, where the type knows none.
    """
    lengths = [draw(st.integers(0, max_side)) if n is None else n for n in tensor_type.shape]
    return draw(arrays(tensor_type.dtype, lengths, special, layouts))
