"""Joining and splitting."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Join, Split, TensorType
from tests.codegen.agreement import compiled

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    numbers,
    variable,
)


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_joining_elements_of_each_size(dtype: str) -> None:
    x, y = [TensorType(dtype, (None, None))(name) for name in "xy"]
    outputs = [
        Join(0)(x, y),
        Join(1)(x, lt.transpose(y)),
        Join(0)(x, x[::-1], y),
        Join(1)(x[:, ::-1], x),
        Join(0)(x),
        Join(1)(x, x, x),
    ]
    assert is_in_c([x, y], outputs)
    for rows, columns in [(2, 3), (1, 1), (0, 2), (2, 0)]:
        square = [bits((columns, columns), dtype), bits((columns, columns), dtype, 1)]
        assert_same_as_perform([x, y], outputs, square)
        assert_same_as_perform([x, y], outputs[:1], [bits((rows, columns), dtype), bits((4, columns), dtype, 1)])


def test_joining_vectors_of_several_dtypes() -> None:
    x, y = lt.vector("x", dtype="int8"), lt.vector("y", dtype="float32")
    assert_same_as_perform(
        [x, y], [lt.concatenate([x, y]), lt.stack([x, y])], [numbers((3,), "int8"), numbers((3,), "float32")]
    )


def test_lengths_that_differ() -> None:
    x, y, z = [lt.dmatrix(name) for name in "xyz"]
    known = variable(np.zeros((2, 3)), "known", known=[0, 1])
    square = np.ones((2, 2))
    assert_same_error(
        [x, y, z], [Join(0)(x, y, z)], [square, square, np.ones((2, 3))], [square, np.ones((2, 1)), square]
    )
    assert_same_error([x, known], [Join(0)(x, known)], [square, np.ones((2, 3))])
    assert_same_error([x, known], [Join(1)(known, x)], [np.ones((1, 2)), np.ones((2, 3))])
    assert_same_as_perform([x, known], [Join(0)(x, known)], [np.ones((4, 3)), np.ones((2, 3))])


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_splitting(dtype: str) -> None:
    x, sizes = TensorType(dtype, (None, None))("x"), lt.vector("sizes", dtype="int64")
    outputs = [*Split(3, 0)(x, sizes), *Split(3, 1)(lt.transpose(x), sizes), *Split(2, 1)(x, [1, 2])]
    assert is_in_c([x, sizes], outputs)
    for lengths in ([2, 0, 3], [0, 0, 5], [1, 1, 3]):
        assert_same_as_perform([x, sizes], outputs, [bits((5, 3), dtype), np.array(lengths)])


def test_parts_are_views() -> None:
    x, sizes = lt.dmatrix("x"), lt.vector("sizes", dtype="int64")
    function = compiled([x, sizes], list(Split(2, 1)(x, sizes)))
    array = np.ones((3, 4))
    assert all([np.shares_memory(part, array) for part in function([array, np.array([1, 3])])])


def test_sizes_that_do_not_fit() -> None:
    x, sizes = lt.dvector("x"), lt.vector("sizes", dtype="int64")
    big = 2**62
    wrong = [[2, 2], [-1, 4], [4, -1], [3], [1, 1, 1], [big, big], [2**63 - 1, 4 - 2**63], []]
    outputs = list(Split(2, 0)(x, sizes))
    assert_same_error([x, sizes], outputs, *[[np.ones(3), np.array(lengths, dtype="int64")] for lengths in wrong])
    assert_same_error([x], list(Split(2, 0)(x, [1, 1])), [np.ones(3)])


def test_one_part() -> None:
    x = lt.dvector("x")
    (part,) = Split(1, 0).make_node(x, [3]).outputs
    assert_same_as_perform([x], [part], [np.arange(3.0)])
    assert_same_error([x], [part], [np.arange(4.0)])
