"""Distances between arrays, differences in words, and layouts of memory."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given

from lamella.ir import DTYPES
from lamella.testing import MEMORY_LAYOUTS, in_layout, memory_layouts, ulps_apart, value_difference
from lamella.testing.strategies import arrays

Array = npt.NDArray[Any]

INF = np.inf


@given(arrays())
def test_every_array_is_at_no_distance_from_itself(x: Array) -> None:
    np.testing.assert_array_equal(ulps_apart(x, np.array(x)), np.zeros(x.shape))
    assert value_difference(x, np.array(x)) is None


@pytest.mark.parametrize(
    ("found", "expected", "distance"),
    [
        (1.0, 1.0 + 2**-52, 1.0),
        (1.0 - 2**-53, 1.0, 0.5),
        (0.0, -0.0, INF),
        (np.nan, 1.0, INF),
        (1.0, np.nan, INF),
        (np.nan, -np.nan, 0.0),
        (np.inf, np.inf, 0.0),
        (np.inf, -np.inf, INF),
        (np.inf, 1e308, INF),
        (5e-324, 0.0, 1.0),
        (0.0, 5e-324, 1.0),
        (-5e-324, 5e-324, 2.0),
        (np.float32(1), np.float32(1 + 2**-22), 2.0),
        (np.float16(65504), np.float16(65472), 1.0),
        (np.float16(65472), np.float16(65504), 1.0),
        (1 + 1j, 1 + (1 + 2**-51) * 1j, 2.0),
        (complex(1e-17, 1), complex(0, 1), 1e-17 / 2**-52),
        (complex(-0.0, 1), complex(0.0, 1), INF),
        (3, 3, 0.0),
        (3, 4, INF),
        (True, False, INF),
        (np.uint64(2**64 - 1), np.uint64(2**64 - 2), INF),
    ],
)
def test_distances(found: complex, expected: complex, distance: float) -> None:
    assert ulps_apart(np.asarray(found), np.asarray(expected)) == pytest.approx(distance)


def test_only_like_arrays_are_compared() -> None:
    with pytest.raises(ValueError, match="one dtype and shape"):
        ulps_apart(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="one dtype and shape"):
        ulps_apart(np.zeros(2), np.zeros(2, "float32"))


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        (np.zeros(2), np.zeros(3), r"the shape is \(2,\), \(3,\) is expected"),
        (np.zeros(2, "float32"), np.zeros(2), "the dtype is float32, float64 is expected"),
        (1.0, np.array(1.0), "the value is a float, an array is expected"),
        (
            np.array([1.0, 2.0]),
            np.array([1.0, 3.0]),
            r"element \[1\] is np.float64\(2.0\), np.float64\(3.0\) is expected",
        ),
        (np.array(1.0), np.array(1.0 + 2**-50), r"the value is .* \(4 units in the last place apart, 2 are allowed\)"),
        (np.arange(4), np.arange(4) + 1, r"element \[0\] is .*; 4 of 4 elements differ"),
        (slice(1, 2), slice(1, 3), r"the value is slice\(1, 2, None\), slice\(1, 3, None\) is expected"),
    ],
)
def test_differences_in_words(found: object, expected: object, words: str) -> None:
    difference = value_difference(found, expected, max_ulps=2)
    assert difference is not None
    assert re.search(words, difference), difference


def test_what_is_allowed() -> None:
    x = np.array([1.0, 0.0, np.inf])
    assert value_difference(np.add(x, [2**-52, 0, 0]), x, max_ulps=1) is None
    assert value_difference(np.add(x, [2**-51, 0, 0]), x, max_ulps=1) is not None
    assert value_difference(np.add(x, [0.5, 0, 0]), x, max_difference=[0.5, 0, 0]) is None
    assert value_difference(np.add(x, [0, 0.5, 0]), x, max_difference=[0.5, 0, 0]) is not None
    assert value_difference(x * [1, -1, 1], x) is not None
    assert value_difference(x * [1, -1, 1], x, max_difference=[0, 1e-9, 0]) is None
    assert value_difference(np.array([1.0, 0.0, np.nan]), x, max_difference=1e300) is not None
    assert value_difference(np.array([1.0, 0.0, np.nan]), x, max_difference=[0, 0, np.inf]) is None


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3), (2, 0), (1, 4, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts_hold_the_same_values(shape: tuple[int, ...], dtype: str) -> None:
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    found = memory_layouts(array)
    assert tuple(found) == MEMORY_LAYOUTS
    for name, made in found.items():
        np.testing.assert_array_equal(made, array, strict=True)
        assert not np.shares_memory(made, array)
        assert made.flags.writeable == (name != "read-only")


def test_layouts_are_what_they_are_called() -> None:
    found = memory_layouts(np.arange(6.0).reshape(2, 3))
    assert {name: x.strides for name, x in found.items()} == {
        "contiguous": (24, 8),
        "fortran": (8, 16),
        "strided": (112, 16),
        "reversed": (-24, -8),
        "unaligned": (24, 8),
        "read-only": (24, 8),
    }
    assert [name for name, x in found.items() if not x.flags.aligned] == ["unaligned"]
    with pytest.raises(ValueError, match="no layout is named 'c'; there are contiguous, fortran"):
        in_layout([1.0], "c")
