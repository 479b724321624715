"""Hyperbolic functions where they overflow."""

import math

import numpy as np

from lamella.ir import TensorType, grad, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.hyperbolic import (
    log1p_of_minus_square_of_tanh,
    log_of_cosh,
    sinh_by_cosh,
    sinh_times_reciprocal_of_cosh,
    slope_of_tanh_by_slope_of_tanh,
)
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import StableForm, check_left_alone, check_stable_form, exactly

POINTS = [1000.0, -1000.0, 1e-5, -1e-9, 0.3, 0.999, -1.0, 1.001, 5.0, 40.0, 1e300]


def test_the_logarithm_of_a_cosine_that_overflows() -> None:
    s = TensorType("float64", ())("s")
    value, slope = rewrite_graph(
        [lt.log(lt.cosh(s)), grad(lt.log(lt.cosh(s)), s)], include=("fast_run",), exclude=("nan_unsafe", "inplace")
    )
    found = interpret([s], [value, slope], [np.array(1000.0)])
    assert round(float(found[0]), 9) == 999.306852819
    assert float(found[1]) == 1.0
    for old, new in [
        interpret([s], [lt.log(lt.cosh(s)), value], [np.array(v)]) for v in (math.inf, -math.inf, math.nan, 0.0)
    ]:
        np.testing.assert_equal(new, old)


def test_it_is_exact_for_all_sizes() -> None:
    x = TensorType("float64", (None,))("x")
    stable = rewritten(lt.log(lt.cosh(x)), log_of_cosh)
    found = interpret([x], [stable], [np.array(POINTS)])[0]
    exact = [exactly(lambda v: abs(v) + ((1 + (-2 * abs(v)).exp()) / 2).ln(), v) for v in POINTS]
    np.testing.assert_allclose(found, exact, rtol=4e-15)
    for dtype in ("float16", "float32"):
        y = TensorType(dtype, (None,))("y")
        small = rewritten(lt.log(lt.cosh(y)), log_of_cosh)
        assert small.type == lt.log(lt.cosh(y)).type
        values = np.array([-3.0, -0.5, 0.25, 2.0], dtype)
        old, new = interpret([y], [lt.log(lt.cosh(y)), small], [values])
        np.testing.assert_allclose(new, old, rtol=1e-2, atol=2e-3)


def test_tangents() -> None:
    check_stable_form(
        StableForm(
            (sinh_by_cosh,),
            lambda x: lt.sinh(x) / lt.cosh(x),
            lt.tanh,
            lambda x: 1 - 2 / (1 + (2 * x).exp()),
            [1000.0, -1000.0],
        )
    )
    check_stable_form(
        StableForm(
            (sinh_times_reciprocal_of_cosh,),
            lambda x: lt.reciprocal(lt.cosh(x)) * lt.sinh(x),
            lt.tanh,
            lambda x: 1 - 2 / (1 + (2 * x).exp()),
            [1000.0, -1000.0],
        )
    )


def test_the_logarithm_of_the_slope_of_a_tangent() -> None:
    check_stable_form(
        StableForm(
            (log1p_of_minus_square_of_tanh,),
            lambda x: lt.log1p(-lt.square(lt.tanh(x))),
            lambda x: rewritten(-2 * lt.log(lt.cosh(x)), log_of_cosh),
            lambda x: -2 * ((x.exp() + (-x).exp()) / 2).ln(),
            [10.0, -30.0, 300.0],
        )
    )
    x, w = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("w")
    value = lt.log(1 - lt.tanh(x) ** 2)
    old = [value, grad(lt.sum(w * value), x)]
    new = rewrite_graph(old, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
    points = np.array([-1000.0, -20.0, -0.5, 0.0, 1e-8, 3.0, 400.0])
    weights = np.arange(1.0, 8.0)
    found, slope = interpret([x, w], new, [points, weights])
    exact = [exactly(lambda v: -2 * (abs(v) + ((1 + (-2 * abs(v)).exp()) / 2).ln()), v) for v in points.tolist()]
    np.testing.assert_allclose(found, exact, rtol=1e-14)
    np.testing.assert_allclose(slope, -2 * weights * np.tanh(points), rtol=1e-14)
    assert np.isnan(interpret([x, w], old, [points, weights])[1]).any()


def test_gradients_of_logarithms_of_cosines() -> None:
    x, w = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("w")
    found = rewrite_graph(grad(lt.sum(lt.log(lt.cosh(x)) * w), x), include=("stabilize",), exclude=("nan_unsafe",))
    assert found is lt.annihilating_mul(w, lt.tanh(x))


def test_what_is_no_such_form_is_left_alone() -> None:
    floats = ("float32", "float64")
    check_left_alone(log_of_cosh, lambda x: lt.log(lt.sinh(x)), *floats)
    check_left_alone(log_of_cosh, lambda x: lt.log(lt.cosh(x)), "complex128")
    check_left_alone(log1p_of_minus_square_of_tanh, lambda x: lt.log1p(lt.square(lt.tanh(x))), *floats)
    check_left_alone(slope_of_tanh_by_slope_of_tanh, lambda x: lt.reciprocal(1 - x) * (1 - x), *floats)
    check_left_alone(sinh_by_cosh, lambda x, y: lt.sinh(x) / lt.cosh(y), *floats)
    check_left_alone(sinh_by_cosh, lambda x: lt.cosh(x) / lt.sinh(x), *floats)
    check_left_alone(sinh_times_reciprocal_of_cosh, lambda x: lt.cosh(x) * lt.sinh(x), *floats)
    check_left_alone(sinh_times_reciprocal_of_cosh, lambda x, y: lt.reciprocal(lt.cosh(y)) * lt.sinh(x), *floats)
