"""Exceptions: each is one of ours, and one that a caller would expect for the fault."""

import inspect

import pytest

from lamella import errors

CLASSES = [thing for _, thing in inspect.getmembers(errors, inspect.isclass)]
ERRORS = [thing for thing in CLASSES if not issubclass(thing, Warning) and thing is not errors.LamellaError]


def test_everything_is_an_error_or_a_warning() -> None:
    assert len(ERRORS) > 10
    assert all(issubclass(thing, Exception) for thing in CLASSES)


@pytest.mark.parametrize("error", ERRORS)
def test_every_error_is_ours_and_a_built_in_one(error: type[Exception]) -> None:
    assert issubclass(error, errors.LamellaError)
    builtin = {base for base in error.__mro__ if base.__module__ == "builtins"}
    assert builtin > {Exception, BaseException, object}
    assert error.__doc__


def test_the_graph_checker_lists_its_problems() -> None:
    error = errors.GraphCheckError(("one", "two"))
    assert error.problems == ("one", "two")
    assert str(error) == "the graph is not well formed:\n- one\n- two"


def test_a_missing_gradient_is_both_null_and_not_implemented() -> None:
    assert issubclass(errors.GradientNotImplementedError, errors.NullTypeGradError)
    assert issubclass(errors.GradientNotImplementedError, NotImplementedError)
