"""Casts: that of the own dtype, and pairs of casts over all triples of dtypes."""

from itertools import product

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import COMPLEX_DTYPES, DTYPES, Cast, Elemwise, FunctionGraph, TensorVariable
from lamella.rewriting.rules.casts import cast_of_cast, cast_to_own_dtype
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning


def _cast(x: TensorVariable, dtype: str) -> TensorVariable:
    """Cast also to the dtype that a tensor has."""
    cast: Elemwise[[TensorVariable]] = Elemwise(Cast(dtype))
    return cast(x)


def test_a_cast_to_the_own_dtype_is_nothing() -> None:
    x = lt.vector("x")
    assert after([x], _cast(x, "float64"), [[1.0, -0.0]], cast_to_own_dtype) == "return %x"
    assert "Cast{float32}" in after([x], _cast(x, "float32"), [[1.0, -0.0]], cast_to_own_dtype)


def test_a_cast_of_an_exact_cast_is_one_cast() -> None:
    i = lt.vector("i", dtype="int32")
    twice = lt.cast(lt.cast(i, "float64"), "float32")
    assert after([i], twice, [[1, 2**24 + 1]], cast_of_cast) == "%0: float32[?] = Cast{float32}(%i)\nreturn %0"
    there_and_back = lt.cast(lt.cast(i, "int64"), "int32")
    assert after([i], there_and_back, [[-1, 7]], cast_of_cast) == "return %i"


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("float64", "float32", "float64"),  # rounds
        ("int64", "float64", "int64"),  # rounds beyond 2**53, though NumPy calls it safe
        ("float64", "int64", "float64"),  # truncates
        ("float32", "float64", "int8"),  # what becomes of 1e9 is another matter for each
        ("int16", "float32", "uint8"),  # the same for -1
    ],
)
def test_casts_that_lose_something_stay(first: str, second: str, third: str) -> None:
    x = lt.vector("x", dtype=first)
    assert after([x], lt.cast(lt.cast(x, second), third), [[1]], cast_of_cast).count("Cast") == 2


def _extremes(dtype: str) -> list[complex]:
    if dtype == "bool":
        return [False, True]
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        around = [2**k + d for k in (7, 8, 11, 15, 16, 24, 31, 32, 53, 63) for d in (-1, 0, 1)]
        return [0, 1, limits.min, limits.max, limits.max - 1, *[n for n in around if n <= limits.max]]
    floats = np.finfo(dtype)
    numbers = [
        0.0,
        -0.0,
        1.0,
        1.5,
        -2.0,
        floats.eps,
        1 + floats.eps,
        floats.smallest_subnormal,
        np.nan,
        np.inf,
        -np.inf,
    ]
    numbers += [floats.max, -floats.max, floats.max / 3]
    return [float(str(number)) for number in numbers]


def test_no_pair_of_casts_becomes_another_one() -> None:
    """For all triples of dtypes: where there is one cast left, it says the same, out to the limits of the dtypes."""
    merged = 0
    for first, second, third in product(DTYPES, repeat=3):
        if first == second or second == third:
            continue
        x = lt.vector("x", dtype=first)
        complex_lost = [
            a in COMPLEX_DTYPES and b not in (*COMPLEX_DTYPES, "bool") for a, b in [(first, second), (second, third)]
        ]
        if any(complex_lost):
            continue
        old = FunctionGraph([x], [lt.cast(lt.cast(x, second), third)])
        new = applied(old, cast_of_cast)
        if new != old:
            merged += 1
            with np.errstate(all="ignore"):
                assert_same_meaning(old, new, [_extremes(first)])
    assert merged > 300
