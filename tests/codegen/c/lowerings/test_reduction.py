"""Reductions, softmax and its kin, places of extremes and matrix products in C against `perform`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lamella.codegen import Entry
from lamella.ir import (
    COMPLEX_DTYPES,
    DTYPES,
    FLOAT_DTYPES,
    BitwiseAndReduce,
    BitwiseOrReduce,
    BitwiseXorReduce,
    TensorType,
    TensorVariable,
    interpret,
    lt,
)
from tests.codegen.agreement import compiled, spread_values, units_apart
from tests.codegen.c.lowerings.against_perform import assert_same_as_perform, assert_same_error, is_in_c, numbers

Array = npt.NDArray[Any]

AXES: list[Any] = [None, (), 0, 2, (0, 2), (1, 2)]
SHAPES = [(3, 4, 5), (1, 1, 1), (2, 1, 33), (300, 2, 1), (5, 70, 3)]
EMPTY = [(0, 4, 5), (3, 0, 5), (3, 4, 0), (0, 0, 0)]


def cube(dtype: str) -> TensorVariable:
    return TensorType(dtype, (None, None, None))("x")


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_products_and_truths_of_small_numbers(dtype: str) -> None:
    x = cube(dtype)
    outputs = [f(x, axis=axis) for f in (lt.sum, lt.any, lt.all) for axis in AXES]
    assert is_in_c([x], outputs)
    cases = [[numbers(shape, dtype)] for shape in SHAPES + EMPTY]
    assert_same_as_perform([x], outputs, *cases, bitwise=False)
    products = [lt.prod(x, axis=axis) for axis in AXES]
    powers_of_two: Array = np.random.default_rng(0).choice([1, -1, 2, 1], (3, 4, 5)).astype("int64")
    if np.dtype(dtype).kind in "bu":
        powers_of_two = abs(powers_of_two)
    cases = [[powers_of_two.astype(dtype)], [np.zeros((0, 2, 2), dtype)]]
    if dtype in COMPLEX_DTYPES:  # which sign a part has that is zero, depends on the order of the factors
        for (values,) in cases:
            for got, wanted in zip(compiled([x], products)([values]), interpret([x], products, [values]), strict=True):
                assert np.array_equal(got, wanted)
    else:
        assert_same_as_perform([x], products, *cases, bitwise=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes(dtype: str) -> None:
    x = cube(dtype)
    outputs = [f(x, axis=axis) for f in (lt.max, lt.min) for axis in AXES]
    assert is_in_c([x], outputs)
    # Of two zeros of different sign either is the greater one.
    cases = [[np.where(v == 0, np.zeros((), dtype), v)] for v in [numbers(shape, dtype) for shape in SHAPES]]
    if np.dtype(dtype).kind in "fc":
        holed = spread_values(dtype, 900).reshape(30, 10, 3)
        holed[3, 2] = np.nan
        holed[5] = np.inf
        holed[7, :, 1] = -np.inf
        cases.append([holed])
    assert_same_as_perform([x], outputs, *cases, bitwise=False)


@pytest.mark.parametrize("shape", EMPTY)
def test_there_is_no_extreme_of_nothing(shape: tuple[int, ...]) -> None:
    x = cube("float64")
    axis = shape.index(0)
    if 0 not in np.delete(shape, axis):
        assert_same_error([x], [lt.max(x, axis=axis)], [np.zeros(shape)])
    others = [a for a in range(3) if shape[a]]
    if others:
        assert_same_as_perform([x], [lt.max(x, axis=others[0])], [np.zeros(shape)])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "biu"])
def test_bitwise_reductions(dtype: str) -> None:
    x = cube(dtype)
    outputs = [op(axis)(x) for op in (BitwiseAndReduce, BitwiseOrReduce, BitwiseXorReduce) for axis in (None, 0, 2)]
    assert is_in_c([x], outputs)
    assert_same_as_perform([x], outputs, [spread_values(dtype, 60).reshape(3, 4, 5)], [np.zeros((3, 0, 5), dtype)])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_sums_are_as_exact_as_pairwise_ones(dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    function = compiled([x], [lt.sum(x)])
    longest = (spread_values(dtype, 100_000) * 0.1).astype(dtype)
    for n in [1, 31, 32, 33, 255, 256, 257, 1000, 4097, 100_000]:
        values = longest[:n]
        _assert_exact_sums(function, values, values[::-1], np.repeat(values, 2)[::2])


def _assert_exact_sums(function: Entry, *cases: Array) -> None:
    for given in cases:
        dtype, n = given.dtype, given.size
        (got,) = function([given])
        wide = "complex256" if dtype.kind == "c" else "longdouble"
        exact = np.sum(given.astype(wide))
        size = np.sum(np.abs(given.astype(wide)))
        precision = np.finfo("float64" if dtype != "float16" else "float32").eps
        rounding = np.finfo(dtype).eps * abs(exact)
        assert abs(got - exact) <= rounding + precision * size * (8 + np.log2(n)) / 2


def test_float32_is_accumulated_in_double_precision() -> None:
    x = TensorType("float32", (None,))("x")
    (total,) = compiled([x], [lt.sum(x)])([np.full(10**6, 0.1, "float32")])
    assert total.dtype == "float32"
    assert abs(total - np.float32(0.1) * 10.0**6) < 0.01
    (half,) = compiled([y := TensorType("float16", (None,))("y")], [lt.sum(y)])([np.full(5000, 0.1, "float16")])
    assert abs(float(half) - 500) < 1


def test_dtypes_of_result_and_accumulator() -> None:
    x = cube("float64")
    outputs = [
        lt.sum(x, axis=1, dtype="float32"),
        lt.sum(x, dtype="float32", acc_dtype="float64"),
        lt.sum(x, axis=(0, 2), dtype="int8", acc_dtype="int64"),
        lt.sum(x, axis=2, dtype="complex64", acc_dtype="complex128"),
    ]
    assert is_in_c([x], outputs)
    assert_same_as_perform([x], outputs, *[[numbers(shape, "float64")] for shape in SHAPES[:3] + EMPTY])


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_softmax_and_its_kin(name: str, dtype: str) -> None:
    function = {"softmax": lt.softmax, "log_softmax": lt.log_softmax, "logsumexp": lt.logsumexp}[name]
    x = TensorType(dtype, (None, None))("x")
    outputs = [function(x, axis=axis) for axis in (0, 1, None)]
    assert is_in_c([x], outputs)
    run = compiled([x], outputs)
    plain = (spread_values(dtype, 5 * 70) * 3).reshape(5, 70)
    holed = plain.copy()
    holed[0, 3], holed[1, 2], holed[2], holed[3, 7], holed[4] = np.inf, -np.inf, -np.inf, np.nan, 2
    cases = [plain, holed, plain[:, :1], plain[:0], plain[:, :0], holed.T, plain[:, ::-3], plain[::2, ::2]]
    # Short rows, one after the other.
    cases += [np.ascontiguousarray(plain.T), np.ascontiguousarray(holed.T), np.ascontiguousarray(plain.T)[:, 1:4]]
    for values in cases:
        expected = interpret([x], outputs, [values])
        for got, wanted in zip(run([values]), expected, strict=True):
            assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
            assert units_apart(got, wanted, np.ones(got.shape, dtype)) <= 8


@pytest.mark.parametrize("shape", [(200, 3), (3, 200), (5, 3), (40, 90)])
def test_logsumexp_keeps_the_digits_of_what_little_is_added_to_the_greatest(shape: tuple[int, int]) -> None:
    x = lt.matrix("x")
    given = np.full(shape, -60.0)
    given[:, -1] = 0
    given[-1] = 0
    (rows, columns) = compiled([x], [lt.logsumexp(x, axis=1), lt.logsumexp(x, axis=0)])([given])
    count, length = shape
    np.testing.assert_allclose(rows[:-1], (length - 1) * np.exp(-60.0), rtol=1e-14)
    np.testing.assert_allclose(rows[-1], np.log(length), rtol=1e-14)
    np.testing.assert_allclose(columns[:-1], (count - 1) * np.exp(-60.0), rtol=1e-14)
    np.testing.assert_allclose(columns[-1], np.log(count), rtol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_places_of_extremes(dtype: str) -> None:
    x = TensorType(dtype, (None, None))("x")
    outputs = [f(x, axis=axis) for f in (lt.argmax, lt.argmin) for axis in (0, 1, None)]
    assert is_in_c([x], outputs)
    values = [numbers((7, 50), dtype), spread_values(dtype, 350).reshape(7, 50), numbers((1, 1), dtype)]
    if np.dtype(dtype).kind in "fc":
        holed = spread_values(dtype, 350).reshape(7, 50)
        holed[2, 5:9], holed[3], holed[4] = np.nan, np.inf, -np.inf
        values.append(holed)
    if np.dtype(dtype).kind == "c":  # ties of real parts, zeros of either sign, one part that is infinite or no number
        parts = np.random.default_rng(0).choice([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf], (2, 20, 90))
        tied = parts[0].astype(dtype)
        tied.imag = parts[1]
        part_holed = tied.copy()
        part_holed.imag[::3, 70], part_holed.real[1::3, 80], part_holed.imag[1::3, 85] = np.nan, np.nan, np.nan
        values += [tied, part_holed]
    values += [np.ascontiguousarray(v.T) for v in values]
    assert_same_as_perform([x], outputs, *[[v] for v in values])
    assert_same_error([x], [outputs[0]], [np.zeros((0, 3), dtype)])
    assert_same_as_perform([x], [outputs[1]], [np.zeros((0, 3), dtype)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_vectors_and_matrices(dtype: str) -> None:
    a, b = [TensorType(dtype, (None, None))(name) for name in "ab"]
    u, v = [TensorType(dtype, (None,))(name) for name in "uv"]
    outputs = [lt.dot(a, b), lt.dot(a, v), lt.dot(u, b), lt.dot(u, v), lt.dot(lt.transpose(b), lt.transpose(a))]
    assert is_in_c([a, b, u, v], outputs)
    for m, n, k in [(3, 4, 5), (1, 1, 1), (0, 4, 5), (3, 0, 5), (3, 4, 0), (0, 0, 0)]:
        case = [numbers(shape, dtype, i) for i, shape in enumerate([(m, n), (n, k), (n,), (n,)])]
        assert_same_as_perform([a, b, u, v], outputs, case, bitwise=False)
    errors = assert_same_error([a, b], [outputs[0]], [np.zeros((2, 3), dtype), np.zeros((1, 3), dtype)])
    assert "summed over" in str(errors[0])
