"""Graphs for the rewrites to operations that overwrite their inputs."""

from __future__ import annotations

from typing import Final

from lamella.ir import Gemm, Gemv, Index, TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.fusion import elementwise_step
from lamella.testing.rewrite_graphs.generator import GraphsFor, Made

__all__ = ["INPLACE"]

_FIRST: Final[tuple[Index, ...]] = (slice(1, None), 0, slice(None, None, -2))
_SECOND: Final[tuple[Index, ...]] = ([0, 1], [1, 1], slice(0, 1))


def _view(draw: Draw, x: TensorVariable) -> TensorVariable:
    """A view of an array with at least one axis, or itself."""
    return draw.one_of(lambda: x, lambda: x.T, lambda: x[::-1], lambda: x[1:], lambda: lt.reshape(x, (-1,)))


def _overwritten(draw: Draw) -> Made:
    """Several results of which some are views of one another, and some are needed later."""
    x = draw.tensor(draw.choose("float64", "int64", "float32"), draw.shape(1, 2))
    made = [x]
    for _ in range(draw.integer(2, 6)):
        made.append(elementwise_step(draw, made, x))
    seen = _view(draw, made[draw.integer(1, len(made) - 1)])
    return [made[-1], lt.neg(seen), draw.choose(*made)]


def _written(draw: Draw) -> Made:
    x = draw.tensor(draw.choose("float64", "int64"), draw.shape(1, 2, least=2))
    start = draw.choose(lt.neg(x), lt.zeros_like(x), x, lt.concatenate([x, x])[1:])
    value = draw.tensor(x.dtype, ())
    once = lt.set_subtensor(start[draw.choose(*_FIRST)], value)
    twice = lt.inc_subtensor(once[draw.choose(*_SECOND)], value)
    return [twice, draw.choose(twice, _view(draw, once), lt.neg(start), value)]


def _product_added_to_it(draw: Draw) -> Made:
    """A product of matrices added to something that may be a view, and may be needed later."""
    n, k, m = draw.shape(3, 3)
    dtype = draw.choose("float64", "float32")
    x, y = draw.tensor(dtype, (n, k)), draw.tensor(dtype, (k, m))
    start = draw.one_of(
        lambda: lt.neg(draw.tensor(dtype, (n, m))), lambda: lt.dot(x, y), lambda: draw.tensor(dtype, (n, m))
    )
    alpha, beta = draw.tensor(dtype, ()), draw.tensor(dtype, ())
    if draw.flag():
        total = Gemm()(start, alpha, x, y, beta)
    else:
        start = lt.neg(start)[:, 0] if m else lt.neg(draw.tensor(dtype, (n,)))
        total = Gemv()(start, alpha, x, draw.tensor(dtype, (k,)), beta)
    return [total, draw.choose(total, lt.neg(start), start)]


INPLACE: Final = (
    GraphsFor("inplace_blas", _product_added_to_it),
    GraphsFor("inplace_elemwise", _overwritten),
    GraphsFor("inplace_subtensor", _written),
    GraphsFor("add_destroy_handler", _overwritten),
)
"""For operations that overwrite."""
