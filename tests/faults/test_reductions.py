"""Reductions, accuracy and stability."""

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from tests.faults.three_ways import MODES, check, check_error

F64 = np.float64
NAN = np.nan


def test_extremes_where_there_is_a_nan() -> None:
    x, u, v = lt.dmatrix("x"), lt.dvector("u"), lt.dvector("v")
    a = np.array([[1.0, NAN], [2.0, 0.0]])
    check(
        {x: a, u: [1.0, NAN], v: [2.0, 0.0]},
        (lt.max(x), F64(NAN)),
        (lt.min(x), F64(NAN)),
        (lt.max(x, axis=0), np.array([2.0, NAN])),
        (lt.min(x, axis=1), np.array([NAN, 0.0])),
        (lt.argmax(x), np.int64(1)),
        (lt.argmin(x), np.int64(1)),
        (lt.argmax(x, axis=0), np.argmax(a, axis=0)),
        (lt.argmin(x, axis=1), np.argmin(a, axis=1)),
        (lt.maximum(u, v), np.array([2.0, NAN])),
        (lt.minimum(u, v), np.array([1.0, NAN])),
        (lt.maximum(v, u), np.array([2.0, NAN])),
        (lt.sum(x), F64(NAN)),
        (lt.any(x > 5), np.bool_(False)),
        (lt.all(lt.isnan(x)), np.bool_(False)),
        (lt.sort(u), np.array([1.0, NAN])),
        (lt.argsort(u * -1), np.array([0, 1])),
        (lt.logsumexp(x, axis=1), np.array([NAN, np.log(np.exp(2.0) + 1)])),
        (lt.softmax(x, axis=1), np.stack([[NAN, NAN], np.exp([2.0, 0.0]) / (np.exp(2.0) + 1)])),
        (lt.mean(x, axis=0), np.array([1.5, NAN])),
        (lt.var(x, axis=0), np.array([0.25, NAN])),
    )
    infinite = np.array([[-np.inf, np.inf], [-np.inf, -np.inf]])
    check(
        {x: infinite},
        (lt.max(x, axis=1), np.array([np.inf, -np.inf])),
        (lt.argmax(x, axis=1), np.array([1, 0])),
        (lt.logsumexp(x, axis=1), np.array([np.inf, -np.inf])),
        (lt.sum(x, axis=1), np.array([NAN, -np.inf])),
    )
    zeros = np.array([[0.0, -0.0], [-0.0, -0.0]])
    check(
        {x: zeros},
        (lt.sum(x, axis=1), zeros.sum(1)),
        (lt.prod(x, axis=1), zeros.prod(1)),
        (lt.mean(x, axis=1), zeros.mean(1)),
        (lt.argmax(x, axis=1), zeros.argmax(1)),
    )


def test_sums_of_many_narrow_numbers() -> None:
    x = lt.fvector("x")
    many = np.full(10_000_000, 0.1, np.float32)
    i = lt.bvector("i")
    hundreds = np.full(3, 100, np.int8)
    h = lt.vector("h", dtype="float16")
    tenths = np.full(5000, 0.1, np.float16)
    for mode in MODES.values():
        total, average = lm.function([x], [lt.sum(x), lt.mean(x)], mode=mode)(many)
        assert total.dtype == average.dtype == np.float32
        assert abs(total / 1e6 - 1) < 1e-6
        assert abs(average / 0.1 - 1) < 1e-6
        total, average = lm.function([i], [lt.sum(i), lt.mean(i)], mode=mode)(hundreds)
        assert (total, total.dtype) == (300, np.int64)
        assert (average, average.dtype) == (100.0, np.float64)
        total = lm.function([h], lt.sum(h), mode=mode)(tenths)
        assert total.dtype == np.float16
        assert abs(total - np.sum(tenths, dtype=np.float64)) < 0.5
    assert abs(lt.sum(x).eval({x: many}) / 1e6 - 1) < 1e-6
    columns = lt.fmatrix("columns")
    tall = np.full((1_000_000, 2), 0.1, np.float32)
    for mode in MODES.values():
        total = lm.function([columns], lt.sum(columns, axis=0), mode=mode)(tall)
        np.testing.assert_allclose(total, 1e5, rtol=1e-6)


def test_means_and_variances_far_from_zero() -> None:
    x = lt.dvector("x")
    a = 1e9 + np.array([4.0, 7.0, 13.0, 16.0])
    check({x: a}, (lt.var(x), F64(22.5)), (lt.var(x, ddof=1), F64(30)), (lt.mean(x), F64(1e9 + 10)), rtol=1e-13)
    check({x: [3.0]}, (lt.var(x), F64(0)), (lt.std(x), F64(0)), (lt.var(x, ddof=1), F64(NAN)))


