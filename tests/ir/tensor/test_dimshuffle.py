"""`DimShuffle`, permutations of axes, and axes of length 1."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import BroadcastError
from lamella.ir import DimShuffle, TensorType, TensorVariable, lt
from tests.ir.tensor.agreement import (
    Array,
    agrees,
    arrays,
    check_derivatives,
    forgetful,
    laid_out,
    numbered,
    only_node,
    run,
    shapes,
)

X = TensorType("float64", (1, None, 3))("x")


@st.composite
def shuffles(draw: st.DrawFn) -> tuple[TensorVariable, Array, list[int | str], Array]:
    """A variable and its value, a pattern, and NumPy's result."""
    shape = draw(shapes(max_dims=4, max_side=3))
    value = numbered(shape, draw(st.sampled_from(["float64", "int8", "bool"])))
    kept = [axis for axis, length in enumerate(shape) if length != 1 or draw(st.booleans())]
    order: list[int | str] = list(draw(st.permutations(kept)))
    expected = value.transpose([*[int(a) for a in order], *[a for a in range(len(shape)) if a not in kept]])
    expected = expected.reshape([shape[int(a)] for a in order])
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(order)))
        order.insert(place, "x")
        expected = np.expand_dims(expected, place)
    return draw(forgetful(shape, value.dtype)), draw(laid_out(value)), order, expected


@given(shuffles())
def test_every_pattern_is_a_view_with_numpys_values(case: tuple[TensorVariable, Array, list[int | str], Array]) -> None:
    x, value, order, expected = case
    out = lt.dimshuffle(x, order)
    agrees(out, {x: value}, expected)
    (result,) = run([out], {x: value})
    assert np.shares_memory(result, value) or value.size == 0
    assert isinstance(result, np.ndarray)
    if value.dtype == "float64":
        check_derivatives(lambda v: lt.dimshuffle(v, order), x, value)


def test_dropping_an_axis_of_strided_data_makes_no_copy() -> None:
    value = np.zeros((5, 4, 7, 6))[::2, 1:2, ::-3, ::2].transpose(3, 1, 0, 2)
    x = TensorType("float64", (None, None, None, None))("x")
    (result,) = run([lt.dimshuffle(x, 3, 0, 2)], {x: value})
    assert np.shares_memory(result, value)
    np.testing.assert_array_equal(result, value[:, 0].transpose(2, 0, 1))
    empty = np.zeros((0, 4, 1))[:, ::2]
    y = TensorType("float64", (None, None, None))("y")
    assert run([lt.dimshuffle(y, 1, 0)], {y: empty})[0].shape == (2, 0)


def test_wrong_patterns_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot be dropped: its length is 3, not 1"):
        lt.dimshuffle(X, 0, 1)
    with pytest.raises(ValueError, match="once each"):
        lt.dimshuffle(X, 1, 1, 2)
    with pytest.raises(ValueError, match="axis 3 is out of bounds"):
        lt.dimshuffle(X, 3)
    with pytest.raises(ValueError, match="a new axis is written 'x'"):
        lt.dimshuffle(X, 0, 1, 2, "y")
    with pytest.raises(TypeError, match="takes arrays of 2 dimensions"):
        DimShuffle(2, (1, 0))(X)
    with pytest.raises(BroadcastError, match="cannot be dropped: its length is 2, not 1"):
        lt.dimshuffle(X, 0, 2).eval({X: numbered((1, 2, 3))})


