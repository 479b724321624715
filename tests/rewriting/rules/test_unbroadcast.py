"""`Unbroadcast` where it is needed no more, and where it is."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import FunctionGraph, interpret
from lamella.rewriting.rules.unbroadcast import (
    elemwise_of_unbroadcast,
    op_of_unbroadcast,
    unbroadcast_of_unbroadcast,
)
from tests.rewriting.rules.before_and_after import after, applied

RULES = (elemwise_of_unbroadcast, op_of_unbroadcast, unbroadcast_of_unbroadcast)
row, matrix = lt.row("row"), lt.matrix("matrix")
hidden = lt.unbroadcast(row, [0])
ROW = np.array([[1.0, -0.0]])


def test_ops_that_broadcast_nothing_see_through_it() -> None:
    text = after([row], [lt.sum(hidden, axis=1), hidden.T, hidden[0], hidden.shape], [ROW], *RULES)
    assert "Unbroadcast" not in text
    assert text.splitlines()[0] == "%0: float64[1] = Sum{axis=(1,)}(%row)"


def test_elementwise_operations_of_length_1_do_not_need_it() -> None:
    text = after([row], lt.exp(hidden) + row, [ROW], *RULES)
    assert text == "%0: float64[1, ?] = Exp(%row)\n%1: float64[1, ?] = Add(%0, %row)\nreturn %1"


def test_it_stays_where_something_would_broadcast() -> None:
    old = FunctionGraph([row, matrix], [lt.exp(hidden) + matrix])
    new = applied(old, *RULES)
    assert "Unbroadcast" in after([row, matrix], old.outputs, [ROW, ROW], *RULES)
    for graph in (old, new):
        with pytest.raises(BroadcastError):
            interpret(graph.inputs, graph.outputs, [ROW, np.zeros((3, 2))])


def test_two_are_one() -> None:
    cell = lt.tensor("cell", dtype="float64", shape=(1, 1))
    twice = lt.unbroadcast(lt.unbroadcast(cell, [0]), [1])
    text = after([cell, matrix], lt.second(matrix, twice), [[[2.0]], [[3.0]]], unbroadcast_of_unbroadcast)
    assert text.splitlines()[0] == "%0: float64[?, ?] = Unbroadcast{axes=(0, 1)}(%cell)  # views %cell"
