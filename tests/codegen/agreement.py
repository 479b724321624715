"""Compiled graphs against the reference interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lamella.codegen import Entry, lower_to_c
from lamella.ir import FunctionGraph, Variable, interpret
from lamella.typing_layer import schedule

Array = npt.NDArray[Any]


def compiled(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> Entry:
    """Return a graph as a C function."""
    return lower_to_c(schedule(FunctionGraph(inputs, outputs))).executable()


def edge_values(dtype: str) -> Array:
    """Return the values of a dtype where mistakes are made."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, True, True, False, False])
    if kind in "iu":
        info = np.iinfo(dtype)
        wanted = [0, 1, 2, 3, 5, 7, 8, 31, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1, -1, -2, -7]
        return np.array([v for v in wanted if info.min <= v <= info.max], dtype)
    limits = np.finfo(dtype)
    reals = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, 0.1, -0.1, 7.0, 20.0, -20.0, 100.0, 1e-3, 0.7]
    reals += [
        np.inf,
        -np.inf,
        np.nan,
        float(limits.max),
        float(limits.min),
        float(limits.tiny),
        -float(limits.tiny) / 2,
    ]
    array = np.array(reals).astype(dtype)
    if kind == "c":
        with np.errstate(all="ignore"):
            both: Array = (array[:, None] + 1j * array[None, :12]).ravel().astype(dtype)
            return both
    return array


def spread_values(dtype: str, n: int, seed: int = 0) -> Array:
    """Return many values of a dtype, small and large."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if kind in "iu":
        info = np.iinfo(dtype)
        return np.where(
            rng.integers(0, 2, n) == 1,
            rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True),
            rng.integers(0, 12, n).astype(dtype),
        )
    small: Array = rng.normal(size=n) * rng.choice([1e-2, 1.0, 10.0], n)
    if kind == "c":
        small = small + 1j * rng.normal(size=n)
    return small.astype(dtype)


def layouts(array: Array) -> Iterator[tuple[str, Array]]:
    """Give a one-dimensional array in every layout: the elements are those of the array."""
    n = array.size
    yield "contiguous", array.copy()
    spaced = np.empty(2 * n, array.dtype)
    spaced[::2] = array
    yield "strided", spaced[::2]
    yield "reversed", array[::-1].copy()[::-1]
    raw = np.empty(n * array.itemsize + 1, np.uint8)
    unaligned = raw[1:].view(array.dtype)
    unaligned[...] = array
    yield "unaligned", unaligned
    read_only = array.copy()
    read_only.setflags(write=False)
    yield "read-only", read_only


def units_apart(got: Array, expected: Array, scale: Array | None = None) -> float:
    """Return how many units in the last place two arrays differ by at most; infinite where one is NaN, infinite or a zero of some sign
    and the other is not. With a `scale`, units are those of its elements where these are greater; then zeros are numbers like others."""
    if got.dtype.kind == "c":
        parts = [(got.real, expected.real), (got.imag, expected.imag)]
        return max([units_apart(a, b, None if scale is None else np.abs(scale)) for a, b in parts])
    if got.dtype.kind != "f":
        return 0.0 if np.array_equal(got, expected) else np.inf
    plain = np.isfinite(got) & np.isfinite(expected)
    same = (np.isnan(got) & np.isnan(expected)) | ((got == expected) & (np.signbit(got) == np.signbit(expected)))
    if not np.all(same[~plain]):
        return np.inf
    different = plain & ~same
    if not different.any():
        return 0.0
    a, b = got[different].astype(np.longdouble), expected[different].astype(np.longdouble)
    size = np.maximum(np.abs(got[different]), np.abs(expected[different]))
    if scale is not None:
        size = np.maximum(size, np.abs(scale[different]).astype(size.dtype))
    elif np.any((a == 0) & (b == 0)):
        return np.inf
    with np.errstate(over="ignore"):  # of the greatest number
        unit = np.spacing(size).astype(np.longdouble)
    return float(np.max(np.abs(a - b) / unit))


def assert_agree(got: Array, expected: Array, max_units: float = 0.0, about: object = "") -> None:
    """Assert that two arrays have one dtype and shape, and values that differ by rounding at most."""
    assert isinstance(got, np.ndarray), about
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape), about
    apart = units_apart(got, expected)
    assert apart <= max_units, f"{about}: {apart} units apart, {got} where {expected} is expected"


def assert_compiled_agrees(
    inputs: Sequence[Variable[Any]],
    outputs: Sequence[Variable[Any]],
    *cases: Sequence[Array],
    max_units: float = 0.0,
) -> None:
    """Assert that a compiled graph gives what the interpreter gives, for some values of its inputs."""
    function = compiled(inputs, outputs)
    for values in cases:
        with np.errstate(all="ignore"):
            expected = interpret(inputs, outputs, [np.array(v) for v in values])
        for i, (got, wanted) in enumerate(zip(function(values), expected, strict=True)):
            assert_agree(got, wanted, max_units, f"output {i}")
