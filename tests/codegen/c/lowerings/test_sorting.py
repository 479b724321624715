"""Sorting: stable, NaN last, whatever the layout."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import TensorType
from tests.codegen.agreement import compiled, edge_values

from .against_perform import DTYPES, assert_same_as_perform, bits, is_in_c, numbers


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes_axes_and_layouts(dtype: str) -> None:
    x = TensorType(dtype, (None, None))("x")
    outputs = [lt.sort(x, 0), lt.sort(x, 1), lt.argsort(x, 0), lt.argsort(x, 1), lt.sort(lt.transpose(x), 0)]
    assert is_in_c([x], outputs)
    shapes = [(5, 7), (1, 9), (9, 1), (0, 3), (3, 0)]
    assert_same_as_perform([x], outputs, *[[numbers(shape, dtype)] for shape in shapes], [bits((6, 40), dtype)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_elements_keep_their_order(dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    with np.errstate(all="ignore"):
        edges = edge_values(dtype)
    rng = np.random.default_rng(0)
    values = rng.choice(edges, 500)
    if values.dtype.kind in "fc":
        values[::7] = -values[::7]  # NaN with a sign, zeros of either sign
    assert_same_as_perform([x], [lt.sort(x), lt.argsort(x)], [values], [edges], [edges[::-1]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_long_rows_with_few_different_elements(dtype: str) -> None:
    x = TensorType(dtype, (None, None))("x")
    rng = np.random.default_rng(1)
    values = rng.integers(0, 5, (300, 7)).astype(dtype)
    if values.dtype.kind in "fc":
        values[rng.integers(0, 2, values.shape) == 1] *= -1
        values[rng.integers(0, 4, values.shape) == 1] = np.nan
        values[rng.integers(0, 4, values.shape) == 1] = -np.nan
    outputs = [lt.sort(x, 0), lt.argsort(x, 0), lt.sort(lt.transpose(x), 1), lt.argsort(lt.transpose(x), 1)]
    assert_same_as_perform([x], outputs, [values], layouts=["contiguous", "fortran", "reversed"])


def test_gives_memory_of_its_own() -> None:
    x = lt.dvector("x")
    function = compiled([x], [lt.sort(x)])
    array = np.arange(5.0)
    (got,) = function([array])
    assert not np.shares_memory(got, array)
    assert got.flags.writeable


def test_many_elements() -> None:
    x = lt.dvector("x")
    rng = np.random.default_rng(0)
    values = rng.normal(size=100_000)
    values[rng.integers(0, values.size, 500)] = np.nan
    values[rng.integers(0, values.size, 500)] = 0.0
    values[rng.integers(0, values.size, 500)] = -0.0
    assert_same_as_perform(
        [x], [lt.sort(x), lt.argsort(x)], [values], [values[:4] * 0], layouts=["contiguous", "reversed"]
    )
