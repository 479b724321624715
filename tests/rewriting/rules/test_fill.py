"""Arrays that repeat a value: those who use them repeat it by themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import Alloc, FunctionGraph, interpret
from lamella.rewriting.rules.dimshuffle import dimshuffle_of_dimshuffle, dimshuffle_of_nothing
from lamella.rewriting.rules.fill import (
    alloc_of_fill,
    alloc_of_own_shape,
    alloc_of_unit_axes,
    alloc_of_whole,
    dimshuffle_of_fill,
    elemwise_of_fill,
    fill_with_whole,
    fill_written,
    moved_fill,
    second_to_alloc,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

x, y, z = lt.matrix("x"), lt.vector("y"), lt.vector("z")
v, n, m = lt.scalar("v"), lt.lscalar("n"), lt.lscalar("m")
X, Y, Z = np.ones((2, 3)), np.array([1.0, -0.0]), np.array([np.nan, 3.0])


def test_an_elementwise_operation_repeats_by_itself() -> None:
    filled = lt.fill(lt.exp(y), v) * z
    assert after([y, z, v], filled, [Y, Z, 2.0], elemwise_of_fill) == (
        "%0: float64[1] = DimShuffle{order=[x]}(%v)  # views %v\n%1: float64[?] = Mul(%0, %z)\nreturn %1"
    )
    allocated = lt.alloc(v, n) * z
    assert after([z, v, n], allocated, [Z, 2.0, 2], elemwise_of_fill) == after([z, v], v * z, [Z, 2.0])


def test_what_nothing_else_repeats_is_computed_once_and_repeated() -> None:
    assert after([v, n], lt.exp(lt.alloc(v, n)), [2.0, 3], elemwise_of_fill) == (
        "%0: float64[1] = DimShuffle{order=[x]}(%v)  # views %v\n%1: float64[1] = Exp(%0)\n"
        "%2: float64[?] = Alloc(%1, %n)\nreturn %2"
    )
    assert after([v, y], lt.exp(lt.fill(y, v)), [2.0, Y], elemwise_of_fill).splitlines()[1:3] == [
        "%1: float64[1] = Exp(%0)",
        "%2: float64[?] = Second(%y, %1)",
    ]


def test_a_value_repeated_along_some_axes_only() -> None:
    columns = lt.alloc(y.dimshuffle(0, "x"), n, m)
    assert after([y, x, n, m], columns + x, [Y, X, 2, 3], elemwise_of_fill) == (
        "%0: float64[?, 1] = DimShuffle{order=[0,x]}(%y)  # views %y\n%1: float64[?, ?] = Add(%0, %x)\nreturn %1"
    )
    with_row = columns + z  # along the first axis, only what is repeated has the length
    text = after([y, z, n, m], with_row, [Y, [1.0, 2.0, 3.0], 2, 3], elemwise_of_fill)
    assert "Alloc" not in text


def test_lengths_known_of_the_array_are_still_known() -> None:
    """What is said of the type is asserted, and a length of 1 broadcasts as it did."""
    assert after([v, y], lt.alloc(v, 2) + y, [1.0, Y], elemwise_of_fill).splitlines()[-2] == (
        "%2: float64[2] = SpecifyShape{axes=(0,)}(%1, %c0)  # views %1"
    )
    one = lt.alloc(y, 1)  # asserts that y has length 1
    text = after([y, z], lt.exp(one) + z, [[5.0], Z], elemwise_of_fill)
    assert text.startswith("%c0: int64[] = constant 1\n%0: float64[1] = SpecifyShape{axes=(0,)}(%y, %c0)")


def test_filling_with_something_as_large_is_nothing() -> None:
    assert after([y, z], lt.fill(y, lt.exp(z)), [Y, Z], fill_with_whole) == "%0: float64[?] = Exp(%z)\nreturn %0"
    assert "Second" in after([y, v], lt.fill(y, v), [Y, 1.0], fill_with_whole)
    four = lt.tensor("four", dtype="float64", shape=(2,))
    assert "SpecifyShape" in after([four, z], lt.fill(four, z), [Y, Z], fill_with_whole)


def test_filling_needs_the_shape_only() -> None:
    assert after([y, v], lt.fill(lt.exp(y), v), [Y, 1.0], second_to_alloc).splitlines()[1:] == [
        "%1: int64[] = Shape_i{axis=0}(%y)",
        "%2: float64[?] = Alloc(%0, %1)",
        "return %2",
    ]


def test_an_array_is_allocated_once() -> None:
    rules = (alloc_of_fill, alloc_of_unit_axes, dimshuffle_of_dimshuffle, dimshuffle_of_nothing)
    assert after([v, n, m], lt.alloc(lt.alloc(v, m), n, m), [1.0, 2, 3], *rules) == (
        "%0: float64[?, ?] = Alloc(%v, %n, %m)\nreturn %0"
    )
    assert after([v, y, n], lt.alloc(lt.fill(y, v), n, 2), [1.0, Y, 3], *rules).splitlines()[-2] == (
        "%0: float64[?, 2] = Alloc(%v, %n, %c0)"
    )


def test_an_array_of_its_own_shape_is_not_copied() -> None:
    text = after([y, n], lt.alloc(y, n), [Y, 2], alloc_of_whole)
    assert text == "%0: float64[?] = SpecifyShape{axes=(0,)}(%y, %n)  # views %y\nreturn %0"
    old = FunctionGraph([y, n], [lt.alloc(y, n)])
    for graph in (old, applied(old, alloc_of_whole)):
        with pytest.raises(ValueError, match="length"):
            interpret(graph.inputs, graph.outputs, [np.zeros(1), np.array(3)])


def test_moved_axes_of_repeated_values() -> None:
    assert after([v, n, m], lt.alloc(v, n, m).dimshuffle(1, "x", 0), [1.0, 2, 3], dimshuffle_of_fill) == (
        "%c0: int64[] = constant 1\n%0: float64[1, 1] = DimShuffle{order=[x,x]}(%v)  # views %v\n"
        "%1: float64[1, 1, 1] = DimShuffle{order=[1,x,0]}(%0)  # views %0\n"
        "%2: float64[?, 1, ?] = Alloc(%1, %m, %c0, %n)\nreturn %2"
    )
    text = after([x, v], lt.fill(x, v).T, [X, 1.0], dimshuffle_of_fill)
    assert text.splitlines()[-2].startswith("%3: float64[?, ?] = Second(")
    dropped = lt.alloc(v, n).dimshuffle()
    assert "Alloc" in after([v, n], dropped, [1.0, 1], dimshuffle_of_fill)  # n must be 1


def test_parts_and_reshapings_of_one_repeated_number() -> None:
    rules = (moved_fill,)
    assert (
        after([v], lt.alloc(v, 2, 3).reshape((3, 2)), [1.0], *rules).splitlines()[-2].endswith("= Alloc(%v, %c0, %c1)")
    )
    assert (
        after([v], lt.alloc(v, 4, 3)[1:, ::2], [1.0], *rules).splitlines()[-2]
        == "%0: float64[3, 2] = Alloc(%v, %c0, %c1)"
    )
    assert "Subtensor" in after([v, n], lt.alloc(v, n)[2], [1.0, 3], *rules)  # out of bounds, if n is 2
    assert "Subtensor" in after([y], lt.alloc(y, 3, 2)[1:], [Y], *rules)  # more than one number


def test_what_is_written_repeats_by_itself() -> None:
    part = y[1:]
    assert after([y, v], lt.set_subtensor(part, lt.fill(part, v)), [Y, 7.0], fill_written) == (
        "%0: float64[1] = DimShuffle{order=[x]}(%v)  # views %v\n%1: float64[?] = SetSubtensor{1:}(%y, %0)\nreturn %1"
    )
    taken = y[lt.constant([0, 0])]
    assert "Second" not in after([y, v], lt.inc_subtensor(taken, lt.fill(taken, v)), [Y, 7.0], fill_written)


def test_fills_that_repeat_different_axes_come_to_rest() -> None:
    row, column = y.dimshuffle("x", 0), z.dimshuffle(0, "x")
    grid = lt.second(column, row)
    deep = lt.second(lt.exp(lt.second(lt.exp(grid), v)), lt.second(row, column))
    rules = (elemwise_of_fill, fill_with_whole, second_to_alloc)
    text = after([y, z, v], [lt.second(lt.exp(grid), v), deep], [Y, Z, 2.0], *rules)
    assert "Exp" not in text


def test_errors_of_lengths_may_go_but_nothing_is_broadcast_that_was_not() -> None:
    """`y` of unknown length meets the 3 elements of `z` as before; it has to have as many."""
    old = FunctionGraph([y, z, n], [lt.alloc(y, n) + z])
    new = applied(old, elemwise_of_fill)
    for graph in (old, new):
        with pytest.raises(BroadcastError):
            interpret(graph.inputs, graph.outputs, [np.zeros(1), np.zeros(3), np.array(3)])


@given(st.data())
def test_all_ways_to_repeat(data: st.DataObject) -> None:
    """Values of all shapes, allocated in all that they fit, in an operation with others that repeat some axes or none."""
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    inputs, values, arrays = [], [], []
    for k in range(2):
        own = [data.draw(st.sampled_from([length, 1])) for length in shape][data.draw(st.integers(0, len(shape))) :]
        static = [
            1 if a == 1 and b != 1 else data.draw(st.sampled_from([a, None]))
            for a, b in zip(own, shape[len(shape) - len(own) :], strict=True)
        ]
        value = lt.tensor(f"value{k}", dtype="float64", shape=static)
        inputs.append(value)
        values.append(np.arange(float(np.prod(own))).reshape(own))
        lengths = [data.draw(st.sampled_from([length, lt.constant(length)])) for length in shape]
        arrays.append(data.draw(st.sampled_from([Alloc()(value, *lengths), value])))
    old = FunctionGraph(inputs, [lt.add(*arrays), lt.exp(arrays[0]), lt.second(arrays[0], arrays[1])])
    rules = (elemwise_of_fill, fill_with_whole, second_to_alloc, alloc_of_fill, alloc_of_unit_axes, alloc_of_whole)
    assert_same_meaning(old, applied(old, *rules), values)


def test_an_array_repeated_to_its_own_shape_is_itself() -> None:
    z = lt.matrix("z")
    value = np.arange(6.0).reshape(2, 3)
    assert after([z], lt.alloc(z, lt.shape_i(z, 0), lt.shape_i(z, 1)), [value], alloc_of_own_shape) == "return %z"
    others = [lt.alloc(z, 2, lt.shape_i(z, 1)), lt.alloc(z, 2, *lt.shape_tuple(z)), lt.alloc(z, lt.shape_i(z.T, 1), 3)]
    for other in others:
        assert "Alloc" in after([z], other, [value], alloc_of_own_shape)
