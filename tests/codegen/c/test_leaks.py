"""Ten thousand calls leave nothing behind: neither references nor memory, whether they succeed or fail."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lamella.ir import TensorType, lt
from tests.codegen.agreement import compiled

CALLS = 10_000


def grown(call: Callable[[], object]) -> int:
    """Return how many kilobytes the process has grown by over many calls."""
    for _ in range(CALLS // 10):
        call()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(CALLS):
        call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


@pytest.mark.parametrize("index", [1, 99], ids=["success", "error"])
def test_nothing_is_left_behind(index: int) -> None:
    x, i = TensorType("float64", (None, None))("x"), TensorType("int64", ())("i")
    y = lt.transpose(lt.exp(x))
    function = compiled([x, i], [lt.add(y[i], lt.sum(x, axis=0)[:1]), lt.sort(lt.sum(y, axis=0)), y])
    value, place = np.zeros((1, 500)), np.array(index)
    arguments: list[Any] = [value, place]

    def call() -> None:
        try:
            function(arguments)
        except IndexError:
            assert index == 99

    references = sys.getrefcount(value), sys.getrefcount(place)
    assert grown(call) < 2000
    assert (sys.getrefcount(value), sys.getrefcount(place)) == references
