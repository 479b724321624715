"""Functions of their inverse functions."""

import numpy as np
import pytest

from lamella.ir import TensorType, interpret, lt
from lamella.rewriting.rules.inverses import (
    divide_by_reciprocal,
    inverse_of_function,
    reciprocal_of_divide,
    reciprocal_of_reciprocal,
)
from tests.rewriting.rules.special_values import rewritten, same_bits, special_values
from tests.rewriting.rules.stable_forms import StableForm, check_left_alone, check_stable_form

NAN = np.nan

FORMS = [
    StableForm((inverse_of_function,), lambda x: lt.arcsinh(lt.sinh(x)), lambda x: x, lambda x: x, [1000.0, -800.0]),
    StableForm((inverse_of_function,), lambda x: lt.arctanh(lt.tanh(x)), lambda x: x, lambda x: x, [30.0, -10.0]),
    StableForm((inverse_of_function,), lambda x: lt.arccosh(lt.cosh(x)), lt.abs, abs, [1000.0, 1e-9, -1e-5]),
    StableForm((inverse_of_function,), lambda x: lt.log2(lt.exp2(x)), lambda x: x + 0.0, lambda x: x, [2000.0, 1e-20]),
    StableForm((inverse_of_function,), lambda x: lt.sinh(lt.arcsinh(x)), lambda x: x, lambda x: x, []),
    StableForm(
        (inverse_of_function,),
        lambda x: lt.tanh(lt.arctanh(x)),
        lambda x: lt.switch(lt.abs(x) <= 1, x, NAN),
        lambda x: x,
        [],
    ),
    StableForm(
        (inverse_of_function,), lambda x: lt.cosh(lt.arccosh(x)), lambda x: lt.switch(x >= 1, x, NAN), lambda x: x, []
    ),
    StableForm(
        (inverse_of_function,),
        lambda x: lt.exp2(lt.log2(x)),
        lambda x: lt.switch(x >= 0, lt.abs(x), NAN),
        lambda x: x,
        [],
    ),
    StableForm(
        (reciprocal_of_reciprocal,),
        lambda x: lt.reciprocal(lt.reciprocal(x)),
        lambda x: x,
        lambda x: x,
        [1e-310, -5e-324, 1.7e308],
    ),
    StableForm(
        (reciprocal_of_divide,),
        lambda x, y: lt.reciprocal(x / y),
        lambda x, y: y / x,
        lambda x, y: y / x,
        [(1e200, 1e-109), (-1e300, 1e-10)],
    ),
    StableForm(
        (divide_by_reciprocal,),
        lambda x, y: x / lt.reciprocal(y),
        lambda x, y: x * y,
        lambda x, y: x * y,
        [(1e10, 1e-310), (2.0, -5e-320)],
    ),
]


@pytest.mark.parametrize("form", FORMS)
def test_stable_forms(form: StableForm) -> None:
    check_stable_form(form)


@pytest.mark.parametrize("form", [form for form in FORMS if form.before.__code__.co_argcount == 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_and_zeros_of_both_signs_stay_what_they_were(form: StableForm, dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    ordinary = special_values(dtype)
    ordinary = ordinary[(np.abs(ordinary) < 10) & ((np.abs(ordinary) > 0.05) | (ordinary == 0)) | np.isnan(ordinary)]
    plain = form.before(x)
    old, new = interpret([x], [plain, rewritten(plain, *form.rules)], [ordinary])
    assert same_bits(np.isnan(old), np.isnan(new))
    assert same_bits(np.signbit(old[~np.isnan(old)]), np.signbit(new[~np.isnan(new)]))


def test_what_is_no_such_form_is_left_alone() -> None:
    check_left_alone(inverse_of_function, lambda x: lt.arcsinh(lt.cosh(x)), "float64")
    check_left_alone(inverse_of_function, lambda x: lt.arcsinh(lt.sinh(x)), "complex128")
    check_left_alone(inverse_of_function, lambda x: lt.arctan(lt.tan(x)), "float64")
    check_left_alone(reciprocal_of_reciprocal, lambda x: lt.reciprocal(lt.reciprocal(x)), "int64", "complex128")
    check_left_alone(divide_by_reciprocal, lambda x, y: lt.reciprocal(x) / y, "float64")
