"""Sums of exponentials: their logarithms, and exponentials divided by them."""

import itertools
import math
from decimal import Decimal

import numpy as np
import pytest
from scipy import special

from lamella.ir import (
    FLOAT_DTYPES,
    FunctionGraph,
    LogSoftmax,
    LogSumExp,
    Softmax,
    TensorType,
    TensorVariable,
    constant,
    grad,
    interpret,
    lt,
)
from lamella.rewriting import EquilibriumGraphRewriter, rewrite_graph
from lamella.rewriting.rules.log_sum_exp import (
    exp_by_exps,
    exp_by_sum_of_exp,
    exp_of_log_softmax,
    exp_times_reciprocal_of_exps,
    exp_times_reciprocal_of_sum,
    log1p_of_two_exps,
    log_of_softmax,
    log_of_sum_of_exp,
    log_of_two_exps,
    x_minus_log_sum_exp,
)
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import Reference, StableForm, check_left_alone, check_stable_form, matrix

LARGE = np.array([[1000.0, 1000.0, 999.0], [-1000.0, -1001.0, -1000.5], [0.0, 1.0, -1.0]])
AXES = (0, 1, (0, 1), -1, None)


def test_two_exponentials() -> None:
    check_stable_form(
        StableForm(
            (log_of_two_exps,),
            lambda x, y: lt.log(lt.exp(x) + lt.exp(y)),
            lt.logaddexp,
            lambda x, y: x + (1 + (y - x).exp()).ln(),
            [(1000.0, 999.0), (-1000.0, -1001.0), (800.0, -800.0)],
        )
    )
    check_stable_form(
        StableForm(
            (log_of_two_exps,),
            lambda x: lt.log(2.5 + lt.exp(x)),
            lambda x: lt.logaddexp(x, math.log(2.5)),
            lambda x: (Decimal("2.5") + x.exp()).ln(),
            [1000.0, 710.0],
        )
    )
    check_stable_form(
        StableForm(
            (log_of_two_exps,),
            lambda x, y: lt.log((1 + lt.exp(x)) + lt.exp(y)),
            lambda x, y: lt.softplus(lt.logaddexp(x, y)),
            lambda x, y: (1 + x.exp() + y.exp()).ln(),
            [(1000.0, 999.0), (-1000.0, 800.0)],
        )
    )
    check_stable_form(
        StableForm(
            (log1p_of_two_exps,),
            lambda x, y: lt.log1p(lt.exp(x) + lt.exp(y)),
            lambda x, y: lt.softplus(lt.logaddexp(x, y)),
            lambda x, y: (1 + x.exp() + y.exp()).ln(),
            [(1000.0, 999.0), (-1000.0, 800.0)],
        )
    )
    check_left_alone(log_of_two_exps, lambda x: lt.log(1 + lt.exp(x)), "float64")  # of which softplus is made
    check_left_alone(log_of_two_exps, lambda x: lt.log(-2 + lt.exp(x)), "float64")
    check_left_alone(log_of_two_exps, lambda x, y: lt.log((y + lt.exp(x)) + lt.exp(y)), "float64")
    check_left_alone(log1p_of_two_exps, lambda x, y: lt.log1p(lt.exp(x) + y), "float64")
    x, y, z = [TensorType("float64", (None,))(name) for name in "xyz"]
    three = rewritten(lt.log(lt.add(lt.exp(x), lt.exp(y), lt.exp(z))), log_of_two_exps)
    assert three is lt.logaddexp(lt.logaddexp(x, y), z)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_logarithms_of_sums(axis: int | tuple[int, ...] | None, keepdims: bool) -> None:
    for dtype in FLOAT_DTYPES:
        m = matrix(dtype)("m")
        plain = lt.log(lt.sum(lt.exp(m), axis=axis, keepdims=keepdims))
        stable = rewritten(plain, log_of_sum_of_exp)
        assert stable is lt.logsumexp(m, axis=axis, keepdims=keepdims)
        assert plain.type.is_super(stable.type)
        tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-14}[dtype]
        values = np.array([[0.5, -1, 2], [0, 0.25, 1]], dtype)
        old, new = interpret([m], [plain, stable], [values])
        np.testing.assert_allclose(old, new, rtol=tolerance)
    m = matrix()("m")
    plain = lt.log(lt.sum(lt.exp(m), axis=axis, keepdims=keepdims))
    stable = rewritten(plain, log_of_sum_of_exp)
    old, new = interpret([m], [plain, stable], [LARGE])
    np.testing.assert_allclose(new, special.logsumexp(LARGE, axis=axis, keepdims=keepdims), rtol=1e-14)
    assert not np.isfinite(old).all()
    for shape in ((2, 0), (0, 0)):
        np.testing.assert_array_equal(*interpret([m], [plain, stable], [np.empty(shape)]))


