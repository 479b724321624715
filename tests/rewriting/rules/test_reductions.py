"""Reductions over axes of length 1, of reductions, and of moved axes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Sum
from lamella.rewriting.rules.reductions import (
    reduction_of_dimshuffle,
    reduction_of_reduction,
    reduction_of_unit_axes,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, computed

x, t = lt.matrix("x"), lt.tensor3("t")
col = lt.col("col")
X, T = np.array([[2.0, 3.0], [4.0, 5.0]]), np.arange(1.0, 13.0).reshape(2, 2, 3)
COL = np.array([[1.0], [-0.0], [np.nan], [np.inf]])
NAMES = ["sum", "prod", "max", "min", "all", "any"]


def test_a_sum_over_an_axis_of_length_1_begins_with_0() -> None:
    assert after([col], lt.sum(col, axis=1), [COL], reduction_of_unit_axes) == (
        "%c0: float64[1] = constant [0.0]\n%0: float64[?] = DimShuffle{order=[0]}(%col)  # views %col\n"
        "%1: float64[?] = Add(%0, %c0)\nreturn %1"
    )


def test_the_greatest_of_one_is_it() -> None:
    assert after([col], lt.max(col, axis=1), [COL], reduction_of_unit_axes) == (
        "%0: float64[?] = DimShuffle{order=[0]}(%col)  # views %col\nreturn %0"
    )
    assert after([x], lt.max(x, axis=()), [X], reduction_of_unit_axes) == "return %x"


def test_the_other_axes_are_still_reduced() -> None:
    assert after([col], lt.sum(col), [COL], reduction_of_unit_axes) == (
        "%0: float64[?] = DimShuffle{order=[0]}(%col)  # views %col\n%1: float64[] = Sum{axis=(0,)}(%0)\nreturn %1"
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"])
def test_one_element_is_cast_as_a_reduction_casts_it(name: str, dtype: str) -> None:
    c = lt.tensor("c", dtype=dtype, shape=(None, 1))
    values = np.array([[0], [1], [100], [3]]).astype(dtype)
    if values.dtype.kind in "fc":
        values[:2] = [[-0.0], [np.inf]]
    old = FunctionGraph([c], [getattr(lt, name)(c, axis=1), getattr(lt, name)(c, axis=())])
    new = applied(old, reduction_of_unit_axes)
    left = [node for node in new.order if str(node.op).startswith(name.capitalize())]
    assert not left or (name, dtype) == ("prod", "complex64")  # 1 * complex(inf, 0) has a NaN in it
    with np.errstate(all="ignore"):
        assert_same_meaning(old, new, [values])


def test_dtypes_to_accumulate_in_and_of_the_result() -> None:
    f = lt.tensor("f", dtype="float32", shape=(None, 1))
    value = [[0.1], [-0.0]]
    assert after([f], lt.sum(f, axis=1), [value], reduction_of_unit_axes).count("Cast") == 2  # to float64 and back
    text = after([f], lt.sum(f, axis=1, dtype="int64"), [[[1.5], [-2.5]]], reduction_of_unit_axes)
    assert text.splitlines()[-2] == "%1: int64[?] = Cast{int64}(%0)"


@pytest.mark.parametrize("name", NAMES)
def test_a_reduction_of_its_own_kind_is_one(name: str) -> None:
    f: Any = getattr(lt, name)
    text = after([t], f(f(t, axis=1), axis=1), [T], reduction_of_reduction)
    assert text.splitlines()[:-1] == [text.splitlines()[0]]
    assert "axis=(1, 2)" in text


def test_two_kinds_of_reductions_are_two() -> None:
    """Fault B13."""
    two = [
        (lt.sum(lt.prod(x, axis=1)), 26.0),
        (lt.prod(lt.sum(x, axis=1)), 45.0),
        (lt.max(lt.min(x, axis=1)), 4.0),
        (lt.all(lt.any(lt.gt(x, 3), axis=1)), False),
    ]
    old = FunctionGraph([x], [out for out, _ in two])
    new = applied(old, reduction_of_reduction, reduction_of_dimshuffle, reduction_of_unit_axes)
    assert len(new.order) == len(old.order)
    assert [result.item() for result in computed(new, [X])] == [expected for _, expected in two]


def test_what_is_between_is_not_computed_twice() -> None:
    rows = lt.sum(x, axis=1)
    assert len(after([x], [rows, lt.sum(rows)], [X], reduction_of_reduction).splitlines()) == 3


def test_reductions_in_different_dtypes_are_two() -> None:
    narrow = lt.vector("narrow", dtype="int8")
    wraps = Sum((0,), "int64")(lt.sum(narrow.dimshuffle(0, "x"), axis=1, dtype="int8"))
    assert after([narrow], wraps, [[100, 100]], reduction_of_reduction).count("Sum") == 2


def test_moved_axes_are_reduced_where_they_were() -> None:
    assert after([x], lt.sum(x.T), [X], reduction_of_dimshuffle) == "%0: float64[] = Sum{axis=(0, 1)}(%x)\nreturn %0"
    assert after([x], lt.max(x.dimshuffle("x", 1, 0), axis=(0, 2)), [X], reduction_of_dimshuffle) == (
        "%0: float64[?] = Max{axis=(0,)}(%x)\nreturn %0"
    )
    for stays in (
        lt.sum(t.dimshuffle(1, 0, 2), axis=2),
        lt.sum(x.dimshuffle(0, "x", 1), axis=0),
        lt.max(x.dimshuffle("x", 0, 1), axis=0),
    ):
        assert "DimShuffle" in after([x, t], stays, [X, T], reduction_of_dimshuffle)


@given(st.data())
def test_any_reduction_of_any_axes_moved_anyhow(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    v = lt.tensor("v", dtype="int64", shape=[data.draw(st.sampled_from([n, None])) for n in shape])
    order: list[Any] = list(data.draw(st.permutations(range(len(shape)))))
    for _ in range(data.draw(st.integers(0, 2))):
        order.insert(data.draw(st.integers(0, len(order))), "x")
    first, second = [getattr(lt, data.draw(st.sampled_from(NAMES))) for _ in range(2)]
    moved = lt.dimshuffle(v, order)
    once = first(moved, axis=[a for a in range(moved.ndim) if data.draw(st.booleans())])
    twice = second(once, axis=[a for a in range(once.ndim) if data.draw(st.booleans())])
    old = FunctionGraph([v], [twice])
    new = applied(old, reduction_of_dimshuffle, reduction_of_reduction, reduction_of_unit_axes)
    assert_same_meaning(old, new, [np.arange(int(np.prod(shape))).reshape(shape) - 3])
