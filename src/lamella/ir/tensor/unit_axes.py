"""Axes of length 1, added and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from lamella.ir.tensor.axis import as_axes, normalize_axes
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dimshuffle import dimshuffle
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["atleast_1d", "atleast_2d", "atleast_3d", "expand_dims", "squeeze"]


def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> TensorVariable:
    """Return `x` with new axes of length 1: a view.

    Parameters
    ----------
    x
        The array.
    axis
        Places of the new axes in the result; negative ones count from its last.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis in the result.
    ValueError
        A place is given twice.
    """
    variable = as_tensor_variable(x)
    new = as_axes(axis)
    ndim = variable.ndim + len(new)
    new = normalize_axes(new, ndim)
    old = iter(range(variable.ndim))
    return dimshuffle(variable, ["x" if place in new else next(old) for place in range(ndim)])


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """Return `x` without axes of length 1: a view.

    Parameters
    ----------
    x
        The array.
    axis
        The axes to remove. By default those that are known to have length 1 while the graph is built: the number of dimensions
        of the result cannot depend on values.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        An axis is known not to have length 1.
    BroadcastError
        At run time: an axis has not length 1.
    """
    variable = as_tensor_variable(x)
    if axis is None:
        dropped = tuple([i for i, length in enumerate(variable.type.shape) if length == 1])
    else:
        dropped = normalize_axes(axis, variable.ndim)
    return dimshuffle(variable, [i for i in range(variable.ndim) if i not in dropped])


def atleast_1d(x: TensorLike) -> TensorVariable:
    """Return `x`, as a vector of length 1 where it is a scalar."""
    variable = as_tensor_variable(x)
    return variable if variable.ndim else dimshuffle(variable, ["x"])


def atleast_2d(x: TensorLike) -> TensorVariable:
    """Return `x` with new axes on the left where it has fewer than two."""
    return as_tensor_variable(atleast_1d(x), ndim=max(2, as_tensor_variable(x).ndim))


def atleast_3d(x: TensorLike) -> TensorVariable:
    """Return `x` with new axes where it has fewer than three: a vector's are put on both sides, a matrix's on the right."""
    variable = as_tensor_variable(x)
    patterns: dict[int, list[int | Literal["x"]]] = {0: ["x", "x", "x"], 1: ["x", 0, "x"], 2: [0, 1, "x"]}
    return dimshuffle(variable, patterns[variable.ndim]) if variable.ndim < 3 else variable
