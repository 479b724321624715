"""One compiled function, many threads, no lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_eight_threads_share_a_function(mode: str) -> None:
    x, y = lt.matrix("x"), lt.vector("y")
    hidden = lt.tanh(x @ y) + 1.0
    f = lm.function([x, y], [lt.sum(hidden), hidden[::-1], lt.exp(x) * y], mode=mode)
    calls = 10_000 if mode == "FAST_RUN" else 400

    def run(seed: int) -> int:
        rng = np.random.default_rng(seed)
        wrong = 0
        for _ in range(calls // 8):
            n, m = rng.integers(1, 30, size=2)
            a, b = rng.normal(size=(n, m)), rng.normal(size=m)
            total, reverse, scaled = f(a, b)
            expected = np.tanh(a @ b) + 1.0
            right = (
                np.allclose(total, expected.sum())
                and np.allclose(reverse, expected[::-1])
                and np.allclose(scaled, np.exp(a) * b)
            )
            wrong += not right
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(run, range(8))) == 0


def test_threads_compile_at_once() -> None:
    x = lt.vector("x")

    def run(i: int) -> float:
        f = lm.function([x], lt.sum(lt.exp(x) * float(i % 4)))
        return float(f(np.zeros(3)))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(16))) == [3.0 * (i % 4) for i in range(16)]
