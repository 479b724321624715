"""The logistic function and its kin, written out in exponentials."""

import numpy as np
import pytest

from lamella.ir import TensorType, TensorVariable, grad, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.exponentials import log_of_one_plus, one_minus_exp
from lamella.rewriting.rules.logistic import (
    exp_by_one_plus_exp,
    exp_of_stable_log,
    exp_times_sigmoid,
    expm1_of_softplus,
    log1mexp_of_differences,
    log1p_of_exp,
    log1p_of_minus_sigmoid,
    log_of_difference_of_exps,
    log_of_expm1,
    log_of_odds_of_sigmoid,
    log_of_sigmoid,
    one_minus_sigmoid,
    reciprocal_of_one_plus_exp,
    sigmoid_of_log_odds,
    slope_of_sigmoid_by_sigmoid,
)
from lamella.rewriting.rules.powers import one_divided
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import StableForm, check_left_alone, check_stable_form


def sigmoid(x: TensorVariable) -> TensorVariable:
    """The sigmoid in the dtype of x, as an expression of float16 has it."""
    return lt.cast(lt.sigmoid(x), x.dtype)


FORMS = [
    StableForm(
        (one_divided, reciprocal_of_one_plus_exp),
        lambda x: 1 / (1 + lt.exp(-x)),
        sigmoid,
        lambda x: 1 / (1 + (-x).exp()),
        [],
    ),
    StableForm(
        (exp_by_one_plus_exp,),
        lambda x: lt.exp(x) / (1 + lt.exp(x)),
        sigmoid,
        lambda x: 1 / (1 + (-x).exp()),
        [800.0, -700.0],
    ),
    StableForm(
        (one_minus_sigmoid,),
        lambda x: 1 - lt.sigmoid(x),
        lambda x: lt.sigmoid(-x),
        lambda x: 1 / (1 + x.exp()),
        [40.0, 700.0, 20.0],
    ),
    StableForm(
        (log1p_of_exp, log_of_one_plus),
        lambda x: lt.log(1 + lt.exp(x)),
        lt.softplus,
        lambda x: (1 + x.exp()).ln(),
        [800.0, -40.0, -700.0],
    ),
    StableForm(
        (log1p_of_exp, log_of_one_plus),
        lambda x: lt.log(1 - lt.exp(-lt.abs(x))),
        lambda x: lt.log1mexp(-lt.abs(x)),
        lambda x: (1 - (-abs(x)).exp()).ln(),
        [1e-20, 40.0],
    ),
    StableForm(
        (log1mexp_of_differences, one_minus_exp),
        lambda x: lt.log(1 - lt.exp(-lt.abs(x))),
        lambda x: lt.log1mexp(-lt.abs(x)),
        lambda x: (1 - (-abs(x)).exp()).ln(),
        [1e-20, 40.0],
    ),
    StableForm(
        (log1mexp_of_differences,),
        lambda x: lt.log(-lt.expm1(-lt.abs(x))),
        lambda x: lt.log1mexp(-lt.abs(x)),
        lambda x: (1 - (-abs(x)).exp()).ln(),
        [40.0, 700.0],
    ),
]


FORMS += [
    StableForm(
        (exp_of_stable_log,),
        lambda x: lt.exp(lt.softplus(x)),
        lambda x: 1 + lt.exp(x),
        lambda x: 1 + x.exp(),
        [],
    ),
    StableForm(
        (exp_of_stable_log,),
        lambda x: lt.exp(lt.log_sigmoid(x)),
        lambda x: lt.sigmoid(lt.cast(x, lt.sigmoid(x).dtype)),
        lambda x: 1 / (1 + (-x).exp()),
        [],
    ),
    StableForm(
        (exp_of_stable_log,),
        lambda x: lt.exp(lt.log1mexp(x)),
        lambda x: lt.switch(x <= 0, 0 - lt.expm1(x), np.nan),
        lambda x: 1 - x.exp(),
        [],
    ),
    StableForm((expm1_of_softplus,), lambda x: lt.expm1(lt.softplus(x)), lt.exp, lambda x: x.exp(), []),
    StableForm(
        (log_of_expm1,),
        lambda x: lt.log(lt.expm1(x)),
        lambda x: x + lt.log1mexp(-x),
        lambda x: (x.exp() - 1).ln(),
        [1000.0, 710.0],
    ),
    StableForm(
        (log_of_difference_of_exps,),
        lambda x, y: lt.log(lt.exp(x) - lt.exp(y)),
        lambda x, y: lt.switch(lt.logical_and(lt.eq(x, -np.inf), lt.eq(y, -np.inf)), -np.inf, x + lt.log1mexp(y - x)),
        lambda x, y: x + (1 - (y - x).exp()).ln(),
        [(1000.0, 999.0), (-1000.0, -1000.5), (1.0, 1 - 1e-12)],
    ),
]


