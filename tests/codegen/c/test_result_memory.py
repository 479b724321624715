"""The memory of large results: the caller's own, used again when nobody has it any more, and never before."""

from __future__ import annotations

import pickle
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

import lamella as lm
import lamella.tensor as lt

LARGE: Final = 100_000
"""Elements of arrays that are large."""


def _shifted() -> Callable[..., Any]:
    x, shift = lt.vector("x"), lt.scalar("shift")
    return lm.function([x, shift], x + shift)


def test_results_that_are_kept_stay_as_they_are() -> None:
    f, x = _shifted(), np.arange(float(LARGE))
    kept = [f(x, i) for i in range(40)]
    del f
    for i, y in enumerate(kept):
        np.testing.assert_array_equal(y, x + i)


def test_memory_that_nobody_has_is_used_again() -> None:
    f, x = _shifted(), np.arange(float(LARGE))
    places = set()
    for i in range(50):
        y = f(x, i)
        places.add(y.ctypes.data)
        view = y[3:5]
        del y
        assert view.tolist() == [3.0 + i, 4.0 + i]
        assert f(x, -1)[3] == 2.0
        assert view.tolist() == [3.0 + i, 4.0 + i]
    assert len(places) <= 4


def test_a_large_result_is_like_any_array() -> None:
    f, x = _shifted(), np.arange(float(LARGE))
    y = f(x, 1.0)
    assert y.flags.owndata
    assert y.flags.writeable
    assert y.flags.c_contiguous
    assert y.base is None
    assert y.ctypes.data % 64 == 0
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(y)), x + 1)
    y.resize(3 * LARGE)
    np.testing.assert_array_equal(y[:LARGE], x + 1)
    y[LARGE:] = 5
    y.resize(10)
    assert y.tolist() == list(range(1, 11))
    a, b = f(x, 2.0), f(x, 3.0)
    a, b = b.copy(), a.copy()
    np.testing.assert_array_equal(a - b, np.ones(LARGE))


def test_tracemalloc_counts_it() -> None:
    f, x = _shifted(), np.arange(float(LARGE))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        y = f(x, 1.0)
        during = tracemalloc.get_traced_memory()[0]
        del y
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert during - before >= x.nbytes
    assert after - before < x.nbytes / 2


def test_threads_get_memory_of_their_own() -> None:
    f, x = _shifted(), np.arange(float(LARGE))
    agreed: list[bool] = []

    def call(number: int) -> None:
        held: list[Any] = []
        for i in range(60):
            held.append((number * 1000 + i, f(x, number * 1000 + i)))
            if len(held) == 4:
                shift, y = held.pop(0)
                agreed.append(bool(np.all(y == x + shift)))

    threads = [threading.Thread(target=call, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agreed == [True] * (5 * 57)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_what_is_kept_for_later_is_bounded() -> None:
    x = lt.vector("x")
    f = lm.function([x], [lt.exp(x), lt.sum(lt.outer(x, x) + lt.outer(x[::-1], x), axis=0)])
    for size in (1000, 1400, 1600, 2000, 2500):
        f(np.zeros(size))
    held = [_shifted()(np.zeros(4_000_000), 1.0) for _ in range(16)]
    most = _resident()
    del held
    assert most - _resident() >= 16 * 32_000_000 - 300 * 2**20
