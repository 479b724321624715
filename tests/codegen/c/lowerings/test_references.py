"""What failing and succeeding steps leave behind: no reference, no memory."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import (
    AdvancedIncSubtensor1,
    ARange,
    Eye,
    FromInput,
    IncSubtensor,
    IntegerEntry,
    Join,
    LinearRecurrence,
    Reshape,
    SpecifyShape,
    Split,
    TensorVariable,
    view_op,
)
from tests.codegen.agreement import compiled

from .against_perform import Array

Case = tuple[Sequence[TensorVariable], Sequence[TensorVariable], Sequence[Array], Sequence[Array]]

X, V = np.ones((40, 30)), np.ones(30)
WRONG, NEGATIVE, RIGHT = np.array(99), np.array(-1), np.array(3)
MANY = np.zeros(200, dtype="int64")
OUTSIDE = np.full(200, 77)


def _cases() -> dict[str, Case]:
    """For each kind: inputs, outputs, values for which a step fails after others have run, and values for which none does."""
    x, v, i = lt.dmatrix("x"), lt.dvector("v"), lt.vector("i", dtype="int64")
    n = lt.lscalar("n")
    y = lt.mul(x, 2.0)  # memory of the function's own, held when the step after it fails
    row = IncSubtensor((IntegerEntry(FromInput(0)),), True, True)
    return {
        "subtensor": ([x, n], [y[n], view_op(y)], [X, WRONG], [X, RIGHT]),
        "inc_subtensor": ([x, v, n], [lt.inc_subtensor(y[n], v)], [X, V, WRONG], [X, V, RIGHT]),
        "inc_subtensor_value": ([x, v, n], [lt.set_subtensor(y[n], v)], [X, V[1:], RIGHT], [X, V, RIGHT]),
        "inc_subtensor_in_place": ([x, v, n], [row(y, v, n)], [X, V, WRONG], [X, V, RIGHT]),
        "advanced_subtensor": ([x, i], [y[i], y[i, i]], [X, OUTSIDE], [X, MANY]),
        "advanced_inc_subtensor": ([x, i], [lt.inc_subtensor(y[i], 1.0)], [X, OUTSIDE], [X, MANY]),
        "scatter_in_place": (
            [x, v, i],
            [AdvancedIncSubtensor1(1, True)(y, v.dimshuffle("x", 0), i)],
            [X, V, OUTSIDE[:30]],
            [X, V, MANY[:30]],
        ),
        "reshape": ([x, n], [Reshape(2)(lt.transpose(y), lt.stack([n, lt.constant(-1)]))], [X, WRONG], [X, RIGHT]),
        "specify_shape": ([x, n], [SpecifyShape((0,))(y, n)], [X, WRONG], [X, np.array(40)]),
        "join": ([x, v], [Join(0)(y, v.dimshuffle("x", 0))], [X, V[1:]], [X, V]),
        "split": ([x, i], list(Split(2, 0)(y, i)), [X, np.array([1, 2])], [X, np.array([1, 39])]),
        "alloc": ([v, n], [lt.alloc(lt.exp(v), n, 30)], [V, NEGATIVE], [V, RIGHT]),
        "eye": ([n], [Eye()(n, n, n)], [NEGATIVE], [RIGHT]),
        "arange": ([n], [ARange("int8")(n, lt.add(n, 2), 1)], [np.array(200)], [RIGHT]),
        "recurrence": ([x, n], [LinearRecurrence(0)(y, lt.ones((n, 30)))], [X, WRONG], [X, np.array(40)]),
        "running_sum": ([x, n], [lt.cumsum(y, 1)[n]], [X, WRONG], [X, RIGHT]),
        "sort": ([x, n], [lt.sort(y, 0)[n], lt.argsort(y, 1)[n]], [X, WRONG], [X, RIGHT]),
        "mask": ([x, n], [y[lt.gt(y, 0)][n * 100]], [X, WRONG], [X, RIGHT]),
    }


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


def _fail(function: Callable[[Sequence[Array]], object], values: Sequence[Array]) -> None:
    try:
        function(values)
    except (IndexError, ValueError, OverflowError):
        return
    raise AssertionError("no error")


@pytest.mark.parametrize("kind", list(_cases()))
def test_nothing_is_left_behind(kind: str) -> None:
    inputs, outputs, wrong, right = _cases()[kind]
    function = compiled(inputs, outputs)
    for _ in range(1000):
        _fail(function, wrong)
        function(right)
    references = [sys.getrefcount(value) for value in (*wrong, *right)]
    before = _resident()
    for _ in range(10_000):
        _fail(function, wrong)
        function(right)
    assert [sys.getrefcount(value) for value in (*wrong, *right)] == references
    # A block, or an array, left behind each time would be some megabytes.
    assert _resident() - before < 600_000


def test_a_view_keeps_the_memory_it_lies_in() -> None:
    x = lt.dmatrix("x")
    y = lt.mul(x, 2.0)
    function = compiled([x], [y[1:, ::2], lt.cumsum(y, 0)[::-1]])
    kept = [function([X + k]) for k in range(50)]
    for k, (part, sums) in enumerate(kept):
        np.testing.assert_array_equal(part, 2 * (X + k)[1:, ::2])
        np.testing.assert_array_equal(sums, np.cumsum(2 * (X + k), 0)[::-1])
