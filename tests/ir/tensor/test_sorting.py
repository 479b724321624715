from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.errors import DisconnectedInputError
from lamella.ir import ArgSortOp, Rop, SortOp, TensorType, TensorVariable, grad, lt

from .agreement import Array, agrees, forgetful, laid_out, run, shapes

DTYPES = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128")
_NUMBERS = [0, 1, 2, 3, 1, 0, float("nan"), float("inf"), -1, -0.0]


@st.composite
def unsorted(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> Array:
    size = int(np.prod(shape))
    kinds = _NUMBERS if np.dtype(dtype).kind in "fc" else [0, 1, 2, 3]
    elements = draw(st.lists(st.sampled_from(kinds), min_size=size, max_size=size))
    return draw(laid_out(np.array(elements).astype(dtype).reshape(shape)))


@settings(max_examples=200)
@given(st.data(), shapes(), st.sampled_from(DTYPES))
def test_the_order_is_that_of_numpys_stable_sort(data: st.DataObject, shape: tuple[int, ...], dtype: str) -> None:
    value = data.draw(unsorted(shape, dtype))
    x = data.draw(forgetful(shape, dtype))
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)) if shape else st.none())
    expected = np.sort(value, axis, kind="stable")
    agrees(lt.sort(x, axis), {x: value}, expected)
    agrees(lt.argsort(x, axis), {x: value}, np.argsort(value, axis, kind="stable"))
    if dtype.startswith("float"):
        (found,) = run([lt.sort(x, axis)], {x: value})
        np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[expected == 0]))


@settings(max_examples=50)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_derivatives_follow_the_elements(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = data.draw(unsorted(shape, "int8")).astype("float64")
    x = data.draw(forgetful(shape))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    weights = np.random.default_rng(0).integers(-9, 9, shape).astype("float64")
    order = np.argsort(value, axis, kind="stable")
    expected = np.zeros(shape)
    np.put_along_axis(expected, order, weights, axis)
    out = x.sort(axis)
    (g,) = run([grad(lt.sum(out * weights), x)], {x: value})
    np.testing.assert_array_equal(g, expected)
    tangent = x.type("tangent")
    (pushed,) = run([Rop(out, x, tangent)], {x: value, tangent: weights})
    np.testing.assert_array_equal(pushed, np.take_along_axis(weights, order, axis))


def test_the_flattened_array() -> None:
    x = TensorType("float64", (None, 2))("x")
    (g,) = run([grad(lt.sum(x.sort(None) * np.arange(4.0)), x)], {x: np.array([[4.0, 1], [3, 2]])})
    np.testing.assert_array_equal(g, [[3, 0], [2, 1]])


def test_second_derivatives() -> None:
    x = TensorType("float64", (None,))("x")
    cost = lt.sum(x.sort() ** 3 * np.array([1.0, 2.0]))
    (g,) = run([grad(lt.sum(grad(cost, x)), x)], {x: np.array([5.0, 3.0])})
    np.testing.assert_array_equal(g, [60, 18])


def test_indices_have_no_derivative() -> None:
    x = TensorType("float64", (None,))("x")
    with pytest.raises(DisconnectedInputError):
        grad(lt.sum(x.argsort() * 1.0), x)
    n = TensorType("int64", (None,))("n")
    (g,) = run([grad(lt.sum(n.sort() * 1.0), n)], {n: np.arange(3)})
    np.testing.assert_array_equal(g, np.zeros(3))


@pytest.mark.parametrize("op", [SortOp(2), SortOp(-1), ArgSortOp(2)])
def test_an_axis_that_is_not_there(op: Any) -> None:
    x = TensorType("float64", (None, None))("x")
    with pytest.raises(np.exceptions.AxisError):
        op(x)
    for axis in (2, -3):
        with pytest.raises(np.exceptions.AxisError):
            lt.sort(x, axis)
    scalar: TensorVariable = TensorType("float64", ())("s")
    with pytest.raises(np.exceptions.AxisError):
        lt.sort(scalar)
    assert lt.sort(x, kind="quicksort") is lt.sort(x, kind="stable")