FORMS += [
    StableForm(
        (log_of_odds_of_sigmoid,),
        lambda x: lt.log(lt.sigmoid(x) / (1 - lt.sigmoid(x))),
        lambda x: lt.cast(x, lt.sigmoid(x).dtype),
        lambda x: x,
        [40.0, -800.0, 30.0, 1e-20],
    ),
    StableForm(
        (log_of_odds_of_sigmoid,),
        lambda x: lt.log(lt.sigmoid(x) / lt.sigmoid(-x)),
        lambda x: lt.cast(x, lt.sigmoid(x).dtype),
        lambda x: x,
        [800.0, -800.0],
    ),
    StableForm(
        (sigmoid_of_log_odds,),
        lambda x: lt.sigmoid(lt.log(x / (1 - x))),
        lambda x: lt.cast(lt.switch(lt.logical_and(x >= 0, x <= 1), lt.abs(x), np.nan), lt.sigmoid(x).dtype),
        lambda x: x,
        [],
    ),
]


def test_the_logarithm_of_a_difference_of_exponentials_of_infinities() -> None:
    x, y = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("y")
    plain = lt.log(lt.exp(x) - lt.exp(y))
    special = np.array([-np.inf, -1.0, 2.0, np.inf, np.nan])
    values = [a.ravel() for a in np.meshgrid(special, special)]
    old, new = interpret([x, y], [plain, rewritten(plain, log_of_difference_of_exps)], values)
    np.testing.assert_allclose(new, old, rtol=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_stable_forms(form: StableForm) -> None:
    check_stable_form(form)


LOGARITHMS = [
    StableForm(
        (log_of_sigmoid,),
        lambda x: lt.log(lt.sigmoid(x)),
        lt.log_sigmoid,
        lambda x: -(1 + (-x).exp()).ln(),
        [-800.0, 40.0],
    ),
    StableForm(
        (log1p_of_minus_sigmoid,),
        lambda x: lt.log1p(-lt.sigmoid(x)),
        lambda x: lt.log_sigmoid(-x),
        lambda x: -(1 + x.exp()).ln(),
        [40.0, 800.0],
    ),
    StableForm(
        (log_of_one_plus, log1p_of_minus_sigmoid),
        lambda x: lt.log(1 - lt.sigmoid(x)),
        lambda x: lt.log_sigmoid(-x),
        lambda x: -(1 + x.exp()).ln(),
        [40.0, 800.0, -40.0],
    ),
]


@pytest.mark.parametrize("form", LOGARITHMS)
def test_logarithms_of_sigmoids(form: StableForm) -> None:
    check_stable_form(form)


def test_what_is_no_such_form_is_left_alone() -> None:
    floats = ("float32", "float64")
    check_left_alone(log_of_odds_of_sigmoid, lambda x, y: lt.log(lt.sigmoid(x) / (1 - lt.sigmoid(y))), *floats)
    check_left_alone(log_of_odds_of_sigmoid, lambda x: lt.log(lt.sigmoid(x) / lt.sigmoid(2 * x)), *floats)
    check_left_alone(sigmoid_of_log_odds, lambda x: lt.sigmoid(lt.log(x / (2 - x))), *floats)
    check_left_alone(reciprocal_of_one_plus_exp, lambda x: lt.reciprocal(2 + lt.exp(x)), *floats)
    check_left_alone(reciprocal_of_one_plus_exp, lambda x: lt.reciprocal(1 - lt.exp(x)), *floats)
    check_left_alone(reciprocal_of_one_plus_exp, lambda x: lt.reciprocal(1 + lt.exp(x)), "complex128")
    check_left_alone(exp_by_one_plus_exp, lambda x: lt.exp(x) / (2 + lt.exp(x)), *floats)
    check_left_alone(one_minus_sigmoid, lambda x: 2 - lt.sigmoid(x), *floats)
    check_left_alone(one_minus_sigmoid, lambda x: lt.sigmoid(x) - 1, *floats)
    check_left_alone(exp_times_sigmoid, lambda x: lt.exp(x) * lt.sigmoid(x), *floats)
    check_left_alone(exp_times_sigmoid, lambda x, y: lt.exp(x) * lt.sigmoid(-y), *floats)
    check_left_alone(log1p_of_exp, lambda x: lt.log1p(2 * lt.exp(x)), *floats)
    check_left_alone(log1p_of_exp, lambda x: lt.log1p(lt.exp2(x)), *floats)
    check_left_alone(log1mexp_of_differences, lambda x: lt.log(1 - lt.expm1(x)), *floats)
    check_left_alone(log_of_sigmoid, lambda x: lt.log2(lt.sigmoid(x)), *floats)


def test_another_exponential_is_not_computed_for_a_difference() -> None:
    x = TensorType("float64", (None,))("x")
    z = lt.sigmoid(x)
    assert rewritten(z * (1 - z), one_minus_sigmoid) is z * (1 - z)
    assert rewritten(2 * (1 - z), one_minus_sigmoid) is 2 * lt.sigmoid(-x)


def test_products_of_sigmoids_and_exponentials() -> None:
    x, g = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("g")
    z = lt.sigmoid(-x)
    amul = lt.annihilating_mul
    s = lt.sigmoid(x)
    for product, expected in [
        (z * lt.exp(x), s),
        (lt.exp(x) * z, s),
        (amul(z, lt.exp(x)), s),
        (amul(amul(g, z), lt.exp(x)), amul(g, s)),
        ((g * z) * lt.exp(x), g * s),
        (amul(g, z) * lt.exp(x), amul(g, s)),
        (amul(g * z, lt.exp(x)), amul(g, s)),
        ((z * g) * lt.exp(x), s * g),
        (amul(-(g * z), lt.exp(x)), -(amul(g, s))),
        (amul(-lt.square(z), lt.exp(x)), -(z * s)),
    ]:
        assert rewritten(product, exp_times_sigmoid) is expected
    assert rewritten(amul(lt.exp(x), z), exp_times_sigmoid) is amul(
        lt.exp(x), z
    )  # of the cotangent exp(x), which may be 0


def test_gradients_of_plain_forms_are_stable() -> None:
    x, w = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("w")
    values = [np.array([-1000.0, -1, 0, 1, 1000])]
    sigmoids = 1 / (1 + np.exp(-np.array([-700.0, -1, 0, 1, 1000])))
    costs = [lt.sum(lt.log(1 + lt.exp(x))), lt.sum(-lt.log(lt.sigmoid(-x)))]
    for cost in costs:
        found = rewrite_graph(grad(cost, x), include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
        assert found is lt.sigmoid(x)
        np.testing.assert_allclose(interpret([x], [found], values)[0], sigmoids, rtol=1e-14, atol=1e-300)
    weighted = grad(lt.sum(w * lt.log(1 + lt.exp(x))), x)
    assert rewrite_graph(weighted, include=("stabilize",), exclude=("nan_unsafe",)) is lt.annihilating_mul(
        w, lt.sigmoid(x)
    )
    of_sigmoid = rewrite_graph(
        grad(lt.sum(1 / (1 + lt.exp(-x))), x), include=("fast_run",), exclude=("inplace", "fusion", "nan_unsafe")
    )
    assert of_sigmoid is lt.sigmoid(x) * lt.sigmoid(-x)


def test_gradients_of_logarithms_of_sigmoids_do_not_divide_by_0() -> None:
    x, w = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("w")
    values = [np.array([-1000.0, -1, 0, 1, 1000]), np.array([2.0, 3, 4, 5, 6])]
    z = lt.sigmoid(x)
    downhill = values[1] / (1 + np.exp(np.array([-1000.0, -1, 0, 1, 700])))
    uphill = values[1] / (1 + np.exp(-np.array([-700.0, -1, 0, 1, 1000])))
    for cost, expected in [(w * lt.log(z), downhill), (w * lt.log(1 - z), -uphill)]:
        slope = grad(lt.sum(cost), x)
        found = rewrite_graph(slope, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
        old, new = interpret([x, w], [slope, found], values)
        assert np.isnan(old).any()
        np.testing.assert_allclose(new, expected, rtol=1e-14, atol=1e-300)
    product = lt.reciprocal(z) * (z * (1 - lt.sigmoid(w)))
    assert rewritten(product, slope_of_sigmoid_by_sigmoid) is product
    assert rewritten(lt.reciprocal(z) * ((1 - z) * z), slope_of_sigmoid_by_sigmoid) is lt.sigmoid(-x)
    assert rewritten((z * (1 - z)) * lt.reciprocal(1 - z), slope_of_sigmoid_by_sigmoid) is z


def test_gradients_of_logarithms_of_written_out_sigmoids() -> None:
    x = TensorType("float64", (None,))("x")
    values = [np.array([-1000.0, -1, 0, 1, 1000])]
    sigmoids = 1 / (1 + np.exp(-np.array([-700.0, -1, 0, 1, 1000])))
    for plain, exact in (
        (lt.log(1 - 1 / (1 + lt.exp(-x))), -sigmoids),
        (lt.log(1 / (1 + lt.exp(-x))), sigmoids[::-1]),
        (lt.log(1 - 1 / (1 + lt.exp(x * -2))) * 0.5, -1 / (1 + np.exp(-2 * np.array([-350.0, -1, 0, 1, 1000])))),
    ):
        slope = grad(lt.sum(plain), x)
        found = rewrite_graph(slope, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
        old, new = interpret([x], [slope, found], values)
        np.testing.assert_allclose(new, exact, rtol=1e-13, atol=1e-300)
        assert np.isnan(old).any()


def test_a_sigmoid_may_stand_for_what_another_leaves_of_1() -> None:
    x = TensorType("float64", (None,))("x")
    z, rest = lt.sigmoid(x), lt.sigmoid(-x)
    for product, expected in (
        (lt.reciprocal(z) * (z * rest), rest),
        (lt.reciprocal(rest) * (z * rest), z),
        (lt.reciprocal(1 - z) * -(rest * z), -z),
        (lt.annihilating_mul(-lt.reciprocal(1 - z), -(z * (1 - z))), lt.neg(lt.neg(z))),
    ):
        assert rewritten(product, slope_of_sigmoid_by_sigmoid) is expected
    twice = lt.sigmoid(x * 2.0) * lt.exp(x * -2.0)
    assert rewritten(twice, exp_times_sigmoid) is lt.sigmoid(x * -2.0)
