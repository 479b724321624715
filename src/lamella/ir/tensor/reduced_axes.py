"""Axes of reductions: written as people write them, kept as sorted indices."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Literal

from numpy.lib.array_utils import normalize_axis_tuple

from lamella.ir.tensor.dimshuffle import DimShuffle
from lamella.ir.tensor.variable import Axis, TensorVariable

__all__ = ["Axes", "as_axes", "kept", "reduced_shape", "sorted_axes", "with_kept_axes"]

Axes = tuple[int, ...] | None
"""Axes of an Op: sorted indices from the first; None (all of them) and negative ones only until the Op is applied."""


def as_axes(axis: Axis) -> Axes:
    """Return axes as a tuple, or None for all of them."""
    if axis is None:
        return None
    if isinstance(axis, Sequence):
        return tuple([operator.index(a) for a in axis])
    return (operator.index(axis),)


def sorted_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the sorted indices, from the first, of axes of an array of `ndim` dimensions.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    """
    axes = as_axes(axis)
    if axes is None:
        return tuple(range(ndim))
    return tuple(sorted(normalize_axis_tuple(axes, ndim, "axis")))


def kept(entries: Sequence[Any], axes: tuple[int, ...]) -> list[Any]:
    """Return the entries (one for each axis) that are not at `axes`."""
    return [entry for axis, entry in enumerate(entries) if axis not in axes]


def reduced_shape(shapes: Sequence[tuple[Any, ...]], axes: tuple[int, ...]) -> list[tuple[Any, ...]]:
    """Return what `infer_shape` says of a reduction over `axes` of its only input."""
    (lengths,) = shapes
    return [tuple(kept(lengths, axes))]


def with_kept_axes(reduced: TensorVariable, axes: tuple[int, ...]) -> TensorVariable:
    """Return a reduction over `axes` with these axes put back, each with length 1."""
    if not axes:
        return reduced
    remaining = iter(range(reduced.ndim))
    ndim = reduced.ndim + len(axes)
    order: list[int | Literal["x"]] = ["x" if axis in axes else next(remaining) for axis in range(ndim)]
    return DimShuffle(reduced.ndim, tuple(order))(reduced)
