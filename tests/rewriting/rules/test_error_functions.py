"""The error function and its complement: each where the other is near 1, and both where they underflow."""

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, TensorType, TensorVariable, grad, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.error_functions import (
    erf_minus_one,
    erfc_times_exp,
    log_of_erfc,
    one_minus_erf,
    one_plus_erf,
    slope_of_erfc_by_erfc,
)
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import (
    PI,
    StableForm,
    check_left_alone,
    check_stable_form,
    erfcx_exactly,
    exactly,
)


def erfc_exactly(x: Decimal) -> Decimal:
    return 2 - erfc_exactly(-x) if x < -4 else (-x * x).exp() * erfcx_exactly(x)


def log_erfc_exactly(x: Decimal) -> Decimal:
    return erfcx_exactly(x).ln() - x * x if x > 4 else erfc_exactly(x).ln()


def log_half_erfc_exactly(x: Decimal) -> Decimal:
    return (1 - erfc_exactly(-x) / 2).ln() if x < -4 else log_erfc_exactly(x) - Decimal(2).ln()


def log_erfc(x: TensorVariable) -> TensorVariable:
    wide = lt.cast(x, lt.erfc(x).dtype)
    left, right = lt.minimum(wide, 1), lt.maximum(wide, 1)
    return lt.switch(wide < 1, lt.log1p(-lt.erf(left)), lt.log(lt.erfcx(right)) - lt.square(right))


def log_half_erfc(x: TensorVariable) -> TensorVariable:
    wide = lt.cast(x, lt.erfc(x).dtype)
    left, right = lt.minimum(wide, 0), lt.maximum(wide, 0)
    tail = (lt.log(lt.erfcx(right)) - lt.square(right)) - math.log(2)
    return lt.switch(wide < 0, lt.log1p(-0.5 * lt.erfc(-left)), tail)


FORMS = [
    StableForm(
        (log_of_erfc,),
        lambda x: lt.log(lt.erfc(x)),
        log_erfc,
        log_erfc_exactly,
        [30.0, 200.0, 1e5, 1e-17, -1e-12],
    ),
    StableForm(
        (log_of_erfc,),
        lambda x: lt.log(0.5 * lt.erfc(x)),
        log_half_erfc,
        log_half_erfc_exactly,
        [30.0, -7.0, -20.0, 1e4],
    ),
    StableForm(
        (log_of_erfc,),
        lambda x: lt.log(lt.erfc(x) * 3),
        lambda x: math.log(3) + log_erfc(x),
        lambda x: Decimal(3).ln() + log_erfc_exactly(x),
        [30.0, 1e4],
    ),
    StableForm(
        (erfc_times_exp,),
        lambda x: lt.exp(lt.square(x)) * lt.erfc(x),
        lambda x: lt.erfcx(x),
        erfcx_exactly,
        [27.0, 30.0, 1e10],
    ),
    StableForm(
        (erf_minus_one,),
        lambda x: lt.erf(x) - 1,
        lambda x: 0 - lt.erfc(x),
        lambda x: -erfc_exactly(x),
        [7.0, 20.0],
    ),
    StableForm(
        (erf_minus_one,),
        lambda x: -1 + lt.erfc(x),
        lambda x: 0 - lt.erf(x),
        lambda x: erfc_exactly(x) - 1,
        [1e-17, -1e-12],
    ),
]


@pytest.mark.parametrize("form", FORMS)
def test_stable_forms(form: StableForm) -> None:
    check_stable_form(form)


def test_infinities_and_nan_stay() -> None:
    x = TensorType("float64", (None,))("x")
    values = [np.array([np.inf, -np.inf, np.nan, 0.0, -0.0])]
    for plain in (lt.log(lt.erfc(x)), lt.log(0.5 * lt.erfc(x)), lt.log(4 * lt.erfc(x)), lt.erf(x) - 1, lt.erfc(x) - 1):
        old, new = interpret([x], [plain, rewritten(plain, log_of_erfc, erf_minus_one)], values)
        np.testing.assert_allclose(new, old, rtol=1e-15, atol=1e-15)


def by_erfc(z: TensorVariable) -> TensorVariable:
    return lt.log(0.5 * lt.erfc(-z / math.sqrt(2)))


def by_erf(z: TensorVariable) -> TensorVariable:
    return lt.log(0.5 * (1 + lt.erf(z / math.sqrt(2))))