@pytest.mark.parametrize("axis", AXES)
def test_softmax(axis: int | tuple[int, ...] | None) -> None:
    for dtype in FLOAT_DTYPES:
        m = matrix(dtype)("m")
        plain = lt.exp(m) / lt.sum(lt.exp(m), axis=axis, keepdims=True)
        stable = rewritten(plain, exp_by_sum_of_exp)
        assert stable is lt.softmax(m, axis=axis)
        assert plain.type == stable.type
    m = matrix()("m")
    plain = lt.exp(m) / lt.sum(lt.exp(m), axis=axis, keepdims=True)
    stable = rewritten(plain, exp_by_sum_of_exp)
    logarithm = rewritten(lt.log(plain), exp_by_sum_of_exp, log_of_softmax)
    assert logarithm is lt.log_softmax(m, axis=axis)
    assert rewritten(m - lt.logsumexp(m, axis=axis, keepdims=True), x_minus_log_sum_exp) is logarithm
    new, log, old = interpret([m], [stable, logarithm, plain], [LARGE])
    np.testing.assert_allclose(new, special.softmax(LARGE, axis=axis), rtol=1e-13)
    np.testing.assert_allclose(log, special.log_softmax(LARGE, axis=axis), rtol=1e-13)
    assert np.isnan(old).any()


def test_the_exponent_may_be_shifted() -> None:
    m = matrix()("m")
    shifted = m - lt.max(m, axis=1, keepdims=True)
    found = rewritten(lt.exp(shifted) / lt.sum(lt.exp(shifted), axis=1, keepdims=True), exp_by_sum_of_exp)
    assert found is lt.softmax(shifted, axis=1)


def test_vectors_and_stacks() -> None:
    x, t = TensorType("float64", (None,))("x"), TensorType("float64", (None, 3, None))("t")
    assert rewritten(lt.exp(x) / lt.sum(lt.exp(x)), exp_by_sum_of_exp) is lt.softmax(x, axis=0)
    assert rewritten(lt.exp(t) / lt.sum(lt.exp(t), axis=1, keepdims=True), exp_by_sum_of_exp) is Softmax(1)(t)
    assert rewritten(lt.log(lt.sum(lt.exp(t), axis=(0, 2))), log_of_sum_of_exp) is LogSumExp((0, 2))(t)
    assert rewritten(t - lt.logsumexp(t, axis=1, keepdims=True), x_minus_log_sum_exp) is LogSoftmax(1)(t)


