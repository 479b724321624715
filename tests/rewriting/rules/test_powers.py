"""Powers by known numbers, squares and roots."""

import math

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, INTEGER_DTYPES, SIGNED_DTYPES, TensorType, TensorVariable, constant, interpret, lt
from lamella.rewriting import NodeRewriter, rewrite_graph
from lamella.rewriting.rules.powers import (
    abs_of_nonnegative,
    even_function_of_negated,
    even_of_negated,
    integer_power,
    mul_by_itself,
    mul_of_reciprocal,
    one_divided,
    power_by_half,
    power_by_halves,
    power_by_other_halves,
    power_by_small_integer,
    power_by_unit,
    product_of_abs,
    reciprocal_of_neg,
    sqrt_of_square,
    square_of_sqrt,
)
from tests.rewriting.rules.special_values import (
    REAL,
    Expression,
    check_law,
    check_stays,
    rewritten,
    same_bits,
    special_values,
)

LAWS: list[tuple[NodeRewriter, Expression, Expression, tuple[str, ...]]] = [
    (power_by_unit, lambda x: x**0, lambda x: lt.second(x, constant(1, dtype=x.dtype)), REAL),
    (power_by_unit, lambda x: x**1, lambda x: x, REAL),
    (power_by_unit, lambda x: x**2, lt.square, REAL),
    (power_by_unit, lambda x: x**-1, lt.reciprocal, FLOAT_DTYPES),
    (power_by_unit, lambda x: x ** np.float64(2), lambda x: lt.square(lt.cast(x, "float64")), ("int64", "float32")),
    (integer_power, lambda x: x**3, lambda x: x * lt.square(x), INTEGER_DTYPES),
    (integer_power, lambda x: x**4, lambda x: lt.square(lt.square(x)), INTEGER_DTYPES),
    (integer_power, lambda x: x**6, lambda x: lt.square(x) * lt.square(lt.square(x)), INTEGER_DTYPES),
    (mul_by_itself, lambda x: x * x, lt.square, REAL),
    (one_divided, lambda x: 1 / x, lt.reciprocal, FLOAT_DTYPES),
    (one_divided, lambda x: 1 / x, lambda x: lt.reciprocal(lt.cast(x, "float64")), ("int32", "int64", "uint64")),
    (reciprocal_of_neg, lambda x: lt.reciprocal(-x), lambda x: -lt.reciprocal(x), FLOAT_DTYPES),
    (even_of_negated, lambda x: lt.square(-x), lt.square, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (even_of_negated, lambda x: lt.square(lt.abs(x)), lt.square, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (even_of_negated, lambda x: lt.abs(-x), lt.abs, (*FLOAT_DTYPES, *SIGNED_DTYPES)),
    (abs_of_nonnegative, lambda x: lt.abs(lt.exp(x)), lt.exp, FLOAT_DTYPES),
    (abs_of_nonnegative, lambda x: lt.abs(lt.square(x)), lt.square, FLOAT_DTYPES),
    (abs_of_nonnegative, lambda x: lt.abs(x), lambda x: x, ("bool", "uint8", "uint64")),
    (
        power_by_halves,
        lambda x: x**0.5,
        lambda x: lt.switch(lt.eq(x, -math.inf), math.inf, lt.sqrt(x) + 0.0),
        FLOAT_DTYPES,
    ),
    (even_function_of_negated, lambda x: lt.cos(-x), lt.cos, FLOAT_DTYPES),
    (even_function_of_negated, lambda x: lt.cosh(lt.abs(x)), lt.cosh, FLOAT_DTYPES),
    (product_of_abs, lambda x, y: lt.abs(x) * lt.abs(y), lambda x, y: lt.abs(x * y), FLOAT_DTYPES),
    (product_of_abs, lambda x, y: lt.abs(x) / lt.abs(y), lambda x, y: lt.abs(x / y), FLOAT_DTYPES),
]

STAY: list[tuple[NodeRewriter, Expression, tuple[str, ...]]] = [
    (power_by_unit, lambda x: x ** np.int8(-1), ("int8",)),
    (power_by_unit, lambda x: x**2, ("complex128",)),
    (power_by_unit, lambda x: x**1.5, FLOAT_DTYPES),
    (power_by_unit, lambda x: x**np.nan, FLOAT_DTYPES),
    (power_by_unit, lambda x, y: x**y, FLOAT_DTYPES),
    (power_by_half, lambda x: x**0.5, FLOAT_DTYPES),
    (power_by_half, lambda x: lt.sqrt(x) ** 0.5, FLOAT_DTYPES),
    (power_by_half, lambda x: (lt.exp(x) - 1) ** 0.5, FLOAT_DTYPES),
    (integer_power, lambda x: x**3, FLOAT_DTYPES),
    (integer_power, lambda x: x ** np.array(65, x.dtype), ("int64",)),
    (power_by_small_integer, lambda x: x**9, FLOAT_DTYPES),
    (power_by_small_integer, lambda x: x**2.5, FLOAT_DTYPES),
    (power_by_small_integer, lambda x: x**np.inf, FLOAT_DTYPES),
    (power_by_small_integer, lambda x: x**np.nan, FLOAT_DTYPES),
    (power_by_small_integer, lambda x: x**3, ("complex128",)),
    (mul_by_itself, lambda x: x * x, ("bool", "complex128")),
    (mul_by_itself, lambda x, y: x * y, ("float64",)),
    (one_divided, lambda x: 1 / x, ("complex128",)),
    (even_of_negated, lambda x: lt.abs(-x), ("uint8", "complex128")),
    (even_of_negated, lambda x: lt.square(lt.abs(x)), ("complex128",)),
    (abs_of_nonnegative, lambda x: lt.abs(lt.sqrt(x)), FLOAT_DTYPES),
    (abs_of_nonnegative, lambda x: lt.abs(lt.square(x)), ("int8",)),
    (sqrt_of_square, lambda x: lt.sqrt(lt.square(x)), ("int64", "complex128")),
    (square_of_sqrt, lambda x: lt.square(lt.sqrt(x)), ("complex128",)),
    (power_by_halves, lambda x: x**0.25, FLOAT_DTYPES),
    (power_by_halves, lambda x: x**0.5, ("complex128",)),
    (power_by_other_halves, lambda x: x**2.5, FLOAT_DTYPES),
    (even_function_of_negated, lambda x: lt.sin(-x), FLOAT_DTYPES),
    (product_of_abs, lambda x, y: lt.abs(x) * lt.abs(y), ("int8", "int64", "complex128")),
    (product_of_abs, lambda x, y: lt.abs(x) * y, FLOAT_DTYPES),
    (mul_of_reciprocal, lambda x, y: lt.reciprocal(x) * lt.reciprocal(y), FLOAT_DTYPES),
]


@pytest.mark.parametrize(("rule", "before", "after", "dtypes"), LAWS)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_law(rule, before, after, dtype)


@pytest.mark.parametrize(("rule", "expression", "dtypes"), STAY)
def test_what_would_change_something_stays(rule: NodeRewriter, expression: Expression, dtypes: tuple[str, ...]) -> None:
    for dtype in dtypes:
        check_stays(rule, expression, dtype)


def test_half_a_power_is_a_root_where_zeros_and_infinities_cannot_tell() -> None:
    for dtype in FLOAT_DTYPES:
        x = TensorType(dtype, (None,))("x")
        for base in (lt.exp(x), lt.square(x), lt.abs(x)):
            assert rewritten(base**0.5, power_by_half) is lt.sqrt(base)
            # NumPy takes the power of a single number, and the root of several.
            for old, new in [
                interpret([x], [base**0.5, lt.sqrt(base)], [v]) for v in np.split(special_values(dtype), 25)
            ]:
                np.testing.assert_array_max_ulp(old, new, 1)


def test_an_error_of_integers_stays() -> None:
    x = TensorType("int64", (None,))("x")
    found = rewrite_graph(x ** np.int64(-1), include=("fast_run",), exclude=("fusion", "inplace"))
    with pytest.raises(ValueError, match="power"):
        interpret([x], [found], [np.array([2])])


@pytest.mark.parametrize("exponent", [3, 4, 5, 6, 7, 8, -2, -3, -4, -5, -8])
def test_a_few_products_for_a_power(exponent: int) -> None:
    for dtype in ("float32", "float64"):
        x = TensorType(dtype, (None,))("x")
        found = rewritten(x**exponent, power_by_small_integer)
        assert found.type == (x**exponent).type
        assert "power" not in str(found.owner)
        specials = special_values(dtype)
        values = np.concatenate(
            [specials[np.abs(specials) != np.finfo(dtype).max], np.linspace(-3, 3, 101, dtype=dtype)]
        )
        old, new = interpret([x], [x**exponent, found], [values])
        assert same_bits(np.isnan(old), np.isnan(new))
        assert same_bits(np.sign(old), np.sign(new))
        assert same_bits(np.signbit(old[~np.isnan(old)]), np.signbit(new[~np.isnan(new)]))
        np.testing.assert_allclose(old, new, rtol=8 * float(np.finfo(dtype).eps), atol=0)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_root_of_square_and_square_of_root(dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    root, square = rewritten(lt.sqrt(lt.square(x)), sqrt_of_square), rewritten(lt.square(lt.sqrt(x)), square_of_sqrt)
    assert root is lt.abs(x)
    values = special_values(dtype)
    exact_root, exact_square = interpret([x], [root, square], [values])
    assert same_bits(exact_root, np.abs(values))
    expected = np.array([abs(float(v)) if v >= 0 else math.nan for v in values], dtype)
    assert same_bits(exact_square, expected)


def test_the_two_are_told_apart() -> None:
    x = TensorType("float64", (None,))("x")
    values = [np.array([-3.0, 0.0, 2.0])]
    for include in ("fast_run", "fast_compile", "canonicalize", "stabilize", "specialize"):
        found = rewrite_graph(
            [lt.sqrt(lt.square(x)), lt.square(lt.sqrt(x))], include=(include,), exclude=("nan_unsafe", "inplace")
        )
        root, square = interpret([x], found, values)
        np.testing.assert_allclose(root, [3, 0, 2], rtol=1e-15)
        np.testing.assert_allclose(square, [np.nan, 0, 2], rtol=1e-15)


def test_the_square_of_the_root_of_what_is_not_negative() -> None:
    x = TensorType("float64", (None,))("x")
    assert rewritten(lt.square(lt.sqrt(lt.exp(x))), square_of_sqrt, abs_of_nonnegative) is lt.exp(x)


def test_roots_of_squares_that_overflow() -> None:
    x = TensorType("float64", (None,))("x")
    found: list[TensorVariable] = rewrite_graph(
        [lt.sqrt(x * x), (x**2) ** 0.5], include=("fast_run",), exclude=("nan_unsafe", "inplace")
    )
    for value in interpret([x], found, [np.array([1e200, 1e-200, -5e-324])]):
        assert value.tolist() == [1e200, 1e-200, 5e-324]


def test_halves_of_powers_round_twice_but_are_infinite_and_nan_where_powers_are() -> None:
    for dtype in ("float32", "float64"):
        x = TensorType(dtype, (None,))("x")
        for exponent in (-0.5, 1.5):
            plain = x**exponent
            found = rewritten(plain, power_by_other_halves)
            assert found is not plain
            old, new = interpret([x], [plain, found], [special_values(dtype)])
            limits = np.finfo(dtype)
            np.testing.assert_allclose(new, old, rtol=8 * float(limits.eps), atol=float(limits.smallest_subnormal))
            assert same_bits(np.signbit(old[~np.isnan(old)]), np.signbit(new[~np.isnan(new)]))


def test_products_with_reciprocals_are_quotients_if_that_saves_an_operation() -> None:
    x, y, s = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("y"), TensorType("float64", (1,))("s")
    assert rewritten(x * lt.reciprocal(y), mul_of_reciprocal) is x / y
    assert rewritten(lt.reciprocal(y) * x, mul_of_reciprocal) is x / y
    for kept in (x * lt.reciprocal(s), lt.reciprocal(y) * lt.exp(lt.reciprocal(y))):
        assert rewritten(kept, mul_of_reciprocal) is kept
    tiny = [np.array([5e-324, 2.0]), np.array([5e-324, 4.0])]
    assert interpret([x, y], [x / y], tiny)[0].tolist() == [1.0, 0.5]
