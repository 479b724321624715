"""Products of a vector and a matrix of few columns, whose rows go by once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import Entry
from lamella.ir import Dot, Gemv
from tests.codegen.agreement import compiled
from tests.codegen.c.lowerings.laid_out import laid_out

v, m = lt.vector("v"), lt.matrix("m")
start, factor = lt.vector("start"), lt.scalar("factor")
single = [lt.tensor("w", dtype="float32", shape=(None,)), lt.tensor("n", dtype="float32", shape=(None, None))]


@pytest.fixture(scope="module")
def function() -> Entry:
    added = Gemv()(start, factor, m.T, v, lt.constant(2.0))
    return compiled([v, m, *single, start, factor], [Dot()(v, m), Dot()(*single), added])


@settings(max_examples=100)
@given(
    st.integers(0, 400),
    st.integers(0, 140),
    st.sampled_from(["rows", "rows", "part", "columns", "reversed", "repeated"]),
    st.integers(0, 99),
)
@example(64, 12, "rows", 0)
@example(64, 13, "part", 0)
@example(1000, 100, "rows", 0)
@example(129, 128, "part", 0)
@example(65, 255, "rows", 0)
@example(40_000, 20, "part", 0)  # in parts
def test_every_size(function: Entry, rows: int, columns: int, way: str, seed: int) -> None:
    """Whole numbers, whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    x, begun = rng.integers(-9, 10, rows).astype(float), rng.integers(-9, 10, columns).astype(float)
    a = laid_out(rng.integers(-9, 10, (rows, columns)).astype(float), way)
    halves = [x.astype("float32"), laid_out(a.astype("float32"), way)]
    product, narrow, added = function([x, a, *halves, begun, np.array(-3.0)])
    np.testing.assert_array_equal(product, x @ a, strict=True)
    np.testing.assert_array_equal(narrow, (x @ a).astype("float32"), strict=True)
    np.testing.assert_array_equal(added, 2 * begun - 3 * (x @ a), strict=True)


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 150, 199])
def test_a_number_that_is_none_spoils_its_column_only(function: Entry, special: float, row: int) -> None:
    x, a = np.ones(200), np.ones((200, 20))
    a[row, 7] = special
    found = function([x, a, x.astype("float32"), a.astype("float32"), np.zeros(20), np.array(1.0)])
    expected = np.full(20, 200.0)
    expected[7] = special
    for result in found:
        np.testing.assert_array_equal(result, expected)


def test_errors_of_long_sums(function: Entry) -> None:
    """They are no greater than NumPy's."""
    rng = np.random.default_rng(0)
    x, a = rng.uniform(size=20_000).astype("float32"), rng.uniform(size=(20_000, 50)).astype("float32")
    exact = x.astype(float) @ a.astype(float)
    found = function([x.astype(float), a.astype(float), x, a, np.zeros(50), np.array(1.0)])[1]
    assert np.abs(found - exact).sum() <= 1.2 * np.abs(x @ a - exact).sum()


def test_the_number_of_threads_changes_no_bit() -> None:
    rng = np.random.default_rng(2)
    x, a = rng.normal(size=50_001), rng.normal(size=(50_001, 37))
    found: list[bytes] = []
    for threads in (1, 2, 5):
        with lm.config.override(threads=threads):
            found.append(lm.function([v, m], lt.dot(v, m))(x, a).tobytes())
    assert found[1:] == found[:1] * 2