def test_what_is_no_such_form_is_left_alone() -> None:
    m = matrix()("m")
    square = TensorType("float64", (3, 3))("s")
    e, f = lt.exp(m), lt.exp(square)
    for expression, rule in [
        (e / lt.sum(lt.exp(2 * m), axis=1, keepdims=True), exp_by_sum_of_exp),
        (e / lt.sum(m, axis=1, keepdims=True), exp_by_sum_of_exp),
        (e / lt.max(e, axis=1, keepdims=True), exp_by_sum_of_exp),
        (f / lt.sum(f, axis=1), exp_by_sum_of_exp),  # a row would be kept, along which it was not summed
        (f / lt.dimshuffle(lt.sum(f, axis=0), 0, "x"), exp_by_sum_of_exp),
        (square - lt.dimshuffle(lt.logsumexp(square, axis=0), 0, "x"), x_minus_log_sum_exp),
        (m - lt.logsumexp(2 * m, axis=1, keepdims=True), x_minus_log_sum_exp),
        (lt.log(lt.sum(m, axis=1)), log_of_sum_of_exp),
        (lt.log(lt.sum(lt.exp(m.astype("float32")), axis=1, dtype="float64")), log_of_sum_of_exp),
        (lt.log(lt.max(e, axis=1)), log_of_sum_of_exp),
        (lt.log(lt.exp(m) + m), log_of_two_exps),
        (lt.log2(lt.exp(m) + lt.exp(-m)), log_of_two_exps),
    ]:
        assert rewritten(expression, rule) is rewritten(expression)
    check_left_alone(log_of_two_exps, lambda x, y: lt.log(lt.exp(x) + lt.exp(y)), "complex128", "int64")


def test_axes_that_are_exchanged_stay_exchanged() -> None:
    t = TensorType("float64", (None, 2, 3))("t")
    moved = lt.log(lt.dimshuffle(lt.sum(lt.exp(t), axis=0), 1, 0))
    found = rewritten(moved, log_of_sum_of_exp)
    values = np.arange(12.0).reshape(2, 2, 3)
    old, new = interpret([t], [moved, found], [values])
    np.testing.assert_allclose(old, new, rtol=1e-14)
    assert "LogSumExp" in str(found.owner and found.owner.inputs[0].owner)


def softmax_of(m: TensorVariable, axis: int) -> TensorVariable:
    return lt.softmax(m, axis=axis)