@given(arrays(shapes(min_dims=1)), st.data())
def test_permutations(case: tuple[TensorVariable, Array], data: st.DataObject) -> None:
    x, value = case
    axis = st.integers(-x.ndim, x.ndim - 1)
    order = data.draw(st.permutations(range(x.ndim)))
    signed = [a - x.ndim if data.draw(st.booleans()) else a for a in order]
    agrees(lt.transpose(x, signed), {x: value}, value.transpose(signed))
    agrees(x.transpose(*signed), {x: value}, value.transpose(signed))
    agrees(x.T, {x: value}, value.T)
    a, b = data.draw(axis), data.draw(axis)
    agrees(lt.swapaxes(x, a, b), {x: value}, value.swapaxes(a, b))
    agrees(lt.moveaxis(x, a, b), {x: value}, np.moveaxis(value, a, b))
    destinations = data.draw(st.permutations(range(x.ndim)))
    some = data.draw(st.integers(0, x.ndim))
    agrees(
        lt.moveaxis(x, order[:some], destinations[:some]),
        {x: value},
        np.moveaxis(value, order[:some], destinations[:some]),
    )
    if x.ndim > 1:
        agrees(x.mT, {x: value}, value.mT)


def test_wrong_permutations_are_refused() -> None:
    for wrong in [(0, 1), (0, 1, 1), (0, 1, 3)]:
        with pytest.raises(ValueError):
            lt.transpose(X, wrong)
    with pytest.raises(np.exceptions.AxisError):
        lt.swapaxes(X, 0, 3)
    with pytest.raises(ValueError, match="2 axes to move, but 1"):
        lt.moveaxis(X, (0, 1), 0)
    assert lt.transpose(X, 0, 1, 2) is X


@given(arrays(shapes(max_dims=3)), st.data())
def test_new_axes(case: tuple[TensorVariable, Array], data: st.DataObject) -> None:
    x, value = case
    count = data.draw(st.integers(0, 3))
    total = x.ndim + count
    places = data.draw(st.permutations(range(total)))[:count]
    signed = [p - total if data.draw(st.booleans()) else p for p in places]
    agrees(lt.expand_dims(x, signed), {x: value}, np.expand_dims(value, tuple(signed)))
    agrees(lt.expand_dims(x, -1), {x: value}, np.expand_dims(value, -1))
    ours: Sequence[Callable[[Any], Any]] = (lt.atleast_1d, lt.atleast_2d, lt.atleast_3d)
    theirs: Sequence[Callable[[Any], Any]] = (np.atleast_1d, np.atleast_2d, np.atleast_3d)
    for our, their in zip(ours, theirs, strict=True):
        agrees(our(x), {x: value}, their(value))


@given(st.lists(st.sampled_from([1, 1, 2, 0]), max_size=5), st.data())
def test_squeeze(shape: list[int], data: st.DataObject) -> None:
    value = numbered(shape)
    x = TensorType("float64", shape)("x")
    agrees(x.squeeze(), {x: value}, value.squeeze())
    ones = [axis for axis, length in enumerate(shape) if length == 1]
    axes = [a - len(shape) if data.draw(st.booleans()) else a for a in ones if data.draw(st.booleans())]
    y = data.draw(forgetful(shape))
    agrees(y.squeeze(axes), {y: value}, value.squeeze(tuple(axes)))
    check_derivatives(lambda v: v.squeeze(axes), y, value)


def test_squeeze_of_several_axes_then_an_index() -> None:
    # B18
    value = np.arange(6.0).reshape(1, 1, 2, 1, 3)
    for static in [(1, 1, 2, 1, 3), (None,) * 5]:
        x = TensorType("float64", static)("x")
        agrees(x.squeeze((0, 1, -2))[:, 0], {x: value}, [0.0, 3.0])


def test_squeeze_takes_away_what_is_known_to_be_one() -> None:
    assert X.squeeze().type.shape == (None, 3)
    with pytest.raises(ValueError, match="cannot be dropped"):
        X.squeeze(2)
    with pytest.raises(np.exceptions.AxisError):
        X.squeeze(3)
    with pytest.raises(BroadcastError):
        X.squeeze(1).eval({X: numbered((1, 2, 3))})


def test_the_op_prints_its_order() -> None:
    assert str(only_node(lt.dimshuffle(X, 2, "x", 1)).op) == "DimShuffle{order=[2,x,1]}"
