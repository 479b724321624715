"""Axes moved several times, or not at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import DimShuffle, FunctionGraph, interpret
from lamella.rewriting.rules.dimshuffle import dimshuffle_of_dimshuffle, dimshuffle_of_nothing
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
