"""`flip`, `roll`, `diff`, `repeat`, `tile` and `meshgrid`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir import TensorType, TensorVariable, constant, lt
from tests.ir.tensor.agreement import Array, Values, agrees, arrays, check_derivatives, numbered, shapes

N = TensorType("int64", ())("n")


@given(arrays(shapes(min_dims=1, max_dims=3)), st.data())
def test_flip_and_roll_are_numpys(case: tuple[TensorVariable, Array], data: st.DataObject) -> None:
    x, value = case
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1) | st.none())
    shift = data.draw(st.integers(-7, 7))
    values: Values = {x: value, N: np.array(shift)}
    agrees(lt.flip(x, axis), values, np.flip(value, axis))
    agrees(lt.roll(x, shift, axis), values, np.roll(value, shift, axis))
    symbolic = lt.roll(x, N, axis)
    assert symbolic.type.shape == x.type.shape
    agrees(symbolic, values, np.roll(value, shift, axis))
    if x.dtype == "float64":
        check_derivatives(lambda v: lt.flip(lt.roll(v, shift, axis), axis), x, value)


@given(arrays(shapes(min_dims=1, max_dims=3)), st.integers(0, 3), st.data())
def test_diff_is_numpys(case: tuple[TensorVariable, Array], n: int, data: st.DataObject) -> None:
    x, value = case
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    agrees(lt.diff(x, n, axis), {x: value}, np.diff(value, n, axis))


def test_diff_of_a_known_length() -> None:
    # B51
    assert lt.diff(constant([1, 2, 3])).type.shape == (2,)
    with pytest.raises(ValueError, match="the order -1"):
        lt.diff(constant([1, 2, 3]), -1)


@given(arrays(shapes(min_dims=1, max_dims=3)), st.integers(0, 3), st.data())
def test_repeat_is_numpys(case: tuple[TensorVariable, Array], times: int, data: st.DataObject) -> None:
    x, value = case
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1) | st.none())
    values: Values = {x: value, N: np.array(times)}
    agrees(lt.repeat(x, times, axis), values, np.repeat(value, times, axis))
    agrees(lt.repeat(x, N, axis), values, np.repeat(value, times, axis))
    length = value.size if axis is None else value.shape[axis]
    each = [data.draw(st.integers(0, 2)) for _ in range(length)]
    agrees(lt.repeat(x, each, axis), values, np.repeat(value, np.array(each, "int64"), axis))
    if x.dtype == "float64":
        check_derivatives(lambda v: lt.repeat(v, times, axis), x, value)


def test_repeat_needs_a_number_for_each_element() -> None:
    x, y = TensorType("float64", (3,))("x"), TensorType("float64", (None,))("y")
    with pytest.raises(StaticShapeError):
        lt.repeat(x, [1, 2])
    with pytest.raises(ShapeMismatchError):
        lt.repeat(y, [1, 2]).eval({y: numbered((3,))})
    with pytest.raises(ValueError, match="integers of 0 or more"):
        lt.repeat(x, [1, -2, 1])


@given(arrays(shapes(max_dims=3, max_side=3)), st.lists(st.integers(0, 3), max_size=4))
def test_tile_is_numpys(case: tuple[TensorVariable, Array], reps: list[int]) -> None:
    x, value = case
    lengths = TensorType("int64", (len(reps),))("reps")
    expected = np.tile(value, reps)
    agrees(lt.tile(x, reps), {x: value}, expected)
    agrees(lt.tile(x, lengths), {x: value, lengths: np.array(reps, "int64")}, expected)
    agrees(lt.tile(x, 2), {x: value}, np.tile(value, 2))
    if x.dtype == "float64":
        check_derivatives(lambda v: lt.tile(v, reps), x, value)


@given(st.lists(st.integers(0, 3), max_size=3), st.data())
def test_meshgrid_is_numpys(lengths: list[int], data: st.DataObject) -> None:
    values = {TensorType("float64", (None,))(f"x{i}"): numbered((n,)) for i, n in enumerate(lengths)}
    for expected, grids in (
        (np.meshgrid(*values.values()), lt.meshgrid(*values)),
        (np.meshgrid(*values.values(), indexing="ij"), lt.meshgrid(*values, indexing="ij")),
    ):
        assert len(grids) == len(expected)
        for ours, theirs in zip(grids, expected, strict=True):
            agrees(ours, values, theirs)


def test_meshgrid_has_two_indexings() -> None:
    with pytest.raises(ValueError, match="'xy' or 'ij'"):
        lt.meshgrid(constant([1.0]), indexing="yx")  # type: ignore[arg-type]  # what is refused
