"""Numeric gradients: central differences, extrapolated, with an estimate of their own error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["NumericGradient", "numeric_gradient"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


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
    jump
        For each by how much the slopes to the right and to the left differ: large where the point is at a kink.
    """

    value: Floats
    error: Floats
    jump: Floats


def numeric_gradient(
    f: Callable[[Sequence[Array]], Sequence[Array]],
    point: Sequence[Array],
    weightings: Sequence[Sequence[Array]],
    which: int,
    eps: float | None = None,
) -> list[NumericGradient]:
    """Differentiate ``sum(weights * f(point))`` with respect to one input, numerically, for several weightings at once.

    Each derivative is a central difference at two steps, extrapolated to step 0 (Richardson). Differences are taken output by output
    before they are weighted and summed, so that large outputs which do not change do not hide small ones which do.

    Parameters
    ----------
    f
        The function: arrays in, arrays out. It is called four times for each element of the input, whatever the number of weightings.
    point
        Where to differentiate.
    weightings
        Weights for each element of each output; any number of these.
    which
        The input to vary.
    eps
        Step, relative to the size of each element; chosen by dtype when not given.

    Returns
    -------
    list
        The derivatives for each weighting.

    References
    ----------
    W. H. Press et al., "Numerical Recipes", 3rd edition, section 5.7.
    """
    x = point[which]
    values = f(point)
    # The step suits the coarsest dtype among what is varied and what is seen to change.
    machine = max([float(np.finfo(y.dtype).eps) for y in (x, *values)])
    relative = eps if eps is not None else machine ** (1 / 5)
    middle = [np.asarray(out, np.float64) for out in values]
    found = [NumericGradient(*[np.zeros(x.shape) for _ in range(3)]) for _ in weightings]
    for index in np.ndindex(*x.shape):
        center = float(x[index])
        size = relative * max(abs(center), 0.1)
        wide, near = [_Difference.at(f, point, which, index, size * scale) for scale in (1.0, 0.5)]
        for gradient, weights in zip(found, weightings, strict=True):
            coarse, fine = wide.slope(weights), near.slope(weights)
            gradient.value[index] = fine + (fine - coarse) / 3
            gradient.error[index] = abs(fine - coarse) / 3 + 4 * machine * near.magnitude(weights)
            gradient.jump[index] = abs(near.bend(weights, middle))
    return found


@attrs.frozen(eq=False)
class _Difference:
    """The outputs on both sides of a point."""

    upper: list[Floats]
    lower: list[Floats]
    width: float

    @classmethod
    def at(
        cls,
        f: Callable[[Sequence[Array]], Sequence[Array]],
        point: Sequence[Array],
        which: int,
        index: tuple[int, ...],
        step: float,
    ) -> _Difference:
        sides: list[list[Floats]] = []
        places: list[float] = []
        for sign in (1.0, -1.0):
            moved = np.array(point[which])
            moved[index] = float(moved[index]) + sign * step
            places.append(float(moved[index]))  # what the dtype made of it
            sides.append(
                [np.asarray(out, np.float64).copy() for out in f([*point[:which], moved, *point[which + 1 :]])]
            )
        return cls(sides[0], sides[1], places[0] - places[1])

    def slope(self, weights: Sequence[Array]) -> float:
        return _weighted([a - b for a, b in zip(self.upper, self.lower, strict=True)], weights) / self.width

    def bend(self, weights: Sequence[Array], middle: Sequence[Floats]) -> float:
        changes = [a + b - 2 * m for a, b, m in zip(self.upper, self.lower, middle, strict=True)]
        return 2 * _weighted(changes, weights) / self.width

    def magnitude(self, weights: Sequence[Array]) -> float:
        """Return the size of what was subtracted, for each unit of the step: the rounding of the slope is proportional to it."""
        with np.errstate(all="ignore"):
            sizes = [
                float(np.sum((np.abs(a) * np.abs(w))[a != b]))
                for a, b, w in zip(self.upper, self.lower, weights, strict=True)
            ]
        return sum(sizes) / abs(self.width)


def _weighted(changes: Sequence[Floats], weights: Sequence[Array]) -> float:
    return float(sum([np.sum(c * w, dtype=np.float64) for c, w in zip(changes, weights, strict=True)]))
