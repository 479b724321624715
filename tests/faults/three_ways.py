"""A check in three ways: rewritten against un-rewritten, every backend against NumPy, every static type against the value that arrives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
from lamella.ir import FunctionGraph, TensorVariable, Variable
from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import CLinker, DebugMode, Mode, MonitorMode, NanGuardMode
from lamella.typing_layer import Supervisor

AS_WRITTEN_IN_C = Mode(CLinker(), RewriteDatabaseQuery(include=()))
MODES: Mapping[str, Mode] = {
    "FAST_COMPILE": lm.FAST_COMPILE,
    "FAST_RUN": lm.FAST_RUN,
    "C, as written": AS_WRITTEN_IN_C,
    "DebugMode": DebugMode(),
    "NanGuardMode": NanGuardMode(nan_is_error=False, inf_is_error=False, big_is_error=False),
    "MonitorMode": MonitorMode(),
}
"""The ways of compiling; the reference interpreter is one more way of running a graph."""

Values = Mapping[TensorVariable, npt.ArrayLike]
Expected = npt.NDArray[Any] | np.generic
Case = tuple[TensorVariable, Expected]


def check(values: Values, *cases: Case, rtol: float | None = None) -> None:
    """Check what graphs compute: value, NaN, sign of zero, dtype and shape, in all three ways.

    Parameters
    ----------
    values
        Values of the inputs.
    *cases
        A result and what it is to be.
    rtol
        The relative error that is allowed; four units in the last place by default, nothing for integers.
    """
    arrays = {variable: np.asarray(value, variable.dtype) for variable, value in values.items()}
    for output, expected in cases:
        as_written = output.eval(arrays)
        _compare("as written", output, as_written, expected, rtol)
        _compare("rewritten", output, _rewritten(output, arrays), as_written, rtol)
    for name, run in compiled([output for output, _ in cases], list(arrays)).items():
        for (output, expected), found in zip(cases, run(*arrays.values()), strict=True):
            _compare(name, output, found, expected, rtol)


def compiled(outputs: Sequence[Variable[Any]], inputs: Sequence[Variable[Any]]) -> dict[str, Callable[..., list[Any]]]:
    """Compile a graph in every way."""
    return {
        name: lm.function(inputs, list(outputs), mode=mode, on_unused_input="ignore") for name, mode in MODES.items()
    }


def check_error(values: Values, output: TensorVariable, error: type[Exception], match: str | None = None) -> None:
    """Check that computing `output` is this error in every way."""
    arrays = {variable: np.asarray(value, variable.dtype) for variable, value in values.items()}
    with pytest.raises(error, match=match):
        output.eval(arrays)
    with pytest.raises(error, match=match):
        _rewritten(output, arrays)
    for name, run in compiled([output], list(arrays)).items():
        try:
            run(*arrays.values())
        except error:
            continue
        pytest.fail(f"{name} raises nothing")


def _rewritten(output: TensorVariable, arrays: Mapping[TensorVariable, npt.NDArray[Any]]) -> Any:
    # Each result is rewritten by itself: what only one result needs is rewritten further than what several share.
    graph = lm.FAST_RUN.rewrite(FunctionGraph(arrays, [output]).with_feature(Supervisor(list(arrays))))
    copies = [np.array(array) for array in arrays.values()]
    (found,) = lm.interpret(graph.inputs, graph.outputs, copies, graph.order)
    for array, copy in zip(arrays.values(), copies, strict=True):
        assert array.tobytes() == copy.tobytes(), f"the rewritten graph of {output} changes its inputs"
    narrowed = graph.outputs[0].type
    assert narrowed.is_valid_value(found), f"the rewritten graph of {output} promises {narrowed}, {found!r} arrives"
    return found


def _compare(way: str, output: TensorVariable, found: Any, wanted: Expected, rtol: float | None) -> None:
    expected: npt.NDArray[Any] = np.asarray(wanted)
    where = f"{output} {way}"
    assert isinstance(found, np.ndarray), f"{where}: {found!r} is no array"
    assert output.type.is_valid_value(found), f"{where}: {output.type} is promised, {found!r} of {found.shape} arrives"
    assert found.dtype == expected.dtype, f"{where}: {found.dtype} for {expected.dtype}"
    assert found.shape == expected.shape, f"{where}: shape {found.shape} for {expected.shape}"
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected, where)
        return
    allowed = 4 * float(np.finfo(expected.dtype).eps) if rtol is None else rtol
    np.testing.assert_allclose(found, expected, rtol=allowed, atol=0, equal_nan=True, err_msg=where)
    if expected.dtype.kind == "f":
        zero = expected == 0
        np.testing.assert_array_equal(
            np.signbit(found)[zero], np.signbit(expected)[zero], f"{where}: the sign of a zero"
        )
