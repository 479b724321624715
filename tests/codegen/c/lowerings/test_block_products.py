"""Products of matrices that are large enough to be multiplied in blocks: in tiles of 8 rows by 24 columns (48 of single precision)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import Entry
from lamella.ir import Dot, Gemm
from tests.codegen.agreement import compiled
from tests.codegen.c.lowerings.laid_out import laid_out

a, b, start, factor = lt.matrix("a"), lt.matrix("b"), lt.matrix("start"), lt.scalar("factor")
single = [lt.tensor(name, dtype="float32", shape=(None, None)) for name in "xy"]


@pytest.fixture(scope="module")
def function() -> Entry:
    added = Gemm()(start, factor, a, b, lt.constant(2.0))
    return compiled([a, b, *single, start, factor], [Dot()(a, b), Dot()(*single), added])


ways = st.sampled_from(["rows", "rows", "columns", "part", "spaced", "reversed", "repeated"])


@settings(max_examples=60)
@given(st.integers(1, 130), st.integers(0, 600), st.integers(1, 160), ways, ways, ways, st.integers(0, 99))
@example(72, 384, 96, "rows", "rows", "rows", 0)  # whole tiles
@example(75, 385, 97, "part", "part", "rows", 0)  # the last rows and columns are fewer; two blocks
@example(68, 300, 120, "columns", "columns", "columns", 0)
@example(100, 400, 200, "rows", "columns", "rows", 0)  # transposed: copied column by column
@example(17, 1100, 90, "rows", "part", "rows", 0)
@example(270, 2100, 50, "rows", "rows", "rows", 0)  # rows in two blocks
def test_every_size(
    function: Entry, rows: int, inner: int, columns: int, left: str, right: str, begun: str, seed: int
) -> None:
    """Whole numbers, whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(-9, 10, (rows, inner)).astype(float), rng.integers(-9, 10, (inner, columns)).astype(float)
    x, y = laid_out(x, left), laid_out(y, right)
    before = laid_out(rng.integers(-9, 10, (rows, columns)).astype(float), begun)
    halves = [laid_out(x.astype("float32"), left), laid_out(y.astype("float32"), right)]
    product, narrow, added = function([x, y, *halves, before, np.array(-3.0)])
    np.testing.assert_array_equal(product, x @ y, strict=True)
    np.testing.assert_array_equal(narrow, (x @ y).astype("float32"), strict=True)
    np.testing.assert_array_equal(added, 2 * before - 3 * (x @ y), strict=True)


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("place", [(0, 0), (70, 300), (99, 600)])
def test_a_number_that_is_none_spoils_its_row_only(function: Entry, special: float, place: tuple[int, int]) -> None:
    x, y = np.ones((100, 601)), np.ones((601, 50))
    x[place] = special
    found = function([x, y, x.astype("float32"), y.astype("float32"), np.zeros((100, 50)), np.array(1.0)])
    expected = np.full((100, 50), 601.0)
    expected[place[0]] = special
    for result in found:
        np.testing.assert_array_equal(result, expected)


def test_errors(function: Entry) -> None:
    """They are no greater than NumPy's."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=(60, 4000)).astype("float32"), rng.uniform(size=(4000, 60)).astype("float32")
    exact = x.astype(float) @ y.astype(float)
    found = function([x.astype(float), y.astype(float), x, y, np.zeros((60, 60)), np.array(1.0)])[1]
    assert np.abs(found - exact).sum() <= 1.2 * np.abs(x @ y - exact).sum()


@pytest.mark.parametrize("shape", [(300, 200, 210), (50, 600, 700), (40, 30_000, 30)])
def test_the_number_of_threads_changes_no_bit(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=shape[:2]), rng.normal(size=shape[1:])
    found: list[bytes] = []
    for threads in (1, 2, 5):
        with lm.config.override(threads=threads):
            found.append(lm.function([a, b], lt.dot(a, b))(x, y).tobytes())
    assert found[1:] == found[:1] * 2
