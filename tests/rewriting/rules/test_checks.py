"""Checks that are known to succeed, or are made twice."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Assert, CheckAndRaise, FunctionGraph, interpret
from lamella.rewriting.rules.checks import check_of_known, check_of_same
from tests.rewriting.rules.before_and_after import after, applied

RULES = (check_of_known, check_of_same)
c, d, x = lt.scalar("c", dtype="bool"), lt.scalar("d", dtype="bool"), lt.vector("x")
VALUES = [True, True, [1.0, np.nan]]
check = Assert("no")


def test_what_holds_for_certain_is_not_checked() -> None:
    assert after([c, d, x], check(x, True, 2.0), VALUES, *RULES) == "return %x"
    assert after([c, d, x], check(x), VALUES, *RULES) == "return %x"
    assert (
        after([c, d, x], check(x, c, True, c), VALUES, *RULES)
        == "%0: float64[?] = Assert{no}(%x, %c)  # views %x\nreturn %0"
    )


def test_what_was_checked_is_not_checked_again() -> None:
    again = CheckAndRaise(ValueError, "other")(check(x, c), d, c)
    assert after([c, d, x], again, VALUES, *RULES) == (
        "%0: float64[?] = Assert{no}(%x, %c)  # views %x\n%1: float64[?] = CheckAndRaise{ValueError(other)}(%0, %d)  # views %0\nreturn %1"
    )
    assert (
        after([c, d, x], check(check(x, c), c), VALUES, *RULES)
        == "%0: float64[?] = Assert{no}(%x, %c)  # views %x\nreturn %0"
    )


def test_what_fails_for_certain_still_fails() -> None:
    fgraph = applied(FunctionGraph([x], [check(x, False)]), *RULES)
    with pytest.raises(AssertionError, match="no"):
        interpret(fgraph.inputs, fgraph.outputs, [np.ones(1)])
