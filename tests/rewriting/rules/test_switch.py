"""Choices that are known: the result keeps its shape and dtype."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.rewriting.rules.switch import switch_of_known, switch_of_same
from tests.rewriting.rules.before_and_after import after

RULES = (switch_of_known, switch_of_same)
c, x, y = lt.vector("c", dtype="bool"), lt.vector("x"), lt.vector("y")
VALUES = [[True, False], [1.0, np.nan], [-0.0, np.inf]]


@pytest.mark.parametrize(
    ("condition", "chosen"), [(True, "x"), (2.0, "x"), (np.nan, "x"), (0.0, "y"), (-0.0, "y"), (False, "y")]
)
def test_a_known_condition_chooses(condition: float, chosen: str) -> None:
    assert after([c, x, y], lt.switch(condition, x, y), VALUES, *RULES) == f"return %{chosen}"


def test_a_condition_of_known_values_and_unknown_length_chooses() -> None:
    assert after([c, x, y], lt.switch(lt.zeros_like(c), x, y), VALUES, *RULES) == "return %y"


def test_what_is_chosen_is_repeated_and_cast() -> None:
    assert after([c, x, y], lt.switch(False, x, np.float32(2)), VALUES, *RULES) == (
        "%c0: float32[1] = constant [2.0]\n%0: float64[1] = Cast{float64}(%c0)\n%1: int64[] = Shape_i{axis=0}(%x)\n"
        "%2: float64[?] = Alloc(%0, %1)\nreturn %2"
    )


def test_equal_branches_keep_the_shape_of_the_condition() -> None:
    """Fault B14."""
    assert after([c, x, y], lt.switch(c, x, x), VALUES, *RULES) == "return %x"
    assert after([c], lt.switch(c, 1, 1), VALUES[:1], *RULES) == (
        "%c0: int64[1] = constant [1]\n%0: int64[] = Shape_i{axis=0}(%c)\n%1: int64[?] = Alloc(%c0, %0)\nreturn %1"
    )
    zeros = lt.switch(c, np.float32(0), np.float64(0))
    assert after([c], zeros, VALUES[:1], *RULES).splitlines()[-2].startswith("%0: float64[?] = Switch")


def test_what_is_not_known_stays() -> None:
    assert "Switch" in after([c, x, y], lt.switch(c, x, y), VALUES, *RULES)
