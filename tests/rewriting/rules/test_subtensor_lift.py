"""Indices of what is computed, taken of what it is computed from."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import FunctionGraph, explicit_graph_inputs, interpret
from lamella.rewriting import EquilibriumGraphRewriter
from lamella.rewriting.database.builtin import STRUCTURE
from lamella.rewriting.rules.subtensor_lift import (
    subtensor_across_join,
    subtensor_of_dimshuffle,
    subtensor_of_dot,
    subtensor_of_elemwise,
    subtensor_of_fill,
    subtensor_of_reduction,
)
from tests.rewriting.rules.before_and_after import after, applied, body

x, y, i, v = lt.matrix("x"), lt.matrix("y"), lt.lscalar("i"), lt.vector("v")
row = lt.tensor("row", dtype="float64", shape=(1, None))
X, Y, ROW = np.arange(6.0).reshape(2, 3), np.arange(6.0, 12.0).reshape(2, 3), np.array([[1.0, -0.0, np.nan]])


def test_an_element_of_a_sum_is_the_sum_of_elements() -> None:
    assert after([x, y, i], lt.exp(x + y)[i, 1:], [X, Y, 1], subtensor_of_elemwise) == (
        "%0: float64[?] = Subtensor{i0, 1:}(%x, %i)  # views %x\n"
        "%1: float64[?] = Subtensor{i0, 1:}(%y, %i)  # views %y\n"
        "%2: float64[?] = Add(%0, %1)\n"
        "%3: float64[?] = Exp(%2)\n"
        "return %3"
    )


def test_an_operand_that_is_repeated_is_taken_whole() -> None:
    text = after([x, row], (x * row)[1:, ::2], [X, ROW], subtensor_of_elemwise)
    assert "Subtensor{1:, ::2}(%x)" in text
    assert "Subtensor{:, ::2}(%row)" in text
    text = after([x, row, i], (x * row)[i], [X, ROW, -1], subtensor_of_elemwise)
    assert "Subtensor{i0}(%x, %i)" in text
    assert "Subtensor{0}(%row)" in text


def test_where_all_have_length_1_all_are_indexed() -> None:
    unit = lt.tensor("unit", dtype="float64", shape=(1,))
    new = applied(FunctionGraph([unit, i], [lt.exp(unit)[i]]), subtensor_of_elemwise)
    assert "Subtensor{i0}(%unit, %i)" in body(new)
    with pytest.raises(IndexError):
        interpret([unit, i], new.outputs, [np.ones(1), np.array(1)])
    assert "Subtensor{1:}(%unit)" in after([unit], lt.exp(unit)[1:], [[2.0]], subtensor_of_elemwise)


def test_what_others_need_is_not_computed_twice() -> None:
    e = lt.exp(x)
    assert "Subtensor{0}(%0)" in after([x], [e[0], lt.sum(e)], [X], subtensor_of_elemwise)
    assert "Subtensor{0}(%0)" in after([x], [e[0], e], [X], subtensor_of_elemwise)
    s = lt.sum(x, axis=1)
    assert "Subtensor{0}(%0)" in after([x], [s[0], s], [X], subtensor_of_reduction)


def test_an_index_out_of_bounds_is_still() -> None:
    for part in ((x + 1)[i], lt.sum(x, axis=1)[i], x.T[:, i], lt.concatenate([x, x], axis=1)[i]):
        new = applied(
            FunctionGraph([x, i], [part]),
            subtensor_of_elemwise,
            subtensor_of_reduction,
            subtensor_of_dimshuffle,
            subtensor_across_join,
        )
        assert "Subtensor{i0}(%x, %i)" in body(new)
        with pytest.raises(IndexError):
            interpret([x, i], new.outputs, [X, np.array(2)])


def test_axes_are_moved_after_the_index() -> None:
    moved = lt.dimshuffle(x, 1, "x", 0)
    text = after([x, i], moved[i, :, 1:], [X, 2], subtensor_of_dimshuffle)
    assert "Subtensor{1:, i0}(%x, %i)" in text
    assert "DimShuffle{order=[x,0]}" in text
    assert after([x], moved[1, 0, 0], [X], subtensor_of_dimshuffle).startswith("%0: float64[] = Subtensor{0, 1}(%x)")
    for untouched in (moved[:, i], moved[:, 1:], moved[:, ::2][:, i]):
        assert "order=[1,x,0]}(%x)" in after([x, i], untouched, [X, 0], subtensor_of_dimshuffle)


def test_rows_of_a_reduction() -> None:
    assert after([x], lt.max(x, axis=1)[1], [X], subtensor_of_reduction) == (
        "%0: float64[?] = Subtensor{1}(%x)  # views %x\n%1: float64[] = Max{axis=(0,)}(%0)\nreturn %1"
    )
    t = lt.tensor3("t")
    value = np.arange(24.0).reshape(2, 3, 4)
    text = after([t], lt.sum(t, axis=1)[1:, 2], [value], subtensor_of_reduction)
    assert "Subtensor{1:, :, 2}(%t)" in text
    assert "Sum{axis=(1,)}" in text


def test_elements_of_a_product_are_products_of_rows_and_columns() -> None:
    inputs, values = [x, y, v, i], [X, Y.T, [1.0, 2.0, 3.0], 1]
    text = after(inputs, lt.dot(x, y)[i, 1:], values, subtensor_of_dot)
    assert "Subtensor{i0}(%x, %i)" in text
    assert "Subtensor{:, 1:}(%y)" in text
    assert "Subtensor{i0}(%x, %i)" in after(inputs, lt.dot(x, v)[i], values, subtensor_of_dot)
    assert "Subtensor{:, i0}(%y, %i)" in after(inputs, lt.dot(v, y)[i], values, subtensor_of_dot)
    product = lt.dot(x, y)
    assert "Dot(%x, %y)" in after(inputs, [product[0], product], values, subtensor_of_dot)


def test_parts_of_what_repeats_a_vector() -> None:
    filled = lt.alloc(v, 4, lt.shape_i(v, 0))
    values: list[Any] = [[1.0, -0.0, 3.0], 1]
    assert "Alloc" not in after([v, i], filled[2, i], values, subtensor_of_fill)
    rules = (subtensor_of_fill, subtensor_of_dimshuffle)
    assert "Subtensor{1:}(%v)" in after([v, i], filled[:, 1:], values, *rules)
    assert "Alloc(%v" in after([v, i], filled[i], values, subtensor_of_fill)  # which may be out of bounds
    new = applied(FunctionGraph([v, i], [filled[1:3, i]]), *rules)
    assert "Subtensor{i0}(%v, %i)" in body(new)
    np.testing.assert_array_equal(interpret([v, i], new.outputs, [np.arange(3.0), np.array(2)])[0], [2.0, 2.0])


def test_columns_of_joined_rows() -> None:
    joined = lt.concatenate([x, y])
    text = after([x, y, i], joined[:, i], [X, Y, 1], subtensor_across_join)
    assert "Subtensor{:, i0}(%x, %i)" in text
    assert "Join{axis=0}" in text or "Join(" in text
    assert "Subtensor{1:" in after([x, y], joined[1:, 0], [X, Y], subtensor_across_join)
    side = lt.concatenate([x, y], axis=1)
    text = after([x, y], side[1], [X, Y], subtensor_across_join)
    assert "Subtensor{1}(%x)" in text


def _sliced(v: Any, k: int) -> Any:
    return v[1:]


def _moved(v: Any, k: int) -> Any:
    return v.T


def _raised_and_dropped(v: Any, k: int) -> Any:
    return lt.tanh(lt.dimshuffle(v, 0, "x", 1))[:, 0]


def _asserted(v: Any, k: int) -> Any:
    return lt.specify_shape(v, (lt.lscalar(f"n{k}"), None))


def _reduced_and_raised(v: Any, k: int) -> Any:
    return (lt.sum(v, axis=0) + v[0])[None, :] * v


@pytest.mark.parametrize("step", [_sliced, _moved, _raised_and_dropped, _asserted, _reduced_and_raised])
def test_views_do_not_wander(step: Any) -> None:
    """What is done grows with the length of a chain, and not with its square."""
    rules = [rewrite.rewriter for rewrite in STRUCTURE]
    steps = []
    for length in (60, 120):
        v: Any = x
        for k in range(length):
            v = lt.tanh(step(lt.exp(v) + 1.0, k))
        fgraph = FunctionGraph(list(explicit_graph_inputs(v)), [v])
        steps.append(len(EquilibriumGraphRewriter(rules).rewrite_with_log(fgraph).log.steps))
    assert steps[1] < 2.6 * steps[0] + 100
