"""`make_tester` and `make_broadcast_tester`: classes of tests for an Op, made of tables of cases."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lamella.ir import FLOAT_DTYPES, Elemwise
from lamella.runtime import Function, Mode
from lamella.testing.broadcast_cases import broadcast_cases
from lamella.testing.gradient_check import verify_grad
from lamella.testing.op_values import (
    Check,
    assert_bad_build,
    assert_bad_runtime,
    check_call,
    compile_op,
    symbolic_inputs,
)

__all__ = ["Cases", "OpTester", "makeBroadcastTester", "makeTester", "make_broadcast_tester", "make_tester"]

Array = npt.NDArray[Any]

Cases = Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]]
"""Lists of input values, with or without names."""


class OpTester:
    """The tests of an Op; `make_tester` makes subclasses of it, and so may you, by setting its attributes.

    It is a plain class: pytest collects the subclasses that are named ``Test...``, and each method also works when it is called by hand.

    Attributes
    ----------
    op, expected, checks, good, bad_build, bad_runtime, grad, mode, eps, grad_rtol, grad_eps, skip, inplace
        See `make_tester`.
    """

    op: ClassVar[Callable[..., Any]]
    expected: ClassVar[Any] = None
    checks: ClassVar[Mapping[str, Check]] = {}
    good: ClassVar[Cases] = {}
    bad_build: ClassVar[Cases] = {}
    bad_runtime: ClassVar[Cases] = {}
    grad: ClassVar[Cases] = {}
    mode: ClassVar[Mode | str | None] = None
    eps: ClassVar[float | None] = None
    grad_rtol: ClassVar[float | None] = None
    grad_eps: ClassVar[float | None] = None
    skip: ClassVar[bool | str] = False
    inplace: ClassVar[bool] = False

    def test_good(self) -> None:
        """The values of all good cases are what is expected; inputs are changed only by an Op that works in place."""
        self._skip_if_asked()
        compiled: dict[Any, Function] = {}
        for name, inputs in _named(self.good).items():
            with _Named(name):
                expected = self.expected[name] if isinstance(self.expected, Mapping) else self.expected
                key = tuple([v.type for v in symbolic_inputs(inputs)])
                if key not in compiled:
                    compiled[key], _ = compile_op(self.op, inputs, self.mode, self.inplace)
                check_call(compiled[key], inputs, expected, self.eps, self.checks, self.inplace)

    def test_bad_build(self) -> None:
        """The Op refuses to be applied to these."""
        self._skip_if_asked()
        for name, inputs in _named(self.bad_build).items():
            with _Named(name):
                assert_bad_build(self.op, inputs)

    def test_bad_runtime(self) -> None:
        """The Op can be applied to these, but refuses to compute."""
        self._skip_if_asked()
        for name, inputs in _named(self.bad_runtime).items():
            with _Named(name):
                assert_bad_runtime(self.op, inputs, self.mode)

    def test_grad(self) -> None:
        """The gradients at these points are what they are numerically."""
        self._skip_if_asked()
        for name, inputs in _named(self.grad).items():
            with _Named(name):
                verify_grad(*_varying(self.op, inputs), eps=self.grad_eps, rel_tol=self.grad_rtol, mode=self.mode)

    def _skip_if_asked(self) -> None:
        if self.skip:
            raise unittest.SkipTest(self.skip if isinstance(self.skip, str) else "skip is set")


class _Named:
    """Notes the name of the case on an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:
            error.add_note(f"in the case {self._name!r}")


def _named(cases: Cases) -> Mapping[str, Sequence[Any]]:
    if isinstance(cases, Mapping):
        return cases
    return {str(i): case for i, case in enumerate(cases)}


def _varying(op: Callable[..., Any], inputs: Sequence[Any]) -> tuple[Callable[..., Any], list[Array]]:
    """Return the Op as a function of those inputs that are floats, and their values; the others are bound."""
    arrays = [np.asarray(x) for x in inputs]
    varied = [i for i, x in enumerate(arrays) if x.dtype.name in FLOAT_DTYPES]

    def bound(*variables: Any) -> Any:
        arguments: list[Any] = list(arrays)
        for i, variable in zip(varied, variables, strict=True):
            arguments[i] = variable
        return op(*arguments)

    return bound, [arrays[i] for i in varied]


