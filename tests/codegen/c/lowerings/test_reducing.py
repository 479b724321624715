"""How reductions are divided: long vectors and short rows, tiles, pieces with accumulators of their own; their error; threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
from lamella.ir import Max, Mul, ReducedElemwise, Sum, TensorType, lt
from lamella.testing import MEMORY_LAYOUTS, in_layout
from tests.codegen.agreement import compiled

Array = npt.NDArray[Any]

LENGTHS = [
    1,
    2,
    3,
    15,
    16,
    17,
    63,
    64,
    127,
    128,
    129,
    191,
    255,
    500,
    1023,
    1024,
    1500,
    2049,
    4095,
    4096,
    4097,
    5000,
    8192,
    9001,
]
SHAPES: list[tuple[int, ...]] = [
    *[(n, 3) for n in (130, 1000, 70_001)],
    *[(3, n) for n in (130, 5000, 70_001)],
    *[(7, 2100), (2100, 7), (300, 129), (65, 31), (1, 9000), (9000, 1), (400, 900)],
]


def whole_numbers(shape: tuple[int, ...]) -> Array:
    """Numbers of which sums are exact, whatever their order."""
    return np.random.default_rng(list(shape)).integers(-9, 10, shape).astype("float64")


def test_vectors_of_all_lengths() -> None:
    x = lt.vector("x")
    run = compiled([x], [lt.sum(x), lt.max(x), lt.min(x), lt.sum(abs(x) * 2)])
    for n in [*LENGTHS, 131_072, 131_073, 200_000]:
        wide = whole_numbers((2 * n,))
        for values in (wide[:n].copy(), wide[::2], wide[::-2]):
            expected = [values.sum(), values.max(), values.min(), 2 * abs(values).sum()]
            assert [float(found) for found in run([values])] == expected, n


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_matrices_of_all_layouts(dtype: str) -> None:
    x, row, column = (
        TensorType(dtype, (None, None))("x"),
        TensorType(dtype, (1, None))("r"),
        TensorType(dtype, (None, 1))("c"),
    )
    computed = lt.abs(x) * row + column
    axes: list[Any] = [0, 1, None]
    outputs = [f(y, axis=axis) for y in (x, computed) for axis in axes for f in (lt.sum, lt.max)]
    fused = ReducedElemwise(
        Mul(),
        (0, 0, 0, 0),
        tuple([None if o is None else o.normal_form(dtype, 2) for o in (Sum((0,)), Sum((1,)), Max((0, 1)), None)]),
    )
    node: Any = fused.make_node(x, row)
    run = compiled([x, row, column], [*outputs, *node.outputs])
    for shape in SHAPES:
        values = whole_numbers(shape).astype(dtype)
        r, c = values[:1] - 1, values[:, :1] + 2
        y, product = abs(values) * r + c, values * r
        expected = [f(z, axis=axis) for z in (values, y) for axis in axes for f in (np.sum, np.max)]
        expected += [product.sum(axis=0), product.sum(axis=1), product.max(), product]
        for layout in MEMORY_LAYOUTS:
            for i, (found, wanted) in enumerate(zip(run([in_layout(values, layout), r, c]), expected, strict=True)):
                assert np.array_equal(found, wanted), (i, shape, layout)


def test_pieces_with_many_accumulators() -> None:
    x = lt.matrix("x")
    sums = ReducedElemwise(Mul(), (0, 0), (Sum((0,)).normal_form("float64", 2), Sum((1,)).normal_form("float64", 2)))
    node: Any = sums.make_node(x, x)
    values = whole_numbers((100, 60_000))
    by_column, by_row = lm.function([x], node.outputs)(values)
    assert np.array_equal(by_column, (values**2).sum(axis=0))
    assert np.array_equal(by_row, (values**2).sum(axis=1))


def test_cubes_along_all_axes() -> None:
    x = TensorType("float64", (None, None, None))("x")
    axes: list[Any] = [0, 1, 2, (0, 1), (0, 2), (1, 2), None]
    run = compiled([x], [f(x, axis=axis) for axis in axes for f in (lt.sum, lt.min)])
    for shape in [(3, 400, 5), (400, 3, 5), (5, 3, 400), (40, 50, 130), (2, 5000, 3), (70_000, 2, 2)]:
        values = whole_numbers(shape)
        for given in (values, values.transpose(2, 0, 1).copy().transpose(1, 2, 0), values[:, ::-1]):
            expected = [wanted for axis in axes for wanted in (given.sum(axis=axis), given.min(axis=axis))]
            for i, (found, wanted) in enumerate(zip(run([given]), expected, strict=True)):
                assert np.array_equal(found, wanted), (shape, i)


def test_what_is_not_a_number_is_the_greatest_wherever_it_is() -> None:
    x = lt.matrix("x")
    run = compiled([x], [lt.max(x, axis=0), lt.min(x, axis=1), lt.max(x)])
    rng = np.random.default_rng(4)
    for shape in ((3, 700), (700, 3), (40, 40), (20, 5000)):
        for _ in range(20):
            values = rng.normal(size=shape)
            values[rng.integers(shape[0]), rng.integers(shape[1])] = np.nan
            values[rng.integers(shape[0]), rng.integers(shape[1])] = rng.choice([np.inf, -np.inf])
            for found, wanted in zip(run([values]), [values.max(0), values.min(1), np.max(values)], strict=True):
                np.testing.assert_array_equal(found, wanted)


def error(found: Any, values: Array) -> float:
    """Return how far a sum is from the exact one."""
    return abs(math.fsum([*values.tolist(), -float(found)]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_error_of_sums_is_no_worse_than_numpys(dtype: str) -> None:
    """Of 200 sums of each length, or of 40 that are long; what chance adds to a ratio of averages is less than the bounds leave."""
    x, m = TensorType(dtype, (None,))("x"), TensorType(dtype, (None, None))("m")
    by_itself, computed = compiled([x], [lt.sum(x)]), compiled([x], [lt.sum(lt.abs(x))])
    along = compiled([m], [lt.sum(m, axis=1), lt.sum(m, axis=0)])
    rng = np.random.default_rng(7)
    ratios: list[list[float]] = []
    for n in (40, 100, 500, 1000, 1500, 2500, 4097, 6000, 8000, 20_000, 33_000, 60_000, 150_000):
        errors = [0.0, 0.0, 0.0]
        for _ in range(200 if n < 9000 else 40):
            values = rng.uniform(0, 1, n).astype(dtype)
            terms = values.tolist()
            for i, found in enumerate((by_itself([values])[0], computed([values])[0], values.sum())):
                errors[i] += abs(math.fsum([*terms, -float(found)]))
        ratios.append([errors[0] / errors[2], errors[1] / errors[2]])
        assert max(ratios[-1]) <= 1.4, (n, ratios[-1])
    assert max(np.mean(ratios, axis=0)) <= 1.1, ratios
    for values in (rng.uniform(0, 1, (200, 3000)).astype(dtype), rng.normal(size=(200, 3000)).astype(dtype)):
        rows, columns = along([values])
        assert sum(map(error, rows, values)) <= 1.2 * sum(map(error, values.sum(axis=1), values))
        assert sum(map(error, columns, values.T)) <= 1.2 * sum(map(error, values.sum(axis=0), values.T))


def test_the_number_of_threads_changes_no_bit_of_a_reduction() -> None:
    x, m = lt.vector("x"), lt.matrix("m")
    y = lt.exp(-m) * 3
    outputs = [
        lt.sum(x),
        lt.max(x),
        lt.sum(lt.exp(x)),
        *[f(z, axis=axis) for z in (m, y) for axis in (0, 1) for f in (lt.sum, lt.max)],
    ]
    outputs += [lt.var(m, axis=0), lt.sum(y)]
    outputs += [f(m, axis=axis) for f in (lt.softmax, lt.log_softmax, lt.logsumexp, lt.argmax) for axis in (0, 1)]
    rng = np.random.default_rng(3)
    given = [(rng.normal(size=400_001), rng.normal(size=shape)) for shape in ((501, 903), (90_001, 4), (3, 120_001))]
    expected: list[Any] = []
    for threads in (1, 2, 5):
        with lm.config.override(threads=threads):
            function = lm.function([x, m], outputs)
        found = [[out.tobytes() for out in function(*values)] for values in given]
        expected = expected or found
        assert found == expected, threads


def test_work_on_rows_of_all_layouts() -> None:
    m = lt.matrix("m")
    run = compiled([m], [f(m, axis=axis) for axis in (0, 1) for f in (lt.argmax, lt.argmin, lt.logsumexp, lt.softmax)])
    for shape in ((1, 1), (3, 700), (700, 3), (17, 4), (9, 71), (10_247, 5), (70, 300), (130, 4100)):
        values = whole_numbers(shape)
        values[shape[0] // 2, shape[1] // 3] = 10
        expected: list[Any] = []
        for axis in (0, 1):
            e = np.exp(values - values.max(axis=axis, keepdims=True))
            total = e.sum(axis=axis, keepdims=True)
            logarithm = (np.log(total) + values.max(axis=axis, keepdims=True)).squeeze(axis)
            expected += [values.argmax(axis=axis), values.argmin(axis=axis), logarithm, e / total]
        for layout in MEMORY_LAYOUTS:
            for found, wanted in zip(run([in_layout(values, layout)]), expected, strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14, err_msg=f"{shape}, {layout}")


@pytest.mark.parametrize("dtype", ["int8", "float16", "float64"])
def test_places_of_extremes_in_rows_and_columns(dtype: str) -> None:
    """Columns are gone through side by side, in blocks; the first of equal elements counts, and what is not a number before all others."""
    m = TensorType(dtype, (None, None))("m")
    run = compiled([m], [f(m, axis=axis) for axis in (0, 1) for f in (lt.argmax, lt.argmin)])
    rng = np.random.default_rng(5)
    for shape in ((1, 16), (700, 3), (16_500, 17), (130, 530), (20, 5000), (2, 40_000), (1, 600_000)):
        for has_nan in (False, True):
            values = rng.integers(-30, 30, shape).astype(dtype)
            if has_nan and dtype != "int8":
                values[rng.integers(shape[0], size=8), rng.integers(shape[1], size=8)] = np.nan
            expected = [f(values, axis=axis) for axis in (0, 1) for f in (np.argmax, np.argmin)]
            for layout in MEMORY_LAYOUTS:
                for found, wanted in zip(run([in_layout(values, layout)]), expected, strict=True):
                    np.testing.assert_array_equal(found, wanted, err_msg=f"{shape}, {layout}")


def test_an_extreme_that_is_no_number_stays_so_in_all_that_follows() -> None:
    m = lt.matrix("m")
    outputs = [f(z, axis=axis) for f in (lt.max, lt.min) for z in (m, -m) for axis in (0, 1, None)]
    run = compiled([m], outputs)
    for shape in ((3000, 300), (40, 5000), (300, 20)):
        values = whole_numbers(shape)
        values[0, 0] = np.nan
        expected = [f(z, axis=axis) for f in (np.max, np.min) for z in (values, -values) for axis in (0, 1, None)]
        for layout in MEMORY_LAYOUTS:
            for found, wanted in zip(run([in_layout(values, layout)]), expected, strict=True):
                np.testing.assert_array_equal(found, wanted, err_msg=f"{shape}, {layout}")


def test_truth_values_are_looked_at_until_one_decides() -> None:
    """Where it is, whether elements are read or computed, and whether threads share them."""
    x = lt.vector("x")
    b = TensorType("bool", (None,))("b")
    rows = TensorType("bool", (None, None))("rows")
    outputs = [lt.any(b), lt.all(~b), lt.any(x > 0), lt.all(x <= 0), lt.any(rows, axis=1), lt.all(~rows, axis=0)]
    for threads in (1, 3):
        with lm.config.override(threads=threads):
            run = lm.function([x, b, rows], outputs)
        for n in (1, 31, 33, 9000, 300_000):
            for place in {0, n // 2, n - 1, None}:
                values = np.zeros((3, n))
                if place is not None:
                    values[1, place] = 1
                found = run(values[1], values[1] > 0, values > 0)
                is_any = place is not None
                assert [bool(one) for one in found[:4]] == [is_any, not is_any] * 2, (n, place)
                np.testing.assert_array_equal(found[4], [False, is_any, False])
                np.testing.assert_array_equal(found[5], (values == 0).all(axis=0))
