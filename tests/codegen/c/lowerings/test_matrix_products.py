"""Products of matrices in C: every layout, lengths of 0 and 1, what is added in place, what the BLAS would not look at."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella.tensor as lt
from lamella.codegen import Entry
from lamella.ir import BatchedDot, Dot, Gemm, Gemv, TensorVariable, interpret
from tests.codegen.agreement import compiled

Array = npt.NDArray[Any]

z, x, y = lt.matrix("z"), lt.matrix("x"), lt.matrix("y")
v, w = lt.vector("v"), lt.vector("w")
alpha, beta = lt.scalar("alpha"), lt.scalar("beta")
stack, single = lt.tensor3("stack"), lt.tensor("single", dtype="float64", shape=(1, None, None))
INPUTS: list[TensorVariable] = [z, x, y, v, w, alpha, beta, stack, single]
OUTPUTS: list[TensorVariable] = [
    Gemm()(z, alpha, x, y, beta),
    Gemm()(z, 1.0, x, y, 1.0),
    Gemm()(z, -0.5, x, y, 2.0),
    Gemv()(w, alpha, x, v, beta),
    Gemm(inplace=True)(lt.exp(z), alpha, x, y, beta),
    Gemm(inplace=True)(lt.sin(z).T, 1.0, y.T, x.T, 1.0),
    Gemv(inplace=True)(lt.exp(w)[::-1], alpha, x, v, beta),
    Dot()(x, y),
    Dot()(x, v),
    Dot()(v, v),
    BatchedDot()(stack, single),
]


@pytest.fixture(scope="module")
def function() -> Entry:
    return compiled(INPUTS, OUTPUTS)


def _layouts(array: Array) -> Iterator[Array]:
    yield array
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=1)[:, ::2]
    yield np.ascontiguousarray(array[::-1, ::-1])[::-1, ::-1]


def _check(function: Entry, values: list[Array]) -> None:
    expected = interpret(INPUTS, OUTPUTS, [np.array(value) for value in values])
    for i, (got, wanted) in enumerate(zip(function(values), expected, strict=True)):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12, err_msg=str(OUTPUTS[i]))
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)


@pytest.mark.parametrize(
    ("m", "k", "n"), [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (0, 4, 5), (3, 0, 5), (3, 4, 0)]
)
def test_every_layout(function: Entry, m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(m * 100 + k * 10 + n)
    vectors = [rng.normal(size=2 * k)[::2][::-1], rng.normal(size=3 * m)[::3]]
    factors = [np.asarray(2.5), np.asarray(-0.5)]
    for first in _layouts(rng.normal(size=(m, k))):
        for second in _layouts(rng.normal(size=(k, n))):
            for there in _layouts(rng.normal(size=(m, n))):
                stacks = [rng.normal(size=(2, k, m)).transpose(0, 2, 1), np.array(second)[None]]
                _check(function, [there, first, second, *vectors, *factors, *stacks])


@pytest.mark.parametrize(("a", "b"), [(0.0, 1.0), (1.0, 0.0), (np.inf, 2.0), (np.nan, 1.0), (1.0, np.inf)])
def test_factors_that_the_blas_would_take_for_nothing(function: Entry, a: float, b: float) -> None:
    rng = np.random.default_rng(0)
    there, first, second = rng.normal(size=(2, 3)), rng.normal(size=(2, 2)), rng.normal(size=(2, 3))
    for array in (there, first, second):
        spoilt = array.copy()
        spoilt[0, 0] = np.inf
        arrays = [spoilt if other is array else other for other in (there, first, second)]
        stacks = [first[None], second[None]]
        _check(function, [*arrays, rng.normal(size=2), there[:, 0], np.asarray(a), np.asarray(b), *stacks])


@pytest.mark.parametrize("a", [2.0, -2.0])
def test_a_sum_of_no_products_adds_a_zero(function: Entry, a: float) -> None:
    values = [np.full((2, 3), -0.0), np.zeros((2, 0)), np.zeros((0, 3)), np.zeros(0), np.full(2, -0.0)]
    values += [np.asarray(a), np.asarray(0.5), np.zeros((1, 2, 0)), np.zeros((1, 0, 3))]
    expected = interpret(INPUTS[:7], OUTPUTS[:4], [np.array(value) for value in values[:7]])
    for got, wanted in zip(function(values)[:4], expected, strict=True):
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


def test_lengths_that_do_not_fit_are_errors() -> None:
    good = [np.zeros((2, 4)), np.zeros((2, 3)), np.zeros((3, 4))]
    run = compiled([z, x, y], [Gemm()(z, 1.0, x, y, 1.0)])
    assert run(good)[0].shape == (2, 4)
    for i, wrong in enumerate([(2, 1), (1, 3), (1, 4)]):
        values = list(good)
        values[i] = np.zeros(wrong)
        with pytest.raises(ValueError, match="does not fit"):
            run(values)
