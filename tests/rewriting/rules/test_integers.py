"""Integers, modulo their range: exact for every dtype, the least and the greatest numbers among them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import INTEGER_DTYPES, TensorType, TensorVariable, constant, interpret, lt
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.integers import (
    bits_with_number,
    divide_integer_by_one,
    divide_integer_by_power_of_two,
    divide_zero,
    integer_and_itself,
    integer_products_collected,
    integer_sums_collected,
    mul_integer_by_zero,
    shift_by_zero,
    sub_integer_from_itself,
)
from tests.rewriting.rules.special_values import Expression, check_law, check_stays, rewritten, special_values

BITS = (*INTEGER_DTYPES, "bool")


def zeros(x: TensorVariable) -> TensorVariable:
    return lt.second(x, constant(0, dtype=x.dtype))


def ones(x: TensorVariable) -> TensorVariable:
    return lt.second(x, constant(np.array(-1).astype(x.dtype)))


LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (integer_sums_collected, lambda x: (x + 2) - 1, lambda x: x + 1, ("int8", "int64")),
    (integer_sums_collected, lambda x: (x + 1) - 1, lambda x: x, INTEGER_DTYPES),
    (integer_sums_collected, lambda x: (x - 1) + 1, lambda x: x, INTEGER_DTYPES),
    (integer_sums_collected, lambda x: 3 - (x + 1), lambda x: 2 - x, INTEGER_DTYPES),
    (integer_sums_collected, lambda x: 3 - (1 - x), lambda x: x + 2, INTEGER_DTYPES),
    (integer_sums_collected, lambda x: (3 - x) - 1, lambda x: 2 - x, INTEGER_DTYPES),
    (integer_sums_collected, lambda x: (((x + 100) + 100) + 100) - 44, lambda x: x, ("int8", "uint8")),
    (integer_products_collected, lambda x: (x * 2) * 3, lambda x: x * 6, INTEGER_DTYPES),
    (integer_products_collected, lambda x: 100 * (x * 100), lambda x: x * 16, ("int8", "uint8")),
    (sub_integer_from_itself, lambda x: x - x, zeros, INTEGER_DTYPES),
    (sub_integer_from_itself, lambda x: x ^ x, zeros, BITS),
    (integer_and_itself, lambda x: x & x, lambda x: x, BITS),
    (integer_and_itself, lambda x: x | x, lambda x: x, BITS),
    (mul_integer_by_zero, lambda x: x * 0, zeros, INTEGER_DTYPES),
    (mul_integer_by_zero, lambda x: x * False, zeros, ("bool",)),
    (divide_integer_by_one, lambda x: x // 1, lambda x: x, INTEGER_DTYPES),
    (divide_integer_by_one, lambda x: x % 1, zeros, INTEGER_DTYPES),
    (shift_by_zero, lambda x: x << 0, lambda x: x, INTEGER_DTYPES),
    (shift_by_zero, lambda x: x >> 0, lambda x: x, INTEGER_DTYPES),
    (bits_with_number, lambda x: x & 0, zeros, INTEGER_DTYPES),
    (bits_with_number, lambda x: x | 0, lambda x: x, INTEGER_DTYPES),
    (bits_with_number, lambda x: x ^ 0, lambda x: x, INTEGER_DTYPES),
    (bits_with_number, lambda x: x & np.array(-1).astype(x.dtype), lambda x: x, INTEGER_DTYPES),
    (bits_with_number, lambda x: x | np.array(-1).astype(x.dtype), ones, INTEGER_DTYPES),
    (bits_with_number, lambda x: x ^ np.array(-1).astype(x.dtype), lambda x: ~x, INTEGER_DTYPES),
    (bits_with_number, lambda x: x & True, lambda x: x, ("bool",)),
    (bits_with_number, lambda x: x | True, ones, ("bool",)),
    (bits_with_number, lambda x: x ^ True, lambda x: ~x, ("bool",)),
    (bits_with_number, lambda x: x & np.int64(0), lambda x: lt.second(x, np.int64(0)), ("int8",)),
    (divide_integer_by_power_of_two, lambda x: x // 8, lambda x: x >> 3, INTEGER_DTYPES),
    (divide_integer_by_power_of_two, lambda x: x % 8, lambda x: x & 7, INTEGER_DTYPES),
    (divide_integer_by_power_of_two, lambda x: x // 64, lambda x: x >> 6, INTEGER_DTYPES),
    (divide_zero, lambda x: 0 // x, zeros, INTEGER_DTYPES),
    (divide_zero, lambda x: 0 % x, zeros, INTEGER_DTYPES),
]

STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (integer_sums_collected, lambda x: (x + 1.0) - 1.0, ("float64", "int64")),
    (integer_sums_collected, lambda x: (x + np.int8(1)) - np.int64(1), ("int8",)),
    (integer_sums_collected, lambda x: (x + x) - 1, ("int64",)),
    (integer_products_collected, lambda x: (x * 2.0) * 3.0, ("float64",)),
    (integer_products_collected, lambda x: (x * np.int8(2)) * np.int64(3), ("int8",)),
    (sub_integer_from_itself, lambda x: x - x, ("float64", "complex128")),
    (mul_integer_by_zero, lambda x: x * 0, ("float64", "complex128")),
    (mul_integer_by_zero, lambda x: x * 0.0, ("int64",)),
    (divide_integer_by_one, lambda x: x // 1, ("float64",)),
    (divide_integer_by_one, lambda x: x % 1, ("float64",)),
    (bits_with_number, lambda x: x & 1, INTEGER_DTYPES),
    (bits_with_number, lambda x: x | np.int8(-1), ("uint8",)),
    (divide_integer_by_power_of_two, lambda x: x // 6, INTEGER_DTYPES),
    (divide_integer_by_power_of_two, lambda x: x // 0, INTEGER_DTYPES),
    (divide_integer_by_power_of_two, lambda x: x // np.array(-4).astype(x.dtype), ("int8", "int64")),
    (divide_integer_by_power_of_two, lambda x: x // np.int64(4), ("int8", "uint64")),
    (divide_integer_by_power_of_two, lambda x: x // 4.0, ("float64", "int64")),
    (divide_zero, lambda x: 0.0 // x, ("float64",)),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)


@given(
    st.sampled_from(INTEGER_DTYPES),
    st.lists(
        st.tuples(st.sampled_from(["add", "radd", "sub", "rsub"]), st.integers(0, 2**64 - 1)), min_size=1, max_size=6
    ),
)
def test_any_chain_of_sums_becomes_one_operation_or_none(dtype: str, steps: list[tuple[str, int]]) -> None:
    x = TensorType(dtype, (None,))("x")
    y: TensorVariable = x
    for name, value in steps:
        number = np.array(value, dtype="uint64").astype(dtype)
        function = lt.add if "add" in name else lt.sub
        y = function(number, y) if name.startswith("r") else function(y, number)
    found = rewritten(y, integer_sums_collected)
    assert len(steps) == 1 or found is x or (found.owner is not None and x in found.owner.inputs)
    before, after = interpret([x], [y, found], [special_values(dtype)])
    np.testing.assert_array_equal(before, after, strict=True)


def test_division_that_does_not_cancel() -> None:
    x, y = TensorType("int64", (None,))("x"), TensorType("int64", (None,))("y")
    for expression in ((x // y) * y, (x * y) // y):
        found = rewritten(expression, integer_sums_collected, integer_products_collected, divide_integer_by_one)
        assert found is expression
    (product, quotient) = interpret([x, y], [(x // y) * y, (x * y) // y], [np.array([7]), np.array([2])])
    assert product.tolist() == [6]
    assert quotient.tolist() == [7]
