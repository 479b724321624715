"""Arrays joined out of one, and parts of joined arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Join
from lamella.rewriting.rules.joining import (
    join_of_empty,
    join_of_join,
    join_of_one,
    join_of_parts,
    join_of_scalars,
    join_of_split,
    make_vector_of_elements,
    subtensor_of_join,
    subtensor_of_make_vector,
)
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


def test_arrays_without_elements_are_left_out() -> None:
    empty = lt.tensor("empty", dtype="float64", shape=(0, None))
    inputs, values = [x, empty], [X, np.zeros((0, 2))]
    assert after(inputs, Join(0)(empty, x, empty), values, join_of_empty, join_of_one) == "return %x"
    assert after(inputs, Join(0)(empty, empty), values, join_of_empty, join_of_one) == "return %empty"
    assert "Join" in after(inputs, Join(1)(empty, empty), values, join_of_empty, join_of_one)


def test_joined_arrays_are_joined_at_once() -> None:
    values = [X, Y]
    joined = Join(0)(Join(0)(x, y), x)
    assert after([x, y], joined, values, join_of_join) == "%0: float64[7, ?] = Join{axis=0}(%x, %y, %x)\nreturn %0"
    inner = Join(0)(x, y)
    assert after([x, y], [Join(0)(inner, x), inner], values, join_of_join).count("Join") == 2
    other = Join(1)(Join(0)(x, y), Join(0)(y, x))
    assert after([x, y], other, values, join_of_join).count("Join") == 3


def test_scalars_are_put_into_one_vector() -> None:
    u = lt.vector("u")
    inputs, values = [a, b, u], [1.0, -0.0, [5.0, 6.0]]
    joined = lt.concatenate([lt.stack([a, b]), lt.dimshuffle(b, "x"), np.array([3.0])])
    text = after(inputs, joined, values, join_of_scalars)
    assert text.splitlines()[-2] == "%0: float64[4] = MakeVector{dtype=float64}(%a, %b, %b, %c0)"
    mixed = lt.concatenate([lt.stack([a, b]), u, lt.stack([b]), lt.stack([b])])
    text = after(inputs, mixed, values, join_of_scalars)
    assert text.count("MakeVector") == 2
    assert "Join" in text


def test_parts_of_one_array_are_that_array() -> None:
    n, m = lt.lscalar("n"), lt.lscalar("m")
    parts = lt.split(y, [n, m])
    values = [Y, 1, 2]
    assert after([y, n, m], Join(0)(*parts), values, join_of_split) == "return %y"
    assert "Join" in after([y, n, m], Join(0)(parts[1], parts[0]), values, join_of_split)
    assert "Join" in after([y, n, m], Join(0)(*parts, y), values, join_of_split)


def test_all_elements_of_a_vector_are_that_vector() -> None:
    three = lt.tensor("three", dtype="float64", shape=(3,))
    value = [1.0, -0.0, np.nan]
    assert (
        after([three], lt.stack([three[0], three[1], three[-1]]), [value], make_vector_of_elements) == "return %three"
    )
    for places in ((0, 1), (0, 2, 1), (0, 1, 2, 2)):
        assert "MakeVector" in after([three], lt.stack([three[k] for k in places]), [value], make_vector_of_elements)


def test_slices_that_go_on_where_others_end() -> None:
    u, k = lt.vector("u"), lt.lscalar("k")
    rules = (join_of_parts, join_of_one)
    for number in (-9, -2, 0, 3, 9):
        whole = lt.concatenate([u[:k], u[k:]])
        assert after([u, k], whole, [np.arange(5.0), number], *rules) == "return %u"
        assert after([u], lt.concatenate([u[: number or 1], u[number or 1 :]]), [np.arange(5.0)], *rules) == "return %u"
    assert "Subtensor{1:4}" in after([u], lt.concatenate([u[1:2], u[2:3], u[3:4]]), [np.arange(5.0)], *rules)
    assert after([x], lt.concatenate([x[:, :1], x[:, 1:]], axis=1), [X], *rules) == "return %x"
    others: list[Any] = [
        [u[k:], u[:k]],
        [u[:2], u[3:]],
        [u[:2], u[2::2]],
        [u[:2], u[1:]],
        [u[1:-2], u[-2:4]],
        [u[:k], u[k:3]],
        [u[3:1], u[1:]],
        [u[:1], lt.exp(u)[1:]],
    ]
    for other in others:
        assert "Join" in after([u, k], lt.concatenate(other), [np.arange(5.0), 2], *rules)
    assert "Join" in after([x], lt.concatenate([x[:1], x[1:]], axis=1), [np.ones((2, 2))], *rules)
