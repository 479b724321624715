"""Choices that are known, make no difference, or are made twice."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import IfElse, ifelse
from lamella.rewriting.rules.ifelse import ifelse_of_ifelse, ifelse_of_known, ifelse_of_not, ifelse_of_same
from tests.rewriting.rules.before_and_after import after

RULES = (ifelse_of_known, ifelse_of_same, ifelse_of_ifelse, ifelse_of_not)
c, x, y, z = lt.scalar("c", dtype="bool"), lt.vector("x"), lt.vector("y"), lt.vector("z")
VALUES = [True, [1.0, np.nan], [-0.0, np.inf], [3.0, 4.0]]


@pytest.mark.parametrize(("condition", "chosen"), [(True, "x"), (2.0, "x"), (np.nan, "x"), (0, "y"), (-0.0, "y")])
def test_a_known_condition_chooses(condition: float, chosen: str) -> None:
    assert after([c, x, y, z], ifelse(condition, x, y), VALUES, *RULES) == f"return %{chosen}"


def test_lengths_that_both_branches_have_stay_known() -> None:
    known = lt.tensor("known", dtype="float64", shape=(2,))
    assert after([known, x], ifelse(True, known, known + 1), [[1.0, 2.0], [0.0]], *RULES) == "return %known"


def test_equal_branches_need_no_choice() -> None:
    assert after([c, x], ifelse(c, x, x), VALUES[:2], *RULES) == "return %x"


def test_only_what_differs_is_chosen() -> None:
    outputs = IfElse(3)(c, x, y, z, x, z, z)
    assert after([c, x, y, z], list(outputs), VALUES, *RULES) == (
        "%0: float64[?] = IfElse{n_outs=1}(%c, %y, %z)  # views %y, %z\nreturn %x, %0, %z"
    )


def test_a_choice_by_the_same_condition_is_made_once() -> None:
    nested = ifelse(c, ifelse(c, x, y), ifelse(c, y, z))
    assert (
        after([c, x, y, z], nested, VALUES, *RULES)
        == "%0: float64[?] = IfElse{n_outs=1}(%c, %x, %z)  # views %x, %z\nreturn %0"
    )


def test_a_negated_condition_exchanges_the_branches() -> None:
    for negated in (lt.logical_not(c), lt.bitwise_not(c)):
        assert after([c, x, y, z], ifelse(negated, x, y), VALUES, *RULES) == (
            "%0: float64[?] = IfElse{n_outs=1}(%c, %y, %x)  # views %y, %x\nreturn %0"
        )


def test_a_choice_by_another_condition_stays() -> None:
    d = lt.scalar("d", dtype="bool")
    nested = ifelse(c, ifelse(d, x, y), z)
    assert after([c, d, x, y, z], nested, [True, False, *VALUES[1:]], *RULES).count("IfElse") == 2
