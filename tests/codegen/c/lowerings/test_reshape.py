"""Reshaping: which views are found, what is copied, which shapes are refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import Reshape, TensorType
from tests.codegen.agreement import compiled

from .against_perform import (
    DTYPES,
    Array,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    same,
    variable,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes_and_layouts(dtype: str) -> None:
    x = TensorType(dtype, (None, None, None))("x")
    s = lt.vector("s", dtype="int64")
    outputs = [
        lt.reshape(x, (-1,)),
        lt.reshape(x, s, ndim=2),
        lt.reshape(x, (2, -1, 2)),
        lt.reshape(lt.dimshuffle(x, (2, 0, 1)), (-1,)),
        lt.reshape(x[:, ::-1], s, ndim=2),
    ]
    assert is_in_c([x, s], outputs)
    assert_same_as_perform(
        [x, s],
        outputs,
        [bits((4, 2, 6), dtype), np.array([8, 6])],
        [bits((4, 2, 6), dtype), np.array([-1, 3])],
        [bits((0, 2, 6), dtype), np.array([-1, 3])],
        [bits((1, 1, 4), dtype), np.array([4, 1])],
    )


_LENGTHS = st.lists(st.sampled_from([1, 1, 2, 3, 4, 6]), max_size=5)


@st.composite
def _strided(draw: st.DrawFn) -> Array:
    """An array that is a slice of a permuted array."""
    shape = draw(_LENGTHS)
    permuted: Array = bits([n + draw(st.integers(0, 1)) for n in shape], "int32").transpose(
        draw(st.permutations(range(len(shape))))
    )
    index: tuple[Any, ...] = (..., *[slice(0, n - draw(st.integers(0, 1)), 1) for n in permuted.shape])
    selected: Array = permuted[index]
    return selected


@settings(max_examples=300, deadline=None)
@given(_strided(), st.data())
def test_any_strides_to_any_shape(array: Array, data: st.DataObject) -> None:
    left = array.size
    wanted: list[int] = []
    while left > 1 and len(wanted) < 4:
        wanted.append(data.draw(st.sampled_from([n for n in range(1, left + 1) if left % n == 0])))
        left //= wanted[-1]
    if left != 1:
        wanted.append(left)
    function = _reshaping(array.ndim, len(wanted))
    (got,) = function([array, np.array(wanted, dtype="int64")])
    same(got, array.reshape(wanted))
    if np.shares_memory(array.reshape(wanted), array):
        assert np.shares_memory(got, array)


_functions: dict[tuple[int, int], Any] = {}


def _reshaping(ndim: int, result: int) -> Any:
    if (ndim, result) not in _functions:
        x, s = TensorType("int32", (None,) * ndim)("x"), lt.vector("s", dtype="int64")
        _functions[ndim, result] = compiled([x, s], [Reshape(result)(x, s)])
    return _functions[ndim, result]


def test_a_view_where_the_memory_has_the_shape() -> None:
    x = lt.dtensor3("x")
    function = compiled([x], [lt.reshape(x, (-1,)), lt.reshape(x, (3, -1))])
    array = np.arange(24.0).reshape(2, 3, 4)
    assert all([np.shares_memory(got, array) for got in function([array])])
    assert not any([np.shares_memory(got, array) for got in function([array.transpose(2, 1, 0)])])
    spaced = np.arange(48.0).reshape(2, 3, 8)[:, :, ::2]
    assert all([np.shares_memory(got, spaced) for got in function([spaced])])


def test_a_copy_of_known_shape_lies_in_the_frame() -> None:
    x = TensorType("float64", (3, 4))("x")
    y = lt.exp(lt.reshape(lt.transpose(x), (12,)))
    assert_same_as_perform(
        [x], [lt.neg(lt.reshape(lt.transpose(x), (12,))), lt.sum(y)], [np.arange(12.0).reshape(3, 4)], bitwise=False
    )


def test_no_dimensions() -> None:
    x, one = lt.dmatrix("x"), lt.dscalar("one")
    outputs = [lt.reshape(x, ()), lt.reshape(one, (1, 1)), lt.reshape(one, ())]
    assert_same_as_perform([x, one], outputs, [np.array([[3.0]]), np.array(2.0)])
    assert_same_error([x, one], outputs, [np.zeros((1, 2)), np.array(2.0)], [np.zeros((0, 2)), np.array(2.0)])


def test_wrong_shapes() -> None:
    x, s = lt.dmatrix("x"), lt.vector("s", dtype="int64")
    big = np.iinfo("int64").max
    wrong = [
        [5, 5],
        [-1, -1],
        [-2, 6],
        [-1, 5],
        [7, -1],
        [12],
        [3, 2, 2],
        [-1, 0],
        [0, 12],
        [big, big],
        [2**32, 2**32],
        [-big - 1, 1],
    ]
    assert_same_error([x, s], [Reshape(2)(x, s)], *[[np.ones((3, 4)), np.array(shape)] for shape in wrong])
    assert_same_error(
        [x, s], [Reshape(2)(x, s)], [np.ones((0, 4)), np.array([-1, 0])], [np.ones((0, 4)), np.array([2, 1])]
    )


def test_unequal_to_what_the_type_says() -> None:
    n = lt.lscalar("n")
    x = lt.dvector("x")
    y = lt.reshape(x, (n, 3))
    assert y.type.shape == (None, 3)
    assert_same_as_perform([x, n], [y], [np.arange(6.0), np.array(2)], [np.arange(6.0), np.array(-1)])
    assert_same_error([x, n], [y], [np.arange(6.0), np.array(3)])


def test_lengths_known_in_part() -> None:
    x = variable(np.zeros((2, 3, 4)), known=[0, 2])
    s = lt.vector("s", dtype="int64")
    assert_same_as_perform(
        [x, s], [lt.reshape(x, s, ndim=1), lt.flatten(x, 2)], [bits((2, 3, 4), "float64"), np.array([24])]
    )
