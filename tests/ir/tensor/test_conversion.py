"""Making tensor variables of arrays, numbers and lists."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import ScalarType, TensorType


def test_constants_have_the_shape_and_dtype_of_the_value() -> None:
    for value in (3, 2.5, True, 1j, [1, 2], [[1.0], [2.0]], np.zeros((0, 3), "int8"), np.float32(1.5), []):
        made = lt.constant(value)
        expected = np.asarray(value)
        assert made.type == TensorType(expected.dtype, expected.shape)
        np.testing.assert_array_equal(made.data, expected, strict=True)
    assert lt.constant(2**63).dtype == "uint64"
    assert lt.constant([1, 2], "c").name == "c"
    assert lt.constant(1, dtype="float32").dtype == "float32"


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (2**64, OverflowError, "fits no dtype; the largest is uint64"),
        (-(2**63) - 1, OverflowError, "fits no dtype"),
        (None, TypeError, "no array of numbers"),
        ("text", TypeError, "no tensor has the dtype|no array of numbers"),
        ([[1, 2], [3]], ValueError, "inhomogeneous"),
    ],
)
def test_what_is_no_array_of_numbers(value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lt.constant(value)
    with pytest.raises(error, match=message):
        lt.as_tensor_variable(value)


def test_variables_are_returned_as_they_are() -> None:
    x = lt.vector("x")
    assert lt.as_tensor_variable(x) is x
    with pytest.raises(TypeError, match="is no tensor"):
        lt.as_tensor_variable(ScalarType("float64")("s"))


def test_missing_dimensions_are_added_on_the_left() -> None:
    x = lt.vector("x")
    made = lt.as_tensor_variable(x, ndim=3)
    assert made.type.shape == (1, 1, None)
    assert lt.as_tensor_variable(2.5, ndim=2).type.shape == (1, 1)
    with pytest.raises(TypeError, match="x has 1 dimensions where at most 0 are wanted"):
        lt.as_tensor_variable(x, ndim=0)


def test_lists_of_variables_are_stacked() -> None:
    a, b = lt.scalars("a b")
    made = lt.as_tensor_variable([a, 1, [b][0]])
    assert made.type == TensorType("float64", (3,))
    np.testing.assert_array_equal(made.eval({a: 2.0, b: 3.0}), [2.0, 1.0, 3.0])
    nested = lt.as_tensor_variable([[a, b], [1, 2]])
    assert nested.type.shape == (2, 2)
    np.testing.assert_array_equal(nested.eval({a: 2.0, b: 3.0}), [[2.0, 3.0], [1.0, 2.0]])
    assert lt.as_tensor_variable([lt.iscalar("i"), 2.5]).dtype == "float64"
    x = lt.vector("x")
    beside: list[int] = [1, 2]
    np.testing.assert_array_equal(lt.add(x, beside).eval({x: [1.0, 1.0]}), [2.0, 3.0])  # type: ignore[arg-type]  # taken, not promised
