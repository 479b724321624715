"""`ReducedElemwise`: its contract, what it refuses, what it prints."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import Composite, Exp, Max, ReducedElemwise, ScalarType, Sum, interpret, ls
from lamella.testing import verify_op

ROWS, ALL = Sum((1,)).normal_form("float64", 2), Sum((0, 1)).normal_form("float64", 2)


def test_the_contract_of_an_op() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3))
    one = ReducedElemwise(Exp(), (0, 0, 0), (ROWS, None, Max((0, 1)).normal_form("float64", 2)))
    verify_op(one, x, backends=("PerformLinker",))
    first, second = ScalarType("float64")("first"), ScalarType("float64")("second")
    both = Composite([first, second], [ls.exp(first) * second, first - second])
    verify_op(ReducedElemwise(both, (1, 0), (ALL, ROWS)), x, np.ones((2, 1)), backends=("PerformLinker",))
    verify_op(ReducedElemwise(both, (1, 0), (None, ROWS), ((0, 0),)), x, x + 1, backends=("PerformLinker",))


def test_it_prints_what_it_reduces() -> None:
    assert str(ReducedElemwise(Exp(), (0, 0), (ROWS, None))) == "Exp{Sum{axis=(1,)} of 0, 0}"


def test_as_many_reductions_as_results() -> None:
    for results, reductions in [((0,), (None, ROWS)), ((1,), (ROWS,))]:
        with pytest.raises(ValueError, match="for each output"):
            ReducedElemwise(Exp(), results, reductions)


def test_lengths_that_do_not_fit() -> None:
    x, y = lt.matrix("x"), lt.matrix("y")
    op = ReducedElemwise(ls.add, (0,), (ROWS,))
    with pytest.raises(BroadcastError):
        interpret([x, y], op.make_node(x, y).outputs, [np.ones((2, 3)), np.ones((2, 1))])
