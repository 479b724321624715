"""Graphs for the rewrites of sums, products, extremes and other reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lamella.ir import TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["REDUCTIONS"]

_WAYS: Final[tuple[Callable[..., TensorVariable], ...]] = (lt.sum, lt.prod, lt.max, lt.min, lt.all, lt.any)


def _reduced(draw: Draw, x: TensorVariable, axes: tuple[int, ...]) -> TensorVariable:
    """Reduce an array in some way, along axes."""
    of = draw.choose(*_WAYS)
    return of(x, axis=axes)


def _over_unit_axes(draw: Draw) -> TensorVariable:
    shape = [1, *draw.shape(0, 2, least=1)]
    x = draw.tensor(
        draw.choose("float64", "int64", "bool", "float32", "uint8"), shape, static=[1, *[None] * (len(shape) - 1)]
    )
    moved = lt.moveaxis(x, 0, -1) if draw.flag() else x
    place = moved.ndim - 1 if moved is not x else 0
    return _reduced(draw, moved, tuple({place, draw.integer(0, x.ndim - 1)}))


def _twice(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "int64", "float32", "bool"), draw.shape(2, 3, least=1))
    of = draw.choose(*_WAYS)
    inner = of(x, axis=draw.integer(0, x.ndim - 1))
    return of(inner, axis=draw.integer(0, inner.ndim - 1))


def _of_moved(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "int64", "float32", "bool"), draw.shape(1, 3, least=1))
    order: list[int | str] = list(draw.order(x.ndim))
    if draw.flag():
        order.insert(draw.integer(0, len(order)), "x")
    moved = lt.dimshuffle(x, order)
    axes = set(draw.axes(moved.ndim, least=1)) | {i for i, axis in enumerate(order) if axis == "x"}
    return _reduced(draw, moved, tuple(sorted(axes)))


def _sum_of_zeros(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "int64", "bool"), draw.shape(1, 3))
    return lt.sum(lt.zeros_like(x), axis=draw.axes(x.ndim, least=1))


def _sum_of_fill(draw: Draw) -> TensorVariable:
    value = draw.one_of(
        lambda: draw.tensor(draw.choose("float64", "float32", "int8"), ()),
        lambda: constant(2.5),
        lambda: draw.tensor("float64", draw.shape(1, 1)),
    )
    lengths = [draw.symbolic(n) for n in draw.shape(1, 2)]
    kept = [] if value.ndim == 0 else [lt.shape_i(value, 0)]
    filled = lt.alloc(value, [*lengths, *kept])
    return lt.sum(filled, axis=tuple({0, *draw.axes(filled.ndim)}))


REDUCTIONS: Final = (
    GraphsFor("reduction_of_unit_axes", _over_unit_axes),
    GraphsFor("reduction_of_reduction", _twice),
    GraphsFor("reduction_of_dimshuffle", _of_moved),
    GraphsFor("sum_of_zeros", _sum_of_zeros),
    GraphsFor("sum_of_fill", _sum_of_fill),
)
"""For reductions."""
