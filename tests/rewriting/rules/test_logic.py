"""Truth values with known ones, and with themselves."""

import numpy as np
import pytest

from lamella.ir import TensorVariable, lt
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.logic import logic_with_itself, logic_with_known
from tests.rewriting.rules.special_values import Expression, check_law, check_stays

DTYPES = ("bool", "int8", "uint64", "float32", "float64", "complex64")


def truth(x: TensorVariable) -> TensorVariable:
    return lt.cast(x, "bool")


def yes(x: TensorVariable) -> TensorVariable:
    return lt.second(x, np.True_)


def no(x: TensorVariable) -> TensorVariable:
    return lt.second(x, np.False_)


LAWS: list[tuple[NodeRewriter, Expression, Expression]] = [
    (logic_with_known, lambda x: lt.logical_and(x, True), truth),
    (logic_with_known, lambda x: lt.logical_and(np.nan, x), truth),
    (logic_with_known, lambda x: lt.logical_and(x, False), no),
    (logic_with_known, lambda x: lt.logical_or(x, False), truth),
    (logic_with_known, lambda x: lt.logical_or(-0.0, x), truth),
    (logic_with_known, lambda x: lt.logical_or(x, 7), yes),
    (logic_with_known, lambda x: lt.logical_xor(x, False), truth),
    (logic_with_known, lambda x: lt.logical_xor(x, True), lt.logical_not),
    (logic_with_itself, lambda x: lt.logical_and(x, x), truth),
    (logic_with_itself, lambda x: lt.logical_or(x, x), truth),
    (logic_with_itself, lambda x: lt.logical_xor(x, x), no),
]


@pytest.mark.parametrize(("rule", "before", "after"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression) -> None:
    for dtype in DTYPES:
        check_law(rule, before, after, dtype)


def test_what_is_not_known_stays() -> None:
    for dtype in DTYPES:
        check_stays(logic_with_known, lambda x, y: lt.logical_and(x, y), dtype)
        check_stays(logic_with_itself, lambda x, y: lt.logical_or(x, y), dtype)
        check_stays(logic_with_known, lambda x: lt.logical_xor(x, np.array([True, False])), dtype)
