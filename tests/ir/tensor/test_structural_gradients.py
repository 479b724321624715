"""What holds of the derivatives of all Ops that only move elements: integers have none, dtypes are kept, second ones vanish."""

from collections.abc import Callable

import numpy as np
import pytest

from lamella.ir import TensorType, TensorVariable, grad, hessian_vector_product, lt
from tests.ir.tensor.agreement import numbered, run

MOVES: dict[str, Callable[[TensorVariable], TensorVariable]] = {
    "alloc": lambda x: lt.broadcast_to(x, (2, 2, 3)),
    "reshape": lambda x: lt.reshape(x, (3, -1)),
    "specify_shape": lambda x: lt.specify_shape(x, (2, None)),
    "dimshuffle": lambda x: x.T,
    "join": lambda x: lt.concatenate([x, x], 1),
    "split": lambda x: lt.split(x, [1, 2], axis=1)[1],
    "stack": lambda x: lt.stack([x[0, 0], x[1, 2]]),
    "extract_diag": lambda x: lt.diagonal(x, 1),
    "alloc_diag": lambda x: lt.diag(lt.ravel(x)),
    "triangle": lambda x: lt.tril(x),
    "roll": lambda x: lt.roll(x, 1, 0),
    "scalar": lambda x: lt.tensor_from_scalar(lt.scalar_from_tensor(x[0, 1])),
}
by_name = pytest.mark.parametrize("name", MOVES)


@by_name
@pytest.mark.parametrize("dtype", ["int64", "int8", "bool"])
def test_the_derivative_by_integers_is_zero(name: str, dtype: str) -> None:
    # B43
    x = TensorType(dtype, (None, None))("x")
    gradient = grad(lt.sum(MOVES[name](x) * 1.5), x)
    (value,) = run([gradient], {x: numbered((2, 3), dtype)})
    assert value.dtype == "float64"
    np.testing.assert_array_equal(value, np.zeros((2, 3)))


@by_name
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_derivative_has_the_dtype_of_its_variable(name: str, dtype: str) -> None:
    # B42
    x = TensorType(dtype, (None, None))("x")
    gradient = grad(lt.sum(MOVES[name](x)), x)
    (value,) = run([gradient], {x: numbered((2, 3), dtype)})
    assert gradient.dtype == value.dtype == dtype
    assert value.shape == (2, 3)


@by_name
def test_second_derivatives(name: str) -> None:
    x, direction = TensorType("float64", (None, None))("x"), TensorType("float64", (None, None))("direction")
    cost = lt.sum(MOVES[name](x) ** 2)
    product = hessian_vector_product(cost, x, direction)
    values = {x: numbered((2, 3)), direction: numbered((2, 3))[::-1]}
    (value,) = run([product], values)
    (expected,) = run([grad(cost, x)], {x: values[direction]})  # the cost is quadratic
    np.testing.assert_array_equal(value, expected)
