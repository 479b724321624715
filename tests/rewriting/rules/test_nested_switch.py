"""Choices inside choices, and choices of truth values."""

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, TensorType, interpret, lt
from lamella.rewriting import NodeRewriter
from lamella.rewriting.rules.nested_switch import switch_of_not, switch_of_one_and_zero, switch_of_switch
from tests.rewriting.rules.special_values import Expression, check_law, check_stays, rewritten

FEW = ("float32", "int64")

LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[tuple[str, ...], ...]]] = [
    (
        switch_of_not,
        lambda c, x, y: lt.switch(lt.logical_not(c), x, y),
        lambda c, x, y: lt.switch(c, y, x),
        (("bool", *FEW), ("float64", *FEW), ("int8", *FEW)),
    ),
    (switch_of_not, lambda c, x, y: lt.switch(~c, x, y), lambda c, x, y: lt.switch(c, y, x), (("bool", *FEW),)),
    (
        switch_of_switch,
        lambda c, x, y: lt.switch(c, lt.switch(c, x, 5), y),
        lambda c, x, y: lt.switch(c, x, y),
        (("bool", "float32", "float32"), ("float64", "int64", "int64")),
    ),
    (
        switch_of_switch,
        lambda c, x, y: lt.switch(c, x, lt.switch(c, 5, y)),
        lambda c, x, y: lt.switch(c, x, y),
        (("bool", "float32", "float32"), ("float64", "int64", "int64")),
    ),
    (
        switch_of_switch,
        lambda c, x, y: lt.switch(c, lt.switch(c, x, np.float64(5)), y),
        lambda c, x, y: lt.switch(c, lt.cast(x, "float64"), y),
        (("bool", "int64", "float32"), ("bool", "float32", "complex64")),
    ),
    (switch_of_one_and_zero, lambda c: lt.switch(c, 1, 0), lambda c: lt.cast(c, "int64"), (("bool",),)),
    (switch_of_one_and_zero, lambda c: lt.switch(c, 1.0, 0.0), lambda c: lt.cast(c, "float64"), (("bool",),)),
    (
        switch_of_one_and_zero,
        lambda c: lt.switch(c, np.float32(0), np.float32(1)),
        lambda c: lt.cast(lt.logical_not(c), "float32"),
        (("bool",),),
    ),
    (switch_of_one_and_zero, lambda c: lt.switch(c, True, False), lambda c: c, (("bool",),)),
    (switch_of_one_and_zero, lambda c: lt.switch(c, False, True), lt.logical_not, (("bool",),)),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[tuple[str, ...], ...]) -> None:
    for of in dtypes:
        check_law(rule, before, after, of)


STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (switch_of_not, lambda c, x, y: lt.switch(~c, x, y), ("int64", *FEW)),
    (switch_of_switch, lambda c, x, y: lt.switch(c, lt.switch(lt.isnan(x), x, y), y), ("bool", *FEW)),
    (switch_of_switch, lambda c, x, y: lt.switch(c, x, lt.switch(y, y, x)), ("bool", *FEW)),
    (switch_of_one_and_zero, lambda c: lt.switch(c, 1.0, -0.0), ("bool",)),
    (switch_of_one_and_zero, lambda c: lt.switch(c, 1, 2), ("bool",)),
    (switch_of_one_and_zero, lambda c: lt.switch(c, 1, 0), ("float64",)),
]


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    check_stays(rule, expression, dtypes)


def test_an_operand_that_makes_the_result_larger_stays() -> None:
    c, x, y = TensorType("bool", (1, 3))("c"), TensorType("float64", (1, 3))("x"), TensorType("float64", (2, 3))("y")
    rows = TensorType("float64", (None, 3))("rows")
    for nested in (lt.switch(c, lt.switch(c, x, y), x), lt.switch(c, lt.switch(c, x, rows), x)):
        assert rewritten(nested, switch_of_switch) is nested


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_a_zero_branch_is_not_moved_out_of_a_quotient(dtype: str) -> None:
    c, x, y = TensorType("bool", ())("c"), TensorType(dtype, ())("x"), TensorType(dtype, ())("y")
    rules = (switch_of_not, switch_of_switch, switch_of_one_and_zero)
    first, second = [rewritten(e, *rules) for e in (lt.switch(c, 0.0, x) / y, lt.switch(c, x, 0.0) / y)]
    values = interpret([c, x, y], [first, second], [np.array(False), np.array(6, dtype), np.array(2, dtype)])
    assert [float(v) for v in values] == [3.0, 0.0]
