"""Arrays cut into one part, cut as they were joined, or filled with one value."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import ShapeMismatchError
from lamella.ir import FunctionGraph, Split, grad, interpret
from lamella.rewriting.rules.splitting import split_into_one, split_of_fill, split_of_join
from tests.rewriting.rules.before_and_after import after, applied, body

x, y, n, v = lt.matrix("x"), lt.matrix("y"), lt.lscalar("n"), lt.scalar("v")
X, Y = np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3)


def test_one_part_is_the_whole_if_it_fits() -> None:
    whole: Any = Split(1, 0)(x, lt.stack([n]))
    assert after([x, n], whole, [X, 2], split_into_one) == (
        "%0: float64[?, ?] = SpecifyShape{axes=(0,)}(%x, %n)  # views %x\nreturn %0"
    )
    new = applied(FunctionGraph([x, n], [whole]), split_into_one)
    with pytest.raises(ShapeMismatchError):
        interpret([x, n], new.outputs, [X, np.array(3)])


def test_what_was_joined_is_not_joined() -> None:
    joined = lt.concatenate([x, y])
    parts = lt.split(joined, [lt.shape_i(x, 0), lt.shape_i(y, 0)])
    assert after([x, y], parts, [X, Y], split_of_join) == "return %x, %y"
    others = lt.split(joined, [lt.shape_i(y, 0), lt.shape_i(x, 0)])
    assert "Split" in after([x, y], others, [X, Y], split_of_join)
    along = lt.split(joined, [1, 2], axis=1)
    assert "Split" in after([x, y], along, [X, Y], split_of_join)


def test_the_gradient_of_a_sum_of_joined_arrays_needs_no_parts() -> None:
    gradients = grad(lt.sum(lt.concatenate([x, y])), [x, y])
    new = applied(FunctionGraph([x, y], gradients), split_of_fill)
    assert "Split" not in body(new)
    for found, array in zip(interpret([x, y], new.outputs, [X, Y]), (X, Y), strict=True):
        np.testing.assert_array_equal(found, np.ones_like(array))


def test_what_differs_along_the_axis_is_cut() -> None:
    row = lt.tensor("row", dtype="float64", shape=(1, None))
    filled = lt.alloc(row, n, 3)
    assert "Split" not in after([row, n], lt.split(filled, [1, 2]), [Y, 3], split_of_fill)
    assert "Split" in after([row, n], lt.split(filled, [1, 2], axis=1), [Y, 3], split_of_fill)
