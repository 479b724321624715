"""Running sums and products, and recurrences."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import CumOp, LinearRecurrence, TensorType
from tests.codegen.agreement import compiled, spread_values, units_apart

from .against_perform import DTYPES, Array, assert_same_as_perform, assert_same_error, is_in_c, numbers

FLOATS = ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes_axes_and_layouts(dtype: str) -> None:
    x = TensorType(dtype, (None, None, None))("x")
    outputs = [CumOp(axis, mode)(x) for axis in range(3) for mode in ("add", "mul")]
    outputs += [lt.cumsum(lt.transpose(x), 1), lt.cumprod(x[::-1], 0)]
    assert is_in_c([x], outputs)
    shapes = [(3, 4, 5), (1, 4, 1), (0, 3, 2), (3, 0, 2), (2, 1, 0)]
    assert_same_as_perform([x], outputs, *[[numbers(shape, dtype)] for shape in shapes], bitwise=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_overflow_and_special_values(dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    with np.errstate(all="ignore"):
        values = spread_values(dtype, 200)
        special = np.array([1, np.inf, -1, -np.inf, 2, np.nan, 1]).astype(dtype) if dtype in FLOATS else values[:5]
    rounded_in_order = np.dtype(dtype).kind != "c"  # NumPy rounds complex products as its vector code does
    outputs = [lt.cumsum(x), lt.cumprod(x)] if rounded_in_order else [lt.cumsum(x)]
    assert_same_as_perform([x], outputs, [values], [special], layouts=["contiguous", "reversed"], bitwise=False)


def test_long_rows_and_long_columns() -> None:
    x = lt.fmatrix("x")
    rng = np.random.default_rng(0)
    cases = [rng.normal(size=shape).astype("float32") for shape in [(3, 60_000), (60_000, 3), (1, 70_000), (300, 300)]]
    assert_same_as_perform(
        [x], [lt.cumsum(x, 0), lt.cumsum(x, 1)], *[[case] for case in cases], layouts=["contiguous", "fortran"]
    )


def test_known_lengths() -> None:
    x = TensorType("float32", (1, 3))("x")
    outputs = [lt.cumsum(x, 0), lt.cumprod(x, 1), lt.exp(lt.mul(lt.cumsum(x, 1), 0))]
    assert_same_as_perform([x], outputs, [numbers((1, 3), "float32")])


@pytest.mark.parametrize("dtype", FLOATS)
def test_recurrences(dtype: str) -> None:
    a, b = [TensorType(dtype, (None, None))(name) for name in "ab"]
    outputs = [
        LinearRecurrence(axis, initial, reverse)(a, b)
        for axis in range(2)
        for initial, reverse in [(0.0, False), (1.0, True), (-2.5, False)]
    ]
    assert is_in_c([a, b], outputs)
    shapes = [(3, 4), (1, 5), (5, 1), (0, 3), (3, 0)]
    assert_same_as_perform(
        [a, b], outputs, *[[numbers(shape, dtype), numbers(shape, dtype, 1)] for shape in shapes], bitwise=False
    )
    assert_same_error(
        [a, b],
        outputs[:1],
        [numbers((3, 4), dtype), numbers((3, 1), dtype)],
        [numbers((3, 4), dtype), numbers((2, 4), dtype)],
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_recurrences_round_each_step(dtype: str) -> None:
    a, b = [TensorType(dtype, (None,))(name) for name in "ab"]
    values: list[Array] = [spread_values(dtype, 300, seed) for seed in range(2)]
    z = LinearRecurrence(0, 1.0)(a, b)
    (got,) = compiled([a, b], [z])(values)
    state = np.ones(1, dtype)
    for i in range(300):
        assert units_apart(got[i : i + 1], state) <= 1, i
        # Of arrays: NumPy rounds products of its complex scalars in another way.
        with np.errstate(all="ignore"):
            state = values[0][i : i + 1] * got[i : i + 1] + values[1][i : i + 1]


def test_recurrence_of_vectors_with_one_known_length() -> None:
    a, b = TensorType("float64", (None,))("a"), TensorType("float64", (4,))("b")
    z = LinearRecurrence(0, 1.0)(a, b)
    assert z.type.shape == (4,)
    assert_same_as_perform([a, b], [z], [np.array([2.0, 0.0, 3.0, 1.0]), np.arange(4.0)])
    assert_same_error([a, b], [z], [np.arange(3.0), np.arange(4.0)])
