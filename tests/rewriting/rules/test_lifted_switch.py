"""Choices moved out of what is computed from them."""

import numpy as np
import pytest

from lamella.ir import INTEGER_DTYPES, TensorType, TensorVariable, grad, interpret, lt
from lamella.rewriting import NodeRewriter, rewrite_graph
from lamella.rewriting.rules.lifted_switch import annihilating_mul_of_switch, ufunc_of_switches
from tests.rewriting.rules.special_values import REAL, Expression, check_law, check_stays, rewritten


def choice(x: TensorVariable, a: object, b: object) -> TensorVariable:
    return lt.switch(x > 0.5, a, b)  # type: ignore[arg-type]  # numbers or tensors


LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (ufunc_of_switches, lambda x: choice(x, 1.0, 2.0) * 3, lambda x: choice(x, 3.0, 6.0), REAL),
    (ufunc_of_switches, lambda x: 1 / choice(x, 0.0, -0.0), lambda x: choice(x, np.inf, -np.inf), REAL),
    (ufunc_of_switches, lambda x: lt.exp(choice(x, 0.0, np.nan)), lambda x: choice(x, 1.0, np.nan), REAL),
    (ufunc_of_switches, lambda x: lt.cast(choice(x, 1, 0), "float32"), lambda x: choice(x, *_f32(1, 0)), REAL),
    (ufunc_of_switches, lambda x: choice(x, 1, 2) < choice(x, 2, 1), lambda x: choice(x, True, False), REAL),
    (
        ufunc_of_switches,
        lambda x, y: choice(x, 1.0, y) + choice(x, -0.0, x),
        lambda x, y: choice(x, 1.0, lt.add(y, x)),
        ("float64", "float32"),
    ),
    (
        ufunc_of_switches,
        lambda x, y: lt.maximum(choice(x, x, 2), choice(x, y, 3)),
        lambda x, y: choice(x, lt.maximum(x, y), np.array(3, x.dtype)),
        ("float64", "int8"),
    ),
    (
        annihilating_mul_of_switch,
        lambda x, y: lt.annihilating_mul(choice(x, np.array(1, x.dtype), 0), y),
        lambda x, y: choice(x, y, 0),
        ("float64", "float32"),
    ),
    (
        annihilating_mul_of_switch,
        lambda x, y: lt.annihilating_mul(choice(x, np.array(-0.0, x.dtype), -2), y),
        lambda x, y: choice(x, 0, np.array(-2, x.dtype) * y),
        ("float64", "float32"),
    ),
    (
        annihilating_mul_of_switch,
        lambda x, y: lt.annihilating_mul(lt.cast(x > 0, x.dtype), y),
        lambda x, y: lt.switch(x > 0, y, np.array(0, x.dtype)),
        ("float64", "float32"),
    ),
]


def _f32(*numbers: float) -> list[np.float32]:
    return [np.float32(number) for number in numbers]


STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (ufunc_of_switches, lambda x: choice(x, x, 2.0) * 3, ("float64",)),
    (ufunc_of_switches, lambda x: choice(x, 1.0, 2.0) * x, ("float64",)),
    (ufunc_of_switches, lambda x, y: choice(x, 1.0, 2.0) * choice(y, 1.0, 2.0), ("float64",)),
    (ufunc_of_switches, lambda x, y: choice(x, x, 2.0) * choice(x, 3.0, y), ("float64",)),
    (ufunc_of_switches, lambda x: lt.power(choice(x, 2, 3), choice(x, 1, 0)), INTEGER_DTYPES),  # which may be an error
    (annihilating_mul_of_switch, lambda x: lt.annihilating_mul(choice(x, np.nan, 0.0), x), ("float64",)),
    (annihilating_mul_of_switch, lambda x: lt.annihilating_mul(choice(x, 1.0, 2.0), x), ("float64",)),
    (annihilating_mul_of_switch, lambda x, y: lt.annihilating_mul(choice(x, y, 0.0), x), ("float64",)),
    (annihilating_mul_of_switch, lambda x: choice(x, 1.0, 0.0) * x, ("float64",)),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_not_pay_or_change_something_stays(
    rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]
) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)


def test_a_choice_of_fewer_elements_stays() -> None:
    row, matrix = TensorType("float64", (1, None))("r"), TensorType("float64", (None, None))("m")
    kept = lt.annihilating_mul(choice(row, 1.0, 0.0), matrix)
    assert rewritten(kept, annihilating_mul_of_switch) is kept


def test_the_gradient_of_a_guarded_logarithm_compares_once() -> None:
    x = TensorType("float64", (None,))("x")
    slope = grad(lt.sum(lt.switch(x > 0, lt.log(x), 0.0)), x)
    found = rewrite_graph(slope, include=("fast_run",), exclude=("nan_unsafe", "fusion", "inplace"))
    assert found is lt.switch(x > 0, lt.reciprocal(x), 0.0) + 0.0
    values = [np.array([-1.0, 0.0, -0.0, 2.0, np.nan])]
    np.testing.assert_array_equal(interpret([x], [found], values)[0], [0, 0, 0, 0.5, 0])