def test_reductions_of_booleans_and_bytes() -> None:
    b, u = lt.vector("b", dtype="bool"), lt.matrix("u", dtype="uint8")
    flags, bytes_ = np.array([True, True, False]), np.array([[255, 3], [254, 7]], np.uint8)
    check(
        {b: flags, u: bytes_},
        (lt.sum(b), np.int64(2)),
        (lt.prod(b), np.int64(0)),
        (lt.max(b), np.bool_(True)),
        (lt.min(b), np.bool_(False)),
        (lt.mean(b), flags.mean()),
        (lt.argmax(b), np.int64(0)),
        (lt.any(b), np.bool_(True)),
        (lt.all(b), np.bool_(False)),
        (lt.max(u, axis=0), np.array([255, 7], np.uint8)),
        (lt.min(u, axis=1), np.array([3, 7], np.uint8)),
        (lt.sum(u, axis=0), np.array([509, 10], np.uint64)),
        (lt.any(u, axis=0), np.array([True, True])),
        (lt.bitwise_and_reduce(u, axis=0), np.array([254, 3], np.uint8)),
        (lt.bitwise_or_reduce(u, axis=0), np.array([255, 7], np.uint8)),
        (lt.bitwise_xor_reduce(u, axis=0), np.array([1, 4], np.uint8)),
        (lt.bitwise_and_reduce(u[:0], axis=0), np.array([255, 255], np.uint8)),
        (lt.sum(b[:0]), np.int64(0)),
        (lt.all(b[:0]), np.bool_(True)),
        (lt.any(b[:0]), np.bool_(False)),
        (lt.sum(u, axis=0, dtype="uint8"), bytes_.sum(0, dtype=np.uint8)),
    )


def test_empty_reductions() -> None:
    x = lt.dmatrix("x")
    empty = np.zeros((0, 3))
    check(
        {x: empty},
        (lt.sum(x, axis=0), np.zeros(3)),
        (lt.prod(x, axis=0), np.ones(3)),
        (lt.sum(x, axis=1), np.zeros(0)),
        (lt.max(x, axis=1), np.zeros(0)),
        (lt.argmax(x, axis=1), np.zeros(0, np.int64)),
        (lt.cumsum(x, axis=0), empty),
        (lt.sort(x, axis=0), empty),
        (lt.softmax(x, axis=1), empty),
        (lt.mean(x, axis=1), np.zeros(0)),
        (lt.logsumexp(x, axis=0), np.full(3, -np.inf)),
        (x.T @ x, np.zeros((3, 3))),
        (lm.grad(lt.sum(lt.prod(x, axis=0)), x), empty),
    )
    for wrong in (lt.max(x), lt.min(x, axis=0), lt.argmax(x), lt.argmin(x, axis=0)):
        check_error({x: empty}, wrong, ValueError)


def test_stable_forms() -> None:
    x, v = lt.dscalar("x"), lt.dvector("v")
    check(
        {x: 1000.0},
        (lt.logaddexp(x, -x) - lt.log(2.0), F64(1000 - np.log(2))),
        (lm.grad(lt.logaddexp(x, -x), x), F64(1)),
        (lt.softplus(x), F64(1000)),
        (lt.softplus(-x), F64(0)),
        (lt.log_sigmoid(-x), F64(-1000)),
        (lm.grad(lt.log_sigmoid(-x), x), F64(-1)),
        (lt.sigmoid(-x), F64(0)),
        (lt.logsumexp(lt.stack([x, x])), F64(1000 + np.log(2))),
        (lm.grad(lt.logsumexp(lt.stack([x, 0 * x])), x), F64(1)),
        (lt.log_softmax(lt.stack([x, -x])), np.array([0.0, -2000.0])),
        (lt.expm1(x * 1e-20), F64(1e-17)),
        (lt.log1p(x * 1e-20), F64(1e-17)),
    )
    check({v: [-800.0, -800.0]}, (lt.logsumexp(v), F64(-800 + np.log(2))), (lt.softmax(v), np.full(2, 0.5)))
    check(
        {v: [1e-20, 2.0, 40.0]},
        (lt.log1mexp(-v), np.array([np.log(1e-20), np.log1p(-np.exp(-2.0)), -np.exp(-40.0)])),
        (lt.logaddexp(v, -np.inf), np.array([1e-20, 2.0, 40.0])),
    )


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
def test_the_logarithm_of_a_product_of_small_numbers(mode: lm.Mode) -> None:
    x = lt.dvector("x")
    a = np.full(200, 1e-3)
    total = lm.function([x], lt.sum(lt.log(x)), mode=mode)(a)
    assert total == pytest.approx(200 * np.log(1e-3), rel=1e-13)
