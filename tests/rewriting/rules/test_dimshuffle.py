"""Axes moved several times, or not at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import DimShuffle, FunctionGraph, interpret
from lamella.rewriting.rules.dimshuffle import (
    dimshuffle_of_dimshuffle,
    dimshuffle_of_elemwise,
    dimshuffle_of_nothing,
    dimshuffle_of_reshape,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

RULES = (dimshuffle_of_dimshuffle, dimshuffle_of_nothing)
x = lt.matrix("x")
VALUE = np.arange(6.0).reshape(2, 3)


def test_two_transpositions_are_none() -> None:
    assert after([x], x.T.T, [VALUE], *RULES) == "return %x"


def test_moved_axes_are_moved_once() -> None:
    twice = lt.dimshuffle(x, 1, "x", 0).dimshuffle(2, 0, "x", 1)
    assert (
        after([x], twice, [VALUE], *RULES)
        == "%0: float64[?, ?, 1, 1] = DimShuffle{order=[0,1,x,x]}(%x)  # views %x\nreturn %0"
    )


def test_an_axis_added_and_dropped_is_gone() -> None:
    assert after([x], lt.dimshuffle(x, "x", 0, 1).dimshuffle(1, 2), [VALUE], *RULES) == "return %x"


def test_a_dropped_axis_must_still_have_length_1() -> None:
    (new,) = applied(FunctionGraph([x], [lt.dimshuffle(x, 0).dimshuffle("x", 0)]), *RULES).outputs
    with pytest.raises(ValueError, match="cannot be dropped"):
        interpret([x], [new], [VALUE])


@given(st.data())
def test_any_two_become_one(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 3), max_size=4))
    value = np.arange(float(np.prod(shape))).reshape(shape)
    v = lt.tensor("v", dtype="float64", shape=[data.draw(st.sampled_from([length, None])) for length in shape])
    moved: Any = v
    lengths = list(shape)
    for _ in range(3):
        order: list[Any] = [
            a for a in data.draw(st.permutations(range(len(lengths)))) if lengths[a] != 1 or data.draw(st.booleans())
        ]
        order.insert(data.draw(st.integers(0, len(order))), "x")
        moved = lt.dimshuffle(moved, order)
        lengths = [1 if a == "x" else lengths[a] for a in order]
    old = FunctionGraph([v], [moved])
    new = applied(old, *RULES)
    assert sum(isinstance(node.op, DimShuffle) for node in new.order) <= 1
    assert_same_meaning(old, new, [value])


def test_what_is_computed_element_by_element_is_computed_where_it_is_moved_to() -> None:
    y, row = lt.matrix("y"), lt.tensor("row", dtype="float64", shape=(1, None))
    values = [VALUE, VALUE, VALUE[:1]]
    raised = lt.dimshuffle(x * row, 0, "x", 1)
    text = after([x, y, row], lt.exp(raised), values, dimshuffle_of_elemwise)
    assert "DimShuffle{order=[0,x,1]}(%x)" in text
    assert "DimShuffle{order=[0,x,1]}(%row)" in text
    assert "Mul(%x, %row)" in after([x, y, row], raised, values, dimshuffle_of_elemwise)
    assert "Mul(%x, %row)" in after([x, y, row], raised + lt.dimshuffle(y, 0, 1, "x"), values, dimshuffle_of_elemwise)
    assert (
        after([x], lt.exp(x.T).T, [VALUE], dimshuffle_of_elemwise, *RULES) == "%0: float64[?, ?] = Exp(%x)\nreturn %0"
    )
    fused = lt.exp(x).T + y.T
    assert "DimShuffle{order=[1,0]}(%x)" in after([x, y], fused, [VALUE, VALUE], dimshuffle_of_elemwise)


def test_what_is_moved_for_nothing_or_needed_twice_stays() -> None:
    exp = lt.exp(x)
    for outputs in ([exp.T], [lt.dot(exp.T, x)], [lt.dimshuffle(exp, 0, 1, "x"), exp]):
        assert "Exp(%x)" in after([x], outputs, [VALUE], dimshuffle_of_elemwise)


def test_an_axis_that_was_not_reshaped_to_length_1_is_an_error() -> None:
    one, n = lt.tensor("one", dtype="float64", shape=(1,)), lt.lscalar("n")
    new = applied(FunctionGraph([one, n], [lt.dimshuffle(lt.reshape(one, (n,)), "x")]), dimshuffle_of_reshape)
    with pytest.raises(ValueError, match="reshape"):
        interpret([one, n], new.outputs, [np.ones(1), np.array(2)])


def test_axes_are_added_and_dropped_by_reshaping() -> None:
    v, n = lt.vector("v"), lt.lscalar("n")
    moved = lt.dimshuffle(lt.reshape(v, (1, n, -1)), 1, "x", 2)
    text = after([v, n], moved, [np.arange(6.0), 2], dimshuffle_of_reshape)
    assert "DimShuffle" not in text
    assert "Reshape{ndim=3}(%v" in text
    assert "DimShuffle" in after([v, n], lt.reshape(v, (n, 2)).T, [np.arange(6.0), 3], dimshuffle_of_reshape)
