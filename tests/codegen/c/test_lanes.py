"""Long chains of arithmetic, computed for many elements side by side: the bits are NumPy's, whatever the length and the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import write_program
from lamella.ir import TensorType
from lamella.typing_layer import schedule


def _chain(where: Any, x: Any, shift: Any, dtype: str) -> Any:
    """Return the result of 30 operations, each of which waits for the one before."""
    y = x
    for i in range(8):
        y = y * np.asarray(0.9 + 0.01 * i, dtype) + shift
        y = where.maximum(y, np.asarray(-1.0, dtype)) if i % 2 else where.sqrt(abs(y)) - np.asarray(0.3, dtype) * x
    return y


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_chains_are_numpys(dtype: str) -> None:
    x, shift = TensorType(dtype, (None, None))("x"), TensorType(dtype, (None, 1))("shift")
    y = _chain(lt, x, shift, dtype)
    f = lm.function([x, shift], [y, x - y])
    assert "LM_LANES" in write_program(schedule(f.fgraph)).text
    overwriting = lm.function([lm.In(x, mutable=True), shift], y)
    rng = np.random.default_rng(4)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    for length in (0, 1, 5, 63, 64, 65, 127, 128, 129, 1000):
        values = rng.normal(size=(3, length)).astype(dtype)
        values[:, : special.size] = special[:length]
        shifts = rng.normal(size=(3, 1)).astype(dtype)
        for given in (values, values[::-1, ::-1], np.asfortranarray(values)):
            with np.errstate(all="ignore"):
                expected = _chain(np, given, shifts, dtype)
                difference = given - expected
            for found, wanted in zip(f(given, shifts), [expected, difference], strict=True):
                np.testing.assert_array_equal(found, wanted)
                np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
            np.testing.assert_array_equal(overwriting(given.copy(), shifts), expected)
