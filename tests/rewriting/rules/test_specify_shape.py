"""Lengths asserted though they are known, or several times."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import ShapeMismatchError
from lamella.ir import FunctionGraph, SpecifyShape, interpret
from lamella.rewriting.rules.specify_shape import (
    specify_shape_of_dimshuffle,
    specify_shape_of_elemwise,
    specify_shape_of_known,
    specify_shape_of_specify_shape,
)
from tests.rewriting.rules.before_and_after import after, applied

RULES = (specify_shape_of_known, specify_shape_of_specify_shape)
x, n = lt.matrix("x"), lt.lscalar("n")
VALUE = np.arange(6.0).reshape(2, 3)


def test_its_own_length_need_not_be_asserted() -> None:
    y = lt.exp(x)
    assert (
        after([x], lt.specify_shape(y, (lt.shape_i(x, 0), None)), [VALUE], *RULES)
        == "%0: float64[?, ?] = Exp(%x)\nreturn %0"
    )


def test_a_length_that_became_known_need_not_be_asserted() -> None:
    known = lt.specify_shape(x, (2, None))
    text = after([x], SpecifyShape((0, 1))(known, 2, 3), [VALUE], specify_shape_of_known)
    assert text == (
        "%c0: int64[] = constant 2\n%c1: int64[] = constant 3\n"
        "%0: float64[2, ?] = SpecifyShape{axes=(0,)}(%x, %c0)  # views %x\n"
        "%1: float64[2, 3] = SpecifyShape{axes=(1,)}(%0, %c1)  # views %0\nreturn %1"
    )


def test_assertions_are_made_at_once() -> None:
    twice = lt.specify_shape(lt.specify_shape(x, (None, 3)), (n, None))
    assert after([x, n], twice, [VALUE, 2], *RULES) == (
        "%c0: int64[] = constant 3\n%0: float64[?, 3] = SpecifyShape{axes=(0, 1)}(%x, %n, %c0)  # views %x\nreturn %0"
    )


def test_an_axis_asserted_to_have_two_lengths_stays_so() -> None:
    twice = lt.specify_shape(lt.specify_shape(x, (n, None)), (2, None))
    old = FunctionGraph([x, n], [twice])
    new = applied(old, *RULES)
    for graph in (old, new):
        assert interpret(graph.inputs, graph.outputs, [VALUE, np.array(2)])[0].shape == (2, 3)
        with pytest.raises(ShapeMismatchError):
            interpret(graph.inputs, graph.outputs, [VALUE, np.array(3)])


def test_lengths_are_asserted_of_what_is_computed_from() -> None:
    y = lt.matrix("y")
    text = after([x, y, n], lt.specify_shape(x + y, (n, 3)), [VALUE, VALUE, 2], specify_shape_of_elemwise)
    assert text.splitlines()[-2] == "%1: float64[?, 3] = Add(%0, %y)"
    text = after([x, y], lt.specify_shape(x + y, (1, None)), [VALUE[:1], VALUE[1:]], specify_shape_of_elemwise)
    assert text.count("SpecifyShape") == 2
    row = lt.tensor("row", dtype="float64", shape=(1, None))
    text = after([row, x, n], lt.specify_shape(row * x, (n, None)), [VALUE[:1], VALUE, 2], specify_shape_of_elemwise)
    assert "(%x, %n)" in text
    exp = lt.exp(x)
    shared = after([x, n], [lt.specify_shape(exp, (n, None)), exp], [VALUE, 2], specify_shape_of_elemwise)
    assert "Exp(%x)" in shared


def test_lengths_are_asserted_before_axes_are_moved() -> None:
    moved = lt.specify_shape(lt.dimshuffle(x, 1, "x", 0), (n, None, 2))
    text = after([x, n], moved, [VALUE, 3], specify_shape_of_dimshuffle)
    assert text.splitlines()[-2].startswith("%1: float64[?, 1, 2] = DimShuffle")
    new = SpecifyShape((1,))(lt.dimshuffle(x, 1, "x", 0), n)
    assert "SpecifyShape{axes=(1,)}" in after([x, n], new, [VALUE, 1], specify_shape_of_dimshuffle)


@pytest.mark.parametrize("length", [1, 3])
def test_a_wrong_length_is_still_an_error(length: int) -> None:
    for specified in (lt.specify_shape(lt.exp(x), (length, None)), lt.specify_shape(x.T, (None, length))):
        new = applied(FunctionGraph([x], [specified]), specify_shape_of_elemwise, specify_shape_of_dimshuffle)
        with pytest.raises(ShapeMismatchError):
            interpret([x], new.outputs, [VALUE])
