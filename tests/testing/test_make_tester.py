"""`make_tester` and `make_broadcast_tester`: the classes they make pass for right Ops and fail for wrong ones."""

import re
import unittest
from typing import Any

import numpy as np
import pytest

from lamella.ir import Add, Elemwise, lt
from lamella.testing import (
    OpTester,
    assert_bad_build,
    assert_bad_runtime,
    assert_op_values,
    broadcast_cases,
    make_broadcast_tester,
    make_tester,
    makeBroadcastTester,
    makeTester,
    symbolic_inputs,
)
from tests.testing import own_ops as ops

X = np.array([[0.5, -1.25, 2.0], [0.75, 1.5, -0.3]])
FAST = "FAST_COMPILE"


def scaled(x: Any) -> Any:
    return (2 * x * x).astype(x.dtype)


TestScale = make_tester(
    "TestScale",
    ops.Scale(),
    scaled,
    checks={"the output is never negative": lambda inputs, outputs: bool(np.all(outputs[0] >= 0))},
    good={"matrix": (X,), "float32": (X.astype("float32"),), "empty": (X[:0],), "number": (1.5,)},
    grad={"matrix": (X,), "float32": (X.astype("float32"),)},
)

TestDot = make_tester(
    "TestDot",
    lt.dot,
    np.dot,
    good=[(X, X.T), (X, X[0])],
    bad_build=[(X, np.ones((2, 2, 2, 2)), 1)],
    bad_runtime={"lengths": (X, X)},
    grad=[(X, X.T)],
    mode=FAST,
)

TestInPlace = make_tester("TestInPlace", ops.InPlace(), scaled, good={"matrix": (X,)}, inplace=True)

TestAdd = make_broadcast_tester(lt.add, np.add, grad=[(X, X[:1])], mode=FAST)
TestExp = make_broadcast_tester(lt.exp, np.exp, mode=FAST)
TestSwitch = makeBroadcastTester(lt.switch, np.where, mode=FAST)
TestAddInPlace = make_broadcast_tester(Elemwise(Add(), ((0, 0),)), np.add, name="TestAddInPlace", inplace=True)
TestArgmax = makeTester("TestArgmax", lt.argmax, {"one": 2, "two": np.array(1)}, good={"one": (X,), "two": (-X[0],)})


def methods(tester: type[OpTester]) -> list[str]:
    """Which of the tests fail."""
    failed: list[str] = []
    for name in ("test_good", "test_bad_build", "test_bad_runtime", "test_grad"):
        try:
            getattr(tester(), name)()
        except (AssertionError, TypeError) as error:
            failed.append(f"{name}: {error} {getattr(error, '__notes__', [''])[-1]}")
    return failed


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            make_tester("T", ops.Scale(3.0), scaled, good={"x": (X,)}, mode=FAST),
            "test_good: output 0: element.*in the case 'x'",
        ),
        (
            make_tester("T", ops.WrongGradient(), scaled, good=[(X,)], grad=[(X,)], mode=FAST),
            "test_grad: .*in the case '0'",
        ),
        (
            make_tester("T", ops.Scale(), scaled, bad_build=[(X,)], mode=FAST),
            "test_bad_build: the Op should refuse inputs",
        ),
        (
            make_tester("T", ops.Scale(), scaled, bad_runtime=[(X,)], mode=FAST),
            "test_bad_runtime: the call should raise",
        ),
        (
            make_tester("T", ops.Scale(), scaled, {"negative": lambda i, o: bool(o[0].max() < 0)}, [(X,)], mode=FAST),
            "test_good: the check 'negative' fails",
        ),
        (
            make_tester("T", ops.OverwritesInput(), lambda x: 2 * x, good=[(X,)], mode=FAST),
            "test_good: input 0 was changed",
        ),
        (
            make_tester("T", ops.Scale(), scaled, good=[(X,)], mode=FAST, inplace=True),
            "test_good: the Op should work in place",
        ),
        (
            make_tester("T", ops.Scale(), lambda x: [x, x], good=[(X,)], mode=FAST),
            "there are 1 outputs, and 2 expected values",
        ),
        (make_tester("T", ops.WrongDtype(), scaled, good=[(X,)], mode=FAST), "perform stored"),
        (make_broadcast_tester(lt.sub, np.add, mode=FAST), "test_good: .*in the case 'same_shapes'"),
    ],
)
def test_wrong_ops_fail(made: type[OpTester], words: str) -> None:
    (failed,) = methods(made)
    assert re.search(words, failed, re.DOTALL), failed


def test_tests_can_be_skipped() -> None:
    made = make_tester("T", ops.Scale(3.0), scaled, good=[(X,)], skip="not today")
    with pytest.raises(unittest.SkipTest, match="not today"):
        made().test_good()


def test_what_is_expected_must_be_known() -> None:
    with pytest.raises(ValueError, match="good cases two"):
        make_tester("T", lt.argmax, {"one": 2}, good={"one": (X,), "two": (X,)})


def test_classes_have_a_name_and_a_module() -> None:
    assert TestScale.__name__ == "TestScale"
    assert TestScale.__module__ == __name__ == TestAdd.__module__
    assert TestExp.__name__ == "TestExp"
    assert issubclass(TestAdd, OpTester)


def test_plain_functions_do_the_same() -> None:
    assert_op_values(lt.dot, [X, X.T], np.dot, mode=FAST)
    assert_op_values(lt.argmax, [X], 2, mode=FAST)
    assert_op_values(lambda x: [lt.max(x), lt.min(x)], [X], [2.0, -1.25], mode=FAST)
    assert_op_values(lt.exp, [[1, 2]], np.exp)
    assert_bad_build(lt.dot, [np.ones(3), np.ones((2, 2, 2)), 1], TypeError)
    assert_bad_runtime(lt.dot, [X, X], FAST, ValueError)
    with pytest.raises(AssertionError, match="element"):
        assert_op_values(lt.exp, [X], np.sin, mode=FAST)
    assert [str(v.type) for v in symbolic_inputs([X, 1, X[:1]])] == ["float64[?, ?]", "int64[]", "float64[1, ?]"]


def test_the_error_must_be_of_the_class_that_is_asked_for() -> None:
    with pytest.raises(ValueError):
        assert_bad_runtime(lt.dot, [X, X], FAST, ZeroDivisionError)
    with pytest.raises(TypeError):
        assert_bad_build(lambda x: lt.bitwise_not(x), [X], ZeroDivisionError)


def test_tiny_values_are_judged_by_their_size() -> None:
    assert_op_values(lambda x: x * 1e-30, [X], lambda x: x * 1e-30, mode=FAST)
    with pytest.raises(AssertionError):
        assert_op_values(lambda x: x * 1e-30, [X], lambda x: x * 1.1e-30, mode=FAST)
    assert_op_values(lambda x: x * 1e-30, [X], lambda x: x * 1.1e-30, mode=FAST, eps=0.2)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_cases_broadcast(n: int) -> None:
    cases = broadcast_cases(n, dtypes=("float64", "uint8", "bool", "complex64"))
    for name, case in cases.items():
        assert len(case) == n
        np.broadcast_shapes(*[x.shape for x in case])
        assert "empty" not in name or case[0].size == 0
    for case in broadcast_cases(n, inplace=True).values():
        assert np.broadcast_shapes(*[x.shape for x in case]) == case[0].shape
        assert np.result_type(*case) == case[0].dtype
