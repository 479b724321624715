"""Rows too short for vector code, of which a kernel is given several as one: operands that broadcast, and that lie in any order."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import Entry
from lamella.ir import TensorType, TensorVariable, interpret
from tests.codegen.agreement import compiled

Array = npt.NDArray[Any]

PATTERNS = ((None, None, None), (None, 1, None), (None, None, 1), (1, None, None), (1, 1, None), (None, 1, 1))
DTYPES = ("float64", "float64", "float64", "float32", "int8", "complex128")


def _operands() -> list[TensorVariable]:
    return [TensorType(dtype, shape)(f"x{i}") for i, (dtype, shape) in enumerate(zip(DTYPES, PATTERNS, strict=True))]


def _graph(x: list[TensorVariable]) -> list[TensorVariable]:
    a, by_row, by_element, single, small, paired = x
    scaled = a * by_row + by_element
    return [
        scaled - single,
        lt.where(lt.gt(a, by_element), by_row, small),
        paired * a + by_element,
        single + small * by_row,
        *[lt.sum(scaled, axis=axis) for axis in ((0,), (1,), (2,))],
    ]


@cache
def _function() -> tuple[list[TensorVariable], list[TensorVariable], Entry]:
    inputs = _operands()
    outputs = _graph(inputs)
    return inputs, outputs, compiled(inputs, outputs)


def _array(rng: np.random.Generator, dtype: str, shape: tuple[int, ...], order: tuple[int, ...], way: str) -> Array:
    """Return small whole numbers, whose sums are exact, in some order of axes in memory."""
    spread = [2 * n if way == "spaced" else n for n in (shape[axis] for axis in order)]
    values = rng.integers(-9, 10, spread).astype(dtype)
    if way == "spaced":
        values = values[::2, ::2, ::2]
    elif way == "reversed":
        values = values[::-1, :, ::-1]
    return values.transpose(np.argsort(order))


ORDERS = st.permutations([0, 1, 2]).map(tuple)
WAYS = st.sampled_from(["dense", "dense", "dense", "spaced", "reversed"])


@settings(max_examples=80)
@given(
    st.tuples(st.integers(0, 4), st.integers(0, 70), st.integers(0, 45) | st.integers(100, 140)),
    st.lists(st.tuples(ORDERS, WAYS), min_size=len(PATTERNS), max_size=len(PATTERNS)),
    st.integers(0, 99),
)
@example((3, 60, 10), [((0, 1, 2), "dense")] * len(PATTERNS), 0)
@example((11, 700, 7), [((0, 1, 2), "dense")] * len(PATTERNS), 0)  # long enough for threads to share it
@example((2, 70, 40), [((1, 0, 2), "reversed")] * len(PATTERNS), 0)
def test_any_layout(shape: tuple[int, int, int], layouts: list[Any], seed: int) -> None:
    inputs, outputs, entry = _function()
    rng = np.random.default_rng(seed)
    arrays = [
        _array(
            rng, dtype, tuple([n if known is None else 1 for n, known in zip(shape, pattern, strict=True)]), order, way
        )
        for dtype, pattern, (order, way) in zip(DTYPES, PATTERNS, layouts, strict=True)
    ]
    for found, wanted in zip(entry(arrays), interpret(inputs, outputs, arrays), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_copies_do_not_meet() -> None:
    """One operand is the same in all rows, the next one all along each row."""
    x = TensorType("float64", (None, None))("x")
    row, column = TensorType("float64", (1, None))("row"), TensorType("float64", (None, 1))("column")
    rng = np.random.default_rng(0)
    for total in (x * row + column, x * column + row):
        f = lm.function([x, row, column], total)
        for width in (1, 2, 3, 5, 8, 11, 31):
            a, r, c = [rng.integers(-9, 9, shape).astype(float) for shape in ((700, width), (1, width), (700, 1))]
            expected = interpret([x, row, column], [total], [a, r, c])[0]
            np.testing.assert_array_equal(f(a, r, c), expected)
            np.testing.assert_array_equal(f(np.asfortranarray(a), r, c), expected)


def test_rows_of_which_not_even_one_of_each_operand_fits() -> None:
    """Copies have a bound; one row of each is copied in any case."""
    x = TensorType("complex128", (None, None, None))("x")
    others = [TensorType("complex128", (None, 1, None))(f"y{i}") for i in range(15)]
    total = lt.add(x, *others)
    f = lm.function([x, *others], total)
    rng = np.random.default_rng(0)
    for width in (3, 100, 128):
        arrays = [rng.integers(-9, 9, (2, n, width)).astype("complex128") for n in (20, *[1] * 15)]
        np.testing.assert_array_equal(f(*arrays), sum(arrays[1:], start=arrays[0]))


def test_what_is_written_over() -> None:
    """Rows are copied of what is read in all of them only."""
    x, y = TensorType("float64", (None, None, None))("x"), TensorType("float64", (None, 1, None))("y")
    running = lt.cumsum(x, axis=0)
    f = lm.function([x, y], lt.sin(running) * y + running)
    assert f.scheduled is not None
    assert "inplace" in str(f.scheduled.order[-1].op)
    rng = np.random.default_rng(0)
    for width in (1, 2, 8, 10, 40, 41):
        a, b = rng.normal(size=(3, 50, width)), rng.normal(size=(3, 1, width))
        wanted = np.sin(np.cumsum(a, axis=0)) * b + np.cumsum(a, axis=0)
        np.testing.assert_allclose(f(a, b), wanted, rtol=1e-13, atol=1e-14)