@pytest.mark.parametrize("cdf", [by_erfc, by_erf])
def test_the_logarithm_of_the_normal_distribution_and_its_gradient(
    cdf: Callable[[TensorVariable], TensorVariable],
) -> None:
    z, w = TensorType("float64", (None,))("z"), TensorType("float64", (None,))("w")
    value = cdf(z)
    old = [value, grad(lt.sum(value), z), grad(lt.sum(w * value), z)]
    new = rewrite_graph(old, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
    points = np.array([30.0, 5.0, 0.5, -0.5, -3.0, -12.0, -27.0, -60.0, -1e6])
    found, slope, weighted = interpret([z, w], new, [points, np.full(len(points), -2.5)])
    root = Decimal(2).sqrt()

    def log_cdf(v: Decimal) -> Decimal:
        return log_half_erfc_exactly(-v / root)

    def hazard(v: Decimal) -> Decimal:
        return (2 / PI).sqrt() / erfcx_exactly(-v / root)

    np.testing.assert_allclose(found, [exactly(log_cdf, v) for v in points.tolist()], rtol=5e-13, atol=1e-320)
    exact = np.array([exactly(hazard, v) for v in points.tolist()])
    np.testing.assert_allclose(slope, exact, rtol=1e-12, atol=1e-320)
    np.testing.assert_allclose(weighted, -2.5 * exact, rtol=1e-12, atol=1e-320)
    plain = interpret([z, w], old, [points, np.ones(len(points))])
    assert not np.isfinite(plain[0]).all()
    assert np.isnan(plain[1]).any()


def test_slopes_of_tails_in_products() -> None:
    x, y, g = [TensorType("float64", (None,))(name) for name in "xyg"]
    amul = lt.annihilating_mul
    slope = lt.exp(-lt.square(x)) * -1.5
    assert rewritten(amul(g, lt.reciprocal(lt.erfc(x))) * slope, slope_of_erfc_by_erfc) is amul(
        g, lt.true_divide(-1.5, lt.erfcx(x))
    )
    assert rewritten(lt.reciprocal(3 * lt.erfc(-x)) * slope, slope_of_erfc_by_erfc) is lt.true_divide(
        -0.5, lt.erfcx(-x)
    )
    for kept in (
        lt.reciprocal(lt.erfc(y)) * slope,
        lt.reciprocal(lt.erf(x)) * slope,
        lt.reciprocal(lt.erfc(x)) * (lt.exp(lt.square(x)) * -1.5),
        lt.reciprocal(-2 * lt.erfc(x)) * slope,
    ):
        assert rewritten(kept, slope_of_erfc_by_erfc) is kept


def test_tails_keep_their_digits() -> None:
    x = TensorType("float64", (None,))("x")
    points = [10.0, 25.0, 3.0, -1.0, 0.0]
    upper, lower = rewritten(1 - lt.erf(x), one_minus_erf), rewritten(1 + lt.erf(x), one_plus_erf)
    assert upper is lt.erfc(x)
    assert lower is lt.erfc(-x)
    assert rewritten(lt.erf(x) + 1, one_plus_erf) is lower
    exact = [math.erfc(v) for v in points]
    np.testing.assert_allclose(interpret([x], [upper], [np.array(points)])[0], exact, rtol=1e-13)
    np.testing.assert_allclose(interpret([x], [lower], [-np.array(points)])[0], exact, rtol=1e-13)
    assert interpret([x], [1 - lt.erf(x)], [np.array(points)])[0][0] == 0


def test_the_complement_of_the_complement() -> None:
    x = TensorType("float64", (None,))("x")
    small = rewritten(1 - lt.erfc(x), one_minus_erf)
    assert small is lt.erf(x)
    np.testing.assert_allclose(
        interpret([x], [small], [np.array([1e-20])])[0], [2e-20 / math.sqrt(math.pi)], rtol=1e-14
    )


def test_dtypes_stay() -> None:
    for dtype in FLOAT_DTYPES:
        x = TensorType(dtype, (None,))("x")
        assert rewritten(1 - lt.erf(x), one_minus_erf).type == (1 - lt.erf(x)).type
        assert rewritten(1 + lt.erf(x), one_plus_erf).type == (1 + lt.erf(x)).type
    n = TensorType("bool", (None,))("n")
    assert rewritten(1 - lt.erf(n), one_minus_erf) is lt.erfc(n)


def test_what_is_no_such_form_is_left_alone() -> None:
    check_left_alone(one_minus_erf, lambda x: 2 - lt.erf(x), "float64")
    check_left_alone(one_minus_erf, lambda x: lt.erf(x) - 1, "float64")
    check_left_alone(one_plus_erf, lambda x: 1 + lt.erfc(x), "float64")
    check_left_alone(one_minus_erf, lambda x: 1 - lt.erf(x), "complex128")
    check_left_alone(erf_minus_one, lambda x: lt.erf(x) - 2, "float64")
    check_left_alone(erf_minus_one, lambda x: lt.erf(x) - 1, "complex128")
    check_left_alone(log_of_erfc, lambda x: lt.log(-2 * lt.erfc(x)), "float64")
    check_left_alone(log_of_erfc, lambda x: lt.log(lt.erf(x)), "float64")
    check_left_alone(log_of_erfc, lambda x: lt.log(lt.erfc(x)), "complex128")
    check_left_alone(erfc_times_exp, lambda x, y: lt.exp(lt.square(y)) * lt.erfc(x), "float64")
    check_left_alone(erfc_times_exp, lambda x: lt.exp(-lt.square(x)) * lt.erfc(x), "float64")
