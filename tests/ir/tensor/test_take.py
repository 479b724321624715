from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import TensorType, TensorVariable, grad, lt

from .agreement import agrees, arrays, check_derivatives, forgetful, numbered, run, shapes


@given(st.data(), arrays(shapes(min_dims=1, max_dims=3)), st.sampled_from(["raise", "wrap", "clip"]))
def test_take(
    data: st.DataObject, made: tuple[TensorVariable, np.ndarray], mode: Literal["raise", "wrap", "clip"]
) -> None:
    x, value = made
    axis = data.draw(st.one_of(st.none(), st.integers(-value.ndim, value.ndim - 1)))
    length = value.size if axis is None else value.shape[axis]
    shape = data.draw(shapes(max_dims=2, max_side=3)) if length else (0,)
    low, high = (-length, max(length - 1, 0)) if mode == "raise" else (-20, 20)
    size = int(np.prod(shape))
    elements = data.draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    i_value = np.array(elements, data.draw(st.sampled_from(["int64", "int8"]))).reshape(shape)
    i = data.draw(forgetful(shape, i_value.dtype))
    # NumPy refuses to clip or wrap where there is nothing, even for no indices.
    expected = np.take(value, i_value, axis, mode=mode if length else "raise")
    agrees(lt.take(x, i, axis, mode), {x: value, i: i_value}, expected)


def test_what_take_refuses() -> None:
    x = TensorType("float64", (None, 3))("x")
    with pytest.raises(TypeError, match="indices are integers"):
        x.take(np.array([0.5]))
    with pytest.raises(np.exceptions.AxisError):
        x.take(np.array([0]), axis=2)
    with pytest.raises(ValueError, match="mode"):
        lt.take(x, np.array([0]), mode="around")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(IndexError):
        x.take(np.array([3]), axis=1)
    value = numbered((2, 3))
    agrees(x.take(np.array([True, False]), axis=1), {x: value}, value.take([1, 0], axis=1))


@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_along_an_axis(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    x = data.draw(forgetful(shape))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    lines = list(shape)
    lines[axis] = data.draw(st.integers(0, 3)) if shape[axis] else 0
    size = int(np.prod(lines))
    length = shape[axis]
    elements = data.draw(st.lists(st.integers(-length, max(length - 1, 0)), min_size=size, max_size=size))
    i_value = np.array(elements, "int64").reshape(lines)
    # A length of 1 broadcasts where it is known.
    i = TensorType("int64", [n if n == 1 or data.draw(st.booleans()) else None for n in lines])("i")
    fixed = TensorType("float64", [n if n == 1 else m for n, m in zip(shape, x.type.shape, strict=True)])("x")
    agrees(lt.take_along_axis(fixed, i, axis), {fixed: value, i: i_value}, np.take_along_axis(value, i_value, axis))
    check_derivatives(lambda x: lt.take_along_axis(x, i_value, axis), fixed, value)
    replaced = value.copy()
    np.put_along_axis(replaced, i_value, -1.0, axis)
    agrees(lt.put_along_axis(fixed, i, -1.0, axis), {fixed: value, i: i_value}, replaced)


def test_along_an_axis_arrays_broadcast() -> None:
    x, i = TensorType("float64", (None, 1, 3))("x"), TensorType("int64", (1, None, None))("i")
    value, i_value = numbered((2, 1, 3)), np.array([[[2, 0], [1, 1], [0, 2], [0, 0]]])
    agrees(lt.take_along_axis(x, i, -1), {x: value, i: i_value}, np.take_along_axis(value, i_value, -1))
    flat = np.array([3, 0])
    agrees(lt.take_along_axis(x, flat, None), {x: value}, np.take_along_axis(value, flat, None))


def test_what_take_along_axis_refuses() -> None:
    x = TensorType("float64", (None, 3))("x")
    with pytest.raises(ValueError, match="the indices have 1 dimensions"):
        lt.take_along_axis(x, np.array([0]))
    with pytest.raises(IndexError, match="integers"):
        lt.take_along_axis(x, np.array([[0.5]]))
    with pytest.raises(np.exceptions.AxisError):
        lt.take_along_axis(x, np.array([[0]]), 2)


def test_the_gradient_of_what_was_put() -> None:
    x, v = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("v")
    out = lt.put_along_axis(x, np.array([1, 1, 0]), v, 0)
    gx, gv = run(grad(lt.sum(out * np.array([1.0, 2, 3])), [x, v]), {x: np.zeros(3), v: np.ones(3)})
    np.testing.assert_array_equal(gx, [0, 0, 3])
    np.testing.assert_array_equal(gv, [0, 2, 1])
