"""What would be right without NaN and infinities: applied only if asked for."""

import numpy as np
import pytest

from lamella.ir import TensorType, TensorVariable, interpret, lt
from lamella.rewriting import NodeRewriter, rewrite_graph
from lamella.rewriting.rules.without_nan import (
    any_comparison_with_itself,
    divide_by_itself,
    mul_by_zero,
    product_of_switch,
    sub_from_itself,
    zero_divided,
)
from tests.rewriting.rules.special_values import Expression, rewritten, same_bits, special_values


def filled(value: float) -> Expression:
    def fill(x: TensorVariable) -> TensorVariable:
        return lt.second(x, value)

    return fill


LAWS: list[tuple[NodeRewriter, Expression, Expression]] = [
    (sub_from_itself, lambda x: x - x, filled(0.0)),
    (divide_by_itself, lambda x: x / x, filled(1.0)),
    (mul_by_zero, lambda x: x * 0, filled(0.0)),
    (any_comparison_with_itself, lambda x: lt.eq(x, x), lambda x: lt.second(x, np.True_)),
    (any_comparison_with_itself, lambda x: x >= x, lambda x: lt.second(x, np.True_)),
    (any_comparison_with_itself, lambda x: lt.neq(x, x), lambda x: lt.second(x, np.False_)),
    (zero_divided, lambda x: 0 / x, filled(0.0)),
    (product_of_switch, lambda x: lt.switch(x > 0, x, 0.0) * lt.exp(x), lambda x: lt.switch(x > 0, x * lt.exp(x), 0.0)),
    (product_of_switch, lambda x: lt.exp(x) * lt.switch(x > 0, 0.0, x), lambda x: lt.switch(x > 0, 0.0, lt.exp(x) * x)),
    (product_of_switch, lambda x: lt.switch(x > 0, x, 0.0) / lt.exp(x), lambda x: lt.switch(x > 0, x / lt.exp(x), 0.0)),
]


@pytest.mark.parametrize(("rule", "before", "after"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression) -> None:
    x = TensorType("float64", (None,))("x")
    assert rewritten(before(x), rule) is after(x)
    values = [np.array([-3.0, 0.5, 2.0])]
    np.testing.assert_array_equal(*interpret([x], [before(x), after(x)], values))


@pytest.mark.parametrize("before", [law[1] for law in LAWS])
@pytest.mark.parametrize("include", ["fast_run", "fast_compile"])
def test_by_default_ieee_says_what_they_are(before: Expression, include: str) -> None:
    x = TensorType("float64", (None,))("x")
    found = rewrite_graph(before(x), include=(include,), exclude=("nan_unsafe", "inplace"))
    assert same_bits(*interpret([x], [before(x), found], [special_values("float64")]))


def test_they_are_asked_for_by_one_word() -> None:
    x = TensorType("float64", (None,))("x")
    asked = rewrite_graph(x - x, include=("fast_run", "nan_unsafe"), exclude=("inplace",))
    assert interpret([x], [asked], [np.array([np.nan])])[0].tolist() == [0.0]
