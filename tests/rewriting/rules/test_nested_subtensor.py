"""Indices of indexed arrays: one index, or two where one cannot say it. Fault B20."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.nested_subtensor import subtensor_of_subtensor
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, assert_same_values, body

x = lt.vector("x", dtype="int64")
ten = lt.tensor("ten", dtype="int64", shape=(10,))
VALUE = np.arange(10)
BOUNDS_OF_LENGTHS = st.none() | st.integers(-3, 6)


def _merged(part: Any) -> str:
    (first, *rest) = after([x, ten], part, [VALUE, VALUE], subtensor_of_subtensor).splitlines()
    assert len(rest) == 1
    return first[first.index("{") + 1 : first.index("}")]


def test_slices_of_an_axis_of_unknown_length() -> None:
    assert _merged(x[2:][::3]) == "2::3"
    assert _merged(x[1:8:2][1:3]) == "3:7:2"
    assert _merged(x[2:][1]) == "3"
    assert _merged(x[1:9:3][2]) == "7"
    assert after([x], x[::-1][::-1], [VALUE], subtensor_of_subtensor) == "return %x"


def test_slices_of_an_axis_of_known_length() -> None:
    assert _merged(ten[7:2:-2][1]) == "5"
    assert _merged(ten[::-1][1]) == "8"
    assert _merged(ten[7:2:-1][1:3]) == "6:4:-1"
    assert _merged(ten[5:][::-1]) == "9:4:-1"
    assert _merged(ten[::-1][-4:][1:]) == "2::-1"


def test_indices_of_several_axes() -> None:
    t = lt.tensor3("t")
    value = np.arange(24.0).reshape(2, 3, 4)
    assert after([t], t[1][:, 2], [value], subtensor_of_subtensor).startswith("%0: float64[?] = Subtensor{1, :, 2}(%t)")
    assert after([t], t[:, None, 1:][0, 0, 1], [value], subtensor_of_subtensor).startswith(
        "%0: float64[?] = Subtensor{0, 2}(%t)"
    )
    assert after([t], t[1:][:, None, 0], [value], subtensor_of_subtensor).startswith(
        "%0: float64[?, 1, ?] = Subtensor{1:, None, 0}(%t)"
    )
    assert after([t], t[:, 1][:, ::2], [value], subtensor_of_subtensor).startswith(
        "%0: float64[?, ?] = Subtensor{:, 1, ::2}(%t)"
    )


def test_places_of_a_reversed_axis_count_from_the_other_end() -> None:
    i, j = lt.lscalar("i"), lt.lscalar("j")
    for number in (-10, -1, 0, 3, 9):
        for part in (x[::-1][i], x[::-1][i:], x[::-1][:i:2], x[::-1][i:j:-1], ten[::-1][i:j]):
            text = after([x, ten, i, j], part, [VALUE, VALUE, number, 7 - number], subtensor_of_subtensor)
            assert text.count("Subtensor") == 1
    assert _merged(x[::-1][2]) == "-3"
    assert _merged(x[::-1][-3:8:3]) == "2:-9:-3"
    for number in (10, -11):
        new = applied(FunctionGraph([x, i], [x[::-1][i]]), subtensor_of_subtensor)
        with pytest.raises(IndexError):
            interpret([x, i], new.outputs, [VALUE, np.array(number)])


def test_slices_that_count_from_both_ends() -> None:
    assert _merged(x[2:][:-1]) == "2:-1"
    assert _merged(x[:-2][1:]) == "1:-2"
    assert _merged(x[1:-2][3:-1:2]) == "4:-3:2"
    assert _merged(x[2:-1:3][1::2]) == "5:-1:6"
    for part in (x[:5][:-1], x[:-1][:5], x[::2][:-1], x[-3:][1:], x[1:-1][0], x[:-1][-1]):
        assert after([x], part, [VALUE], subtensor_of_subtensor).count("Subtensor") == 2


@given(st.lists(BOUNDS_OF_LENGTHS, min_size=4, max_size=4), st.integers(0, 6))
def test_bounds_that_are_lengths(bounds: list[int | None], length: int) -> None:
    axes = [lt.vector(f"axis{k}") for k in range(4)]
    symbols = [None if n is None else n if n < 0 else lt.shape_i(v, 0) for n, v in zip(bounds, axes, strict=True)]
    a, b, c, d = symbols
    values = [np.arange(length), *[np.zeros(max(n or 0, 0)) for n in bounds]]
    for part in (x[a:b][c:d], x[a:][c::2], x[:b][:d], x[a::2][1:d]):
        old = FunctionGraph([x, *axes], [part])
        assert_same_meaning(old, applied(old, subtensor_of_subtensor), values)
    merged = body(applied(FunctionGraph([x, *axes], [x[a:][c:]]), subtensor_of_subtensor))
    assert min(n or 0 for n in (bounds[0], bounds[2])) < 0 or merged.count("Subtensor") < 2


def test_bounds_beyond_all_arrays() -> None:
    other = lt.vector("other")
    n = lt.shape_i(other, 0)
    far = 2**63 - 1
    for part in (x[n:][far:], x[n:][:far], x[far:][1:], x[1:far][n:far], x[far - 1 :][far - 1 :], x[3:][far - 3 : far]):
        old = FunctionGraph([x, other], [part])
        assert_same_meaning(old, applied(old, subtensor_of_subtensor), [VALUE, np.zeros(4)])
    for part in (x[3:][far], x[::-1][far], x[::-1][-far], x[far:][0]):
        new = applied(FunctionGraph([x], [part]), subtensor_of_subtensor)
        with pytest.raises(IndexError):
            interpret([x], new.outputs, [VALUE])


@pytest.mark.parametrize("outer", [slice(7, 2, -2), slice(None, None, -1), slice(2, 5), slice(-3, None), slice(4, 1)])
@pytest.mark.parametrize("inner", [-4, -2, 0, 1, 4, 5])
def test_what_is_out_of_bounds_stays_out_of_bounds(outer: slice, inner: int) -> None:
    for v in (x, ten):
        place = lt.lscalar("place")
        old = FunctionGraph([v, place], [v[outer][place]]).replace(place, lt.constant(inner))
        new = applied(old, subtensor_of_subtensor)
        try:
            expected = VALUE[outer][inner]
        except IndexError:
            for graph in (old, new):
                with pytest.raises(IndexError):
                    interpret(graph.inputs, graph.outputs, [VALUE, np.array(inner)])
        else:
            assert interpret(new.inputs, new.outputs, [VALUE, np.array(inner)])[0] == expected


BOUNDS = st.none() | st.integers(-4, 4)
STEPS = st.sampled_from([None, 1, 2, 3, -1, -2])
PARTS = st.builds(slice, BOUNDS, BOUNDS, STEPS) | st.integers(-4, 4) | st.none()


def _entries(index: list[Any], inputs: list[Any], data: st.DataObject) -> tuple[Any, ...]:
    """Make some of the numbers inputs of the graph."""

    def number(value: int | None) -> Any:
        if value is None or data.draw(st.integers(0, 3)):
            return value
        variable = lt.lscalar(f"i{len(inputs)}")
        inputs.append((variable, value))
        return variable

    return tuple(
        [slice(number(p.start), number(p.stop), number(p.step)) if isinstance(p, slice) else number(p) for p in index]
    )


@given(
    st.lists(PARTS, max_size=3),
    st.lists(PARTS, max_size=3),
    st.lists(st.integers(0, 4), min_size=2, max_size=3),
    st.data(),
)
def test_any_index_of_any_index(first: list[Any], second: list[Any], shape: list[int], data: st.DataObject) -> None:
    """Numbers that are known or symbolic, lengths that are known or not; and the same refusals."""
    value = np.arange(int(np.prod(shape))).reshape(shape)
    v = lt.tensor("v", dtype="int64", shape=[data.draw(st.sampled_from([n, None])) for n in shape])
    numbers: list[Any] = []
    try:
        part = v[_entries(first, numbers, data)][_entries(second, numbers, data)]
    except IndexError:
        return  # out of bounds of a known length
    inputs = [v, *[variable for variable, _ in numbers]]
    values = [value, *[np.array(number) for _, number in numbers]]
    new = applied(FunctionGraph(inputs, [part]), subtensor_of_subtensor)
    try:
        expected = value[tuple(first)][tuple(second)]
    except IndexError:
        with pytest.raises(IndexError):
            interpret(inputs, new.outputs, values)
    else:
        assert_same_values(interpret(inputs, new.outputs, values), [np.asarray(expected)])
        # The same with other lengths, where the type leaves them open.
        other = np.arange(125).reshape(5, 5, 5)[
            tuple([slice(a) if b is not None else slice(None) for a, b in zip(shape, v.type.shape, strict=True)])
        ]
        if other.ndim == v.ndim:
            try:
                expected = other[tuple(first)][tuple(second)]
            except IndexError:
                with pytest.raises(IndexError):
                    interpret(inputs, new.outputs, [other, *values[1:]])
            else:
                assert_same_values(interpret(inputs, new.outputs, [other, *values[1:]]), [np.asarray(expected)])
