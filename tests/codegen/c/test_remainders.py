"""Remainders and floored quotients of floats: the bits are NumPy's, however large the quotient, and for what is tiny, infinite or NaN."""

from __future__ import annotations

import numpy as np
import pytest

import lamella as lm
from lamella.ir import TensorType


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_remainders_are_numpys(dtype: str) -> None:
    x, y = TensorType(dtype, (None,))("x"), TensorType(dtype, (None,))("y")
    f = lm.function([x, y], [x % y, x // y])
    info = np.finfo(np.dtype(dtype))
    rng = np.random.default_rng(12)
    numbers = [
        0.0,
        1.0,
        3.0,
        0.1,
        0.3,
        1e6,
        2.0**24,
        2.0**52,
        2.0**53,
        1e17,
        info.max,
        info.tiny,
        info.smallest_subnormal,
        np.inf,
        np.nan,
    ]
    special = np.array([*numbers, *[-number for number in numbers]], dtype)
    a, b = [grid.ravel() for grid in np.meshgrid(special, special)]
    exponents = rng.integers(-20, 70, size=(2, 20_000))
    wide = np.ldexp(rng.uniform(-1, 1, size=(2, 20_000)), exponents).astype(dtype)
    divisors = np.abs(rng.normal(size=20_000)).astype(dtype) + np.asarray(0.01, dtype)
    factors = rng.integers(-(2**20), 2**20, size=20_000).astype(dtype)
    nearly = np.nextafter(factors * divisors, rng.choice(np.array([-np.inf, np.inf], dtype), 20_000))
    for u, v in ((a, b), tuple(wide), (factors * divisors, divisors), (nearly, divisors)):
        with np.errstate(all="ignore"):
            expected = np.mod(u, v), np.floor_divide(u, v)
        for found, wanted in zip(f(u, v), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
            is_number = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])
