"""Comparisons whose outcome is known, and negated ones: not fooled by NaN."""

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, INTEGER_DTYPES, TensorVariable, lt
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.comparisons import (
    comparison_of_negs,
    comparison_with_bound,
    comparison_with_itself,
    comparison_with_special_float,
    finiteness_of_integers,
    finiteness_of_negated,
    less_than_zero,
    not_of_comparison,
    truth_compared_with_number,
)
from tests.rewriting.rules.special_values import REAL, Expression, check_law, check_stays

DISCRETE = (*INTEGER_DTYPES, "bool")


def yes(x: TensorVariable) -> TensorVariable:
    return lt.second(x, np.True_)


def no(x: TensorVariable) -> TensorVariable:
    return lt.second(x, np.False_)


LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (comparison_with_itself, lambda x: x < x, no, (*REAL, "bool", "complex128")),
    (comparison_with_itself, lambda x: x > x, no, (*REAL, "bool", "complex128")),
    (comparison_with_itself, lambda x: x <= x, yes, DISCRETE),
    (comparison_with_itself, lambda x: x >= x, yes, DISCRETE),
    (comparison_with_itself, lambda x: lt.eq(x, x), yes, DISCRETE),
    (comparison_with_itself, lambda x: lt.neq(x, x), no, DISCRETE),
    (comparison_with_bound, lambda x: x < 300, yes, ("int8", "uint8")),
    (comparison_with_bound, lambda x: x >= 300, no, ("int8", "uint8")),
    (comparison_with_bound, lambda x: lt.gt(300, x), yes, ("int8", "uint8")),
    (comparison_with_bound, lambda x: x >= 0, yes, ("uint8", "uint64", "bool")),
    (comparison_with_bound, lambda x: x < 0, no, ("uint8", "uint64", "bool")),
    (comparison_with_bound, lambda x: x > -1, yes, ("uint8", "uint64")),
    (comparison_with_bound, lambda x: x <= 127, yes, ("int8",)),
    (comparison_with_bound, lambda x: lt.eq(x, -1), no, ("uint8", "uint64")),
    (comparison_with_bound, lambda x: lt.neq(x, 2**63), yes, ("int64",)),
    (comparison_with_bound, lambda x: lt.shape_i(x, 0) >= 0, lambda x: yes(lt.shape_i(x, 0)), ("float64",)),
    (comparison_with_bound, lambda x: lt.shape_i(x, 0) < 0, lambda x: no(lt.shape_i(x, 0)), ("float64",)),
    (less_than_zero, lambda x: lt.square(x) < 0, lambda x: no(lt.square(x)), FLOAT_DTYPES),
    (less_than_zero, lambda x: lt.gt(0, lt.sqrt(x)), lambda x: no(lt.sqrt(x)), FLOAT_DTYPES),
    (not_of_comparison, lambda x, y: lt.logical_not(lt.eq(x, y)), lt.neq, (*REAL, "bool", "complex128")),
    (not_of_comparison, lambda x, y: ~lt.neq(x, y), lt.eq, (*REAL, "bool", "complex128")),
    (not_of_comparison, lambda x, y: lt.logical_not(x < y), lambda x, y: x >= y, DISCRETE),
    (not_of_comparison, lambda x, y: lt.logical_not(x <= y), lambda x, y: x > y, DISCRETE),
    (not_of_comparison, lambda x, y: ~(x > y), lambda x, y: x <= y, DISCRETE),
    (not_of_comparison, lambda x, y: ~(x >= y), lambda x, y: x < y, DISCRETE),
    (comparison_with_special_float, lambda x: x < np.nan, no, REAL),
    (comparison_with_special_float, lambda x: lt.neq(np.nan, x), yes, REAL),
    (comparison_with_special_float, lambda x: x > np.inf, no, REAL),
    (comparison_with_special_float, lambda x: lt.gt(-np.inf, x), no, REAL),
    (comparison_of_negs, lambda x, y: -x < -y, lambda x, y: x > y, FLOAT_DTYPES),
    (comparison_of_negs, lambda x, y: lt.eq(-x, -y), lt.eq, FLOAT_DTYPES),
    (comparison_of_negs, lambda x: -x >= 2, lambda x: x <= -2, FLOAT_DTYPES),
    (comparison_of_negs, lambda x: lt.lt(0.0, -x), lambda x: lt.gt(-0.0, x), FLOAT_DTYPES),
    (truth_compared_with_number, lambda x: lt.eq(x, True), lambda x: x, ("bool",)),
    (truth_compared_with_number, lambda x: lt.neq(lt.cast(x, "float64"), 0), lambda x: x, ("bool",)),
    (truth_compared_with_number, lambda x: lt.gt(1, lt.cast(x, "int8")), lt.logical_not, ("bool",)),
    (truth_compared_with_number, lambda x: x > 0.5, lambda x: x, ("bool",)),
    (finiteness_of_integers, lambda x: lt.isnan(x), no, DISCRETE),
    (finiteness_of_integers, lambda x: lt.isinf(x), no, DISCRETE),
    (finiteness_of_integers, lambda x: lt.isfinite(x), yes, DISCRETE),
    (finiteness_of_negated, lambda x: lt.isnan(-x), lt.isnan, FLOAT_DTYPES),
    (finiteness_of_negated, lambda x: lt.isfinite(lt.abs(x)), lt.isfinite, FLOAT_DTYPES),
]

STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (comparison_with_itself, lambda x: lt.eq(x, x), (*FLOAT_DTYPES, "complex128")),
    (comparison_with_itself, lambda x: lt.neq(x, x), (*FLOAT_DTYPES, "complex128")),
    (comparison_with_itself, lambda x: x <= x, FLOAT_DTYPES),
    (comparison_with_itself, lambda x, y: x < y, ("int64",)),
    (comparison_with_bound, lambda x: x < 127, ("int8",)),
    (comparison_with_bound, lambda x: x > 0, ("uint8",)),
    (comparison_with_bound, lambda x: lt.eq(x, 127), ("int8",)),
    (comparison_with_bound, lambda x: x <= float(2**63), ("int64",)),
    (comparison_with_bound, lambda x: lt.square(x) >= 0, ("int8", "int64")),
    (comparison_with_bound, lambda x: lt.square(x) >= 0, ("float64",)),
    (less_than_zero, lambda x: x < 0, FLOAT_DTYPES),
    (less_than_zero, lambda x: lt.lt(0, lt.square(x)), FLOAT_DTYPES),
    (less_than_zero, lambda x: lt.square(x) < 0, ("int8",)),
    (not_of_comparison, lambda x, y: lt.logical_not(x < y), FLOAT_DTYPES),
    (not_of_comparison, lambda x, y: lt.logical_not(x >= y), FLOAT_DTYPES),
    (comparison_with_special_float, lambda x: x >= np.inf, FLOAT_DTYPES),
    (comparison_with_special_float, lambda x: lt.eq(x, -np.inf), FLOAT_DTYPES),
    (comparison_with_special_float, lambda x: lt.lt(-np.inf, x), FLOAT_DTYPES),
    (comparison_of_negs, lambda x, y: -x < -y, ("int8", "int64", "uint8")),
    (comparison_of_negs, lambda x, y: -x < y, FLOAT_DTYPES),
    (truth_compared_with_number, lambda x: lt.eq(x, 2), ("bool",)),
    (truth_compared_with_number, lambda x: lt.eq(x, 1), ("int8", "float64")),
    (finiteness_of_integers, lambda x: lt.isnan(x), FLOAT_DTYPES),
    (finiteness_of_negated, lambda x: lt.isnan(1 / x), FLOAT_DTYPES),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)


def test_integers_of_two_dtypes_are_compared_exactly() -> None:
    check_law(comparison_with_bound, lambda x: x < np.uint64(2**63), yes, "int64")
    check_law(comparison_with_bound, lambda x: x >= np.int64(-1), yes, "uint64")
    check_law(not_of_comparison, lambda x, y: ~(x < y), lambda x, y: x >= y, ("int64", "uint64"))
