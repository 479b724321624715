"""What is different between a value and the expected one, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.testing.ulps import ulps_apart

__all__ = ["value_difference"]

Array = npt.NDArray[Any]


def value_difference(
    found: Any, expected: Any, max_ulps: float = 0.0, max_difference: npt.ArrayLike = 0.0
) -> str | None:
    """Return how a value differs from the expected one by more than is allowed; None where it does not.

    Dtype, shape, NaN, infinities and the sign of zeros must be equal.

    Parameters
    ----------
    found, expected
        The values. What is no array of numbers is compared by ``==``.
    max_ulps
        By how many units in the last place floating-point numbers may differ (see `ulps_apart`).
    max_difference
        For each element by how much it may differ otherwise; where that is not 0, a zero may have either sign. Infinite where nothing
        is known of the element.
    """
    if not isinstance(expected, np.ndarray) or expected.dtype.kind not in "biufc":
        return None if found is expected or found == expected else f"the value is {found!r}, {expected!r} is expected"
    if not isinstance(found, np.ndarray):
        return f"the value is a {type(found).__name__}, an array is expected"
    if found.dtype != expected.dtype:
        return f"the dtype is {found.dtype}, {expected.dtype} is expected"
    if found.shape != expected.shape:
        return f"the shape is {found.shape}, {expected.shape} is expected"
    apart = ulps_apart(found, expected)
    slack = np.broadcast_to(np.asarray(max_difference, np.float64), expected.shape)
    wrong = (apart > max_ulps) & ~_within(found, expected, slack)
    if not wrong.any():
        return None
    index = tuple([int(i) for i in np.argwhere(wrong)[0]])
    units = apart[index]
    distance = f" ({units:.4g} units in the last place apart, {max_ulps:g} are allowed)" if np.isfinite(units) else ""
    place = f"element {list(index)}" if index else "the value"
    count = int(wrong.sum())
    several = f"; {count} of {expected.size} elements differ" if count > 1 else ""
    return f"{place} is {found[index]!r}, {expected[index]!r} is expected{distance}{several}"


def _within(found: Array, expected: Array, slack: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    if not (slack > 0).any():
        return np.zeros(expected.shape, bool)
    wide = "clongdouble" if expected.dtype.kind == "c" else "longdouble"
    with np.errstate(all="ignore"):
        off = np.abs(found.astype(wide) - expected.astype(wide))
    return np.asarray((slack > 0) & ((off <= slack) | np.isinf(slack)))
