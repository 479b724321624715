"""Sums of negated and of scaled arrays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Neg, interpret
from lamella.rewriting.rules.scaled_sums import sum_of_neg, sum_of_repeated_factor, sum_of_scaled
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

x, a = lt.matrix("x"), lt.scalar("a")
X = np.array([[1.0, -2.0, 4.0], [0.5, -0.0, 8.0]])


def test_a_sum_of_negated_numbers() -> None:
    assert after([x], lt.sum(-x, axis=0), [X], sum_of_neg) == (
        "%c0: float64[1] = constant [0.0]\n%0: float64[?] = Sum{axis=(0,)}(%x)\n%1: float64[?] = Sub(%c0, %0)\nreturn %1"
    )
    assert "Neg" in after([x], lt.sum(-lt.exp(x)), [X], sum_of_neg)
    y = -x
    assert "Neg(%x)" in after([x], [lt.sum(y), y], [X], sum_of_neg)


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf]), max_size=4))
def test_zeros_keep_their_sign(numbers: list[float]) -> None:
    v = lt.vector("v")
    old = FunctionGraph([v], [lt.sum(-v), lt.sum(-2.0 * v), lt.sum(v * 4.0), lt.sum(v / -2.0)])
    new = applied(old, sum_of_neg, sum_of_scaled)
    assert "Neg" not in body(new)
    assert_same_meaning(old, new, [numbers])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "bool", "float16", "float32", "complex64"])
def test_dtypes(dtype: str) -> None:
    v = lt.vector("v", dtype=dtype)
    value = np.array([100, 100, 1, 0]).astype(dtype)
    outputs = [] if dtype == "bool" else [lt.sum(-v)]
    outputs += [lt.sum(v * lt.constant(3, dtype=dtype)), lt.sum(v * 0.5), lt.sum(v / 4)]
    if dtype != "complex64":
        outputs.append(lt.sum(v * lt.constant(2, dtype=dtype), dtype="float64"))
    old = FunctionGraph([v], outputs)
    assert_same_meaning(old, applied(old, sum_of_neg, sum_of_scaled), [value])


def test_a_known_number_is_multiplied_afterwards() -> None:
    assert after([x], lt.sum(2.0 * x, axis=1), [X], sum_of_scaled) == (
        "%c0: float64[1] = constant [2.0]\n"
        "%0: float64[?] = Sum{axis=(1,)}(%x)\n"
        "%1: float64[?] = Mul(%c0, %0)\n"
        "return %1"
    )
    assert "Sum{axis=(0, 1)}(%x)" in after([x], lt.sum(x / 4), [X], sum_of_scaled)
    for number in (np.inf, np.nan, 0.0):
        assert "Sum{axis=(0, 1)}(%x)" not in after([x], lt.sum(x * number), [X], sum_of_scaled)
    assert "(%x)" not in after([x], lt.sum(2.0 / (x + 9)), [X], sum_of_scaled).split("Sum")[1]


def test_what_is_finite_but_not_known_is_multiplied_afterwards_where_that_is_assumed() -> None:
    column = lt.tensor("column", dtype="float64", shape=(None, 1))
    values: list[Any] = [X, 2.0, [[2.0], [-1.0]]]
    inputs = [x, a, column]
    assert "Sum{axis=(0, 1)}(%x)" in after(inputs, lt.sum(a * x), values, sum_of_repeated_factor)
    assert "Sum{axis=(1,)}(%x)" in after(inputs, lt.sum(column * x, axis=1), values, sum_of_repeated_factor)
    for axis in (0, None):
        assert "(%x)" not in after(inputs, lt.sum(column * x, axis=axis), values, sum_of_repeated_factor)
    assert not any(isinstance(node.op, Neg) for node in applied(FunctionGraph(inputs, [lt.sum(a * x)])).order)


def test_wide_sums_stay_wide() -> None:
    v = lt.vector("v", dtype="float16")
    value = np.full(1000, 100, "float16")
    old = FunctionGraph([v], [lt.sum(v * np.float16(0.25))])
    new = applied(old, sum_of_scaled)
    (expected,), (found,) = [interpret([v], graph.outputs, [value]) for graph in (old, new)]
    assert found == expected == 25000  # the sum of v itself is no float16
