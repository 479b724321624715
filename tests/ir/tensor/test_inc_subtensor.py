"""Setting and adding to the elements that a basic index selects."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir import (
    IncSubtensor,
    SliceEntry,
    TensorType,
    TensorVariable,
    grad,
    interpret,
    lt,
    perform_node,
)

from .agreement import Array, agrees, arrays, forgetful, numbered, only_node, run, shapes
from .index_expressions import IndexCase, basic_indices
from .written_values import check_linear, written_values


def vector(length: int | None = None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, (length,))(name)


DTYPES = ("float64", "float32", "int64", "complex128", "bool")


@settings(max_examples=200)
@given(st.data(), arrays(shapes(max_dims=3), DTYPES), st.booleans())
def test_the_result_is_what_numpy_makes_of_the_array(
    data: st.DataObject, made: tuple[TensorVariable, Array], is_set: bool
) -> None:
    x, value = made
    case: IndexCase = data.draw(basic_indices(value.shape))
    v, written = data.draw(written_values(value[case.plain].shape, x.dtype))
    expected = np.array(value)
    if is_set:
        expected[case.plain] = written
    else:
        expected[case.plain] += written
    part = x[case.symbolic]
    agrees(part.set(v) if is_set else part.inc(v), {x: value, **case.values, v: written}, expected)


@settings(max_examples=100)
@given(st.data(), shapes(max_dims=3), st.booleans())
def test_both_derivatives_are_exact(data: st.DataObject, shape: tuple[int, ...], is_set: bool) -> None:
    value = numbered(shape)
    case: IndexCase = data.draw(basic_indices(shape))
    x = data.draw(forgetful(shape))
    v, written = data.draw(written_values(value[case.plain].shape, "float64"))
    part = x[case.symbolic]
    check_linear(part.set(v) if is_set else part.inc(v), {x: value, v: written}, case.values)


def test_set_on_a_length_one_leading_axis() -> None:
    """B39."""
    x, v = TensorType("float64", (1, None))("x"), vector(name="v")
    w = np.array([1.0, 2.0, 3.0, 4.0])
    for static in (x, TensorType("float64", (None, 4))("x")):
        cost = lt.sum(static[:, 1:3].set(v[None]) * w[None])
        given = {static: np.zeros((1, 4)), v: np.ones(2)}
        dx, dv = run(grad(cost, [static, v]), given)
        np.testing.assert_array_equal(dx, [[1, 0, 0, 4]])
        np.testing.assert_array_equal(dv, [2, 3])


def test_read_and_overwrite_in_any_order() -> None:
    """B75: as written, and with the writing done in place, where that is allowed."""
    x = vector()
    y = x[1:].inc(x[:-1])
    z = x[:-1].inc(x[1:])
    agrees(y, {x: np.array([1.0, 2.0, 3.0, 4.0])}, np.array([1.0, 3.0, 5.0, 7.0]))
    agrees(z, {x: np.array([1.0, 2.0, 3.0, 4.0])}, np.array([3.0, 5.0, 7.0, 4.0]))
    inplace = IncSubtensor((SliceEntry(1),), inplace=True)(x, x[:-1])
    assert only_node(inplace).op.destroy_map == {0: [0]}
    value = np.array([1.0, 2.0, 3.0, 4.0])
    (result,) = interpret([x], [inplace], [value])
    assert result is value
    np.testing.assert_array_equal(value, [1, 3, 5, 7])


def test_a_column_update() -> None:
    """B94."""
    m, i = TensorType("float64", (None, None))("m"), TensorType("int64", ())("i")
    value = np.arange(1.0, 7).reshape(2, 3)
    expected = value.copy()
    expected[:, 1] = 0
    agrees(m[:, i].set(0), {m: value, i: np.array(1)}, expected)
    agrees(m[:, 1].set(0), {m: value}, expected)


def test_the_whole_array_and_new_axes() -> None:
    x, v = vector(), vector(name="v")
    value = np.arange(3.0)
    agrees(x[:].set(v), {x: value, v: value + 5}, value + 5)
    agrees(x[...].inc(1), {x: value}, value + 1)
    agrees(x[None].set(v), {x: value, v: value + 5}, value + 5)
    agrees(x[:, None].inc(v[:, None]), {x: value, v: value + 5}, 2 * value + 5)
    agrees(x[None, 1:].set(v[None]), {x: value, v: value[:2]}, np.array([0.0, 0.0, 1.0]))
    y = x[1:]
    assert y[None].set(0.0).type == y.type  # not of the type of x: the index is that of y
    scalar = TensorType("float64", ())("s")
    agrees(scalar[()].set(3), {scalar: np.array(1.0)}, np.array(3.0))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float32", 0.1),
        ("int8", 3),
        ("int64", 2.9),
        ("int64", True),
        ("bool", 2),
        ("complex64", 1j),
        ("float32", np.float64(0.1)),
        ("uint8", np.array(300)),
        ("int32", np.array(2.9)),
        ("float16", np.array([1, 2])),
    ],
)
def test_a_set_value_is_cast_as_numpy_assigns(dtype: str, value: Any) -> None:
    x = vector(dtype=dtype)
    array = np.zeros(3, dtype)
    expected = array.copy()
    expected[1:] = value
    agrees(x[1:].set(value), {x: array}, expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64"]
)
@pytest.mark.parametrize(
    "other", ["bool", "int8", "uint8", "int64", "uint64", "float32", "float64", "complex128", 1, 1.5, 1j]
)
def test_what_may_be_added_is_what_numpy_adds_in_place(dtype: str, other: Any) -> None:
    x = vector(dtype=dtype)
    value: Any = np.ones(2, other) if isinstance(other, str) else other
    expected = np.ones(3, dtype)
    try:
        expected[1:] += value
    except TypeError:
        with pytest.raises(TypeError):
            x[1:].inc(value)
    else:
        agrees(x[1:].inc(value), {x: np.ones(3, dtype)}, expected)


def test_values_that_can_never_be_written() -> None:
    x = vector(4)
    with pytest.raises(OverflowError):
        vector(dtype="uint8")[0].set(300)
    with pytest.raises(TypeError, match="complex"):
        x[0].set(1j)
    with pytest.raises(TypeError, match="complex"):
        x[0].set(np.array(1j))
    with pytest.raises(StaticShapeError, match="does not broadcast to the indexed part"):
        x[1:].set(np.zeros(2))
    with pytest.raises(StaticShapeError, match="does not broadcast"):
        x[1].set(np.zeros(2))
    with pytest.raises(StaticShapeError, match="does not broadcast"):
        x[1:2].set(vector(3))
    assert x[1:].set(np.zeros((1, 1, 3))).type == x.type
    for not_an_index in (x, x + 1, x.reshape((2, 2)), lt.zeros((2, 2)).T):
        with pytest.raises(TypeError, match="no index expression"):
            not_an_index.set(0)
        with pytest.raises(TypeError, match="no index expression"):
            not_an_index.inc(0)


def test_values_that_do_not_fit_at_run_time() -> None:
    x, v = vector(), vector(name="v")
    before = np.arange(4.0)
    with pytest.raises(BroadcastError, match="its length along axis 0 is 2, not 3"):
        run([x[1:].set(v)], {x: before, v: np.zeros(2)})
    with pytest.raises(BroadcastError, match="specify_shape"):
        run([x[1:].set(v)], {x: before, v: np.zeros(1)})
    agrees(x[1:].set(lt.specify_shape(v, (1,))), {x: before, v: np.ones(1)}, np.array([0.0, 1, 1, 1]))
    inplace = only_node(IncSubtensor((SliceEntry(1),), inplace=True)(x, v))
    with pytest.raises(BroadcastError):
        perform_node(inplace, [before, np.zeros(2)])
    with pytest.raises(IndexError):
        run([x[9].set(0)], {x: before})
    np.testing.assert_array_equal(before, np.arange(4.0))


def test_a_length_that_becomes_one_does_not_begin_to_broadcast() -> None:
    x, v = vector(), vector(name="v")
    one = vector(1, "one")
    node = only_node(x[1:].set(v)).clone_with_new_inputs([x, one])
    with pytest.raises(BroadcastError):
        run([node.out], {x: np.arange(4.0), one: np.zeros(1)})
    (result,) = run([node.out], {x: np.arange(2.0), one: np.full(1, 7.0)})
    np.testing.assert_array_equal(result, [0, 7])


def test_adding_overflows_silently() -> None:
    x = vector(dtype="int8")
    agrees(x[1:].inc(100), {x: np.array([100, 100], "int8")}, np.array([100, -56], "int8"))
    y = vector(dtype="float32")
    agrees(y[:1].inc(3e38), {y: np.array([3e38], "float32")}, np.array([np.inf], "float32"))


def test_an_op_prints_what_it_does() -> None:
    x, i = vector(), TensorType("int64", ())("i")
    assert str(only_node(x[i:].set(0)).op) == "SetSubtensor{i0:}"
    assert str(only_node(x[1].inc(0)).op) == "IncSubtensor{1}"
    assert str(IncSubtensor((SliceEntry(1),), inplace=True)) == "IncSubtensor{1:, inplace}"


def test_the_gradient_of_integers_is_zero() -> None:
    x, v = vector(dtype="int64"), TensorType("float64", ())("v")
    (g,) = run([grad(lt.sum(x[0].set(v) * 1.5), v)], {x: np.arange(3), v: np.array(1.0)})
    assert g == 0.0


def test_second_derivatives() -> None:
    x, v = vector(), vector(name="v")
    cost = lt.sum(x[1:].set(v * v) ** 3)
    g = grad(lt.sum(grad(cost, v)), v)
    (second,) = run([g], {x: np.zeros(3), v: np.array([1.0, 2.0])})
    np.testing.assert_allclose(second, 30 * np.array([1.0, 2.0]) ** 4)
