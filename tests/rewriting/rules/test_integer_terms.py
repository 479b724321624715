"""Sums and products of integers in which an operand occurs twice: exact modulo their range."""

import numpy as np
import pytest

from lamella.ir import INTEGER_DTYPES, FunctionGraph, TensorType, TensorVariable
from lamella.rewriting import EquilibriumGraphRewriter, NodeRewriter, rewrite_graph
from lamella.rewriting.rules.integer_terms import (
    integer_difference_completed,
    integer_multiples_collected,
    integer_terms_cancelled,
)
from tests.rewriting.rules.special_values import Expression, check_law, check_stays

LAWS: list[tuple[NodeRewriter, Expression, Expression]] = [
    (integer_terms_cancelled, lambda x, y: (x + y) - x, lambda x, y: y),
    (integer_terms_cancelled, lambda x, y: (x + y) - y, lambda x, y: x),
    (integer_terms_cancelled, lambda x, y: x - (x + y), lambda x, y: -y),
    (integer_terms_cancelled, lambda x, y: y - (x + y), lambda x, y: -x),
    (integer_terms_cancelled, lambda x, y: (x - y) - x, lambda x, y: -y),
    (integer_terms_cancelled, lambda x, y: x - (x - y), lambda x, y: y),
    (integer_difference_completed, lambda x, y: (x - y) + y, lambda x, y: x),
    (integer_difference_completed, lambda x, y: y + (x - y), lambda x, y: x),
    (integer_multiples_collected, lambda x: x * 2 + x * 3, lambda x: x * 5),
    (integer_multiples_collected, lambda x: x * 100 + 100 * x + x * 57, lambda x: x * 1 if "8" in x.dtype else x * 257),
    (integer_multiples_collected, lambda x: x * 3 - x, lambda x: x * 2),
    (
        integer_multiples_collected,
        lambda x: x - x * 3,
        lambda x: x * -2 if x.dtype.startswith("i") else x * _minus_2(x),
    ),
]

STAY: list[tuple[NodeRewriter, Expression]] = [
    (integer_terms_cancelled, lambda x, y: x - (y - x)),
    (integer_terms_cancelled, lambda x, y: (x * y) - x),
    (integer_difference_completed, lambda x, y: (x - y) + x),
    (integer_multiples_collected, lambda x, y: x * 2 + y * 2),
    (integer_multiples_collected, lambda x: x + x),
]


def _minus_2(x: TensorVariable) -> int:
    return int(np.iinfo(x.dtype).max) - 1


@pytest.mark.parametrize(("rule", "before", "after"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression) -> None:
    for dtype in ("int8", "uint8", "int64", "uint64"):
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression"), STAY)
def test_what_is_no_such_form_stays(rule: NodeRewriter, expression: Expression) -> None:
    for dtype in INTEGER_DTYPES:
        check_stays(rule, expression, dtype)


@pytest.mark.parametrize(("rule", "expression"), [law[:2] for law in LAWS])
def test_floats_round_and_operands_of_two_dtypes_are_others(rule: NodeRewriter, expression: Expression) -> None:
    check_stays(rule, expression, "float64")
    if expression.__code__.co_argcount == 2:
        check_stays(rule, expression, ("int8", "int64"))


def test_an_operand_that_makes_the_result_larger_stays() -> None:
    row, matrix = TensorType("int64", (1, None))("r"), TensorType("int64", (None, None))("m")
    plain = (row + matrix) - matrix
    old = FunctionGraph([row, matrix], [plain])
    assert EquilibriumGraphRewriter([integer_terms_cancelled]).rewrite(old).outputs == (plain,)


def test_errors_of_wrong_shapes_are_dropped_by_a_word() -> None:
    n, m = TensorType("int64", (None,))("n"), TensorType("int64", (None,))("m")
    assert rewrite_graph((n + m) - n, include=("canonicalize",), exclude=("nan_unsafe",)) is m
    kept = rewrite_graph((n + m) - n, include=("canonicalize",), exclude=("nan_unsafe", "shape_unsafe"))
    assert kept is (n + m) - n
