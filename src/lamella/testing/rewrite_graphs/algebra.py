"""Graphs for the rewrites of arithmetic: sums, products, powers, extremes, comparisons, truth values and choices."""

from __future__ import annotations

from typing import Final

import numpy as np

from lamella.ir import TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["ALGEBRA"]


def _with_minus_one(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.floats, draw.integers)()
    minus_one = -1 if np.dtype(x.dtype).kind in "if" else np.iinfo(x.dtype).max
    return x * draw.repeated(minus_one, x)


def _sum_or_difference(draw: Draw, n: TensorVariable, like: TensorVariable) -> TensorVariable:
    c = draw.number(like)
    return draw.choose(n + c, n - c, c - n, c + n)


def _sums_of_integers(draw: Draw) -> TensorVariable:
    n = draw.integers()
    return _sum_or_difference(draw, _sum_or_difference(draw, n, n), n)


def _powers_of_two(draw: Draw) -> TensorVariable:
    x = draw.floats()
    return x / draw.repeated(draw.choose(2.0, 1.0, -1.0, 0.5, -4.0, 1024.0, 2.0**-14), x)


def _with_bits(draw: Draw) -> TensorVariable:
    n = draw.choose(draw.integers, draw.booleans)()
    of = draw.choose(lt.bitwise_and, lt.bitwise_or, lt.bitwise_xor)
    ones = True if n.dtype == "bool" else int(np.array(-1).astype(n.dtype))
    bits = draw.repeated(draw.choose(0, ones), n)
    return of(n, bits) if draw.flag() else of(bits, n)


def _logic(draw: Draw) -> TensorVariable:
    b = draw.choose(draw.booleans, draw.anything)()
    of = draw.choose(lt.logical_and, lt.logical_or, lt.logical_xor)
    known = constant(draw.flag())
    return of(b, known) if draw.flag() else of(known, b)


def _logic_with_itself(draw: Draw) -> TensorVariable:
    b = draw.choose(draw.booleans, draw.anything)()
    return draw.choose(lt.logical_and, lt.logical_or, lt.logical_xor)(b, b)


def _without_bound(draw: Draw) -> TensorVariable:
    x = draw.floats()
    if draw.flag():
        return lt.maximum(x, draw.repeated(-np.inf, x))
    return lt.minimum(draw.repeated(np.inf, x), x)


def _bound_of_integers(draw: Draw) -> TensorVariable:
    n = draw.integers()
    limits = np.iinfo(n.dtype)
    of = draw.choose(lt.maximum, lt.minimum)
    return of(n, draw.repeated(draw.choose(int(limits.min), int(limits.max)), n))


def _two_bounds(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.floats, draw.integers)()
    of = draw.choose(lt.maximum, lt.minimum)
    return of(of(draw.number(x), x), draw.number(x))


def _clipped_on_one_side(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.floats, draw.integers)()
    if np.dtype(x.dtype).kind == "f":
        low, high = -np.inf, np.inf
    else:
        low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    if draw.flag():
        return lt.clip(x, draw.repeated(low, x), draw.beside(x))
    return lt.clip(x, draw.beside(x), draw.repeated(high, x))


def _comparison(draw: Draw, x: TensorVariable, y: TensorVariable) -> TensorVariable:
    return draw.choose(lt.eq, lt.neq, lt.lt, lt.le, lt.gt, lt.ge)(x, y)


def _compared_with_itself(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.integers, draw.booleans)()
    return _comparison(draw, x, x)


def _compared_with_bound(draw: Draw) -> TensorVariable:
    n = draw.choose(draw.integers, draw.booleans)()
    low, high = (0, 1) if n.dtype == "bool" else (int(np.iinfo(n.dtype).min), int(np.iinfo(n.dtype).max))
    near = [low - 1, low, high, high + 1]
    bound = constant(draw.choose(*[value for value in near if -(2**63) <= value < 2**63]))
    return _comparison(draw, n, bound) if draw.flag() else _comparison(draw, bound, n)


