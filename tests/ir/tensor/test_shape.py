"""`Shape`, `Shape_i` and what is known of integers while a graph is built."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import DisconnectedInputError
from lamella.ir import (
    MakeVector,
    ScalarType,
    Shape,
    Shape_i,
    StorageCell,
    TensorConstant,
    TensorSharedVariable,
    TensorType,
    TensorVariable,
    constant,
    grad,
    known_integer,
    known_integers,
    lt,
)
from tests.ir.tensor.agreement import Array, agrees, arrays, numbered, shapes


@given(arrays(shapes()))
def test_the_shape_is_numpys(case: tuple[TensorVariable, Array]) -> None:
    x, value = case
    agrees(lt.shape(x), {x: value}, np.array(value.shape, "int64"))
    agrees(lt.size(x), {x: value}, np.int64(value.size))
    agrees(Shape()(x), {x: value}, np.array(value.shape, "int64"))
    for axis, length in enumerate(lt.shape_tuple(x)):
        agrees(length, {x: value}, np.int64(value.shape[axis]))
        agrees(Shape_i(axis)(x), {x: value}, np.int64(value.shape[axis]))
        assert lt.shape_i(x, axis - x.ndim) is length


def test_known_lengths_are_constants() -> None:
    x = TensorType("float64", (2, 3))("x")
    assert isinstance(lt.shape(x), TensorConstant)
    assert lt.shape_tuple(x) == (constant(2), constant(3))
    assert lt.size(x) is constant(6)
    y = TensorType("float64", (None, 3))("y")
    assert lt.shape_tuple(y)[1] is constant(3)
    assert known_integers(lt.shape(y)) == (None, 3)
    assert known_integer(lt.size(y)) is None
    assert lt.size(TensorType("float64", (None, 0))()) is constant(0)


def test_shape_needs_an_axis_and_a_shape() -> None:
    x = TensorType("float64", (None,))("x")
    with pytest.raises(ValueError, match="has no axis 1"):
        Shape_i(1)(x)
    with pytest.raises(np.exceptions.AxisError):
        lt.shape_i(x, 1)
    with pytest.raises(TypeError, match="has no shape"):
        Shape()(ScalarType("float64")("s"))


def test_ops_are_values() -> None:
    assert Shape() == Shape()
    assert Shape_i(1) == Shape_i(1) != Shape_i(2)
    x = TensorType("float64", (None, None))("x")
    restored = pickle.loads(pickle.dumps(lt.shape_i(x, 1)))
    assert restored.owner is not None
    assert restored.owner.op == Shape_i(1)


def test_lengths_are_not_differentiable() -> None:
    x = TensorType("float64", (None,))("x")
    with pytest.raises(DisconnectedInputError):
        grad(lt.cast(lt.size(x), "float64"), x)
    cost = lt.sum(x) * lt.cast(lt.size(x), "float64")
    np.testing.assert_array_equal(grad(cost, x).eval({x: [1.0, 2.0]}), [2.0, 2.0])


def test_the_length_of_a_shared_vector_is_not_known() -> None:
    # B61
    shared = TensorSharedVariable(TensorType("float64", (None,)), StorageCell(numbered((3,))))
    length = lt.shape_i(shared, 0)
    assert known_integer(length) is None
    assert known_integers(lt.shape(shared)) == (None,)
    assert length.eval() == 3
    shared.set_value(numbered((5,)))
    assert length.eval() == 5
    assert lt.zeros_like(shared).eval().shape == (5,)


def test_elements_are_known_through_arithmetic_and_moves() -> None:
    x = TensorType("float64", (None, 3, 4))("x")
    n = TensorType("int64", ())("n")
    assert known_integer(lt.shape(x)[1]) == 3
    assert known_integer(lt.shape(x)[-1] * 2 - 1) == 7
    assert known_integer(lt.shape(x)[0]) is None
    assert known_integers(lt.shape(x)[1:] * 2) == (6, 8)
    assert known_integers(lt.shape(x) + 1) == (None, 4, 5)
    assert known_integers(lt.concatenate([lt.shape(x)[::-1], np.array([7])])) == (4, 3, None, 7)
    assert known_integers(lt.stack([n, lt.shape(x)[2]])) == (None, 4)
    assert known_integers(MakeVector("int64")(n, 5, lt.cast(constant(6, dtype="int8"), "int64"))) == (None, 5, 6)
    assert known_integers(TensorType("int64", (2,))()) == (None, None)
    assert known_integers(TensorType("int64", (None,))()) is None
    assert known_integer(constant(2.0)) is None
    assert known_integer(lt.floor_divide(constant(7), constant(0))) == 0


def test_what_fails_is_not_known() -> None:
    assert known_integer(lt.getitem(TensorType("int64", (None,))(), 7)) is None
    big = lt.power(constant(2), TensorType("int64", ())())
    assert known_integer(big) is None


@given(st.integers(1, 300))
def test_the_look_is_short(length: int) -> None:
    n: TensorVariable = constant(1)
    for _ in range(length):
        n = n + 1
    assert known_integer(n) in (length + 1, None)
    if length < 50:
        assert known_integer(n) == length + 1
