"""Index arrays that slices can say, and that select everything."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.advanced_subtensor import set_at_progression, take_all, take_of_one, take_progression
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

x, i = lt.matrix("x"), lt.lscalar("i")
known = lt.tensor("known", dtype="float64", shape=(5, None))
X = np.arange(15.0).reshape(5, 3)


def test_evenly_spaced_numbers_are_a_slice() -> None:
    assert after([known], known[[0, 2, 4]], [X], take_progression).startswith(
        "%0: float64[3, ?] = Subtensor{:6:2}(%known)"
    )
    assert "Subtensor{4:1:-1}" in after([known], known[[-1, 3, -3]], [X], take_progression)
    assert "Subtensor{1:, 2:3}" in after([known.T], known.T[1:, [2]], [X.T], take_progression)
    assert "Subtensor{:0}" in after([known], known[np.zeros(0, int)], [X], take_progression)
    assert "SetSubtensor{1:3}" in after([known], known[[1, 2]].set(0.0), [X], set_at_progression)
    assert "IncSubtensor{3::-3}" in after([known], known[[3, 0]].inc(1.0), [X], set_at_progression)


def test_other_arrays_are_left_alone() -> None:
    for part in (known[[0, 1, 3]], known[[2, 2]], known[[0, 1], [1, 2]], x[[0, 1]], known[[[0, 1]]], known[:, [0, 1]]):
        assert "Advanced" in after([known, x], part, [X, X], take_progression)
    for written in (known[[0, 0]].inc(1.0), x[[0, 1]].set(0.0)):
        assert "Advanced" in after([known, x], written, [X, X], set_at_progression)


@given(st.lists(st.integers(-4, 3), max_size=4), st.booleans())
def test_any_numbers(numbers: list[int], is_set: bool) -> None:
    four = lt.tensor("four", dtype="float64", shape=(None, 4))
    value = np.arange(8.0).reshape(2, 4)
    index = np.array(numbers, dtype="int64")
    part = four[:, index]
    old = FunctionGraph([four], [part, part.set(-1.0) if is_set else part.inc(-1.0), four[::-1, None, index]])
    assert_same_meaning(old, applied(old, take_progression, set_at_progression), [value])


def test_all_numbers_in_order_are_everything() -> None:
    assert after([x], x[lt.arange(lt.shape_i(x, 0))], [X], take_all) == "return %x"
    assert after([x], x[:, lt.arange(lt.shape_i(x, 1))], [X], take_all) == "return %x"
    others: list[Any] = [lt.arange(lt.shape_i(x, 1)), lt.arange(1, lt.shape_i(x, 0)), lt.arange(0, lt.shape_i(x, 0), 2)]
    for other in others:
        assert "Advanced" in after([x], x[other], [X], take_all)


def test_a_vector_of_one_number_is_that_number() -> None:
    for index in (lt.stack([i]), lt.dimshuffle(i, "x")):
        part = x[:, index]
        assert "Subtensor{:, i0, None}(%x, %i)" in after([x, i], part, [X, -1], take_of_one)
        new = applied(FunctionGraph([x, i], [part]), take_of_one)
        assert "Advanced" not in body(new)
        with pytest.raises(IndexError):
            interpret([x, i], new.outputs, [X, np.array(3)])
