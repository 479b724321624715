"""`IndexedElemwise`: its contract, what it refuses, what it prints."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.errors import BroadcastError
from lamella.ir import Composite, Exp, IndexedElemwise, ScalarType, Sum, TensorType, interpret, ls
from lamella.testing import verify_op

ALL = Sum((0,)).normal_form("float64", 1)
TABLE, INDEX = np.array([1.0, -0.5, 2.0]), np.array([0, -1, 2, 0, 0])


def _two_results() -> Composite:
    first, second = ScalarType("float64")("first"), ScalarType("float64")("second")
    return Composite([first, second], [ls.exp(first) * second, first - second])


def test_the_contract_of_an_op() -> None:
    x = np.random.default_rng(0).normal(size=5)
    base = np.arange(4.0)
    gathered = IndexedElemwise(Exp(), (0,), (0, 0, 0), (ALL, None, None), (None, None, 0))
    verify_op(gathered, TABLE, INDEX, base, backends=("PerformLinker",))
    several = IndexedElemwise(_two_results(), (0, 1), (1, 0, 1), (None, ALL, None), (1, None, 0))
    verify_op(several, TABLE, np.array([0.5, 2.0]), INDEX, INDEX % 2, TABLE, base, backends=("PerformLinker",))
    written = IndexedElemwise(_two_results(), (None, 0), (1, 0), (None, None), (0, None), ((0, 3),))
    verify_op(written, x, TABLE, INDEX, base, backends=("PerformLinker",))
    scattered = IndexedElemwise(ls.mul, (None, None), (0,), (None,), (0,))
    verify_op(scattered, x, np.ones(1), INDEX, base, backends=("PerformLinker",))


def test_it_means_what_its_parts_mean() -> None:
    table, v, index, base = lt.vector("table"), lt.vector("v"), lt.lvector("index"), lt.vector("base")
    op = IndexedElemwise(_two_results(), (0, None), (0, 1, 1), (ALL, None, None), (None, 0, None))
    arrays = [TABLE, np.arange(5.0), INDEX, np.full(3, np.inf)]
    taken = TABLE[INDEX]
    added = arrays[3].copy()
    np.add.at(added, INDEX, taken - arrays[1])
    total, to, whole = interpret([table, v, index, base], op.make_node(table, v, index, base).outputs, arrays)
    np.testing.assert_array_equal(total, (np.exp(taken) * arrays[1]).sum())
    np.testing.assert_array_equal(to, added)
    np.testing.assert_array_equal(whole, taken - arrays[1])


def test_it_prints_what_is_read_and_written_where() -> None:
    op = IndexedElemwise(_two_results(), (0, None), (0, 1, 0), (ALL, None, None), (None, 0, None), ((1, 3),))
    assert str(op).endswith("{i0 at 0; Sum{axis=(0,)} of 0, 1 added at 0, 0, inplace=[(1, 3)]}")


@pytest.mark.parametrize(
    ("gathers", "results", "reductions", "scatters", "inplace"),
    [
        ((0,), (0,), (ALL,), (0,), ()),
        ((0,), (1,), (None,), (None,), ()),
        ((0,), (0, 0), (None,), (None,), ()),
        ((1,), (0,), (None,), (None,), ()),
        ((0,), (0,), (None,), (0,), ((0, 0),)),
        ((0,), (0,), (None,), (None,), ((0, 2),)),
    ],
)
def test_parameters_that_do_not_fit(gathers: Any, results: Any, reductions: Any, scatters: Any, inplace: Any) -> None:
    with pytest.raises(ValueError, match=r"for each output|numbered from 0|may be in place"):
        IndexedElemwise(Exp(), gathers, results, reductions, scatters, inplace)


def test_inputs_that_do_not_fit() -> None:
    op = IndexedElemwise(ls.add, (0, None), (0,), (None,), (0,))
    table, v, index = lt.vector("table"), lt.vector("v"), lt.lvector("index")
    for wrong in (
        (table, v, index),
        (lt.matrix("m"), v, index, v),
        (table, v, index, lt.matrix("m")),
        (table, v, index, lt.fvector("f")),
    ):
        with pytest.raises(TypeError):
            op.make_node(*wrong)
    three = TensorType("float64", (3,))("three")
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        op.make_node(three, v, lt.constant([0, 3]), v)


@pytest.mark.parametrize(
    ("table", "v", "index", "base", "error"),
    [
        (TABLE, np.ones(2), [0, 3], TABLE, IndexError),
        (TABLE, np.ones(2), [0, -4], TABLE, IndexError),
        (TABLE, np.ones(2), [0, 2], TABLE[:2], IndexError),
        (TABLE, np.ones(3), [0, 1], TABLE, BroadcastError),
        (TABLE, np.ones(1), [0, 1], TABLE, BroadcastError),
        (TABLE[:0], np.ones(2), [0, 0], TABLE, IndexError),
    ],
)
def test_values_that_do_not_fit(table: Any, v: Any, index: Any, base: Any, error: type[Exception]) -> None:
    op = IndexedElemwise(ls.add, (0, None), (0,), (None,), (0,))
    inputs = [lt.vector("table"), lt.vector("v"), lt.lvector("index"), lt.vector("base")]
    with pytest.raises(error):
        interpret(inputs, op.make_node(*inputs).outputs, [table, v, np.array(index), base])
