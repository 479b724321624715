"""Reductions of joined, reshaped and repeated arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.dimshuffle import dimshuffle_of_dimshuffle, dimshuffle_of_nothing
from lamella.rewriting.rules.reduced_joins import (
    extreme_of_fill,
    reduction_across_join,
    reduction_of_join,
    reduction_of_reshape,
    reduction_of_scalars,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

a, b, c, v = lt.scalar("a"), lt.scalar("b"), lt.scalar("c"), lt.vector("v")
x = lt.tensor("x", dtype="float64", shape=(2, None))
y = lt.tensor("y", dtype="float64", shape=(3, None))
X, Y = np.arange(4.0).reshape(2, 2), -np.arange(6.0).reshape(3, 2)
RULES = (extreme_of_fill, reduction_across_join, reduction_of_join, reduction_of_reshape, reduction_of_scalars)
WAYS = (lt.sum, lt.prod, lt.max, lt.min, lt.all, lt.any)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint8", "bool", "complex128"])
def test_scalars(way: Any, dtype: str) -> None:
    scalars = [lt.scalar(name, dtype=dtype) for name in "abc"]
    for values in ([0, 0, 0], [1, 0, 1], [100, 100, 100], [1, 1, 1]):
        old = FunctionGraph(scalars, [way(lt.stack(scalars))])
        new = applied(old, reduction_of_scalars)
        assert ("MakeVector" in body(new)) == (way is lt.prod and dtype == "complex128")
        assert_same_meaning(old, new, [np.array(value).astype(dtype) for value in values])


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, np.nan, np.inf]), min_size=3, max_size=3))
def test_zeros_keep_their_sign(numbers: list[float]) -> None:
    old = FunctionGraph([a, b, c], [lt.sum(lt.stack([a, b, c])), lt.prod(lt.stack([a, b, c]))])
    assert_same_meaning(old, applied(old, reduction_of_scalars), numbers)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_joined_arrays(way: Any, axis: Any) -> None:
    reduced = way(lt.concatenate([x, y]), axis=axis)
    text = after([x, y], reduced, [X, Y], reduction_of_join, reduction_across_join)
    assert ("Join" in text) == (axis == 1)
    assert text.count("}(%x)") == text.count("}(%y)") == 1


def test_arrays_that_may_be_empty_have_no_extremes() -> None:
    u, w = lt.vector("u"), lt.vector("w")
    for way in (lt.max, lt.min):
        old = FunctionGraph([u, w], [way(lt.concatenate([u, w]))])
        assert_same_meaning(old, applied(old, *RULES), [[], [1.0, 2.0]])
    for other in (lt.sum, lt.prod, lt.all, lt.any):
        old = FunctionGraph([u, w], [other(lt.concatenate([u, w]))])
        new = applied(old, *RULES)
        assert "Join" not in body(new)
        assert_same_meaning(old, new, [[], [1.0, 2.0]])


def test_what_others_need_is_joined_once() -> None:
    joined = lt.concatenate([x, y])
    for axis in (0, 1):
        text = after([x, y], [lt.sum(joined, axis=axis), lt.exp(joined)], [X, Y], *RULES)
        assert text.count("Join") == text.count("Sum") == 1


def test_all_of_a_reshaped_array() -> None:
    n = lt.lscalar("n")
    reshaped = lt.reshape(x, (n, -1))
    assert after([x, n], lt.max(reshaped), [X, 4], reduction_of_reshape) == (
        "%0: float64[] = Max{axis=(0, 1)}(%x)\nreturn %0"
    )
    assert "Reshape" in after([x, n], lt.max(reshaped, axis=0), [X, 4], reduction_of_reshape)


def test_the_greatest_of_one_value() -> None:
    rules = (extreme_of_fill, dimshuffle_of_dimshuffle, dimshuffle_of_nothing)
    assert after([a], lt.max(lt.alloc(a, 3)), [-0.0], *rules) == "return %a"
    filled = lt.alloc(v, 3, lt.shape_i(v, 0))
    assert after([v], lt.min(filled, axis=0), [[1.0, np.nan]], *rules) == "return %v"
    assert "Min{axis=(0,)}(%v)" in after([v], lt.min(filled), [[1.0, 2.0]], *rules)
    assert "Alloc" in after([v], lt.min(filled, axis=1), [[1.0, 2.0]], extreme_of_fill)
    empty = FunctionGraph([a], [lt.max(lt.alloc(a, 0))])
    with pytest.raises(ValueError, match="zero-size"):
        interpret([a], applied(empty, extreme_of_fill).outputs, [np.array(1.0)])
