"""Exponentials and logarithms, of one another and near 1."""

import numpy as np
import pytest

from lamella.ir import TensorType, interpret, lt
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.exponentials import (
    exp_minus_one,
    exp_of_log,
    exp_of_log1p,
    expm1_of_log,
    expm1_of_log1p,
    log1p_of_expm1,
    log_of_exp,
    log_of_one_plus,
    log_of_power,
    log_of_prod,
    log_of_scaled_exp,
    one_minus_exp,
    x_times_log_of_x,
)
from tests.rewriting.rules.special_values import rewritten, same_bits, special_values
from tests.rewriting.rules.stable_forms import StableForm, check_left_alone, check_stable_form, matrix

FORMS = [
    StableForm((log_of_one_plus,), lambda x: lt.log(1 + x), lt.log1p, lambda x: (1 + x).ln(), [1e-20, -1e-17, 1e-40]),
    StableForm((log_of_one_plus,), lambda x: lt.log(x + 1.0), lt.log1p, lambda x: (1 + x).ln(), [1e-20, -1e-17]),
    StableForm(
        (log_of_one_plus,),
        lambda x: lt.log(1 - x),
        lambda x: lt.log1p(-x),
        lambda x: (1 - x).ln(),
        [1e-20, -1e-17, 1e-10],
    ),
    StableForm((log_of_exp,), lambda x: lt.log(lt.exp(x)), lambda x: x + 0.0, lambda x: x, [1000.0, -1000.0, 1e-20]),
    StableForm((log1p_of_expm1,), lambda x: lt.log1p(lt.expm1(x)), lambda x: x, lambda x: x, [1000.0, -50.0]),
    StableForm((exp_minus_one,), lambda x: lt.exp(x) - 1, lt.expm1, lambda x: x.exp() - 1, [1e-20, -1e-17]),
    StableForm((exp_minus_one,), lambda x: lt.exp(x) + -1, lt.expm1, lambda x: x.exp() - 1, [1e-20, -1e-17]),
    StableForm((exp_minus_one,), lambda x: -1 + lt.exp(x), lt.expm1, lambda x: x.exp() - 1, [1e-20, -1e-17]),
    StableForm(
        (one_minus_exp,),
        lambda x: 1 - lt.exp(x),
        lambda x: 0 - lt.expm1(x),
        lambda x: 1 - x.exp(),
        [1e-20, -1e-17],
    ),
    StableForm(
        (log_of_power,),
        lambda x: lt.log(lt.square(x)),
        lambda x: 2 * lt.log(lt.abs(x)),
        lambda x: (x * x).ln(),
        [1e200, -1e-200, 1 + 1e-9],
    ),
    StableForm(
        (log_of_power,),
        lambda x: lt.log(lt.sqrt(x)),
        lambda x: 0.5 * lt.log(x),
        lambda x: x.sqrt().ln(),
        [1 + 1e-9, 1 - 1e-12],
    ),
    StableForm(
        (log_of_power,),
        lambda x: lt.log(lt.abs(x) ** 3.5),
        lambda x: 3.5 * lt.log(lt.abs(x)),
        lambda x: 7 * abs(x).ln() / 2,
        [1e200, 1e-200],
    ),
    StableForm(
        (log_of_scaled_exp,),
        lambda x, y: lt.log(lt.exp(x) * lt.abs(y)),
        lambda x, y: x + lt.log(lt.abs(y)),
        lambda x, y: x + abs(y).ln(),
        [(1000.0, 2.0), (-1000.0, 0.5)],
    ),
    StableForm(
        (expm1_of_log,),
        lambda x: lt.expm1(lt.log(x)),
        lambda x: lt.switch(x >= 0, x - 1, np.nan),
        lambda x: x - 1,
        [],
    ),
    StableForm(
        (x_times_log_of_x,),
        lambda x: x * lt.log(x),
        lambda x: lt.xlogy(x, x),
        lambda x: x * x.ln() if x else x,
        [0.0, -0.0],
    ),
]


