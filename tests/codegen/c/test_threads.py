"""Threads that share the work of one call: the same results, no more threads than were asked for, none that hang."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt

N: Final = 300_000


def _outputs() -> tuple[list[Any], list[Any]]:
    x, m = lt.vector("x"), lt.matrix("m")
    column = lt.TensorType("float64", (None, 1))("column")
    fused = lt.exp(-(x**2) / 2) * lt.sin(3 * x) + lt.log1p(x**2)
    return [x, m, column], [fused, x > 0.5, m.T * 2 + column, lt.tanh(m[::-1, ::2])]


def _function(threads: int) -> Callable[..., Any]:
    inputs, outputs = _outputs()
    with lm.config.override(threads=threads):
        return lm.function(inputs, outputs)


def _values() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(11)
    return [rng.normal(size=N), rng.normal(size=(901, 700)), rng.normal(size=(700, 1))]


def _bits(arrays: list[Any]) -> list[bytes]:
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("threads", [2, 3, 7, 1000])
def test_the_number_of_threads_changes_no_bit(threads: int) -> None:
    values = _values()
    expected = _bits(_function(1)(*values))
    function = _function(threads)
    for _ in range(20):
        assert _bits(function(*values)) == expected


def test_empty_and_small_arrays() -> None:
    function = _function(4)
    for n in (0, 1, 63, 64, 65):
        x = np.linspace(-2, 2, n)
        found = function(x, np.ones((n, 2 * n)), np.ones((2 * n, 1)))
        assert _bits(found) == _bits(_function(1)(x, np.ones((n, 2 * n)), np.ones((2 * n, 1))))


def test_many_threads_call_at_once() -> None:
    function, values = _function(2), _values()
    expected = _bits(function(*values))
    agreed: list[bool] = []

    def call() -> None:
        agreed.extend([_bits(function(*values)) == expected for _ in range(20)])

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agreed == [True] * 120


def _call_in_child(function: Callable[..., Any], values: list[Any], end: Connection) -> None:
    end.send(_bits([*function(*values), *function(*values)]))
    end.close()


def _run_children(function: Callable[..., Any], n: int) -> None:
    values = _values()
    expected = _bits(function(*values)) * 2
    context = multiprocessing.get_context("fork")
    for _ in range(n):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_call_in_child, args=(function, values, there))
        child.start()
        assert here.poll(60), "the child hangs"
        assert here.recv() == expected
        child.join(60)
        assert child.exitcode == 0


def test_a_forked_child_goes_on() -> None:
    _run_children(_function(3), 3)


def test_a_child_forked_while_another_thread_calls_goes_on() -> None:
    function, values = _function(3), _values()
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            function(*values)

    thread = threading.Thread(target=call)
    thread.start()
    try:
        _run_children(function, 5)
    finally:
        stop.set()
        thread.join()


_COUNT: Final = f"""
import os
import numpy as np, lamella as lm, lamella.tensor as lt

before = len(os.listdir("/proc/self/task"))

def count(wanted="", limit="", flag=0):
    os.environ.update(OMP_NUM_THREADS=wanted, OMP_THREAD_LIMIT=limit)
    x = lt.vector()
    with lm.config.override(threads=flag):
        f = lm.function([x], lt.exp(lt.sin(x)))
    for _ in range(3):
        f(np.ones({N}))
        f(np.ones(4 * {N}))
    return len(os.listdir("/proc/self/task")) - before + 1

os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
print(count(""), count("nonsense"), count("1"), count("8", "2"), count("3"), count("4,2"), count("8", flag=5), count("2"))
"""


def test_there_are_as_many_threads_as_asked_for() -> None:
    env = {**os.environ, "LAMELLA_FLAGS": f"cache_dir={lm.config.cache_dir}"}
    done = subprocess.run([sys.executable, "-c", _COUNT], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", "1", "2", "3", "4", "5", "5"]
