"""Products of cotangents and slopes."""

import numpy as np

from lamella.ir import COMPLEX_DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, TensorType, grad, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.cotangents import annihilating_mul_of_finite, annihilating_mul_of_nonzero
from tests.rewriting.rules.special_values import check_law, check_stays, rewritten


def test_one_times_a_slope_is_the_slope() -> None:
    for dtype in FLOAT_DTYPES:
        check_law(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(1.0, x), lambda x: x, dtype)
    check_law(
        annihilating_mul_of_nonzero,
        lambda x: lt.annihilating_mul(np.float64(1), x),
        lambda x: lt.cast(x, "float64"),
        "float32",
    )


def test_a_number_that_is_not_0_times_a_slope_is_a_product() -> None:
    for dtype in (*FLOAT_DTYPES, *COMPLEX_DTYPES):
        check_law(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(-3.0, x), lambda x: -3.0 * x, dtype)
        check_law(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(np.nan, x), lambda x: np.nan * x, dtype)


def test_integers_have_no_nan() -> None:
    for dtype in (*INTEGER_DTYPES, "bool"):
        check_law(annihilating_mul_of_nonzero, lt.annihilating_mul, lambda x, y: x * y, dtype)


def test_what_may_be_0_annihilates() -> None:
    for dtype in (*FLOAT_DTYPES, *COMPLEX_DTYPES):
        check_stays(annihilating_mul_of_nonzero, lambda x, y: lt.annihilating_mul(x, y), dtype)
        check_stays(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(x, 1.0), dtype)
        check_stays(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(0.0, x), dtype)
        check_stays(annihilating_mul_of_nonzero, lambda x: lt.annihilating_mul(-0.0, x), dtype)


def test_without_nan_and_infinity_a_product_is_enough() -> None:
    g, x = TensorType("float64", (None,))("g"), TensorType("float64", (None,))("x")
    product = lt.annihilating_mul(g, x)
    assert rewritten(product, annihilating_mul_of_finite) is g * x
    assert rewrite_graph(product, include=("canonicalize",), exclude=("nan_unsafe",)) is product
    assert rewrite_graph(product, include=("canonicalize", "nan_unsafe")) is g * x


def test_gradients_of_sums_begin_with_slopes() -> None:
    x = TensorType("float64", (None,))("x")
    found = rewrite_graph(
        grad(lt.sum(lt.sin(x)), x), include=("fast_run",), exclude=("nan_unsafe", "fusion", "inplace")
    )
    assert found is lt.cos(x)
