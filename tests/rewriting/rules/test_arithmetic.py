"""Numbers that do nothing, and minus signs: exact for every special value of every dtype."""

import numpy as np
import pytest

from lamella.ir import (
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    SIGNED_DTYPES,
    Elemwise,
    TensorType,
    TensorVariable,
    constant,
    interpret,
    ls,
    lt,
)
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.arithmetic import (
    add_of_neg,
    add_of_zero,
    divide_by_number,
    divide_of_neg,
    mul_by_minus_one,
    mul_by_one,
    mul_of_neg,
    neg_of_divide,
    neg_of_mul,
    neg_of_sub,
    sub_of_neg,
    sub_of_zero,
)
from tests.rewriting.rules.special_values import REAL, Expression, check_law, check_stays, rewritten, same_bits

LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (mul_by_one, lambda x: x * 1, lambda x: x, REAL),
    (mul_by_one, lambda x: 1 * x, lambda x: x, REAL),
    (mul_by_one, lambda x: x * True, lambda x: x, ("bool",)),
    (mul_by_one, lambda x, y: lt.mul(x, 1, y), lambda x, y: lt.mul(x, y), REAL),
    (add_of_zero, lambda x: x + 0, lambda x: x, (*INTEGER_DTYPES, "bool")[:-1]),
    (add_of_zero, lambda x: x + False, lambda x: x, ("bool",)),
    (add_of_zero, lambda x: x + -0.0, lambda x: x, FLOAT_DTYPES),
    (add_of_zero, lambda x: -0.0 + x, lambda x: x, FLOAT_DTYPES),
    (add_of_zero, lambda x, y: lt.add(x, -0.0, y), lambda x, y: lt.add(x, y), FLOAT_DTYPES),
    (add_of_zero, lambda x: lt.exp(x) + 0.0, lambda x: lt.exp(x), FLOAT_DTYPES),
    (add_of_zero, lambda x: lt.square(x) + 0.0, lambda x: lt.square(x), FLOAT_DTYPES),
    (add_of_zero, lambda x: (x + 0.0) + 0.0, lambda x: x + 0.0, FLOAT_DTYPES),
    (add_of_zero, lambda x: (1.0 - x) + 0.0, lambda x: 1.0 - x, FLOAT_DTYPES),
    (sub_of_zero, lambda x: x - 0, lambda x: x, REAL),
    (sub_of_zero, lambda x: 0 - x, lambda x: -x, INTEGER_DTYPES),
    (sub_of_zero, lambda x: -0.0 - x, lambda x: -x, FLOAT_DTYPES),
    (sub_of_zero, lambda x: lt.abs(x) - -0.0, lambda x: lt.abs(x), FLOAT_DTYPES),
    (mul_by_minus_one, lambda x: x * -1, lambda x: -x, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (divide_by_number, lambda x: x / 1, lambda x: x, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / -1, lambda x: -x, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / 4, lambda x: x * 0.25, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / -0.5, lambda x: x * -2.0, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / 2, lambda x: lt.mul(x, 0.5), ("int64", "int32", "uint32")),
    (add_of_neg, lambda x, y: x + -y, lambda x, y: x - y, REAL),
    (add_of_neg, lambda x, y: -x + y, lambda x, y: y - x, REAL),
    (sub_of_neg, lambda x, y: x - -y, lambda x, y: x + y, REAL),
    (mul_of_neg, lambda x, y: -x * -y, lambda x, y: x * y, REAL),
    (mul_of_neg, lambda x, y: -x * y, lambda x, y: -(x * y), REAL),
    (mul_of_neg, lambda x, y: x * -y, lambda x, y: -(x * y), REAL),
    (mul_of_neg, lambda x: -x * 3, lambda x: x * -3, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (mul_of_neg, lambda x: 0.0 * -x, lambda x: x * -0.0, FLOAT_DTYPES),
    (divide_of_neg, lambda x, y: -x / -y, lambda x, y: x / y, FLOAT_DTYPES),
    (divide_of_neg, lambda x, y: -x / y, lambda x, y: -(x / y), FLOAT_DTYPES),
    (divide_of_neg, lambda x, y: x / -y, lambda x, y: -(x / y), FLOAT_DTYPES),
    (divide_of_neg, lambda x: -x / 3, lambda x: x / -3.0, FLOAT_DTYPES),
    (divide_of_neg, lambda x: 3 / -x, lambda x: -3.0 / x, FLOAT_DTYPES),
    (neg_of_mul, lambda x: -(x * 3), lambda x: x * -3, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (neg_of_mul, lambda x: -(x * 0), lambda x: x * -0.0, FLOAT_DTYPES),
    (neg_of_divide, lambda x: -(x / 3), lambda x: x / -3.0, FLOAT_DTYPES),
    (neg_of_divide, lambda x: -(3 / x), lambda x: -3.0 / x, FLOAT_DTYPES),
    (neg_of_sub, lambda x, y: -(x - y), lambda x, y: y - x, INTEGER_DTYPES),
]

STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (mul_by_one, lambda x: x * 1, ("complex128",)),
    (mul_by_one, lambda x: x * 2, REAL),
    (mul_by_one, lambda x: lt.mul(x, np.array([1.0, 2.0])), ("float64",)),
    (mul_by_one, lambda x, y: lt.mul(x, np.float64(1), y), ("int8",)),
    (add_of_zero, lambda x: x + 0.0, FLOAT_DTYPES),
    (add_of_zero, lambda x: lt.sqrt(x) + 0.0, FLOAT_DTYPES),
    (add_of_zero, lambda x: (-0.0 - x) + 0.0, FLOAT_DTYPES),
    (add_of_zero, lambda x: (x - 1.0) * 2.0 + 0.0, FLOAT_DTYPES),
    (add_of_zero, lambda x: x + -0.0, ("complex128",)),
    (sub_of_zero, lambda x: x - -0.0, FLOAT_DTYPES),
    (sub_of_zero, lambda x: 0.0 - x, FLOAT_DTYPES),
    (sub_of_zero, lambda x: x - 0, ("complex64",)),
    (mul_by_minus_one, lambda x: x * -1, ("complex128",)),
    (mul_by_minus_one, lambda x: x * np.uint8(255), ("uint8",)),
    (divide_by_number, lambda x: x / 3, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / 0, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / np.inf, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / np.nan, FLOAT_DTYPES),
    (divide_by_number, lambda x: x / 2.0**1023, ("float64",)),
    (divide_by_number, lambda x: x / 2.0**-1074, ("float64",)),
    (divide_by_number, lambda x: x / 2.0**15, ("float16",)),
    (divide_by_number, lambda x: x / 1, ("complex128",)),
    (neg_of_sub, lambda x, y: -(x - y), FLOAT_DTYPES),
    (mul_of_neg, lambda x, y: -x * y, ("complex128",)),
    (divide_of_neg, lambda x, y: -x / y, ("int64", "complex128")),
    (neg_of_divide, lambda x: -(x / 3), ("complex128",)),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)


MIXED: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (mul_by_one, lambda x: x * np.float64(1), lambda x: lt.cast(x, "float64"), ("float32", "int8", "bool", "int64")),
    (add_of_zero, lambda x: x + np.float64(0), lambda x: lt.cast(x, "float64"), ("int8", "uint64", "bool")),
    (sub_of_zero, lambda x: x - np.int64(0), lambda x: lt.cast(x, "int64"), ("int8", "uint32")),
    (sub_of_zero, lambda x: np.int64(0) - x, lambda x: -lt.cast(x, "int64"), ("int8", "uint32")),
    (mul_by_minus_one, lambda x: x * np.int8(-1), lambda x: -lt.cast(x, "int16"), ("uint8",)),
    (divide_by_number, lambda x: x / 1, lambda x: lt.cast(x, "float64"), ("int64", "uint64")),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), MIXED)