def test_entropies_of_distributions_with_zeros() -> None:
    p, w = TensorType("float64", (None,))("p"), TensorType("float64", (None,))("w")
    values = [np.array([0.0, 0.25, 0.75, 0.0]), np.array([1.0, 2.0, 0.0, -1.0])]
    parts = values[0] * np.log(np.where(values[0] == 0, 1, values[0]))
    for plain, exact in [
        (-lt.sum(p * lt.log(p)), -parts.sum()),
        (lt.sum(w * p * lt.log(p)), (values[1] * parts).sum()),
    ]:
        found = rewrite_graph(plain, include=("fast_run",), exclude=("nan_unsafe", "inplace"))
        old, new = interpret([p, w], [plain, found], values)
        assert np.isnan(old)
        np.testing.assert_allclose(new, exact, rtol=1e-15)
    faithful = rewrite_graph(p * lt.log(p), include=("fast_run",), exclude=("nan_unsafe", "inplace", "stabilize"))
    assert np.isnan(interpret([p], [faithful], values[:1])[0]).any()
    check_left_alone(x_times_log_of_x, lambda x, y: y * lt.log(x), "float64")
    check_left_alone(x_times_log_of_x, lambda x: x * lt.log(x), "complex128")


@pytest.mark.parametrize("form", FORMS)
def test_stable_forms(form: StableForm) -> None:
    check_stable_form(form)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_inverses_are_exact_and_nan_where_the_logarithm_is(dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    values = special_values(dtype)
    of_log, of_log1p, expm1 = [
        rewritten(lt.exp(lt.log(x)), exp_of_log),
        rewritten(lt.exp(lt.log1p(x)), exp_of_log1p),
        rewritten(lt.expm1(lt.log1p(x)), expm1_of_log1p),
    ]
    plain = [lt.exp(lt.log(x)), lt.exp(lt.log1p(x)), lt.expm1(lt.log1p(x))]
    found = interpret([x], [of_log, of_log1p, expm1, *plain], [values])
    for new, old in zip(found[:3], found[3:], strict=True):
        assert same_bits(np.isnan(new), np.isnan(old))
        assert new.dtype == old.dtype
    assert same_bits(found[0], np.where(values >= 0, np.abs(values), np.array(np.nan, dtype)))
    assert same_bits(found[2], np.where(values >= -1, values, np.array(np.nan, dtype)))


def test_a_base_that_is_not_negative_needs_no_choice() -> None:
    x = TensorType("float64", (None,))("x")
    assert rewritten(lt.exp(lt.log(lt.square(x))), exp_of_log) is lt.abs(lt.square(x))


def test_integers_are_cast_where_they_are_exact() -> None:
    n = TensorType("int64", (None,))("n")
    values = [np.array([0, 1, 700, 1000, -1000])]
    found = rewritten(lt.log(lt.exp(n)), log_of_exp)
    assert found is lt.cast(n, "float64")
    assert interpret([n], [found], values)[0].tolist() == values[0].tolist()
    check_left_alone(log_of_one_plus, lambda n: lt.log(1 + n), "int64", "int8", "uint8", "bool")  # the sum wraps around
    assert rewritten(lt.log(1.0 + n), log_of_one_plus) is lt.log1p(lt.cast(n, "float64"))
    assert rewritten(lt.exp(n) - 1, exp_minus_one) is lt.expm1(lt.cast(n, "float64"))


def test_the_logarithm_of_an_exponential_keeps_the_sign_of_zero() -> None:
    x = TensorType("float64", (None,))("x")
    values = [np.array([0.0, -0.0, np.nan, np.inf, -np.inf])]
    plain = lt.log(lt.exp(x))
    assert same_bits(*interpret([x], [plain, rewritten(plain, log_of_exp)], values))
    never_negative = lt.log(lt.exp(lt.square(x)))
    assert rewritten(never_negative, log_of_exp) is lt.square(x)


def test_what_is_no_such_form_is_left_alone() -> None:
    floats = ("float32", "float64")
    check_left_alone(log_of_one_plus, lambda x: lt.log(2 + x), *floats)
    check_left_alone(log_of_one_plus, lambda x: lt.log(x - 1), *floats)
    check_left_alone(log_of_one_plus, lambda x: lt.log(2 - x), *floats)
    check_left_alone(log_of_one_plus, lambda x: lt.log2(1 + x), *floats)
    check_left_alone(log_of_one_plus, lambda x: lt.log(1 + x), "complex128")
    check_left_alone(log_of_exp, lambda x: lt.log2(lt.exp(x)), *floats)
    check_left_alone(log_of_exp, lambda x: lt.log(lt.exp(x)), "complex128")
    check_left_alone(exp_of_log, lambda x: lt.exp(lt.log2(x)), *floats)
    check_left_alone(exp_of_log, lambda x: lt.exp(lt.log(x)), "complex128")
    check_left_alone(exp_minus_one, lambda x: lt.exp(x) - 2, *floats)
    check_left_alone(exp_minus_one, lambda x: lt.exp(x) + 1, *floats)
    check_left_alone(one_minus_exp, lambda x: 2 - lt.exp(x), *floats)
    check_left_alone(log_of_power, lambda x: lt.log(x**3), *floats)  # x may be negative
    check_left_alone(log_of_power, lambda x: lt.log(lt.abs(x) ** -1.5), *floats)
    check_left_alone(log_of_power, lambda x: lt.log(lt.square(x)), "complex128", "int64")
    check_left_alone(log_of_scaled_exp, lambda x, y: lt.log(lt.exp(x) + y), *floats)


def test_vectors_of_ones_make_the_sum_larger() -> None:
    x = TensorType("float64", (1,))("x")
    total = lt.log(np.ones(3) + x)
    assert rewritten(total, log_of_one_plus) is total


@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
def test_a_number_beside_the_exponential_is_looked_at(include: str) -> None:
    x = TensorType("float64", (None,))("x")
    found = rewrite_graph(
        [1 / (lt.exp(x) + 2), 1 / (lt.exp(x) - 1)], include=(include,), exclude=("nan_unsafe", "inplace")
    )
    plus, minus = interpret([x], found, [np.array([1.0, 2.0])])
    np.testing.assert_allclose(plus, [0.2119415576, 0.1065069789], rtol=1e-9)
    np.testing.assert_allclose(minus, [0.5819767069, 0.1565176427], rtol=1e-9)


def test_the_logarithm_of_a_product_is_the_sum_of_logarithms() -> None:
    m = matrix()("m")
    for axis in (0, 1, (0, 1)):
        for keepdims in (False, True):
            plain = lt.log(lt.prod(m, axis=axis, keepdims=keepdims))
            stable = rewritten(plain, log_of_prod)
            assert plain.type.is_super(stable.type)
            tiny = np.array([[1e-200, 2e-200], [3e-200, -4e-200], [-1e-300, -2e-300]])
            with np.errstate(all="ignore"):
                sign = np.sign(tiny).prod(axis=axis, keepdims=keepdims)
                expected = np.where(sign < 0, np.nan, np.log(np.abs(tiny)).sum(axis=axis, keepdims=keepdims))
            np.testing.assert_allclose(interpret([m], [stable], [tiny])[0], expected, rtol=1e-14)


def test_products_of_special_values_have_the_logarithms_they_had() -> None:
    m = matrix()("m")
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, np.inf, -np.inf, np.nan])
    pairs = np.array([[a, b, c] for a in values for b in values for c in values])
    plain = lt.log(lt.prod(m, axis=1))
    old, new = interpret([m], [plain, rewritten(plain, log_of_prod)], [pairs])
    np.testing.assert_allclose(new, old, rtol=1e-14)
    empty = interpret([m], [rewritten(plain, log_of_prod)], [np.empty((2, 0))])[0]
    assert same_bits(empty, np.zeros(2))


def test_a_product_of_what_is_not_negative_needs_no_signs() -> None:
    m = matrix()("m")
    found = rewritten(lt.log(lt.prod(lt.exp(m), axis=1)), log_of_prod, log_of_exp)
    assert found is lt.sum(m + 0.0, axis=1)
    n = matrix("int64")("n")
    product = lt.log(lt.prod(n))
    assert rewritten(product, log_of_prod) is product  # integers wrap around
