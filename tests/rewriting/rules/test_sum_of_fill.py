"""Sums of one value, many times: products, out to no elements, infinities and zeros of both signs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph
from lamella.rewriting.rules.sum_of_fill import sum_of_fill, sum_of_zeros
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning

v, n = lt.scalar("v"), lt.lscalar("n")


def test_a_sum_of_zeros_is_zero() -> None:
    assert after([n], lt.sum(lt.zeros((n, 2)), axis=0), [3], sum_of_zeros) == (
        "%c0: float64[] = constant 0.0\n%c1: int64[] = constant 2\n%0: float64[2] = Alloc(%c0, %c1)\nreturn %0"
    )
    almost = lt.alloc(lt.constant(1e-300), n)
    assert "Sum" in after([n], lt.sum(almost), [3], sum_of_zeros)


def test_a_sum_of_one_value_is_a_product() -> None:
    assert after([v, n], lt.sum(lt.alloc(v, n)), [2.5, 4], sum_of_fill).splitlines() == [
        "%c0: float64[] = constant 0.0",
        "%0: float64[] = Cast{float64}(%n)",
        "%1: float64[1] = DimShuffle{order=[x]}(%v)  # views %v",
        "%2: float64[] = DimShuffle{order=[]}(%1)  # views %1",
        "%3: float64[] = AnnihilatingMul(%0, %2)",
        "%4: float64[] = Add(%3, %c0)",
        "return %4",
    ]
    ones = lt.sum(lt.alloc(lt.constant(1.0), n))
    assert after([n], ones, [4], sum_of_fill).splitlines()[-2].endswith("= Mul(%0, %1)")


@pytest.mark.parametrize("value", [0.0, -0.0, -1.5, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("length", [0, 1, 3])
def test_no_elements_infinities_and_zeros(value: float, length: int) -> None:
    sums = [lt.sum(lt.alloc(v, n)), lt.sum(lt.alloc(lt.constant(value), n))]
    assert "Sum" not in after([v, n], sums, [value, length], sum_of_fill)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float16", "float32"])
def test_dtypes(dtype: str) -> None:
    x = lt.scalar("x", dtype=dtype)
    text = after([x, n], [lt.sum(lt.alloc(x, n, 2)), lt.sum(lt.alloc(x, n, 2), axis=1)], [3, 100], sum_of_fill)
    assert "Sum" not in text


def test_axes_that_are_not_repeated_are_added_up() -> None:
    y = lt.vector("y")
    both = lt.sum(lt.alloc(y, n, 3))
    assert after([y, n], both, [[1.0, 2.0, 4.0], 5], sum_of_fill).count("Sum{axis=(0,)}(%") == 1
    along = lt.sum(lt.alloc(y, n, 3), axis=0)
    assert "Sum" not in after([y, n], along, [[1.0, 2.0, 4.0], 5], sum_of_fill)
    columns = lt.sum(lt.fill(lt.matrix("m"), y), axis=1)
    assert "Sum" in after([*_inputs(columns)], columns, [np.ones((2, 3)), [1.0, 2.0, 4.0]], sum_of_fill)


def _inputs(out: Any) -> list[Any]:
    from lamella.ir import graph_inputs

    return [variable for variable in graph_inputs([out]) if not variable.is_constant]


@given(st.data())
def test_any_axes(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    own = [data.draw(st.sampled_from([length, 1])) for length in shape]
    value = lt.tensor("value", dtype="int64", shape=[1 if a == 1 else None for a in own])
    axes = [axis for axis in range(len(shape)) if data.draw(st.booleans())]
    old = FunctionGraph([value], [lt.sum(lt.alloc(value, shape), axis=axes)])
    assert_same_meaning(old, applied(old, sum_of_fill), [np.arange(int(np.prod(own))).reshape(own) - 1])
