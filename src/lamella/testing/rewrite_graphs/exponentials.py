"""Graphs for the rewrites of exponentials, logarithms and error functions of one another, and of inverse functions."""

from __future__ import annotations

from typing import Final

import numpy as np

from lamella.ir import TensorVariable, as_tensor_variable, constant, grad, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["EXPONENTIALS"]


def _inverses(draw: Draw) -> TensorVariable:
    x = draw.floats()
    pairs = (
        *((lt.arcsinh, lt.sinh), (lt.arctanh, lt.tanh), (lt.arccosh, lt.cosh), (lt.log2, lt.exp2)),
        *((lt.sinh, lt.arcsinh), (lt.tanh, lt.arctanh), (lt.cosh, lt.arccosh), (lt.exp2, lt.log2)),
    )
    outer, inner = draw.choose(*pairs)
    return outer(inner(x))


def _two_exponentials(draw: Draw) -> tuple[TensorVariable, TensorVariable]:
    x = draw.tensor(draw.choose("float64", "float32"))
    return lt.exp(x), lt.exp(draw.like(x))


def _sum_of_exps(draw: Draw) -> TensorVariable:
    x = draw.floats()
    total = lt.exp(x) + lt.exp(draw.beside(x))
    return total + lt.exp(draw.beside(x)) if draw.flag() else total


def _log_softmax(draw: Draw) -> TensorVariable:
    x = draw.tensor(
        draw.choose("float32", "float64"), draw.shape(1, 3, least=1), high=300.0
    )  # an infinity makes all weights NaN, not one
    return lt.exp(lt.log_softmax(x, axis=draw.integer(0, x.ndim - 1)))


def _share_of_exps(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float32", "float64"), high=300.0)
    grown = lt.exp(x)
    total = draw.choose(grown + lt.exp(draw.like(x)), (grown + 2.5) + lt.exp(draw.like(x)), (1 + grown) + lt.exp(-x))
    share = lt.reciprocal(total)
    return draw.choose(share, lt.annihilating_mul(draw.like(x), share)) * grown


def _divided_by_exps(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float32", "float64"), high=300.0)
    y, z = lt.exp(draw.like(x)), lt.exp(draw.like(x))
    others = draw.choose(y, y + z, y + 2.5, constant(2.5, dtype=x.dtype), (y + lt.exp(x)) + z)
    return lt.exp(x) / (lt.exp(x) + others)


def _odds_of_sigmoid(draw: Draw) -> TensorVariable:
    x = draw.floats()
    z = lt.sigmoid(x)
    return lt.log(z / draw.choose(1 - z, lt.sigmoid(-x)))


def _sigmoid_of_odds(draw: Draw) -> TensorVariable:
    p = draw.floats()
    return lt.sigmoid(lt.log(p / (1 - p)))


def _slope_of_prod(draw: Draw) -> TensorVariable:
    x = draw.tensor("float32", draw.shape(1, 2, least=1), 0.25, 3.0)
    axis = draw.integer(0, x.ndim - 1)
    total = lt.prod(x, axis=axis)
    return grad(lt.sum(draw.choose(lt.log(total), lt.log(total) * draw.choose(2.5, -1.0))), x)


def _softmax_of_matrix(draw: Draw) -> TensorVariable:
    shape = (draw.length(1), draw.length(1))
    return lt.softmax(draw.tensor(draw.choose("float32", "float64"), shape, high=300.0), axis=1)


def _part_of_softmax(draw: Draw) -> TensorVariable:
    weights = _softmax_of_matrix(draw)
    return draw.choose(
        weights[:, 0], weights[lt.arange(weights.shape[0]), 0], weights[::-1], weights.T, weights[:, [0]]
    )


def _divided_by_weights(draw: Draw) -> TensorVariable:
    weights = _softmax_of_matrix(draw)
    whole = draw.tensor(weights.dtype, draw.shape_of(_argument(weights))) * lt.reciprocal(weights)
    zeros, scale = lt.zeros_like(weights), draw.choose(-2.5, 1.0)
    rows = lt.arange(weights.shape[0])
    part = draw.choose(
        zeros[:, 0].inc(scale * lt.reciprocal(weights[:, 0])),
        zeros[rows, 0].inc(scale * lt.reciprocal(weights[rows, 0])),
        zeros[:, [0]].inc(scale * lt.reciprocal(weights[:, [0]])),
        zeros[0].inc(scale * lt.reciprocal(weights[0])),
    )
    total = lt.sum(weights, axis=1, keepdims=True)
    return draw.choose(whole, part, whole - total, part - total) * weights


def _argument(weights: TensorVariable) -> TensorVariable:
    assert weights.owner is not None
    return as_tensor_variable(weights.owner.inputs[0])


def _entropy(draw: Draw) -> TensorVariable:
    x = draw.floats()
    return draw.choose(x * lt.log(x), lt.log(x) * x, (draw.like(x) * x) * lt.log(x))


def _tail(draw: Draw) -> TensorVariable:
    x = draw.tensor("float32")  # near 0 the plain form in float64 is less exact than the other
    factor = draw.repeated(draw.choose(0.5, 2.0, 0.125), x)
    return lt.log(draw.choose(lt.erfc(x), factor * lt.erfc(x)))


def _scaled_tail(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "float32"))
    sign = draw.choose(x, -x)
    grown = lt.exp(lt.square(x))
    return draw.choose(grown * lt.erfc(sign), lt.erfc(sign) * grown, (draw.like(x) * grown) * lt.erfc(x))


def _slope_of_tail(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "float32"))
    scaled = draw.choose(lt.erfc(x), draw.repeated(0.5, x) * lt.erfc(-x))
    slope = lt.exp(-lt.square(x)) * draw.repeated(-2 / np.sqrt(np.pi), x)
    return lt.annihilating_mul(
        draw.choose(lt.reciprocal(scaled), lt.annihilating_mul(draw.like(x), lt.reciprocal(scaled))), slope
    )


