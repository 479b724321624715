"""Reshapings that keep the shape, that add and drop axes of length 1, and those of reshaped arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Reshape, TensorVariable, interpret
from lamella.rewriting.rules.reshape import (
    reshape_of_dimshuffle,
    reshape_of_elemwise,
    reshape_of_reshape,
    reshape_of_unit_axes,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

RULES = (reshape_of_reshape, reshape_of_unit_axes)
x = lt.matrix("x")
VALUE = np.arange(6.0).reshape(2, 3)


def _lengths(v: TensorVariable) -> list[TensorVariable]:
    return list(lt.shape_tuple(v))


def test_reshaping_to_the_same_shape_is_nothing() -> None:
    assert after([x], lt.reshape(lt.exp(x), _lengths(x)), [VALUE], *RULES) == "%0: float64[?, ?] = Exp(%x)\nreturn %0"
    assert after([x], lt.reshape(x, x.shape), [VALUE], *RULES) == "return %x"
    v = lt.vector("v")
    assert after([v], lt.reshape(v, (-1,)), [[1.0, 2.0]], *RULES) == "return %v"
    y = lt.tensor("y", dtype="float64", shape=(2, None))
    assert after([y], lt.reshape(y, (2, -1)), [VALUE], *RULES) == "return %y"


def test_axes_of_length_1_are_added_and_dropped_by_moving_axes() -> None:
    n, m = _lengths(x)
    text = after([x], lt.reshape(x, (n, 1, m, 1)), [VALUE], *RULES)
    assert text == "%0: float64[?, 1, ?, 1] = DimShuffle{order=[0,x,1,x]}(%x)  # views %x\nreturn %0"
    row = lt.row("row")
    assert after([row], lt.reshape(row, (-1,)), [[[1.0, 2.0]]], *RULES) == (
        "%0: float64[?] = DimShuffle{order=[1]}(%row)  # views %row\nreturn %0"
    )


@pytest.mark.parametrize("length", [0, 1, 2])
def test_one_equal_length_is_not_enough(length: int) -> None:
    """Fault B28: the elements are laid out anew."""
    v = lt.tensor3("v")
    value = np.arange(length * 6.0).reshape(length, 2, 3)
    shapes: list[Any] = [(v.shape[0], 3, 2), (lt.shape_i(v, 0), 3, 2), (lt.shape_i(v, 0), 3, lt.shape_i(v, 1))]
    for shape in shapes:
        old = FunctionGraph([v], [lt.reshape(v, shape)])
        new = applied(old, *RULES)
        (result,) = interpret([v], new.outputs, [value])
        np.testing.assert_array_equal(result, value.reshape(length, 3, 2))


def test_lengths_that_are_not_known_to_be_1_are_not_taken_for_it() -> None:
    assert "Reshape" in after([x], lt.reshape(x, (1, 1, 1)), [[[5.0]]], *RULES)


def test_a_length_that_must_be_1_is_not_taken_for_it() -> None:
    """The one element of `one` fits no other shape, so the type of the result says 1, and the length wanted has to be it."""
    one, w = lt.tensor("one", dtype="float64", shape=(1,)), lt.vector("w")
    old = FunctionGraph([one, w], [lt.reshape(one, (lt.shape_i(w, 0),))])
    new = applied(old, *RULES)
    assert_same_meaning(old, new, [[5.0], [1.0]])
    for graph in (old, new):
        with pytest.raises(ValueError, match="cannot reshape"):
            interpret(graph.inputs, graph.outputs, [np.array([5.0]), np.zeros(2)])


def test_minus_one_beside_a_length_that_may_be_0_raises_as_numpy_does() -> None:
    old = FunctionGraph([x], [lt.reshape(x, (lt.shape_i(x, 0), -1))])
    new = applied(old, *RULES)
    assert_same_meaning(old, new, [VALUE])
    for graph in (old, new):
        with pytest.raises(ValueError, match="cannot reshape"):
            interpret([x], graph.outputs, [np.zeros((0, 3))])


def test_reshaping_twice_is_reshaping_once() -> None:
    twice = lt.reshape(lt.reshape(x, (3, 2)), (1, 6))
    assert after([x], twice, [VALUE], *RULES) == (
        "%c0: int64[2] = constant [1, 6]\n%0: float64[1, 6] = Reshape{ndim=2}(%x, %c0)  # views %x\nreturn %0"
    )


@given(st.lists(st.integers(0, 3), max_size=4), st.data())
def test_what_is_left_out_is_the_same(shape: list[int], data: st.DataObject) -> None:
    value = np.arange(float(np.prod(shape))).reshape(shape)
    v = lt.tensor("v", dtype="float64", shape=[data.draw(st.sampled_from([n, None])) for n in shape])
    size = value.size
    wanted = data.draw(
        st.sampled_from(
            [shape, [*shape, 1], [1, *shape], shape[::-1], [n for n in shape if n != 1], [size], [1, size, 1]]
        )
    )
    lengths: list[Any] = [
        data.draw(
            st.sampled_from([n, *[length for length, known in zip(_lengths(v), shape, strict=True) if known == n]])
        )
        for n in wanted
    ]
    old = FunctionGraph([v], [Reshape(len(wanted))(v, lengths)])
    assert_same_meaning(old, applied(old, *RULES), [value])


def test_axes_that_are_added_first_are_added_by_reshaping() -> None:
    v, n = lt.matrix("v"), lt.lscalar("n")
    value = np.arange(6.0).reshape(2, 3)
    reshaped = Reshape(2)(lt.dimshuffle(v, 0, "x", 1), (n, -1))
    assert "DimShuffle" not in after([v, n], reshaped, [value, 3], reshape_of_dimshuffle)
    assert "DimShuffle" in after([v, n], Reshape(2)(v.T, (n, -1)), [value, 3], reshape_of_dimshuffle)


def test_what_is_reshaped_before_is_reshaped_at_once() -> None:
    v, n, w = lt.matrix("v"), lt.lscalar("n"), lt.matrix("w")
    value = np.arange(6.0).reshape(2, 3)
    inner = lt.reshape(v, (n, 1, -1))
    reshaped = Reshape(2)(lt.exp(2.0 * inner), (-1, n))
    rules = (reshape_of_elemwise, reshape_of_reshape)
    assert after([v, n], reshaped, [value, 3], *rules).count("Reshape") == 1
    both = lt.reshape(lt.reshape(v, (n, 2)) + w, (6,))
    assert after([v, n, w], both, [value, 3, value.T], *rules).count("Reshape") == 2
    exp = lt.exp(inner)
    assert after([v, n], [Reshape(2)(exp, (-1, n)), exp], [value, 3], *rules).count("Reshape") == 2
