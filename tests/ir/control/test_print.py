"""`Print` shows a value each time it is computed, and changes nothing."""

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import generic

x = lt.dvector("x")
in_each_mode = pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])


@in_each_mode
def test_the_value_is_printed_at_each_call(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    f = lm.function([x], lm.Print("x plus 1:")(x + 1) * 2, mode=mode)
    assert capsys.readouterr().out == ""
    np.testing.assert_array_equal(f([1.0, 2.0]), [4.0, 6.0])
    f([0.0])
    assert capsys.readouterr().out == "x plus 1: __str__ = [2. 3.]\nx plus 1: __str__ = [1.]\n"


def test_attributes_are_printed_and_methods_called(capsys: pytest.CaptureFixture[str]) -> None:
    lm.Print("x", attrs=("shape", "dtype", "max"))(x).eval({x: [1.0, 7.0]})
    assert capsys.readouterr().out == "x shape = (2,)\nx dtype = float64\nx max = 7.0\n"


def test_a_function_of_ones_own() -> None:
    seen: list[tuple[str, Any]] = []

    def show(op: lm.Print, value: Any) -> None:
        seen.append((op.message, value.copy()))

    f = lm.function([x], lm.Print("here", global_fn=show)(x) + 1)
    f([1.0])
    assert [(message, list(value)) for message, value in seen] == [("here", [1.0])]


def test_a_constant_is_printed_when_the_function_runs(capsys: pytest.CaptureFixture[str]) -> None:
    f = lm.function([], lm.Print("c")(lt.constant(2.0)) + 1)
    assert capsys.readouterr().out == ""
    assert (f(), f()) == (3.0, 3.0)
    assert capsys.readouterr().out == "c __str__ = 2.0\n" * 2


def test_gradients_and_tangents_pass_through(capsys: pytest.CaptureFixture[str]) -> None:
    z = lt.sum(lm.Print("x")(x) ** 2)
    np.testing.assert_array_equal(lm.function([x], lm.grad(z, x))([3.0]), [6.0])
    np.testing.assert_array_equal(lm.function([x], lm.Rop(z, x, lt.ones_like(x)))([3.0]), 6.0)
    assert "x __str__ = [3.]" in capsys.readouterr().out


def test_types_are_kept() -> None:
    matrix = lt.tensor("m", dtype="int8", shape=(2, None))
    assert lm.Print()(matrix).type == matrix.type
    thing = generic("thing")
    assert lm.Print()(thing).type == thing.type


def test_one_name_is_no_sequence_of_names() -> None:
    with pytest.raises(TypeError, match=r"write \('shape',\)"):
        lm.Print("x", attrs="shape")
