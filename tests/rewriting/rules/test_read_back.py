"""Reading of arrays that were just written to."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.read_back import subtensor_of_other_part, take_of_written
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

x, i, v, mask = lt.vector("x"), lt.lscalar("i"), lt.vector("v"), lt.vector("mask", dtype="bool")
known = lt.tensor("known", dtype="float64", shape=(4,))
X = np.array([1.0, -0.0, np.nan, 4.0])


@pytest.mark.parametrize(
    ("written", "read"),
    [(0, 1), (0, 3), (-1, -2), (slice(1, None), 0), (slice(None, 2), slice(2, None)), (slice(0, 4, 2), 1)],
)
def test_another_part_is_what_it_was(written: Any, read: Any) -> None:
    for way in (lt.set_subtensor, lt.inc_subtensor):
        text = after([x], way(x[written], 7.0)[read], [X], subtensor_of_other_part)
        assert "IncSub" not in text
        assert "SetSub" not in text
        assert text.count("(%x)") == 1


@pytest.mark.parametrize(
    ("written", "read"),
    [(1, 0), (0, -1), (i, 0), (0, slice(1, None)), (slice(1, None), -1), (slice(None, None, -1), 0), (-2, -1), (0, 0)],
    ids=str,
)
def test_what_may_be_the_same_or_out_of_bounds_is_left_alone(written: Any, read: Any) -> None:
    text = after([x, i], lt.set_subtensor(x[written], 7.0)[read], [X, 2], subtensor_of_other_part)
    assert "SetSubtensor" in text


def test_an_error_of_writing_is_kept() -> None:
    old = FunctionGraph([x], [lt.set_subtensor(x[3], 7.0)[1]])
    new = applied(old, subtensor_of_other_part)
    with pytest.raises(IndexError):
        interpret([x], new.outputs, [X[:2]])


BOUNDS = st.none() | st.integers(-5, 5)
INDICES = st.integers(-4, 3) | st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, 1, -1, 2]))


@given(st.lists(INDICES, min_size=1, max_size=2), st.lists(INDICES, min_size=1, max_size=2), st.booleans())
def test_any_part_after_any_other(written: list[Any], read: list[Any], is_known: bool) -> None:
    m = lt.tensor("m", dtype="float64", shape=(4, 4) if is_known else (None, None))
    value = np.arange(16.0).reshape(4, 4)
    old = FunctionGraph([m], [lt.set_subtensor(m[tuple(written)], -1.0)[tuple(read)]])
    new = applied(old, subtensor_of_other_part)
    assert_same_meaning(old, new, [value])
    if is_known:
        return
    small = value[:2, :3]
    try:
        expected = interpret([m], old.outputs, [small])
    except IndexError:
        with pytest.raises(IndexError):
            interpret([m], new.outputs, [small])
    else:
        np.testing.assert_array_equal(interpret([m], new.outputs, [small])[0], expected[0])


def test_what_was_written_where_nothing_is_repeated() -> None:
    index = np.array([3, 0])
    values = [X, [5.0, 6.0]]
    assert after([known, v], known[index].set(v)[index], values, take_of_written).startswith(
        "%c0: int64[] = constant 2\n%0: float64[2] = SpecifyShape"
    )
    text = after([known, v], known[index].inc(v)[index], values, take_of_written)
    assert "Inc" not in text
    assert "Add" in text
    masked = known[mask].set(v)[mask]
    assert "Set" not in after([known, v, mask], masked, [*values, [True, False, True, False]], take_of_written)


def test_duplicates_are_written_and_read() -> None:
    j = lt.lvector("j")
    values = [X, [5.0, 6.0], [0, 0]]
    indices: list[Any] = [np.array([0, 0]), np.array([0, -4]), j]
    for index in indices:
        for way in (lt.set_subtensor, lt.inc_subtensor):
            text = after([known, v, j], way(known[index], v)[index], values, take_of_written)
            assert text.count("Subtensor") == 2


def test_what_may_be_out_of_bounds_is_written() -> None:
    read = x[np.array([3, 0])].set(v)[np.array([3, 0])]
    new = applied(FunctionGraph([x, v], [read]), take_of_written)
    assert "Set" in body(new)
    with pytest.raises(IndexError):
        interpret([x, v], new.outputs, [X[:2], X[:2]])
