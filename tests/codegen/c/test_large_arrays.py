"""Results that are too large for the caches: they are written past them, by several threads, whatever the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt


def _check(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected)
    assert np.asarray(found).dtype == expected.dtype


@pytest.mark.parametrize("threads", [1, 2])
def test_every_element_is_written(threads: int) -> None:
    x, row, column, i = lt.matrix("x"), lt.row("row"), lt.col("column"), lt.TensorType("int8", (None,))("i")
    outputs = [
        *[x * row + column, x.T - 1, x[::-1, ::-2] * 2],
        *[x[3:, 5:] + column[3:], lt.cast(x, "float32") * 2, x > 0],
        *[i + 1, i > 3],
    ]
    with lm.config.override(threads=threads):
        f = lm.function([x, row, column, i], outputs)
    rng = np.random.default_rng(5)
    for shape in ((1501, 703), (703, 1501), (3, 400_001), (1_300_003, 1)):
        a, r, c = rng.normal(size=shape), rng.normal(size=(1, shape[1])), rng.normal(size=(shape[0], 1))
        k = rng.integers(-128, 128, size=5_000_011, dtype="int8")
        for b in (a, np.asfortranarray(a), a[::-1]):
            single = b.astype("float32") * np.float32(2)
            expected = [b * r + c, b.T - 1, b[::-1, ::-2] * 2, b[3:, 5:] + c[3:], single, b > 0, k + np.int8(1), k > 3]
            for found, wanted in zip(f(b, r, c, k), expected, strict=True):
                _check(found, wanted)


def test_a_kernel_with_several_results() -> None:
    x, y = lt.vector("x"), lt.vector("y")
    total = x + y
    f = lm.function([x, y], [total, total * x, total - y])
    rng = np.random.default_rng(6)
    for n in (180_000, 600_001):
        a, b = rng.normal(size=n), rng.normal(size=n)
        for found, wanted in zip(f(a, b), [a + b, (a + b) * a, (a + b) - b], strict=True):
            _check(found, wanted)


def test_results_that_overwrite_what_is_read() -> None:
    x, y = lt.vector("x"), lt.vector("y")
    f = lm.function([lm.In(x, mutable=True), y], x * 2 + y)
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=900_001), rng.normal(size=900_001)
    wanted = a * 2 + b
    _check(f(a, b), wanted)
