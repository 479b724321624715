"""Arrays joined out of one, and parts of joined arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Join
from lamella.rewriting.rules.joining import join_of_one, subtensor_of_join, subtensor_of_make_vector
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

a, b, c = lt.scalar("a"), lt.scalar("b"), lt.scalar("c")
x = lt.tensor("x", dtype="float64", shape=(2, None))
y = lt.tensor("y", dtype="float64", shape=(3, None))
X, Y = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(3, 2)


def test_one_array_is_not_joined() -> None:
    assert after([x], Join(0)(x), [X], join_of_one) == "return %x"


def test_elements_of_a_vector_of_scalars() -> None:
    vector = lt.stack([a, b, c])
    values = [1.0, np.nan, -0.0]
    assert after([a, b, c], vector[1], values, subtensor_of_make_vector) == "return %b"
    assert after([a, b, c], vector[-1], values, subtensor_of_make_vector) == "return %c"
    assert after([a, b, c], vector[::-2], values, subtensor_of_make_vector) == (
        "%0: float64[2] = MakeVector{dtype=float64}(%c, %a)\nreturn %0"
    )
    i = lt.lscalar("i")
    assert "Subtensor" in after([a, b, c, i], vector[i], [*values, 1], subtensor_of_make_vector)


def test_parts_that_lie_in_one_array() -> None:
    joined = lt.concatenate([x, y])
    assert (
        after([x, y], joined[3], [X, Y], subtensor_of_join)
        == "%0: float64[?] = Subtensor{1}(%y)  # views %y\nreturn %0"
    )
    assert (
        after([x, y], joined[2:, 1], [X, Y], subtensor_of_join)
        .splitlines()[0]
        .startswith("%0: float64[3] = Subtensor{:3, 1}(%y)")
    )
    assert "Join" in after([x, y], joined[1:3], [X, Y], subtensor_of_join)


@given(st.data())
def test_any_part_of_joined_arrays(data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    parts = [lt.tensor(f"p{k}", dtype="float64", shape=(2, n)) for k, n in enumerate(lengths)]
    joined = Join(1)(*parts)
    total = sum(lengths)
    bound = st.none() | st.integers(-total - 1, total + 1)
    index: Any = data.draw(st.builds(slice, bound, bound, st.sampled_from([None, -1, 2, -3])))
    if total and data.draw(st.booleans()):
        index = data.draw(st.integers(-total, total - 1))
    old = FunctionGraph(parts, [joined[1:, index]])
    values = [np.arange(2.0 * n).reshape(2, n) + 10 * k for k, n in enumerate(lengths)]
    assert_same_meaning(old, applied(old, subtensor_of_join), values)


@pytest.mark.parametrize("index", [0, 3, slice(0, 1)])
def test_lengths_that_are_not_known_are_not_guessed(index: Any) -> None:
    u, w = lt.vector("u"), lt.vector("w")
    assert "Join" in after([u, w], lt.concatenate([u, w])[index], [[1.0, 2.0], [3.0, 4.0]], subtensor_of_join)
