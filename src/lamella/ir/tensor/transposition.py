"""Axes in another order."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.ir.tensor.axis import as_axes, normalize_axes, normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dimshuffle import dimshuffle
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["moveaxis", "swapaxes", "transpose"]


def transpose(x: TensorLike, *axes: int | Sequence[int] | None) -> TensorVariable:
    """Return `x` with its axes permuted: a view.

    Parameters
    ----------
    x
        The array.
    *axes
        For each axis of the result the axis of `x` that it is, one by one or in one sequence; reversed by default.

    Raises
    ------
    ValueError
        This is no permutation of the axes.
    """
    variable = as_tensor_variable(x)
    order: list[int] = []
    for part in axes:
        order.extend([] if part is None else as_axes(part))
    if not axes or (len(axes) == 1 and axes[0] is None):
        order = list(range(variable.ndim))[::-1]
    if len(order) != variable.ndim:
        raise ValueError(f"{order} is no permutation of the {variable.ndim} axes of {variable!r}")
    return dimshuffle(variable, list(normalize_axes(order, variable.ndim)))


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> TensorVariable:
    """Return `x` with two axes exchanged: a view.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable = as_tensor_variable(x)
    first, second = normalize_axis(axis1, variable.ndim), normalize_axis(axis2, variable.ndim)
    order = list(range(variable.ndim))
    order[first], order[second] = second, first
    return dimshuffle(variable, order)


def moveaxis(x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> TensorVariable:
    """Return `x` with some axes at other places, the others in their order: a view.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        An axis is named twice, or there are not as many destinations as sources.
    """
    variable = as_tensor_variable(x)
    sources, destinations = normalize_axes(source, variable.ndim), normalize_axes(destination, variable.ndim)
    if len(sources) != len(destinations):
        raise ValueError(f"moveaxis: {len(sources)} axes to move, but {len(destinations)} destinations")
    order = [axis for axis in range(variable.ndim) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(place, axis)
    return dimshuffle(variable, order)