def test_gradients_of_logarithms_of_sums() -> None:
    m, w, x = matrix()("m"), TensorType("float64", (None,))("w"), TensorType("float64", (None,))("x")
    for axis in (0, 1):
        total = lt.log(lt.sum(lt.exp(m), axis=axis))
        kept = lt.log(lt.sum(lt.exp(m), axis=axis, keepdims=True))
        for cost in (lt.sum(total), lt.sum(kept)):
            slope = rewrite_graph(grad(cost, m), include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
            assert slope is softmax_of(m, axis)
            found = interpret([m], [slope], [LARGE])[0]
            np.testing.assert_allclose(found, special.softmax(LARGE, axis=axis), rtol=1e-13)
        weighted = rewrite_graph(grad(lt.sum(w * total), m), include=("stabilize",), exclude=("nan_unsafe",))
        cotangents = lt.dimshuffle(w, "x", 0) if axis == 0 else lt.dimshuffle(w, 0, "x")
        assert weighted is lt.annihilating_mul(cotangents, softmax_of(m, axis))
    of_all = rewrite_graph(grad(lt.log(lt.sum(lt.exp(x))), x), include=("fast_run",), exclude=("nan_unsafe", "inplace"))
    assert of_all is lt.softmax(x, axis=0)


def test_products_with_other_sums_are_left_alone() -> None:
    m = matrix()("m")
    other = lt.reciprocal(lt.sum(lt.exp(2 * m), axis=1, keepdims=True)) * lt.exp(m)
    assert rewritten(other, exp_times_reciprocal_of_sum) is other
    plain = lt.exp(m) * lt.reciprocal(lt.sum(lt.exp(m), axis=1, keepdims=True))
    assert rewritten(plain, exp_times_reciprocal_of_sum) is lt.softmax(m, axis=1)


def test_exponentials_of_logarithms_of_weights() -> None:
    m = matrix()("m")
    logarithms = lt.log_softmax(m, axis=1)
    assert rewritten(lt.exp(logarithms), exp_of_log_softmax) is lt.softmax(m, axis=1)
    both = FunctionGraph([m], [lt.exp(logarithms), logarithms])
    assert EquilibriumGraphRewriter([exp_of_log_softmax]).rewrite(both).outputs == both.outputs


def test_shares_of_a_few_exponentials() -> None:
    share: Reference = lambda x, y: 1 / (1 + (y - x).exp() + (-x).exp())  # noqa: E731 -- as the others are
    points = [(1000.0, 999.0), (800.0, -800.0), (-800.0, 800.0)]

    def stable(x: TensorVariable, y: TensorVariable) -> TensorVariable:
        lowest = lt.maximum(x, constant(np.finfo(x.dtype).min, dtype=x.dtype))
        return lt.reciprocal((1 + lt.exp(y - lowest)) + 1.0 * lt.exp(-lowest))

    for form in (
        StableForm((exp_by_exps,), lambda x, y: lt.exp(x) / (1 + lt.exp(x) + lt.exp(y)), stable, share, points),
        StableForm(
            (exp_times_reciprocal_of_exps,),
            lambda x, y: lt.reciprocal(1 + lt.exp(x) + lt.exp(y)) * lt.exp(x),
            stable,
            share,
            points,
        ),
    ):
        check_stable_form(form)
    check_left_alone(exp_by_exps, lambda x, y: lt.exp(x) / (y + lt.exp(x)), "float64")
    check_left_alone(exp_by_exps, lambda x: lt.exp(x) / (lt.exp(x) - 1), "float64")
    check_left_alone(exp_times_reciprocal_of_exps, lambda x: lt.reciprocal(lt.exp(x)) * lt.exp(x), "float64")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_shares_next_to_infinities(dtype: str) -> None:
    """As written, but that what is divided by itself, and was NaN, may be 1."""
    x, y, z = [TensorType(dtype, (None,))(name) for name in "xyz"]
    values = np.array(list(itertools.product([-np.inf, np.inf, np.nan, 0.0, -1.5], repeat=3)), dtype).T
    a, b, c = lt.exp(x), lt.exp(y), lt.exp(z)
    for total in (a + b, a + 1.5, b + 1.5, a + b + 1.5, a + b + c, b + c, a + (b + a) + c, a + (b + 0.5) + c):
        for written in (a / total, a * lt.reciprocal(total)):
            stable = rewritten(written, exp_by_exps, exp_times_reciprocal_of_exps)
            assert stable is not written
            with np.errstate(all="ignore"):
                old, new = interpret([x, y, z], [written, stable], list(values))
            one = np.isnan(old) & (values[0] == np.inf)
            np.testing.assert_allclose(new[~one], old[~one], rtol=float(4 * np.finfo(dtype).eps))


def test_gradients_of_logarithms_of_a_few_exponentials() -> None:
    x, y, w = [TensorType("float64", (None,))(name) for name in "xyw"]
    values = [np.array([1000.0, -1000.0, 1.0]), np.array([999.0, -999.0, 2.0]), np.array([1.0, 2.0, -3.0])]
    stacked = np.stack([values[0], values[1]])
    for value, weights in (
        (lt.log(lt.exp(x) + lt.exp(y)), special.softmax(stacked, axis=0)),
        (lt.log(1 + lt.exp(x) + lt.exp(y)), special.softmax(np.stack([*stacked, 0 * values[0]]), axis=0)[:2]),
    ):
        old = grad(lt.sum(w * value), [x, y])
        new = rewrite_graph(old, include=("fast_run",), exclude=("nan_unsafe", "inplace", "fusion"))
        found = interpret([x, y, w], new, values)
        np.testing.assert_allclose(found, values[2] * weights, rtol=1e-13, atol=1e-300)
        assert not np.allclose(interpret([x, y, w], old, values), values[2] * weights)
