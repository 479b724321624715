"""Numeric gradients: central differences, extrapolated, with an estimate of their own error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["NumericGradient", "numeric_gradient"]

Array = npt.NDArray[Any]


@final
@attrs.frozen(eq=False)
class NumericGradient:
    """Derivatives of a weighted sum of outputs with respect to each element of one input, and how wrong each may be.

    Attributes
    ----------
    value
        The derivatives, of the input's shape, in float64.
    error
        For each an estimate of its error: truncation and rounding.
    """

    value: Array
    error: Array


def _weighted(outputs: Sequence[Array], weights: Sequence[Array]) -> float:
    return float(
        sum(np.sum(np.asarray(o, np.float64) * w, dtype=np.float64) for o, w in zip(outputs, weights, strict=True))
    )


def numeric_gradient(
    f: Callable[[Sequence[Array]], Sequence[Array]],
    point: Sequence[Array],
    weights: Sequence[Array],
    which: int,
    eps: float | None = None,
) -> NumericGradient:
    """Differentiate ``sum(weights * f(point))`` with respect to one input, numerically.

    Each derivative is a central difference at two steps, extrapolated to step 0 (Richardson). Differences are taken output by output
    before they are weighted and summed, so that large outputs which do not change do not hide small ones which do.

    Parameters
    ----------
    f
        The function: arrays in, arrays out.
    point
        Where to differentiate.
    weights
        A weight for each element of each output.
    which
        The input to vary.
    eps
        Step, relative to the size of each element; chosen by dtype when not given.

    References
    ----------
    W. H. Press et al., "Numerical Recipes", 3rd edition, section 5.7.
    """
    x = point[which]
    machine = float(np.finfo(x.dtype).eps)
    relative = eps if eps is not None else machine ** (1 / 5)
    value = np.zeros(x.shape, np.float64)
    error = np.zeros(x.shape, np.float64)
    for index in np.ndindex(*x.shape):
        center = float(x[index])
        estimates, noise = [], 0.0
        for scale in (1.0, 0.5):
            step = relative * scale * max(abs(center), 0.1)
            shifted = []
            for sign in (1.0, -1.0):
                moved = np.array(x)
                moved[index] = center + sign * step
                outputs = f([*point[:which], moved, *point[which + 1 :]])
                shifted.append((float(moved[index]), outputs))
            (right, upper), (left, lower) = shifted
            width = right - left
            changes = [np.asarray(a, np.float64) - np.asarray(b, np.float64) for a, b in zip(upper, lower, strict=True)]
            estimates.append(_weighted(changes, weights) / width)
            rounding = sum(
                float(np.sum((np.abs(np.asarray(a, np.float64)) * np.abs(w))[c != 0.0]))
                for a, w, c in zip(upper, weights, changes, strict=True)
            )
            noise = machine * rounding / width
        coarse, fine = estimates
        value[index] = fine + (fine - coarse) / 3
        error[index] = abs(fine - coarse) / 3 + 4 * noise
    return NumericGradient(value, error)
