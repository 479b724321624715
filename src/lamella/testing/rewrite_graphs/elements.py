"""`Elements`: what the elements of an argument may be, and arrays of such elements."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["Elements", "Range"]

Array = npt.NDArray[Any]


@final
class Range(enum.Enum):
    """Which numbers take part, besides ordinary ones.

    Attributes
    ----------
    SPECIAL
        NaN, infinities, zeros of both signs, the least and greatest numbers of a dtype.
    UNBOUNDED
        NaN, infinities and zeros, but nothing whose sums or products overflow.
    WIDE
        Those too, and numbers whose exponentials and powers overflow or vanish.
    NONZERO
        Ordinary numbers only.
    SMOOTH
        Ordinary numbers with all their digits, away from the kinks at 0 and 1.
    """

    SPECIAL = enum.auto()
    UNBOUNDED = enum.auto()
    WIDE = enum.auto()
    NONZERO = enum.auto()
    SMOOTH = enum.auto()


_UNBOUNDED: Final = (math.nan, math.inf, -math.inf, 0.0, -0.0)
_WIDE: Final = (1e-6, -1e-6, 1e-3, -0.01, 20.0, -20.0, 95.0, -95.0, 110.0, -110.0, 250.0, -250.0, 0.0, -0.0)


@final
@attrs.frozen
class Elements:
    """What the elements of an argument may be.

    Attributes
    ----------
    dtype
        Their dtype.
    low, high
        Bounds, both included; where one is given, there is no NaN, and no infinity on its side.
    fixed
        The value itself, where it is to be no other.
    """

    dtype: str
    low: float | None = None
    high: float | None = None
    fixed: Array | None = attrs.field(default=None, eq=False)

    def array(self, rng: np.random.Generator, shape: Sequence[int], among: Range) -> Array:
        """Return an array of a shape; a `fixed` one has its own."""
        if self.fixed is not None:
            return np.array(self.fixed)
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            return self._integers(rng, shape, among)
        if kind == "c":
            part = Elements({"complex64": "float32"}.get(self.dtype, "float64"))
            made = np.empty(shape, self.dtype)
            made.real, made.imag = part.array(rng, shape, among), part.array(rng, shape, among)
            return made
        return self._floats(rng, shape, among)

    def _integers(self, rng: np.random.Generator, shape: Sequence[int], among: Range) -> Array:
        limits = np.iinfo(self.dtype)
        if self.low is not None or self.high is not None:
            low = limits.min if self.low is None else int(self.low)
            high = limits.max if self.high is None else int(self.high)
            return rng.integers(low, high, shape, self.dtype, endpoint=True)
        small = rng.integers(max(limits.min, -5), 9, shape, self.dtype, endpoint=True)
        if among is Range.NONZERO:
            return np.where(small == 0, np.ones((), self.dtype), small)
        if among is not Range.SPECIAL:
            return small
        ends = np.array([limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1], self.dtype)
        return np.where(rng.integers(0, 3, shape) == 0, rng.choice(ends, shape), small)

    def _floats(self, rng: np.random.Generator, shape: Sequence[int], among: Range) -> Array:
        if among is Range.SMOOTH:
            return self._bounded(self._smooth(rng, shape)).astype(self.dtype)
        made = np.where(rng.integers(0, 2, shape) == 0, rng.integers(-12, 13, shape) / 4, rng.normal(0, 2, shape))
        if among is Range.NONZERO:
            made = np.where(made == 0, 1.5, made)
        else:
            special = np.array(self._special(among))
            often = 2 if among is Range.SPECIAL else 3
            made = np.where(rng.integers(0, often, shape) == 0, rng.choice(special, shape), made)
        with np.errstate(all="ignore"):
            return self._bounded(made).astype(self.dtype)

    def _smooth(self, rng: np.random.Generator, shape: Sequence[int]) -> Array:
        if self.low is not None and self.high is not None:
            margin = 0.1 * (self.high - self.low)
            return rng.uniform(self.low + margin, self.high - margin, shape)
        return rng.choice([-1.0, 1.0], shape) * (rng.uniform(0.1, 0.9, shape) + rng.integers(0, 3, shape))

    def _special(self, among: Range) -> Sequence[float]:
        if among is Range.UNBOUNDED:
            return _UNBOUNDED
        if among is Range.WIDE:
            return (*_WIDE, math.nan, math.inf, -math.inf)
        of = np.finfo(self.dtype)
        sizes = [float(of.max), float(of.tiny), float(of.smallest_subnormal), float(of.eps)]
        return (*_UNBOUNDED, *_UNBOUNDED, *sizes, *[-size for size in sizes], 1.0, -1.0, 0.5, 2.0)

    def _bounded(self, made: Array) -> Array:
        """Return numbers within the bounds; what lies outside is reflected, if it may be."""
        if self.low is None and self.high is None:
            return made
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        with np.errstate(all="ignore"):
            mirrored = np.where(made < low, 2 * low - made, np.where(made > high, 2 * high - made, made))
        inside = (mirrored >= low) & (mirrored <= high)
        return np.where(inside, mirrored, max(low, min(high, 1.0)))
