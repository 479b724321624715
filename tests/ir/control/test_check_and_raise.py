"""`Assert` and `CheckAndRaise`: the value where conditions hold, else the user's exception."""

import pickle
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import generic

x, c = lt.dvector("x"), lt.scalar("c", dtype="bool")
in_each_mode = pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])


class OwnError(Exception):
    pass


@in_each_mode
def test_the_error_is_of_the_class_given_and_tells_of_the_node(mode: str) -> None:
    f = lm.function([x], lm.check_and_raise(x * 2, OwnError, "x is positive", lt.gt(x, 0)) + 1, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0]), [3.0, 5.0])
    with pytest.raises(OwnError, match="x is positive") as caught:
        f([1.0, -2.0])
    assert "CheckAndRaise{OwnError(x is positive)}" in "".join(caught.value.__notes__)


@in_each_mode
def test_an_assertion_raises_an_assertion_error(mode: str) -> None:
    f = lm.function([x, c], lm.Assert("c holds")(x, c, True), mode=mode)
    np.testing.assert_array_equal(f([1.0], True), [1.0])
    with pytest.raises(AssertionError, match="c holds"):
        f([1.0], False)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (True, True),
        (2.0, True),
        (np.nan, True),
        (0, False),
        ([1, 1], True),
        ([1, 0], False),
        (np.zeros((0, 2)), True),
        (1j, True),
    ],
)
def test_a_condition_holds_where_no_element_is_zero(condition: Any, holds: bool) -> None:
    checked = lm.assert_op(x, np.asarray(condition))
    f = lm.function([x], checked)
    if holds:
        np.testing.assert_array_equal(f([1.0]), [1.0])
    else:
        with pytest.raises(AssertionError, match="an assertion of the graph does not hold"):
            f([1.0])


def test_what_fails_for_certain_fails_when_the_function_runs() -> None:
    f = lm.function([], lm.Assert("never")(lt.constant(1.0), False))
    with pytest.raises(AssertionError, match="never"):
        f()


def test_gradients_and_tangents_pass_through() -> None:
    z = lt.sum(lm.Assert("x > 0")(x, lt.gt(x, 0)) ** 2)
    np.testing.assert_array_equal(lm.function([x], lm.grad(z, x))([3.0]), [6.0])
    np.testing.assert_array_equal(lm.function([x], lm.Rop(z, x, lt.ones_like(x)))([3.0]), 6.0)
    with pytest.raises(AssertionError, match="x > 0"):
        lm.function([x], lm.grad(z, x))([-3.0])


def test_the_shape_is_that_of_the_value_and_needs_no_check() -> None:
    checked = lm.Assert("no")(x, c)
    assert lm.function([x, c], lt.shape_i(checked, 0), on_unused_input="ignore")([1.0, 2.0], False) == 2
    assert checked.type == x.type


def test_values_that_are_no_tensors_are_checked_too() -> None:
    thing = generic("thing")
    f = lm.function([thing, c], lm.Assert("c")(thing, c))
    assert f("x", True) == "x"
    with pytest.raises(AssertionError, match="c"):
        f("x", False)


def test_equal_checks_are_one_node_and_survive_pickling() -> None:
    assert lm.Assert("a")(x, c) is lm.Assert("a")(x, c)
    assert lm.Assert("a") != lm.Assert("b")
    assert pickle.loads(pickle.dumps(lm.Assert("a"))) == lm.Assert("a")
    assert pickle.loads(pickle.dumps(lm.CheckAndRaise(OwnError, "a"))) == lm.CheckAndRaise(OwnError, "a")


def test_what_is_no_exception_is_refused() -> None:
    with pytest.raises(TypeError, match="exc_type is a class of exceptions, not 'AssertionError'"):
        lm.CheckAndRaise("AssertionError", "no")  # type: ignore[arg-type]  # the error is what is tested
    with pytest.raises(TypeError, match="takes a value and conditions"):
        lm.assert_op.make_node()