def _length_compared(draw: Draw) -> TensorVariable:
    x = draw.tensor("float64", draw.shape(1, 3), static=None)
    length = lt.shape_i(x, draw.integer(0, x.ndim - 1))
    return draw.choose(lt.ge(length, 0), lt.lt(length, 0), lt.le(0, length), lt.gt(length, -1))


def _not_of_comparison(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.integers, draw.booleans)()
    return draw.choose(lt.logical_not, lt.bitwise_not)(_comparison(draw, x, draw.beside(x)))


def _square_below_zero(draw: Draw) -> TensorVariable:
    x = draw.floats()
    zero = draw.repeated(draw.choose(0.0, -0.0), x)
    return draw.choose(lt.lt(lt.square(x), zero), lt.gt(zero, lt.abs(x)))


def _switch_of_not(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    x = draw.beside(c, draw.real_dtype())
    return lt.switch(draw.choose(lt.logical_not, lt.bitwise_not)(c), x, draw.beside(c, draw.real_dtype()))


def _switch_of_switch(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    x, y, z = [draw.tensor(dtype, draw.shape_of(c)) for dtype in (draw.real_dtype(), draw.real_dtype(), "float64")]
    return draw.choose(lt.switch(c, lt.switch(c, x, y), z), lt.switch(c, x, lt.switch(c, y, z)))


def _switch_of_one_and_zero(draw: Draw) -> TensorVariable:
    c = draw.booleans()
    zero, one = draw.choose((0, 1), (0.0, 1.0), (False, True))
    return lt.switch(c, constant(one), constant(zero)) if draw.flag() else lt.switch(c, constant(zero), constant(one))


def _collected_sums(draw: Draw) -> TensorVariable:
    x = draw.floats()
    a, b = draw.choose((1.0, 2.0), (-0.5, -3.0), (0.25, 8.0), (1.0, 1.0))
    return (draw.repeated(a, x) + x) + draw.repeated(b, x)


def _collected_products(draw: Draw) -> TensorVariable:
    x = draw.floats()
    a, b = draw.choose((2.0, 3.0), (0.5, -0.75), (-1.0, 5.0), (1.5, 1.5))
    return (draw.repeated(a, x) * x) * draw.repeated(b, x)


def _shifted(draw: Draw) -> TensorVariable:
    x = draw.floats()
    c, d = [draw.repeated(value, x) for value in draw.choose((1.0, 2.0), (0.5, 8.0), (3.0, 3.0))]
    y = draw.like(x)
    return draw.choose((x - c) - d, d - (x - c), (c - x) + d, (x + c) + (y + d), (x + c) + d)


def _scaled(draw: Draw) -> TensorVariable:
    x = draw.floats()
    c, d = [draw.repeated(value, x) for value in draw.choose((2.0, 3.0), (-1.5, 7.0), (5.0, 5.0))]
    return draw.choose((x / c) / d, (x * c) / lt.reciprocal(d), (x / c) * (1 / d), x * c * d)


def _scaled_both_ways(draw: Draw) -> TensorVariable:
    x = draw.floats()
    c, d = [draw.repeated(value, x) for value in draw.choose((3.0, 0.25), (7.0, -0.5))]
    return draw.choose((x * c) / d, (x / c) * d)


def _nested_fold(draw: Draw) -> TensorVariable:
    x = draw.choose(draw.floats, draw.integers)()
    of = draw.choose(lt.add, lt.mul)
    return of(of(x, draw.beside(x)), draw.beside(x))


ALGEBRA: Final = (
    GraphsFor(
        "mul_by_one",
        lambda draw: (x := draw.reals()) * draw.repeated(1, x),
        lambda draw: (x := draw.booleans()) * draw.repeated(True, x),
        lambda draw: lt.mul(x := draw.reals(), draw.repeated(1, x), draw.beside(x)),
    ),
    GraphsFor(
        "add_of_zero",
        lambda draw: (x := draw.floats()) + draw.repeated(-0.0, x),
        lambda draw: draw.repeated(0, x := draw.integers()) + x,
        lambda draw: lt.abs(x := draw.floats()) + draw.repeated(0.0, x),
        lambda draw: lt.add(x := draw.integers(), draw.repeated(0, x), draw.beside(x)),
        lambda draw: (x := draw.booleans()) + draw.repeated(False, x),
    ),
    GraphsFor(
        "sub_of_zero",
        lambda draw: (x := draw.reals()) - draw.repeated(0, x),
        lambda draw: draw.repeated(-0.0, x := draw.floats()) - x,
        lambda draw: draw.repeated(0, x := draw.integers()) - x,
    ),
    GraphsFor("mul_by_minus_one", _with_minus_one, lambda draw: (x := draw.floats()) * draw.repeated(-1, x)),
    GraphsFor("divide_by_number", _powers_of_two, lambda draw: draw.integers() / constant(draw.choose(2.0, 1.0, -1.0))),
    GraphsFor(
        "add_of_neg",
        lambda draw: (x := draw.reals()) + -draw.beside(x),
        lambda draw: -(x := draw.reals()) + draw.beside(x),
    ),
    GraphsFor("sub_of_neg", lambda draw: (x := draw.reals()) - -draw.beside(x)),
    GraphsFor(
        "mul_of_neg",
        lambda draw: -(x := draw.reals()) * -draw.beside(x),
        lambda draw: -(x := draw.floats()) * draw.number(x),
        lambda draw: -(x := draw.integers()) * draw.repeated(3, x),
        lambda draw: -(x := draw.reals()) * draw.beside(x),
    ),
    GraphsFor(
        "divide_of_neg",
        lambda draw: -(x := draw.floats()) / -draw.beside(x),
        lambda draw: -(x := draw.floats()) / draw.number(x),
        lambda draw: draw.number(x := draw.floats()) / -x,
        lambda draw: -(x := draw.floats()) / draw.beside(x),
    ),
    GraphsFor(
        "neg_of_mul",
        lambda draw: -((x := draw.floats()) * draw.number(x)),
        lambda draw: -((x := draw.tensor(draw.choose("int64", "int8", "int32"))) * draw.repeated(3, x)),
    ),
    GraphsFor(
        "neg_of_divide",
        lambda draw: -((x := draw.floats()) / draw.number(x)),
        lambda draw: -(draw.number(x := draw.floats()) / x),
    ),
    GraphsFor(
        "neg_of_sub",
        lambda draw: -((x := draw.integers()) - draw.beside(x)),
        lambda draw: -((x := draw.tensor(draw.choose("int64", "int8"))) + draw.repeated(3, x)),
    ),
    GraphsFor(
        "divide_integer_by_one",
        lambda draw: draw.choose(lt.floor_divide, lt.mod)(x := draw.integers(), draw.repeated(1, x)),
    ),
    GraphsFor(
        "shift_by_zero",
        lambda draw: draw.choose(lt.left_shift, lt.right_shift)(x := draw.integers(), draw.repeated(0, x)),
    ),
    GraphsFor("bits_with_number", _with_bits),
    GraphsFor("logic_with_known", _logic),
    GraphsFor("logic_with_itself", _logic_with_itself),
    GraphsFor(
        "integer_and_itself",
        lambda draw: draw.choose(lt.bitwise_and, lt.bitwise_or)(x := draw.choose(draw.integers, draw.booleans)(), x),
    ),
    GraphsFor("extreme_of_itself", lambda draw: draw.choose(lt.maximum, lt.minimum)(x := draw.anything(), x)),
    GraphsFor("extreme_with_no_bound", _without_bound, _bound_of_integers),
    GraphsFor(
        "annihilating_mul_of_nonzero",
        lambda draw: lt.annihilating_mul(draw.repeated(draw.choose(2.0, 1.0, -0.5), x := draw.floats()), x),
        lambda draw: lt.annihilating_mul(x := draw.integers(), draw.beside(x)),
    ),
    GraphsFor(
        "mul_integer_by_zero", lambda draw: (x := draw.choose(draw.integers, draw.booleans)()) * draw.repeated(0, x)
    ),
    GraphsFor(
        "sub_integer_from_itself",
        lambda draw: (x := draw.integers()) - x,
        lambda draw: (x := draw.choose(draw.integers, draw.booleans)()) ^ x,
    ),
    GraphsFor("integer_sums_collected", _sums_of_integers),
    GraphsFor("integer_products_collected", lambda draw: ((x := draw.integers()) * draw.number(x)) * draw.number(x)),
    GraphsFor("float_sums_collected", _collected_sums, _shifted),
    GraphsFor("float_products_collected", _collected_products, _scaled, _scaled_both_ways),
    GraphsFor("nested_fold", _nested_fold),
    GraphsFor(
        "power_by_unit",
        lambda draw: (x := draw.reals()) ** draw.repeated(draw.choose(0, 1, 2), x),
        lambda draw: (x := draw.floats()) ** draw.repeated(draw.choose(-1, 2, 0), x),
    ),
    GraphsFor("power_by_half", lambda draw: lt.abs(x := draw.floats()) ** draw.repeated(0.5, x)),
    GraphsFor("integer_power", lambda draw: (x := draw.integers()) ** draw.repeated(draw.choose(3, 4, 7, 13), x)),
    GraphsFor(
        "power_by_small_integer",
        lambda draw: (x := draw.floats()) ** draw.repeated(draw.choose(3, -2, 4, 8, -3), x),
    ),
    GraphsFor("mul_by_itself", lambda draw: (x := draw.reals()) * x),
    GraphsFor("one_divided", lambda draw: draw.repeated(1, x := draw.floats()) / x, lambda draw: 1 / draw.integers()),
    GraphsFor("reciprocal_of_neg", lambda draw: lt.reciprocal(-draw.floats())),
    GraphsFor(
        "even_of_negated",
        lambda draw: draw.choose(lt.square, lt.abs)(-draw.tensor(draw.choose("float64", "int8", "float32", "int64"))),
        lambda draw: lt.square(lt.abs(draw.tensor(draw.choose("float64", "int8", "float16", "int64")))),
    ),
    GraphsFor(
        "abs_of_nonnegative",
        lambda draw: lt.abs(draw.choose(lt.square, lt.exp)(draw.floats())),
        lambda draw: lt.abs(draw.tensor(draw.choose("uint8", "uint64"))),
    ),
    GraphsFor("extreme_of_bounds", _two_bounds),
    GraphsFor("clip_without_bounds", _clipped_on_one_side),
    GraphsFor(
        "comparison_with_itself",
        _compared_with_itself,
        lambda draw: draw.choose(lt.lt, lt.gt)(x := draw.reals(), x),
    ),
    GraphsFor("comparison_with_bound", _compared_with_bound, _length_compared),
    GraphsFor("less_than_zero", _square_below_zero),
    GraphsFor(
        "not_of_comparison",
        _not_of_comparison,
        lambda draw: lt.logical_not(draw.choose(lt.eq, lt.neq)(x := draw.numbers(), draw.beside(x))),
    ),
    GraphsFor("switch_of_not", _switch_of_not),
    GraphsFor("switch_of_switch", _switch_of_switch),
    GraphsFor("switch_of_one_and_zero", _switch_of_one_and_zero),
    GraphsFor("sub_from_itself", lambda draw: (x := draw.floats()) - x),
    GraphsFor("divide_by_itself", lambda draw: (x := draw.floats()) / x),
    GraphsFor("mul_by_zero", lambda draw: (x := draw.floats()) * draw.repeated(0.0, x)),
    GraphsFor(
        "any_comparison_with_itself", lambda draw: draw.choose(lt.eq, lt.ge, lt.le, lt.neq)(x := draw.floats(), x)
    ),
    GraphsFor("annihilating_mul_of_finite", lambda draw: lt.annihilating_mul(x := draw.floats(), draw.beside(x))),
)
"""For arithmetic."""
