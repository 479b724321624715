"""Products, quotients and roots of exponentials."""

import pytest

from lamella.ir import FunctionGraph, TensorType, lt
from lamella.rewriting import EquilibriumGraphRewriter, NodeRewriter
from lamella.rewriting.rules.exponents import product_of_exps, quotient_of_exps, reciprocal_of_exp, sqrt_of_exp
from tests.rewriting.rules.special_values import rewritten
from tests.rewriting.rules.stable_forms import StableForm, check_left_alone, check_stable_form

FORMS = [
    StableForm(
        (product_of_exps,),
        lambda x, y: lt.exp(x) * lt.exp(y),
        lambda x, y: lt.exp(x + y),
        lambda x, y: (x + y).exp(),
        [(800.0, -799.0), (-1000.0, 1001.5)],
    ),
    StableForm(
        (quotient_of_exps,),
        lambda x, y: lt.exp(x) / lt.exp(y),
        lambda x, y: lt.exp(x - y),
        lambda x, y: (x - y).exp(),
        [(800.0, 799.0), (-1000.0, -1001.5)],
    ),
    StableForm(
        (reciprocal_of_exp,),
        lambda x: lt.reciprocal(lt.exp(x)),
        lambda x: lt.exp(-x),
        lambda x: (-x).exp(),
        [-708.9, 720.0],
    ),
    StableForm(
        (sqrt_of_exp,),
        lambda x: lt.sqrt(lt.exp(x)),
        lambda x: lt.exp(x * 0.5),
        lambda x: (x / 2).exp(),
        [800.0, -1000.0, -740.0],
    ),
]


@pytest.mark.parametrize("form", FORMS)
def test_stable_forms(form: StableForm) -> None:
    check_stable_form(form)


RULES: list[NodeRewriter] = [product_of_exps, quotient_of_exps, reciprocal_of_exp, sqrt_of_exp]


def test_an_exponential_that_is_needed_otherwise_is_not_computed_twice() -> None:
    x, y = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("y")
    a, b = lt.exp(x), lt.exp(y)
    for result in (a * b, a / b, lt.sqrt(a), lt.reciprocal(a)):
        old = FunctionGraph([x, y], [result, a])
        assert EquilibriumGraphRewriter(RULES).rewrite(old).outputs == old.outputs


def test_exponentials_of_fewer_elements_stay() -> None:
    x, row = TensorType("float64", (None, None))("x"), TensorType("float64", (1, None))("r")
    for result in (lt.exp(x) * lt.exp(row), lt.exp(row) / lt.exp(x)):
        assert rewritten(result, *RULES) is result


def test_what_is_no_such_form_is_left_alone() -> None:
    check_left_alone(product_of_exps, lambda x: lt.exp(x) * lt.exp(x), "float64")
    check_left_alone(product_of_exps, lambda x, y: lt.exp(x) * lt.exp2(y), "float64")
    check_left_alone(product_of_exps, lambda x, y: lt.exp(x) * lt.exp(y), "complex128")
    check_left_alone(quotient_of_exps, lambda x, y: lt.exp(x) / y, "float64")
    check_left_alone(reciprocal_of_exp, lambda x: lt.reciprocal(lt.exp(x)), "complex128", "int64")
    check_left_alone(sqrt_of_exp, lambda x: lt.sqrt(lt.expm1(x)), "float64")
