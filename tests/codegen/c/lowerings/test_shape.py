"""Shapes as values, and shapes that are asserted."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import CheckMask, Generic, Shape, Shape_i, SpecifyShape, TensorType, Unbroadcast, deep_copy_op, view_op
from tests.codegen.agreement import compiled

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    DTYPES,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    variable,
)


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_shapes(dtype: str) -> None:
    x, one = TensorType(dtype, (None, 3, None))("x"), TensorType(dtype, ())("one")
    outputs = [Shape()(x), Shape()(one), *[Shape_i(axis)(x) for axis in range(3)], Shape()(x[::-1, 1:])]
    assert is_in_c([x, one], outputs)
    for shape in [(2, 3, 4), (0, 3, 1), (1, 3, 0)]:
        assert_same_as_perform([x, one], outputs, [bits(shape, dtype), bits((), dtype)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_and_copies(dtype: str) -> None:
    x, n = TensorType(dtype, (None, None))("x"), lt.lscalar("n")
    one = TensorType(dtype, (1, None))("one")
    outputs = [
        SpecifyShape((0,))(x, n),
        SpecifyShape((0, 1))(x, 2, 3),
        view_op(x),
        deep_copy_op(x),
        deep_copy_op(lt.transpose(x[::-1])),
        Unbroadcast((0,))(one),
    ]
    assert is_in_c([x, n, one], outputs)
    assert_same_as_perform([x, n, one], outputs, [bits((2, 3), dtype), np.array(2), bits((1, 3), dtype)])


def test_what_lies_in_the_same_memory() -> None:
    x, n = lt.dmatrix("x"), lt.lscalar("n")
    function = compiled([x, n], [SpecifyShape((0,))(x, n), view_op(x), deep_copy_op(x)])
    array = np.ones((2, 3))
    assert [np.shares_memory(found, array) for found in function([array, np.array(2)])] == [True, True, False]


def test_shapes_that_differ() -> None:
    x, n = lt.dmatrix("x"), lt.lscalar("n")
    assert_same_error(
        [x, n], [SpecifyShape((0,))(x, n)], [np.ones((2, 3)), np.array(3)], [np.ones((2, 3)), np.array(-2)]
    )
    assert_same_error([x], [SpecifyShape((1,))(x, 1)], [np.ones((2, 3))])
    mask = lt.vector("mask", dtype="bool")
    checked = CheckMask()(mask, n)
    assert_same_as_perform([mask, n], [checked], [bits((3,), "bool"), np.array(3)])
    assert_same_error([mask, n], [checked], [bits((3,), "bool"), np.array(2)], [bits((0,), "bool"), np.array(2)])


def test_what_is_known_of_a_shape_holds_later() -> None:
    x, y = lt.dmatrix("x"), variable(np.zeros((2, 3)), "y", known=[0, 1])
    total = lt.add(lt.specify_shape(x, (1, None)), y)
    assert_same_as_perform([x, y], [total], [np.ones((1, 3)), np.ones((2, 3))])
    assert_same_error([x, y], [total], [np.ones((2, 3)), np.ones((2, 3))])


def test_copies_of_values_that_are_no_arrays() -> None:
    thing = Generic()("thing")
    (kept, copied) = compiled([thing], [view_op(thing), deep_copy_op(thing)])([[1, [2]]])
    assert kept == copied == [1, [2]]
