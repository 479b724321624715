"""Products of matrices with few columns, which no BLAS is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.codegen import Entry
from lamella.ir import BatchedDot, Dot
from tests.codegen.agreement import compiled
from tests.codegen.c.lowerings.laid_out import laid_out

x, y, stack, other = lt.matrix("x"), lt.matrix("y"), lt.tensor3("stack"), lt.tensor3("other")
single = [lt.tensor(name, dtype="float32", shape=(None, None)) for name in "ab"]


@pytest.fixture(scope="module")
def function() -> Entry:
    return compiled([x, y, *single, stack, other], [Dot()(x, y), Dot()(*single), BatchedDot()(stack, other)])


WAYS = st.sampled_from(["rows", "rows", "columns", "spaced", "reversed", "repeated"])


@settings(max_examples=100)
@given(st.integers(0, 40), st.integers(0, 200), st.integers(0, 36), WAYS, WAYS, st.integers(0, 99))
@example(10, 1000, 10, "columns", "rows", 0)
@example(1000, 10, 10, "rows", "columns", 0)
@example(5, 65, 3, "rows", "rows", 0)
@example(4, 129, 33, "rows", "rows", 0)
def test_every_size(function: Entry, m: int, k: int, n: int, one: str, two: str, seed: int) -> None:
    """Whole numbers, whose sums are exact in any order."""
    rng = np.random.default_rng(seed)
    a = laid_out(rng.integers(-9, 10, (m, k)).astype(float), one)
    b = laid_out(rng.integers(-9, 10, (k, n)).astype(float), two)
    halves = [laid_out(array.astype("float32"), way) for array, way in ((a, one), (b, two))]
    stacks = [np.array([a, -a]), np.array([b, 2 * b])]
    product, narrow, products = function([a, b, *halves, *stacks])
    np.testing.assert_array_equal(product, a @ b, strict=True)
    np.testing.assert_array_equal(narrow, (a @ b).astype("float32"), strict=True)
    np.testing.assert_array_equal(products, np.array([a @ b, -2 * (a @ b)]), strict=True)


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_a_number_that_is_none_spoils_its_row_and_column(function: Entry, special: float) -> None:
    ones = [np.ones((9, 70)), np.ones((70, 11))]
    rest = [*[array.astype("float32") for array in ones], *[array[None] for array in ones]]
    for factor, place in ((0, np.s_[4, 3]), (1, np.s_[3, 4])):
        arrays = [array.copy() for array in ones]
        arrays[factor][place] = special
        found = function([*arrays, *rest])[0]
        expected = np.full((9, 11), 70.0)
        expected[np.s_[4] if factor == 0 else np.s_[:, 4]] = special
        np.testing.assert_array_equal(found, expected)


def test_errors_of_long_sums(function: Entry) -> None:
    """They are no greater than NumPy's."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(200, 1600)), rng.uniform(size=(1600, 10))
    halves = [a.astype("float32"), b.astype("float32")]
    found = function([a, b, *halves, a[None], b[None]])
    for product, one, two in ((found[0], a, b), (found[1], *halves), (found[2][0], a, b)):
        exact = one.astype(np.longdouble) @ two.astype(np.longdouble)
        ours, numpys = [float(np.sqrt(np.mean((result - exact) ** 2))) for result in (product, one @ two)]
        assert ours <= 1.5 * numpys


def test_threads_share_rows_or_matrices(function: Entry) -> None:
    """Results do not depend on how many there are."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3001, 120)), rng.normal(size=(120, 10))
    arrays = [
        a,
        b,
        a[:9].astype("float32"),
        b.astype("float32"),
        rng.normal(size=(90, 201, 12)),
        rng.normal(size=(90, 12, 11)),
    ]
    before = function.threads
    found = []
    for threads in (1, 2, 3):
        function.threads = threads
        found.append(function(arrays))
    function.threads = before
    np.testing.assert_allclose(found[0][0], a @ b, atol=1e-12)
    np.testing.assert_allclose(found[0][2], arrays[4] @ arrays[5], atol=1e-12)
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