def _slope_of_tanh(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "float32"))
    slope = 1 - lt.square(lt.tanh(x))
    return lt.annihilating_mul(lt.annihilating_mul(draw.like(x), lt.reciprocal(slope)), slope)


EXPONENTIALS: Final = (
    GraphsFor("expm1_of_log", lambda draw: lt.expm1(lt.log(draw.floats()))),
    GraphsFor("inverse_of_function", _inverses),
    GraphsFor("reciprocal_of_reciprocal", lambda draw: lt.reciprocal(lt.reciprocal(draw.floats()))),
    GraphsFor("reciprocal_of_divide", lambda draw: lt.reciprocal((x := draw.floats()) / draw.beside(x))),
    GraphsFor("divide_by_reciprocal", lambda draw: (x := draw.floats()) / lt.reciprocal(draw.beside(x))),
    GraphsFor("log1p_of_two_exps", lambda draw: lt.log1p(_sum_of_exps(draw))),
    GraphsFor("log_of_difference_of_exps", lambda draw: lt.log(lt.exp(x := draw.floats()) - lt.exp(draw.beside(x)))),
    GraphsFor("log_of_expm1", lambda draw: lt.log(lt.expm1(draw.floats()))),
    GraphsFor("exp_of_log_softmax", _log_softmax),
    GraphsFor("exp_by_exps", _divided_by_exps),
    GraphsFor("slope_of_prod_by_prod", _slope_of_prod),
    GraphsFor("log_of_odds_of_sigmoid", _odds_of_sigmoid),
    GraphsFor("sigmoid_of_log_odds", _sigmoid_of_odds),
    GraphsFor("exp_times_reciprocal_of_exps", _share_of_exps),
    GraphsFor("log_of_part_of_softmax", lambda draw: lt.log(_part_of_softmax(draw))),
    GraphsFor("slope_of_log_of_softmax", _divided_by_weights),
    GraphsFor(
        "exp_of_stable_log",
        lambda draw: lt.exp(draw.choose(lt.softplus, lt.log_sigmoid, lt.log1mexp)(draw.floats())),
    ),
    GraphsFor("expm1_of_softplus", lambda draw: lt.expm1(lt.softplus(draw.floats()))),
    GraphsFor("log1p_of_minus_square_of_tanh", lambda draw: lt.log1p(-lt.square(lt.tanh(draw.floats())))),
    GraphsFor("slope_of_tanh_by_slope_of_tanh", _slope_of_tanh),
    GraphsFor(
        "erf_minus_one",
        lambda draw: draw.choose(lt.erf, lt.erfc)(draw.floats()) - 1,
        lambda draw: lt.erf(x := draw.tensor("float64")) + draw.repeated(-1, x),
    ),
    GraphsFor("log_of_erfc", _tail),
    GraphsFor("erfc_times_exp", _scaled_tail),
    GraphsFor("slope_of_erfc_by_erfc", _slope_of_tail),
    GraphsFor("x_times_log_of_x", _entropy),
    GraphsFor("product_of_exps", lambda draw: lt.mul(*_two_exponentials(draw))),
    GraphsFor("quotient_of_exps", lambda draw: lt.true_divide(*_two_exponentials(draw))),
    GraphsFor("reciprocal_of_exp", lambda draw: lt.reciprocal(lt.exp(draw.floats()))),
    GraphsFor("sqrt_of_exp", lambda draw: lt.sqrt(lt.exp(draw.floats()))),
)
"""For exponentials, logarithms, error functions and inverse functions."""
