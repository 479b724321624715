"""What is too large for the caches: results are written past them, and what is read is asked for early, whatever the layout."""

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


@pytest.mark.parametrize("threads", [1, 2])
def test_elements_that_are_computed_and_reduced(threads: int) -> None:
    x, y, one = lt.vector("x"), lt.TensorType("float32", (None,))("y"), lt.TensorType("float64", (1,))("one")
    outputs = [lt.sum(x * x + y), lt.max(lt.abs(x - one)), lt.sum(lt.exp(x)), lt.all(x + y > one)]
    with lm.config.override(threads=threads):
        f = lm.function([x, y, one], outputs)
    rng = np.random.default_rng(8)
    for n in (131_071, 131_072, 300_007, 1_000_000):
        a, b, c = rng.normal(size=(2 * n)), rng.normal(size=(2, n)).astype("float32"), np.asarray([-9e9])
        for v, w in (
            (a[:n], b[0]),
            (a[::2], b[0, ::-1]),
            (a[::-2], np.broadcast_to(b[0, :1], n)),
            (a[n:][::-1], b[1][::-1]),
        ):
            found = f(v, w, c)
            expected = [np.sum(v * v + w), np.max(np.abs(v - c)), np.sum(np.exp(v)), True]
            np.testing.assert_allclose(found, expected, rtol=1e-14 * np.log2(n))
