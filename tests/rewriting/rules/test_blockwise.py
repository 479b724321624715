"""Ops applied element by element, which can be applied to all at once."""

import numpy as np

import lamella.tensor as lt
from lamella.ir import Argmax, Blockwise, CumOp, Dot, Max, as_op
from lamella.rewriting.rules.blockwise import blockwise_at_once, blockwise_of_one
from tests.rewriting.rules.before_and_after import after

RULES = (blockwise_of_one, blockwise_at_once)
x, m = lt.dvector("x"), lt.dmatrix("m")
VECTOR, MATRIX = [1.0, 2.0], [[1.0, 2.0], [3.0, 4.0], [np.nan, 0.0]]
known = lt.tensor("known", dtype="float64", shape=(3, 2))


def test_without_a_batch_there_is_no_loop() -> None:
    applied = Blockwise(Dot(), "(m,n),(n)->(m)")(m, x)
    assert after([m, x], applied, [MATRIX, VECTOR], blockwise_of_one) == "%0: float64[?] = Dot(%m, %x)\nreturn %0"


def test_an_op_that_names_its_axes_names_those_behind_the_batch() -> None:
    sums = Blockwise(CumOp(0), "(n)->(n)")(m)
    assert "Blockwise" not in after([m], sums, [MATRIX], *RULES)


def test_what_may_raise_needs_an_element() -> None:
    for op in (Max((0,)), Argmax(0)):
        assert "Blockwise" in after([m], Blockwise(op, "(n)->()")(m), [MATRIX], *RULES)
        assert "Blockwise" not in after([known], Blockwise(op, "(n)->()")(known), [MATRIX], *RULES)


def test_an_op_without_a_rule_keeps_its_loop() -> None:
    @as_op([lt.dvector], [lt.dvector])
    def reverse(v: np.ndarray) -> np.ndarray:
        return v[::-1].copy()

    assert "Blockwise" in after([m], Blockwise(reverse, "(n)->(n)")(m), [MATRIX], *RULES)
