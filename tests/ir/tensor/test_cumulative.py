from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.ir import CumOp, Rop, TensorType, TensorVariable, grad, lt

from .against_numpy import ALL_DTYPES
from .agreement import agrees, arrays, check_derivatives, forgetful, numbered, run, shapes

FUNCTIONS: list[tuple[Callable[..., TensorVariable], Callable[..., Any]]] = [
    (lt.cumsum, np.cumsum),
    (lt.cumprod, np.cumprod),
]


@settings(max_examples=200)
@given(st.data(), arrays(shapes(), ALL_DTYPES), st.sampled_from(FUNCTIONS))
def test_values_and_dtypes_are_numpys(
    data: st.DataObject, made: tuple[TensorVariable, np.ndarray], function: tuple[Any, Any]
) -> None:
    x, value = made
    ours, numpys = function
    axis = data.draw(st.one_of(st.none(), st.integers(-value.ndim, value.ndim - 1)) if value.ndim else st.none())
    with np.errstate(all="ignore"):
        expected = numpys(value, axis)
        agrees(ours(x, axis), {x: value}, expected)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "bool"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_dtype_to_compute_in(dtype: str, function: tuple[Any, Any]) -> None:
    x = TensorType("int64", (None,))("x")
    value = np.array([3, 50, 7, -2])
    ours, numpys = function
    agrees(ours(x, dtype=dtype), {x: value}, numpys(value, dtype=dtype))


@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_the_derivative_of_sums(data: st.DataObject, shape: tuple[int, ...]) -> None:
    axis = data.draw(st.one_of(st.none(), st.integers(-len(shape), len(shape) - 1)))
    check_derivatives(lambda x: x.cumsum(axis), data.draw(forgetful(shape)), numbered(shape))


def slope(value: np.ndarray, axis: int, tangent: np.ndarray) -> np.ndarray:
    """The derivative of running products along a direction, by the product rule, in exact integers."""
    total = np.zeros_like(value)
    for i in range(value.shape[axis]):
        changed = value.copy()
        place = [slice(None)] * value.ndim
        place[axis] = slice(i, i + 1)
        changed[tuple(place)] = tangent[tuple(place)]
        part = np.cumprod(changed, axis)
        before = [slice(None)] * value.ndim
        before[axis] = slice(0, i)
        part[tuple(before)] = 0
        total += part
    return total


@settings(max_examples=100)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_the_derivative_of_products_is_exact_with_any_number_of_zeros(
    data: st.DataObject, shape: tuple[int, ...]
) -> None:
    size = int(np.prod(shape))
    integers = st.lists(st.integers(-2, 2), min_size=size, max_size=size)
    value, tangent, weights = [np.array(data.draw(integers), "float64").reshape(shape) for _ in range(3)]
    x = data.draw(forgetful(shape))
    axis = data.draw(st.integers(0, len(shape) - 1))
    out = x.cumprod(axis)
    pushed = slope(value, axis, tangent)
    direction = x.type("direction")
    (found,) = run([Rop(out, x, direction)], {x: value, direction: tangent})
    np.testing.assert_array_equal(found, pushed)
    (g,) = run([grad(lt.sum(out * weights), x)], {x: value})
    assert np.sum(g * tangent) == np.sum(pushed * weights)


def test_second_derivatives_of_products_at_zeros() -> None:
    x = TensorType("float64", (None,))("x")
    value = np.array([2.0, 0.0, 3.0, 0.0])
    g = grad(lt.sum(x.cumprod()), x)
    (hessian_row_sums,) = run([grad(lt.sum(g), x)], {x: value})
    # sum over i < j, k >= j of the product of x[:k+1] without x[i] and x[j]
    expected = np.zeros(4)
    for i in range(4):
        for j in range(4):
            if i != j:
                expected[i] += sum(
                    [np.prod([value[m] for m in range(k + 1) if m not in (i, j)]) for k in range(max(i, j), 4)]
                )
    np.testing.assert_array_equal(hessian_row_sums, expected)


@pytest.mark.parametrize("mode", ["add", "mul"])
def test_complex_gradients(mode: Any) -> None:
    """The cotangent of the real part of a holomorphic function is the conjugate of its derivative."""
    x = TensorType("complex128", (None,))("x")
    value = np.array([1 + 2j, 0.5 - 1j, -1 + 0.25j])
    weights = np.array([1.0, -2.0, 0.5])
    (g,) = run([grad(lt.sum(lt.real(CumOp(0, mode)(x)) * weights), x)], {x: value})
    accumulate = np.cumsum if mode == "add" else np.cumprod
    for i in range(3):
        for step in (1e-6, 1e-6j):
            moved = [np.array([v + s * step * (k == i) for k, v in enumerate(value)]) for s in (1, -1)]
            up, down = [np.sum(accumulate(m).real * weights) for m in moved]
            part = g[i].real if step == 1e-6 else g[i].imag
            np.testing.assert_allclose((up - down) / 2e-6, part, rtol=1e-7, atol=1e-8)


def test_integers_have_zero_gradients() -> None:
    x = TensorType("int64", (None,))("x")
    (g,) = run([grad(lt.sum(x.cumsum() * 1.0), x)], {x: np.arange(3)})
    np.testing.assert_array_equal(g, np.zeros(3))


def test_an_axis_that_is_not_there() -> None:
    x = TensorType("float64", (None,))("x")
    for axis in (1, -2):
        with pytest.raises(np.exceptions.AxisError):
            lt.cumsum(x, axis)
    with pytest.raises(np.exceptions.AxisError):
        CumOp(1)(x)
    assert str(CumOp(0)) == "Cumsum{axis=0}"
    assert str(CumOp(1, "mul")) == "Cumprod{axis=1}"
