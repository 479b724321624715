"""Strategies for dtypes, static shapes and types of tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from lamella.ir import DTYPES, TensorType, TensorVariable

__all__ = ["dtypes", "static_shapes", "tensor_types", "variables"]


def dtypes(kinds: str = "biufc") -> st.SearchStrategy[str]:
    """Generate names of dtypes.

    Parameters
    ----------
    kinds
        NumPy's letters of the kinds: ``b`` for bool, ``i`` and ``u`` for integers, ``f`` for floats, ``c`` for complex numbers.
    """
    return st.sampled_from([dtype for dtype in DTYPES if np.dtype(dtype).kind in kinds])


@st.composite
def static_shapes(draw: st.DrawFn, shape: Sequence[int], keep_ones: bool = True) -> tuple[int | None, ...]:
    """Generate static shapes that arrays of a shape have: each length is known, or not.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    shape
        The shape of the arrays.
    keep_ones
        Always know the lengths that are 1, so that they broadcast.
    """
    known = [(keep_ones and length == 1) or draw(st.booleans()) for length in shape]
    return tuple([length if k else None for length, k in zip(shape, known, strict=True)])


@st.composite
def tensor_types(
    draw: st.DrawFn, kinds: str = "biufc", min_dims: int = 0, max_dims: int = 4, max_side: int = 4
) -> TensorType:
    """Generate types of tensors, whose lengths are known, 1, or not known.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    kinds
        Kinds of dtypes, as in `dtypes`.
    min_dims, max_dims
        Limits of the number of dimensions.
    max_side
        The largest length.
    """
    lengths = st.one_of(st.none(), st.integers(0, max_side))
    return TensorType(draw(dtypes(kinds)), draw(st.lists(lengths, min_size=min_dims, max_size=max_dims)))


def variables(
    kinds: str = "biufc", min_dims: int = 0, max_dims: int = 4, max_side: int = 4
) -> st.SearchStrategy[TensorVariable]:
    """Generate tensor variables that no node computes; the parameters are those of `tensor_types`."""
    return tensor_types(kinds, min_dims, max_dims, max_side).map(lambda found: found("x"))
