"""Graphs for the rewrites to forms that lose no accuracy and do not overflow."""

from __future__ import annotations

from typing import Final

from lamella.ir import TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["STABILITY"]


def _one_plus(draw: Draw, x: TensorVariable) -> TensorVariable:
    return 1 + x if draw.flag() else x + 1


def _matrix(draw: Draw, high: float | None = None) -> tuple[TensorVariable, int]:
    """An argument with at least one axis and no empty one, and one of its axes."""
    x = draw.tensor(draw.choose("float32", "float64"), draw.shape(1, 3, least=1), high=high)
    return x, draw.integer(0, x.ndim - 1)


def _sum_of_exp(draw: Draw) -> TensorVariable:
    x, axis = _matrix(draw)
    return lt.log(lt.sum(lt.exp(x), axis=draw.choose(axis, None), keepdims=draw.flag()))


def _log_of_exps_and_numbers(draw: Draw) -> TensorVariable:
    x = draw.floats()
    number = draw.repeated(draw.choose(2.0, 0.25, 1.0), x)
    return lt.log(draw.choose(number + lt.exp(x), (number + lt.exp(x)) + lt.exp(draw.like(x))))


def _softmax_by_hand(draw: Draw) -> TensorVariable:
    x, axis = _matrix(draw, 300.0)  # an infinity among them makes all weights NaN, where by hand it would make some 0
    return lt.exp(x) / lt.sum(lt.exp(x), axis=axis, keepdims=True)


def _softmax_by_reciprocal(draw: Draw) -> TensorVariable:
    x, axis = _matrix(draw, 300.0)
    scale = lt.reciprocal(lt.sum(lt.exp(x), axis=axis, keepdims=True))
    weighted = lt.annihilating_mul(draw.like(x), scale) if draw.flag() else scale
    return weighted * lt.exp(x)


def _log_of_softmax(draw: Draw) -> TensorVariable:
    x, axis = _matrix(draw)
    return lt.log(lt.softmax(x, axis=axis))


def _minus_logsumexp(draw: Draw) -> TensorVariable:
    x = draw.tensor("float32", draw.shape(1, 3, least=1), -10.0, 20.0)  # near 0 the plain form in float64 is less exact
    axis = draw.integer(0, x.ndim - 1)
    return x - lt.logsumexp(x, axis=axis, keepdims=True)


