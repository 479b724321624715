"""Checks that the tests of lowerings share: a compiled graph against the reference interpreter, bit by bit, in all layouts of memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.codegen import write_program
from lamella.ir import FunctionGraph, TensorType, TensorVariable, Variable, interpret
from lamella.testing import MEMORY_LAYOUTS, in_layout
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled

Array = npt.NDArray[Any]

DTYPES = [
    "bool",
    *["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "float32", "float64", "complex64", "complex128"],
]

DTYPE_OF_EACH_SIZE = ["bool", "float16", "int32", "complex64", "complex128"]
"""One dtype for each number of bytes that an element can have."""

LAYOUTS = MEMORY_LAYOUTS


def bits(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Any bits at all, NaN of all kinds among them: what is moved must not change."""
    rng = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return rng.integers(0, 2, tuple(shape)).astype(bool)
    itemsize = np.dtype(dtype).itemsize
    raw = rng.integers(0, 256, (*shape, itemsize), dtype=np.uint8)
    return np.ascontiguousarray(raw).view(dtype).reshape(tuple(shape))


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Small numbers with which sums are exact, some equal, some negative where there are such, some zeros of either sign."""
    rng = np.random.default_rng([seed, *shape])
    small = rng.integers(-3, 4, tuple(shape))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.asarray(small > 0)
    if kind == "u":
        return np.abs(small).astype(dtype)
    if kind == "c":
        return np.asarray(small * 0.5 + 1j * rng.integers(-2, 3, tuple(shape))).astype(dtype)
    values = np.asarray(small).astype(dtype)
    return values * rng.choice([-1, 1], tuple(shape)).astype(dtype) if kind == "f" else values


def variable(array: Array, name: str = "x", known: Sequence[int] = ()) -> TensorVariable:
    """A Variable for an array: it knows the lengths along some axes."""
    return TensorType(str(array.dtype), [n if axis in known else None for axis, n in enumerate(array.shape)])(name)


def same(got: Array, expected: Array, about: object = "", bitwise: bool = True) -> None:
    """Assert that two arrays are the same to the last bit; or, unless `bitwise`, but for which NaN a NaN is."""
    assert isinstance(got, np.ndarray), about
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), about
    if got.dtype.kind == "c" and not bitwise:
        same(got.real, expected.real, about, bitwise)
        same(got.imag, expected.imag, about, bitwise)
        return
    if got.dtype.kind == "f" and not bitwise:
        missing = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(got), missing, str(about))
        got, expected = np.where(missing, 0, got), np.where(missing, 0, expected)
    assert got.tobytes() == expected.tobytes(), f"{about}: {got!r} where {expected!r} is expected"


def assert_same_as_perform(
    inputs: Sequence[Variable[Any]],
    outputs: Sequence[Variable[Any]],
    *cases: Sequence[Array],
    layouts: Sequence[str] = LAYOUTS,
    bitwise: bool = True,
) -> None:
    """Assert that compiled code gives what the interpreter gives, whatever the layout of the inputs, and leaves the inputs as they are."""
    function = compiled(inputs, outputs)
    for values in cases:
        expected = interpret(inputs, outputs, list(values))
        for layout in layouts:
            given = [in_layout(value, layout) for value in values]
            before = [value.tobytes() for value in given]
            results = function(given)
            for i, (got, wanted) in enumerate(zip(results, expected, strict=True)):
                same(got, np.asarray(wanted), f"output {i}, {layout}, of {values}", bitwise)
            assert [value.tobytes() for value in given] == before, f"an input of layout {layout} was changed"


def assert_same_error(
    inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], *cases: Sequence[Array]
) -> list[BaseException]:
    """Assert that compiled code raises what the interpreter raises, for each case, and leaves the inputs as they are; return the errors."""
    function = compiled(inputs, outputs)
    errors: list[BaseException] = []
    for values in cases:
        wanted = _error(interpret, inputs, outputs, list(values))
        given = [np.array(value) for value in values]
        got = _error(function, given)
        assert (type(got), str(got)) == (type(wanted), str(wanted))
        for value, kept in zip(given, values, strict=True):
            assert value.tobytes() == kept.tobytes(), "an input was changed"
        errors.append(got)
    return errors


def _error(run: Callable[..., Any], *arguments: Any) -> BaseException:
    try:
        result = run(*arguments)
    except Exception as error:  # noqa: BLE001  # which class it is of, is what is compared
        return error
    raise AssertionError(f"no error, but {result}")


def steps_in_c(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> str:
    """Return the C functions of a graph's steps, and the table that lists the steps."""
    text = write_program(schedule(FunctionGraph(inputs, outputs))).text
    function = r"^/\* [^\n]* \*/\n(?:static LM_BESIDE|LM_STEP) int (step\d+).*?^}$"
    functions = {found[1]: found[0] for found in re.finditer(function, text, re.MULTILINE | re.DOTALL)}
    table = text[text.index("static const lm_step steps[]") : text.index("static const int outputs[]")]
    assert set(functions) == set(re.findall(r"^    {(step\d+)", table, re.MULTILINE))
    return "\n\n".join([*functions.values(), table.strip()]) + "\n"


def is_in_c(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> bool:
    """Whether no step of a graph is left to the interpreter but for errors."""
    return "\n    {NULL," not in steps_in_c(inputs, outputs)
