"""Setting and adding to the elements that arrays and masks select."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    ArrayEntry,
    SliceEntry,
    TensorType,
    TensorVariable,
    grad,
    lt,
    perform_node,
)

from .agreement import Array, agrees, arrays, forgetful, laid_out, numbered, only_node, run, shapes
from .index_expressions import IndexCase, advanced_indices
from .written_values import check_linear, written_values


def vector(length: int | None = None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, (length,))(name)


def indices(*shape: int | None, name: str = "i") -> TensorVariable:
    return TensorType("int64", shape)(name)


def written_in_order(array: Array, index: Any, value: Array, is_set: bool) -> Array:
    """What setting and adding mean, element by element, in the order of the elements that the index selects."""
    places = np.arange(array.size).reshape(array.shape)[index]
    result = np.array(array, order="C")
    flat = result.reshape(-1)
    for place, element in zip(places.flat, np.broadcast_to(value, places.shape).flat, strict=True):
        flat[place] = element if is_set else flat[place] + element
    return result


@settings(max_examples=250)
@given(st.data(), arrays(shapes(max_dims=3), ("float64", "int64", "complex128", "bool", "int8")), st.booleans())
def test_elements_are_written_one_after_the_other(
    data: st.DataObject, made: tuple[TensorVariable, Array], is_set: bool
) -> None:
    x, value = made
    case: IndexCase = data.draw(advanced_indices(value.shape))
    v, written = data.draw(written_values(value[case.plain].shape, x.dtype))
    part = x[case.symbolic]
    out = part.set(v) if is_set else part.inc(v)
    with np.errstate(over="ignore"):
        expected = written_in_order(value, case.plain, written, is_set)
    agrees(out, {x: value, **case.values, v: written}, expected)


@settings(max_examples=200)
@given(st.data(), shapes(max_dims=3), st.booleans())
def test_both_derivatives_are_exact(data: st.DataObject, shape: tuple[int, ...], is_set: bool) -> None:
    """With duplicates too: of values set to one place, only the last has an effect."""
    value = numbered(shape)
    case: IndexCase = data.draw(advanced_indices(shape))
    x = data.draw(forgetful(shape))
    v, written = data.draw(written_values(value[case.plain].shape, "float64"))
    part = x[case.symbolic]
    check_linear(part.set(v) if is_set else part.inc(v), {x: value, v: written}, case.values)


@settings(max_examples=100)
@given(st.data(), st.integers(1, 5))
def test_the_last_value_stays_in_every_layout(data: st.DataObject, rows: int) -> None:
    """NumPy walks an index array as its memory lies; what a graph means may not depend on that."""
    i_value = np.array(data.draw(st.lists(st.integers(0, 2), min_size=2 * rows, max_size=2 * rows)), "int64").reshape(
        rows, 2
    )
    value, written = np.zeros(3), numbered((rows, 2))
    x, i, v = vector(), indices(None, None), TensorType("float64", (None, None))("v")
    values = {x: value, i: data.draw(laid_out(i_value)), v: data.draw(laid_out(written))}
    agrees(x[i].set(v), values, written_in_order(value, i_value, written, True))


def test_masks() -> None:
    x, m, v = TensorType("float64", (None, None))("x"), TensorType("bool", (None, None))("m"), vector(name="v")
    value, mask = numbered((2, 3)), np.array([[True, False, True], [False, False, True]])
    written = np.array([10.0, 20.0, 30.0])
    for index in (m, mask):
        values = {x: value, v: written, **({m: mask} if index is m else {})}
        agrees(x[index].set(v), values, np.array([[10.0, 2, 20], [4, 5, 30]]))
        agrees(x[index].inc(1), values if index is m else {x: value, v: written}, value + mask)
    row = vector(name="row", dtype="bool")
    agrees(x[row].set(0), {x: value, row: np.array([False, True])}, np.array([[1.0, 2, 3], [0, 0, 0]]))
    gx, gv = run(grad(lt.sum(x[m].set(v) * value), [x, v]), {x: value, m: mask, v: written})
    np.testing.assert_array_equal(gx, np.where(mask, 0, value))
    np.testing.assert_array_equal(gv, [1, 3, 6])


def test_reading_back_after_an_inc_with_duplicates() -> None:
    """B12."""
    x, i, v = vector(), indices(None), vector(name="v")
    for made in (x[i].inc(v)[i], x[i].set(v)[i]):
        values = {x: np.zeros(2), i: np.array([0, 0, 1]), v: np.array([1.0, 2.0, 5.0])}
        expected = [3, 3, 5] if "Inc" in str(only_node(made).inputs[0]) else [2, 2, 5]
        agrees(made, values, np.array(expected, "float64"))


def test_overwriting_the_positions_of_zero_by_zero() -> None:
    """B21."""
    a = TensorType("float64", (None, None))("a")
    q = a[:, 0] / a[:, 1]
    value = np.array([[1.0, 2], [0, 0], [3, 4]])
    agrees(q[lt.eq(a[:, 1], 0).nonzero()].set(-1), {a: value}, np.array([0.5, -1, 0.75]))


def test_rows_and_columns() -> None:
    """B94."""
    m, value = TensorType("float64", (None, None))("m"), np.arange(1.0, 7).reshape(3, 2)
    agrees(m[[0, 1], :].set(0), {m: value}, np.array([[0.0, 0], [0, 0], [5, 6]]))
    agrees(m[:, [1]].inc(10), {m: value}, value + np.array([[0.0, 10.0]]))
    assert only_node(m[[0, 1]].set(0)).op == AdvancedIncSubtensor1(0, set_instead_of_inc=True)


def test_in_place() -> None:
    x, i, v = vector(), indices(None), vector(name="v")
    value = np.arange(4.0)
    node = only_node(AdvancedIncSubtensor1(0, inplace=True)(x, v, i))
    assert node.op.destroy_map == {0: [0]}
    (result,) = perform_node(node, [value, np.array([1.0, 2.0]), np.array([1, 1])])
    assert result is value
    np.testing.assert_array_equal(value, [0, 4, 2, 3])
    # The value, and the indices, may be a view of the array itself.
    overlapping = np.arange(4.0)
    perform_node(node, [overlapping, overlapping[:2], np.array([1, 0])])
    np.testing.assert_array_equal(overlapping, [1, 1, 2, 3])
    whole = TensorType("int64", (None,))("w")
    itself = np.array([1, 2, 0])
    node = only_node(AdvancedIncSubtensor1(0, inplace=True, set_instead_of_inc=True)(whole, 7, whole))
    perform_node(node, [itself, np.array([7]), itself])
    np.testing.assert_array_equal(itself, [7, 7, 7])


def test_nothing_is_written_where_an_error_is_raised() -> None:
    x, i, v = vector(), indices(None), vector(name="v")
    matrix = TensorType("float64", (None, None))("m")
    for is_set in (True, False):
        for index, written, error in (
            (np.array([0, 9]), np.ones(2), IndexError),
            (np.array([0, -5]), np.ones(2), IndexError),
            (np.array([0, 1]), np.ones(3), BroadcastError),
            (np.array([0, 1]), np.ones(1), BroadcastError),
        ):
            value = np.arange(4.0)
            node = only_node(AdvancedIncSubtensor1(0, True, is_set)(x, v, i))
            with pytest.raises(error):
                perform_node(node, [value, written, index])
            np.testing.assert_array_equal(value, np.arange(4.0))
        general = AdvancedIncSubtensor((SliceEntry(1), ArrayEntry(0)), True, is_set)
        array = numbered((3, 3))
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1 with size 3"):
            perform_node(only_node(general(matrix, 0, i)), [array, np.array([[0.0]]), np.array([0, 3])])
        np.testing.assert_array_equal(array, numbered((3, 3)))
    with pytest.raises(BroadcastError, match="specify_shape"):
        run([x[i].set(v)], {x: np.arange(4.0), i: np.array([0, 1]), v: np.ones(1)})


def test_values_that_can_never_be_written() -> None:
    x, i = vector(), indices(3)
    with pytest.raises(StaticShapeError, match="does not broadcast"):
        x[i].set(np.zeros(2))
    with pytest.raises(TypeError, match="complex"):
        x[i].set(1j)
    with pytest.raises(TypeError, match="kept in int64"):
        vector(dtype="int64")[i].inc(0.5)


def test_the_gradient_of_a_set_with_duplicates_goes_to_the_last_value() -> None:
    x, i, v = vector(), indices(None), vector(name="v")
    gx, gv = run(
        grad(lt.sum(x[i].set(v) * np.array([1.0, 2, 4])), [x, v]),
        {x: np.zeros(3), i: np.array([2, 0, -1]), v: np.ones(3)},
    )
    np.testing.assert_array_equal(gx, [0, 2, 0])
    np.testing.assert_array_equal(gv, [0, 1, 4])


def test_the_gradient_of_a_set_at_a_mask_beside_another_array_goes_to_the_last_value() -> None:
    m, (v, grid) = TensorType("bool", (None,))("m"), [TensorType("float64", (None, None))(name) for name in "vg"]
    i, j = lt.nonzero(m)[0], indices(2, 1, name="j")
    weights = np.arange(1.0, 7.0).reshape(3, 2)
    gradient = grad(lt.sum(lt.set_subtensor(grid[i, j], v) * weights), v)
    values = {grid: np.zeros((3, 2)), m: np.array([True, False, True]), j: [[1], [1]], v: np.ones((2, 2))}
    np.testing.assert_array_equal(gradient.eval(values), [[0.0, 0.0], [2.0, 6.0]])


def test_second_derivatives() -> None:
    x, i, v = vector(), indices(None), vector(name="v")
    cost = lt.sum(x[i].inc(v * v) ** 3)
    second = grad(lt.sum(grad(cost, v)), v)
    w = np.array([1.0, 2.0])
    (found,) = run([second], {x: np.zeros(3), i: np.array([1, 1]), v: w})
    total = np.sum(w * w)
    np.testing.assert_allclose(found, 6 * total**2 + 24 * total * w * np.sum(w))


def test_an_op_prints_what_it_does() -> None:
    x, i = TensorType("float64", (None, None))("x"), indices(None)
    assert str(only_node(x[:, i].set(0)).op) == "AdvancedSetSubtensor1{:, i0}"
    assert str(only_node(x[i, i].inc(0)).op) == "AdvancedIncSubtensor{i0, i1}"


@pytest.mark.parametrize("op", [AdvancedIncSubtensor1(0), AdvancedIncSubtensor((ArrayEntry(0),))])
def test_an_op_of_ones_own(op: Any) -> None:
    x = vector()
    agrees(op(x, 1, np.array([0, 0])), {x: np.zeros(2)}, np.array([2.0, 0.0]))


def test_lengths_that_become_one_do_not_begin_to_broadcast() -> None:
    x, i, v = vector(), indices(None), vector(name="v")
    one = vector(1, "one")
    node = only_node(x[i].set(v)).clone_with_new_inputs([x, one, i])
    with pytest.raises(BroadcastError):
        run([node.out], {x: np.zeros(3), one: np.ones(1), i: np.array([0, 1])})
