"""Indices of indexed arrays: one index, or two where one cannot say it. Fault B20."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.nested_subtensor import subtensor_of_subtensor
from tests.rewriting.rules.before_and_after import after, applied, assert_same_values

x = lt.vector("x", dtype="int64")
ten = lt.tensor("ten", dtype="int64", shape=(10,))
VALUE = np.arange(10)


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