def test_the_dtype_of_the_result_stays(
    rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]
) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


def test_a_minus_sign_before_a_cast_of_integers_stays() -> None:
    x, y = TensorType("int8", (None,))("x"), TensorType("int64", (None,))("y")
    for rule, expression in ((add_of_neg, y + -x), (sub_of_neg, y - -x), (mul_of_neg, y * -x)):
        assert rewritten(expression, rule) is expression


def test_a_minus_sign_before_a_cast_of_floats_goes() -> None:
    check_law(add_of_neg, lambda x, y: y + -x, lambda x, y: y - x, ("float32", "float64"))
    check_law(mul_of_neg, lambda x, y: -x * -y, lambda x, y: x * y, ("float32", "float64"))


def test_what_makes_the_result_larger_stays() -> None:
    row, matrix = TensorType("float64", (1, 3))("row"), TensorType("float64", (None, 3))("m")
    ones = constant(np.ones((2, 3)))
    assert rewritten(row * ones, mul_by_one) is row * ones
    assert rewritten(-row * matrix, mul_of_neg) is -row * matrix  # three signs change, not all
    assert rewritten(row * -matrix, mul_of_neg) is -(row * matrix)


def test_a_length_that_a_constant_has_is_still_checked() -> None:
    x = TensorType("float64", (None,))("x")
    product = x * np.ones(3)
    found = rewritten(product, mul_by_one)
    assert found.type == product.type
    assert same_bits(interpret([x], [found], [np.array([1.0, 2, 3])])[0], np.array([1.0, 2, 3]))
    with pytest.raises(ValueError, match="3"):
        interpret([x], [found], [np.ones(2)])


def test_what_is_written_in_place_is_left_alone() -> None:
    x = TensorType("float64", (None,))("x")
    times = Elemwise[[TensorVariable, float]](ls.mul, inplace_pattern=((0, 0),))
    inplace = times(x, 1.0)
    assert rewritten(inplace, mul_by_one) is inplace
