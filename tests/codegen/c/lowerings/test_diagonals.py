"""Diagonals, taken and made."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import AllocDiag, ExtractDiag, Eye, TensorType
from tests.codegen.agreement import compiled

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    DTYPES,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    variable,
)

OFFSETS = [0, 1, -1, 2, -3, 7, -7]


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_taking_diagonals(dtype: str) -> None:
    x = TensorType(dtype, (None, None, None))("x")
    outputs = [ExtractDiag(k, *axes)(x) for k in OFFSETS for axes in ((0, 1), (1, 0), (2, 0), (1, 2))]
    assert is_in_c([x], outputs)
    shapes = [(3, 4, 2), (1, 1, 1), (1, 5, 3), (0, 3, 2), (4, 1, 0)]
    assert_same_as_perform([x], outputs, *[[bits(shape, dtype)] for shape in shapes])


def test_diagonals_are_views() -> None:
    x = lt.dmatrix("x")
    array = np.ones((3, 4))
    assert all([np.shares_memory(d, array) for d in compiled([x], [lt.diagonal(x), lt.diag(x, -1)])([array])])


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_making_diagonals(dtype: str) -> None:
    x, v = TensorType(dtype, (None, None))("x"), TensorType(dtype, (None,))("v")
    rows, columns = lt.lscalar("rows"), lt.lscalar("columns")
    outputs = [
        *[AllocDiag(1, *axes)(x, rows, columns) for axes in ((0, 1), (1, 0), (2, 0), (1, 2))],
        AllocDiag(1)(v, rows, columns),
    ]
    assert is_in_c([x, v, rows, columns], outputs)
    for r, c in [(3, 4), (5, 2), (1, 1), (0, 3), (2, 0), (1, 2)]:
        n = max(0, min(r, c - 1))
        values = [bits((2, n), dtype), bits((n,), dtype, 1), np.array(r), np.array(c)]
        assert_same_as_perform([x, v, rows, columns], outputs, values)
    wrong = [bits((2, 3), dtype), bits((3,), dtype, 1), np.array(3), np.array(3)]
    assert_same_error([x, v, rows, columns], outputs, wrong, [*wrong[:2], np.array(-1), np.array(3)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_ones_on_a_diagonal(dtype: str) -> None:
    rows, columns, k = [lt.lscalar(name) for name in ("rows", "columns", "k")]
    outputs = [Eye(dtype)(rows, columns, k), Eye(dtype)(3, columns, 1), Eye(dtype)(2, 2, 0)]
    assert is_in_c([rows, columns, k], outputs)
    for r, c in [(3, 4), (5, 2), (1, 1), (0, 3), (2, 0)]:
        cases = [[np.array(r), np.array(c), np.array(offset)] for offset in (*OFFSETS, 2**63 - 1, -(2**63) + 1)]
        assert_same_as_perform([rows, columns, k], outputs, *cases, layouts=["contiguous"])
    assert_same_error([rows, columns, k], outputs, [np.array(-1), np.array(2), np.array(0)])


def test_known_lengths() -> None:
    x = variable(np.zeros((1, 4)), known=[0, 1])
    outputs = [lt.diagonal(x), lt.diagonal(x, 3), lt.diagonal(x, 4), lt.sum(lt.diag(lt.diagonal(x, 2)))]
    assert_same_as_perform([x], outputs, [np.arange(4.0).reshape(1, 4)])
