"""Graphs for the rewrites that collect, cancel and compare: terms and factors that occur twice, numbers, choices of numbers, halves of powers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from lamella.ir import TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["SIMPLIFICATION"]

_BINARY: Final[tuple[Callable[[Any, Any], TensorVariable], ...]] = (lt.add, lt.mul, lt.maximum, lt.lt, lt.true_divide)
_NUMBERS: Final = (2.0, -3.0, 0.5, 1.0, -0.25)


def _cancelled(draw: Draw) -> TensorVariable:
    n = draw.integers()
    m = draw.like(n)
    return draw.choose((n + m) - n, (m + n) - n, n - (n + m), n - (m + n), (n - m) - n, n - (n - m))


def _completed(draw: Draw) -> TensorVariable:
    n = draw.integers()
    m = draw.like(n)
    return draw.choose((n - m) + m, m + (n - m))


def _multiples(draw: Draw, n: TensorVariable, numbers: tuple[float, ...]) -> TensorVariable:
    c, d = draw.repeated(draw.choose(*numbers), n), draw.repeated(draw.choose(*numbers), n)
    return draw.choose(n * c + n * d, c * n + n, n * c - n * d, n + n * d, n * c - n)


def _float_multiples(draw: Draw) -> TensorVariable:
    x = draw.floats()
    c, d = draw.choose((2.0, 3.0), (0.5, 0.25), (-1.5, -3.0), (1.0, 4.0))
    first, second, negative = x * draw.repeated(c, x), x * draw.repeated(d, x), x * draw.repeated(-d, x)
    return draw.choose(first + second, first - negative)


def _compared_with_special(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.floats, draw.integers)()
    special = constant(draw.choose(np.nan, np.inf, -np.inf))
    compare = draw.choose(lt.gt, lt.lt, lt.eq, lt.neq, lt.le, lt.ge)
    return compare(x, special) if draw.flag() else compare(special, x)


def _compared_negs(draw: Draw) -> TensorVariable:
    x = draw.floats()
    compare = draw.choose(lt.gt, lt.lt, lt.eq, lt.neq, lt.le, lt.ge)
    other = draw.choose(-draw.beside(x), draw.number(x))
    return compare(-x, other) if draw.flag() else compare(other, -x)


def _compared_truth(draw: Draw) -> TensorVariable:
    b = draw.booleans()
    compare = draw.choose(lt.eq, lt.neq, lt.gt, lt.ge, lt.lt, lt.le)
    x = lt.cast(b, draw.choose("bool", "int8", "float64", "uint8"))
    known = constant(draw.choose(1, 0, True, False, 0.5, 2))
    return compare(x, known) if draw.flag() else compare(known, x)


def _finiteness(draw: Draw, x: TensorVariable) -> TensorVariable:
    return draw.choose(lt.isnan, lt.isinf, lt.isfinite)(x)


def _bounds(draw: Draw) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    x = draw.tensor(draw.choose("float64", "int64", "int8"))
    low, high = draw.choose((1, 3), (-2, 5), (2, 2))
    return x, constant(low, dtype=x.dtype), constant(high, dtype=x.dtype)


def _two_extremes(draw: Draw) -> TensorVariable:
    x, low, high = _bounds(draw)
    return draw.choose(lt.minimum(lt.maximum(x, low), high), lt.maximum(low, lt.minimum(x, high)))


def _clips(draw: Draw) -> TensorVariable:
    x, low, high = _bounds(draw)
    inner = lt.clip(x, low, high)
    bound = constant(draw.choose(1, 4, -7, 9), dtype=x.dtype)
    least, greatest = [constant(value, dtype=x.dtype) for value in draw.choose((2, 4), (-9, -5), (6, 7), (1, 9))]
    return draw.choose(lt.maximum(inner, bound), lt.minimum(bound, inner), lt.clip(inner, least, greatest))


def _choice_of_numbers(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    chosen = lt.switch(c, draw.choose(1.0, 2, -0.0), draw.choose(3.0, 0, np.inf))
    one = draw.choose(lt.exp, lt.neg, lt.sqrt, lt.square)
    two = draw.choose(*_BINARY)
    return draw.choose(one(chosen), two(chosen, 2), two(0.5, chosen), two(chosen, lt.switch(c, 5, 7.5)))


def _choices_with_one_condition(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    x, y = [draw.tensor("float64", draw.shape_of(c)) for _ in range(2)]
    two = draw.choose(*_BINARY)
    if draw.flag():
        return two(lt.switch(c, 1.5, x), lt.switch(c, -0.0, y))
    return two(lt.switch(c, x, 2.0), lt.switch(c, y, 0.0))


def _annihilating_choice(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    x = draw.tensor(draw.float_dtype(), draw.shape_of(c))
    number = constant(draw.choose(1.0, -2.5), dtype=x.dtype)
    zero = constant(draw.choose(0.0, -0.0), dtype=x.dtype)
    return lt.annihilating_mul(draw.choose(lt.switch(c, number, zero), lt.switch(c, zero, number)), x)


def _product_of_choice(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    x, y = [draw.tensor("float64", draw.shape_of(c)) for _ in range(2)]
    chosen = draw.choose(lt.switch(c, x, 0.0), lt.switch(c, 0.0, x))
    return draw.choose(chosen * y, y * chosen, chosen / y)


def _abs_of_both(draw: Draw) -> TensorVariable:
    x = draw.floats()
    y = draw.like(x)
    return draw.choose(lt.abs(x) * lt.abs(y), lt.abs(x) / lt.abs(y))


def _times_reciprocal(draw: Draw) -> TensorVariable:
    y = draw.floats()
    return draw.choose(draw.like(y) * lt.reciprocal(y), lt.reciprocal(y) * draw.like(y))


def _by_power_of_two(draw: Draw) -> TensorVariable:
    n = draw.integers()
    return draw.choose(lt.floor_divide, lt.mod)(n, draw.repeated(draw.choose(2, 4, 1, 64), n))


def _zero_by(draw: Draw) -> TensorVariable:
    n = draw.integers()
    return draw.choose(lt.floor_divide, lt.mod)(draw.repeated(0, n), n)


def _terms(draw: Draw) -> TensorVariable:
    x = draw.floats()
    y = draw.like(x)
    c, d = [draw.repeated(draw.choose(*_NUMBERS), x) for _ in range(2)]
    return draw.choose((x + y) - x, (x * c + y) + x, (x + c) + d, y - (x - (y * c)), (x / c) - (-x), -x + (y + x))


def _factors(draw: Draw) -> TensorVariable:
    x = draw.floats()
    y = draw.like(x)
    c, d = [draw.repeated(draw.choose(*_NUMBERS), x) for _ in range(2)]
    return draw.choose((x * y) / y, x * (y / x), (x * c) * d, (x * c) / (y * d), y * -lt.reciprocal(y * x), x / (x * y))


SIMPLIFICATION: Final = (
    GraphsFor("integer_terms_cancelled", _cancelled),
    GraphsFor("integer_difference_completed", _completed),
    GraphsFor("integer_multiples_collected", lambda draw: _multiples(draw, draw.integers(), (2, 3, 1, 0, 100))),
    GraphsFor("divide_zero", _zero_by),
    GraphsFor("divide_integer_by_power_of_two", _by_power_of_two),
    GraphsFor("float_multiples_collected", _float_multiples),
    GraphsFor(
        "even_function_of_negated",
        lambda draw: draw.choose(lt.cos, lt.cosh)(draw.choose(lt.neg, lt.abs)(draw.floats())),
    ),
    GraphsFor("product_of_abs", _abs_of_both),
    GraphsFor("mul_of_reciprocal", _times_reciprocal),
    GraphsFor("power_by_halves", lambda draw: (x := draw.floats()) ** draw.repeated(0.5, x)),
    GraphsFor("power_by_other_halves", lambda draw: (x := draw.floats()) ** draw.repeated(draw.choose(-0.5, 1.5), x)),
    GraphsFor("comparison_with_special_float", _compared_with_special),
    GraphsFor("comparison_of_negs", _compared_negs),
    GraphsFor("truth_compared_with_number", _compared_truth),
    GraphsFor("finiteness_of_integers", lambda draw: _finiteness(draw, draw.choose(draw.integers, draw.booleans)())),
    GraphsFor("finiteness_of_negated", lambda draw: _finiteness(draw, draw.choose(lt.neg, lt.abs)(draw.floats()))),
    GraphsFor("extremes_to_clip", _two_extremes),
    GraphsFor("clip_of_clip", _clips),
    GraphsFor("ufunc_of_switches", _choice_of_numbers, _choices_with_one_condition),
    GraphsFor("annihilating_mul_of_switch", _annihilating_choice),
    GraphsFor("product_of_switch", _product_of_choice),
    GraphsFor("zero_divided", lambda draw: draw.repeated(0.0, x := draw.floats()) / x),
    GraphsFor("terms_collected", _terms),
    GraphsFor("factors_collected", _factors),
)
"""For sums, products, comparisons and choices that can be said shorter."""