def make_tester(
    name: str,
    op: Callable[..., Any],
    expected: Callable[..., Any] | Mapping[str, Any],
    checks: Mapping[str, Check] | None = None,
    good: Cases | None = None,
    bad_build: Cases | None = None,
    bad_runtime: Cases | None = None,
    grad: Cases | None = None,
    mode: Mode | str | None = None,
    eps: float | None = None,
    skip: bool | str = False,
    inplace: bool = False,
    grad_rtol: float | None = None,
    grad_eps: float | None = None,
) -> type[OpTester]:
    """Make a class of tests for an Op.

    Parameters
    ----------
    name
        Name of the class. Assign it to a name that pytest collects: ``TestAdd = make_tester("TestAdd", ...)``.
    op
        An Op, or any function of symbolic tensors.
    expected
        A function of arrays that computes the same; or, for each good case by its name, what is expected.
    checks
        Further checks of inputs and outputs, by a description; they are given both as they are after the call.
    good
        Cases in which the Op works: lists of input values, with or without names.
    bad_build
        Cases in which applying the Op must raise.
    bad_runtime
        Cases in which the Op can be applied, and the call must raise.
    grad
        Points at which the gradient is verified (`verify_grad`); inputs that are no floats are not varied.
    mode
        Mode to compile in. Good cases of equal dtypes and numbers of dimensions share a compiled function.
    eps
        Tolerance of the values; see `assert_op_values`.
    skip
        Skip all tests; a string says why.
    inplace
        Whether the Op overwrites its first input.
    grad_rtol, grad_eps
        `rel_tol` and `eps` of `verify_grad`.

    Returns
    -------
    type
        A class with the methods ``test_good``, ``test_bad_build``, ``test_bad_runtime`` and ``test_grad``.

    Raises
    ------
    ValueError
        `expected` says nothing of a good case.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> TestExp = make_tester("TestExp", lt.exp, np.exp, good={"vector": (np.array([0.0, 1.0]),)}, grad=[(np.array([0.3]),)])
    >>> TestExp().test_good()
    >>> TestExp().test_grad()
    """
    if isinstance(expected, Mapping):
        missing = [case for case in _named(good or {}) if case not in expected]
        if missing:
            raise ValueError(f"nothing is expected of the good cases {', '.join(missing)}")
    attributes = {
        "op": staticmethod(op),
        "expected": expected if isinstance(expected, Mapping) else staticmethod(expected),
        "checks": dict(checks or {}),
        "good": good or {},
        "bad_build": bad_build or {},
        "bad_runtime": bad_runtime or {},
        "grad": grad or {},
        "mode": mode,
        "eps": eps,
        "skip": skip,
        "inplace": inplace,
        "grad_rtol": grad_rtol,
        "grad_eps": grad_eps,
        "__doc__": f"The tests of {name}.",
        # What the class is a part of: reports and pickles name it.
        "__module__": sys._getframe(1).f_globals.get("__name__", __name__),
    }
    return type(name, (OpTester,), attributes)


def make_broadcast_tester(
    op: Callable[..., Any],
    expected: Callable[..., Any] | Mapping[str, Any],
    checks: Mapping[str, Check] | None = None,
    name: str | None = None,
    good: Cases | None = None,
    bad_build: Cases | None = None,
    bad_runtime: Cases | None = None,
    grad: Cases | None = None,
    mode: Mode | str | None = None,
    eps: float | None = None,
    skip: bool | str = False,
    inplace: bool = False,
    grad_rtol: float | None = None,
    grad_eps: float | None = None,
) -> type[OpTester]:
    """Make a class of tests for an elementwise Op.

    Parameters
    ----------
    op, expected, checks, bad_build, bad_runtime, grad, mode, eps, skip, grad_rtol, grad_eps
        As those of `make_tester`.
    name
        Name of the class; made of the Op's by default.
    good
        As in `make_tester`; by default `broadcast_cases`, for as many inputs as the Op takes (two, where it does not say).
    inplace
        Whether the Op overwrites its first input; the default cases then have a first input of the shape and dtype of the result.

    Returns
    -------
    type
        As `make_tester`.
    """
    cases = broadcast_cases(_number_of_inputs(op), inplace=inplace) if good is None else good
    made = make_tester(
        f"Test{op}" if name is None else name,
        op,
        expected,
        checks,
        cases,
        bad_build,
        bad_runtime,
        grad,
        mode,
        eps,
        skip,
        inplace,
        grad_rtol,
        grad_eps,
    )
    made.__module__ = sys._getframe(1).f_globals.get("__name__", __name__)
    return made


def _number_of_inputs(op: Callable[..., Any]) -> int:
    return op.scalar_op.nin if isinstance(op, Elemwise) and op.scalar_op.nin > 0 else 2


makeTester = make_tester
"""The name that PyTensor's tests use."""

makeBroadcastTester = make_broadcast_tester
"""The name that PyTensor's tests use."""
