"""Where arrays are not zero, and boolean masks."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Nonzero, TensorType

from .against_perform import (
    DTYPES,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    numbers,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes_and_layouts(dtype: str) -> None:
    x, cube = TensorType(dtype, (None,))("x"), TensorType(dtype, (None, None, None))("cube")
    outputs = [*Nonzero()(x), *Nonzero()(cube), *Nonzero()(lt.dimshuffle(cube, (2, 0, 1)))]
    assert is_in_c([x, cube], outputs)
    for n, shape in [(50, (4, 3, 5)), (0, (0, 2, 3)), (1, (2, 3, 0)), (3, (1, 1, 1))]:
        assert_same_as_perform([x, cube], outputs, [numbers((n,), dtype), numbers(shape, dtype)])
    assert_same_as_perform([x, cube], outputs, [bits((40,), dtype), bits((2, 3, 4), dtype)])
    zeros = np.zeros((3, 2, 2), dtype)
    assert_same_as_perform([x, cube], outputs, [-zeros[0, 0] if dtype[0] in "fc" else zeros[0, 0], zeros])
    assert_same_as_perform([x, cube], outputs, [np.ones(5, dtype), np.ones((2, 2, 2), dtype)])


def test_masks() -> None:
    x, mask, part = lt.dmatrix("x"), lt.matrix("mask", dtype="bool"), lt.vector("part", dtype="bool")
    outputs = [x[mask], x[part], x[:, part], lt.set_subtensor(x[mask], 7.0), lt.inc_subtensor(x[part], 1.0)]
    assert is_in_c([x, mask, part], outputs)
    values = numbers((4, 4), "float64")
    for chosen in (values > 0, values > 9, values < 9):
        assert_same_as_perform([x, mask, part], outputs, [values, chosen, chosen[0]])
    for output in outputs[:2]:
        assert_same_error([x, mask, part], [output], [values, (values > 0)[:3], (values > 0)[0, :2]])


def test_many() -> None:
    x = lt.fmatrix("x")
    values = np.random.default_rng(0).normal(size=(300, 400)).astype("float32")
    assert_same_as_perform([x], [*Nonzero()(x > 0.5), x[x > 0.5]], [values], layouts=["contiguous", "fortran"])
