"""`assert_op_values` and its siblings: what an Op computes, refuses to build and refuses to compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.ir import TensorType, TensorVariable, Variable
from lamella.runtime import Function, In, Mode, Out, function
from lamella.testing.value_difference import value_difference

__all__ = [
    "Check",
    "assert_bad_build",
    "assert_bad_runtime",
    "assert_op_values",
    "symbolic_inputs",
]

Array = npt.NDArray[Any]

Check = Callable[[Sequence[Any], Sequence[Any]], bool]
"""Says of the inputs (as they are after the call) and the outputs whether they are as they should be."""

_EPS = {"float16": 1e-2, "float32": 1e-5, "complex64": 1e-5, "float64": 1e-10, "complex128": 1e-10}


def symbolic_inputs(values: Sequence[Any]) -> list[TensorVariable]:
    """Return a Variable for each value: of its dtype, and of its number of dimensions; of its lengths only 1 is known.

    Parameters
    ----------
    values
        Arrays, or numbers.
    """
    arrays = [np.asarray(value) for value in values]
    return [TensorType(a.dtype, [1 if n == 1 else None for n in a.shape])(f"x{i}") for i, a in enumerate(arrays)]


def assert_op_values(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    expected: Callable[..., Any] | Any,
    mode: Mode | str | None = None,
    eps: float | None = None,
    checks: Mapping[str, Check] | None = None,
    inplace: bool = False,
) -> None:
    """Check what an Op computes.

    Parameters
    ----------
    op
        An Op, or any function of symbolic tensors.
    inputs
        A value for each argument.
    expected
        What is expected: a function of the values, or its result; an array, or a list or tuple of arrays for several outputs.
    mode
        Mode to compile in.
    eps
        By how much numbers may differ, relative to their size (and, near 0, to a thousandth of the largest one); by default 1e-10 for float64, 1e-5
        for float32 and 1e-2 for float16, and for complex numbers alike. Integers must be equal, and so must be NaN, infinities, dtypes and
        shapes.
    checks
        Further checks, by a description.
    inplace
        Whether the Op overwrites its first input with its first output. All other inputs, and without it the first too, must stay
        what they are.

    Raises
    ------
    AssertionError
        Something is not as it should be; says what.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> assert_op_values(lt.add, [np.array([1.0, 2.0]), np.array([3])], np.add)
    """
    compiled, _ = compile_op(op, inputs, mode, inplace)
    check_call(compiled, inputs, expected, eps, checks, inplace)


def compile_op(
    op: Callable[..., Any], inputs: Sequence[Any], mode: Mode | str | None, mutable: bool
) -> tuple[Function, list[Variable[Any]]]:
    """Compile an application of an Op to values like `inputs`, and return it with its outputs."""
    variables = symbolic_inputs(inputs)
    made = op(*variables)
    outputs = [made] if isinstance(made, Variable) else list(made)
    specs = [In(v, mutable=mutable) for v in variables]
    # What was computed in place lies in the memory of an input: it is handed back as it is.
    handed_back = [Out(v, borrow=mutable) for v in outputs]
    return function(specs, handed_back, mode=mode, on_unused_input="ignore"), outputs


def check_call(
    compiled: Function,
    inputs: Sequence[Any],
    expected: Callable[..., Any] | Any,
    eps: float | None,
    checks: Mapping[str, Check] | None,
    inplace: bool,
) -> None:
    """Call a compiled Op and check what it gives and what it does to its inputs; see `assert_op_values`."""
    before = [np.asarray(value) for value in inputs]
    given = [np.array(value) for value in before]
    outputs = list(compiled(*given))
    wanted = _as_arrays(expected(*[np.array(x) for x in before]) if callable(expected) else expected, outputs)
    for i, (found, value) in enumerate(zip(outputs, wanted, strict=True)):
        _check_output(i, found, value, eps, inplace, given)
    destroyed = {0} if inplace else set()
    for i, (old, new) in enumerate(zip(before, given, strict=True)):
        if i not in destroyed and old.tobytes() != new.tobytes():
            raise AssertionError(f"input {i} was changed by the call, from {old!r} to {new!r}")
    if inplace and not _same_memory(outputs[0], given[0]):
        raise AssertionError("the Op should work in place, but output 0 does not lie in the memory of input 0")
    for description, check in (checks or {}).items():
        if not check(given, outputs):
            raise AssertionError(f"the check {description!r} fails for inputs {given} and outputs {outputs}")


def _check_output(
    index: int, found: Any, wanted: Any, eps: float | None, inplace: bool, given: Sequence[Array]
) -> None:
    if isinstance(wanted, np.ndarray) and inplace and index == 0:
        wanted = wanted.astype(given[0].dtype)  # what is written in place is cast
    slack: npt.ArrayLike = 0.0
    if isinstance(wanted, np.ndarray) and wanted.dtype.kind in "fc" and wanted.size:
        relative = _EPS[wanted.dtype.name] if eps is None else eps
        with np.errstate(all="ignore"):
            sizes = np.abs(wanted).astype(np.float64)
            finite = np.where(np.isfinite(sizes), sizes, 0.0)
            slack = relative * np.maximum(finite, 1e-3 * finite.max())
    problem = value_difference(found, wanted, 0.0, slack)
    if problem is not None:
        raise AssertionError(f"output {index}: {problem}; the inputs are {list(given)}")


def _as_arrays(expected: Any, outputs: Sequence[Any]) -> list[Any]:
    several = list(expected) if isinstance(expected, list | tuple) else [expected]
    if len(several) != len(outputs):
        raise AssertionError(f"there are {len(outputs)} outputs, and {len(several)} expected values")
    return [np.asarray(e) if isinstance(o, np.ndarray) else e for e, o in zip(several, outputs, strict=True)]


def _same_memory(a: Any, b: Array) -> bool:
    return isinstance(a, np.ndarray) and (np.shares_memory(a, b) or a.size == 0)


def assert_bad_build(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    error: type[BaseException] | tuple[type[BaseException], ...] = Exception,
) -> None:
    """Check that an Op refuses to be applied.

    Parameters
    ----------
    op
        An Op, or any function of symbolic tensors.
    inputs
        Values of the kinds that it must refuse.
    error
        What it must raise.

    Raises
    ------
    AssertionError
        It builds a graph.
    """
    variables = symbolic_inputs(inputs)
    try:
        made = op(*variables)
    except error:
        return
    raise AssertionError(f"the Op should refuse inputs of types {[v.type for v in variables]}, but built {made!r}")


def assert_bad_runtime(
    op: Callable[..., Any],
    inputs: Sequence[Any],
    mode: Mode | str | None = None,
    error: type[BaseException] | tuple[type[BaseException], ...] = Exception,
) -> None:
    """Check that an Op can be applied, and refuses to compute.

    Parameters
    ----------
    op
        An Op, or any function of symbolic tensors.
    inputs
        Values that it must refuse. They are still what they were afterwards.
    mode
        Mode to compile in.
    error
        What the call must raise.

    Raises
    ------
    AssertionError
        It computes something, or changed an input before it raised.
    """
    compiled, _ = compile_op(op, inputs, mode, False)
    given = [np.array(value) for value in inputs]
    try:
        results = compiled(*given)
    except error:
        for i, (old, new) in enumerate(zip(inputs, given, strict=True)):
            if np.asarray(old).tobytes() != new.tobytes():
                raise AssertionError(f"input {i} was changed before the error was raised") from None
        return
    raise AssertionError(f"the call should raise for the inputs {list(inputs)}, but gives {results}")