def _log_of_prod(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float32", "float64"), draw.shape(1, 3), *draw.choose((None, None), (0.0, 3.0)))
    return lt.log(lt.prod(x, axis=draw.integer(0, x.ndim - 1), keepdims=draw.flag()))


def _slope_of_sigmoid(draw: Draw) -> TensorVariable:
    x = draw.floats()
    z = lt.sigmoid(x)
    complement = 1 - z
    weighted = lt.annihilating_mul(draw.like(x), lt.reciprocal(draw.choose(z, complement)))
    return lt.annihilating_mul(weighted, draw.choose(z * complement, complement * z))


def _exp_times_sigmoid(draw: Draw) -> TensorVariable:
    x = draw.floats()
    z = lt.sigmoid(-x)
    factor = draw.choose(z, lt.square(z), draw.like(x) * z)
    return factor * lt.exp(x)


def _sinh_times(draw: Draw) -> TensorVariable:
    x = draw.floats()
    other = lt.reciprocal(lt.cosh(x))
    return draw.choose(other, lt.annihilating_mul(draw.like(x), other)) * lt.sinh(x)


STABILITY: Final = (
    GraphsFor("sqrt_of_square", lambda draw: lt.sqrt(lt.square(draw.floats()))),
    GraphsFor("square_of_sqrt", lambda draw: lt.square(lt.sqrt(draw.floats()))),
    GraphsFor("exp_of_log", lambda draw: lt.exp(lt.log(draw.floats()))),
    GraphsFor("exp_of_log1p", lambda draw: lt.exp(lt.log1p(draw.floats()))),
    GraphsFor("expm1_of_log1p", lambda draw: lt.expm1(lt.log1p(draw.floats()))),
    GraphsFor(
        "exp_minus_one",
        lambda draw: lt.exp(draw.floats()) - 1,
        lambda draw: lt.exp(x := draw.floats()) + draw.repeated(-1, x),
    ),
    GraphsFor("one_minus_exp", lambda draw: 1 - lt.exp(draw.floats())),
    GraphsFor("log_of_exp", lambda draw: lt.log(lt.exp(draw.floats()))),
    GraphsFor("log1p_of_expm1", lambda draw: lt.log1p(lt.expm1(draw.floats()))),
    GraphsFor(
        "log_of_two_exps",
        _log_of_exps_and_numbers,
        lambda draw: lt.log(lt.exp(x := draw.floats()) + lt.exp(draw.beside(x))),
        lambda draw: lt.log(lt.add(lt.exp(x := draw.floats()), lt.exp(draw.beside(x)), lt.exp(draw.beside(x)))),
    ),
    GraphsFor("log_of_sum_of_exp", _sum_of_exp),
    GraphsFor(
        "log_of_one_plus",
        lambda draw: lt.log(_one_plus(draw, draw.floats())),
        lambda draw: lt.log(1 - draw.floats()),
    ),
    GraphsFor(
        "log_of_power",
        lambda draw: lt.log(draw.choose(lt.square, lt.sqrt)(draw.floats())),
        lambda draw: lt.log(lt.abs(draw.floats()) ** draw.choose(3.0, 0.25, 1.5)),
    ),
    GraphsFor(
        "log_of_scaled_exp",
        lambda draw: lt.log(lt.exp(x := draw.floats()) * draw.beside(x)),
        lambda draw: lt.log(draw.beside(x := draw.floats()) * lt.exp(x)),
    ),
    GraphsFor("log_of_prod", _log_of_prod),
    GraphsFor("log_of_softmax", _log_of_softmax),
    GraphsFor("log_of_sigmoid", lambda draw: lt.log(lt.sigmoid(draw.floats()))),
    GraphsFor("log_of_cosh", lambda draw: lt.log(lt.cosh(draw.floats()))),
    GraphsFor("log1p_of_exp", lambda draw: lt.log1p(draw.choose(lt.exp(x := draw.floats()), -lt.exp(x)))),
    GraphsFor("log1p_of_minus_sigmoid", lambda draw: lt.log1p(-lt.sigmoid(draw.floats()))),
    GraphsFor(
        "log1mexp_of_differences",
        lambda draw: lt.log(-lt.expm1(draw.floats())),
        lambda draw: lt.log(0 - lt.expm1(draw.floats())),
    ),
    GraphsFor("reciprocal_of_one_plus_exp", lambda draw: lt.reciprocal(_one_plus(draw, lt.exp(draw.floats())))),
    GraphsFor(
        "exp_by_one_plus_exp",
        lambda draw: (y := lt.exp(draw.floats())) / _one_plus(draw, y),
        lambda draw: draw.beside(x := draw.floats()) / _one_plus(draw, lt.exp(x)),
    ),
    GraphsFor("exp_times_sigmoid", _exp_times_sigmoid),
    GraphsFor("slope_of_sigmoid_by_sigmoid", _slope_of_sigmoid),
    GraphsFor("one_minus_sigmoid", lambda draw: 1 - lt.sigmoid(draw.floats())),
    GraphsFor("exp_by_sum_of_exp", _softmax_by_hand),
    GraphsFor("exp_times_reciprocal_of_sum", _softmax_by_reciprocal),
    GraphsFor("x_minus_log_sum_exp", _minus_logsumexp),
    GraphsFor("sinh_by_cosh", lambda draw: lt.sinh(x := draw.floats()) / lt.cosh(x)),
    GraphsFor("sinh_times_reciprocal_of_cosh", _sinh_times),
    GraphsFor("one_minus_erf", lambda draw: 1 - lt.erf(draw.floats()), lambda draw: 1 - lt.erfc(draw.floats())),
    GraphsFor("one_plus_erf", lambda draw: _one_plus(draw, lt.erf(draw.floats()))),
)
"""For the group ``stabilize``."""
