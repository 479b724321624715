"""Distances between arrays, in units in the last place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ulps_apart"]

Array = npt.NDArray[Any]


def ulps_apart(found: Array, expected: Array) -> npt.NDArray[np.float64]:
    """Return, for each element, how far two arrays are apart.

    The unit is the distance from the expected number to the next one of its dtype; for a complex number, that of the larger of
    its parts. Integers and truth values are 0 or infinitely far apart. So are numbers where one is NaN and the other is not, where
    one is infinite, and zeros of different sign. All NaN are the same.

    Parameters
    ----------
    found, expected
        Arrays of one dtype and one shape.

    Raises
    ------
    ValueError
        The dtypes or shapes differ.

    Examples
    --------
    >>> import numpy as np
    >>> ulps_apart(np.array([1.0, 0.0]), np.array([1.0 + 2**-52, -0.0])).tolist()
    [1.0, inf]
    """
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise ValueError(
            f"arrays of one dtype and shape are compared, not {found.dtype}{found.shape} and {expected.dtype}{expected.shape}"
        )
    if expected.dtype.kind == "c":
        unit = np.fmax(_spacing(expected.real), _spacing(expected.imag))
        return np.asarray(np.fmax(_apart(found.real, expected.real, unit), _apart(found.imag, expected.imag, unit)))
    if expected.dtype.kind == "f":
        return _apart(found, expected, _spacing(expected))
    return np.where(found == expected, 0.0, np.inf)


def _spacing(x: Array) -> Array:
    # The unit below a power of two is half of that above; a float16 at the top has an infinite one.
    with np.errstate(all="ignore"):
        below = np.abs(np.nextafter(np.abs(x), x.dtype.type(0)) - np.abs(x)).astype(np.float64)
        above = np.abs(np.spacing(x)).astype(np.float64)
    return np.where(np.isfinite(above), above, below)


def _apart(found: Array, expected: Array, unit: Array) -> npt.NDArray[np.float64]:
    same = (found == expected) & (np.signbit(found) == np.signbit(expected)) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(all="ignore"):
        difference = np.abs(found.astype(np.longdouble) - expected.astype(np.longdouble))
        distance = (difference / unit).astype(np.float64)
    comparable = np.isfinite(found) & np.isfinite(expected) & (difference != 0)
    return np.where(same, 0.0, np.where(comparable, distance, np.inf))
