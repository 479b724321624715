"""Graphs for the rewrites of sums of scaled arrays, and of reductions of joined, reshaped and repeated ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from lamella.ir import CAReduce, Join, MakeVector, Max, Min, TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor
from lamella.testing.rewrite_graphs.joining import parts_to_join

__all__ = ["COMBINED_REDUCTIONS"]

_WAYS: Final[tuple[Callable[..., TensorVariable], ...]] = (lt.sum, lt.prod, lt.max, lt.min, lt.all, lt.any)


def _summed(draw: Draw, x: TensorVariable) -> TensorVariable:
    return lt.sum(x, axis=draw.axes(x.ndim, least=1))


def _of_negated(draw: Draw) -> TensorVariable:
    return _summed(draw, -draw.tensor(draw.choose("float64", "int64", "float32", "uint64"), draw.shape(1, 3)))


def _of_scaled(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "float32", "int64"), draw.shape(1, 3))
    number = constant(draw.choose(2, 3, -2, 5), dtype=x.dtype)
    makers: list[Callable[[], TensorVariable]] = [lambda: x * number, lambda: number * x * draw.like(x)]
    if x.dtype != "int64":
        makers.append(lambda: x / number)
    return _summed(draw, draw.one_of(*makers))


def _of_repeated_factor(draw: Draw) -> TensorVariable:
    n, m = draw.length(), draw.length(least=1)
    x = draw.tensor(draw.choose("float64", "float32", "int64"), (n, m), static=(None, None))
    column = draw.tensor(x.dtype, (n, 1), static=(None, 1))
    return lt.sum(x * draw.choose(column, draw.tensor(x.dtype, ())), axis=1)


def _of_scalars(draw: Draw) -> TensorVariable:
    dtype = draw.choose("float64", "int64", "bool", "float32")
    vector = MakeVector(dtype)(*[draw.tensor(dtype, ()) for _ in range(draw.integer(2, 4))])
    return draw.choose(*_WAYS)(vector)


def _of_joined(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    parts = parts_to_join(draw, axis, [draw.length(least=1) for _ in range(draw.integer(2, 3))], least=1)
    axes = tuple({axis, *draw.axes(parts[0].ndim)})
    return draw.choose(*_WAYS)(Join(axis)(*parts), axis=axes)


def _across_join(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    parts = [lt.dimshuffle(x, *range(x.ndim), "x") for x in parts_to_join(draw, axis, [draw.length(), 2], least=1)]
    parts = [lt.concatenate([x, x], axis=x.ndim - 1) for x in parts]
    axes = [other for other in draw.axes(parts[0].ndim, least=1) if other != axis] or [parts[0].ndim - 1]
    return draw.choose(*_WAYS)(Join(axis)(*parts), axis=axes)


def _of_reshaped(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3, least=1)
    x = draw.tensor(draw.choose("float64", "int64", "float32", "bool"), shape)
    lengths = [draw.symbolic(n) for n in draw.choose(shape[::-1], (1, *shape))]
    return draw.choose(*_WAYS)(lt.reshape(x, lengths))


def _of_repeated(draw: Draw) -> TensorVariable:
    value = draw.tensor(draw.choose("float64", "int64", "bool"), draw.shape(0, 2, least=1))
    filled = lt.alloc(value, [draw.symbolic(draw.length(least=1)), *lt.shape_tuple(value)])
    of: type[CAReduce] = draw.choose(Max, Min)
    return of(tuple(sorted({0, *draw.axes(filled.ndim)})))(filled)


COMBINED_REDUCTIONS: Final = (
    GraphsFor("sum_of_neg", _of_negated),
    GraphsFor("sum_of_scaled", _of_scaled),
    GraphsFor("sum_of_repeated_factor", _of_repeated_factor),
    GraphsFor("reduction_of_scalars", _of_scalars),
    GraphsFor("reduction_of_join", _of_joined),
    GraphsFor("reduction_across_join", _across_join),
    GraphsFor("reduction_of_reshape", _of_reshaped),
    GraphsFor("extreme_of_fill", _of_repeated),
)
"""For reductions of what was joined, scaled, repeated or reshaped."""
