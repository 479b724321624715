"""Graphs for the rewrites that make one operation of several."""

from __future__ import annotations

from typing import Final

from lamella.ir import TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor, Made

__all__ = ["FUSION", "elementwise_step"]


def elementwise_step(draw: Draw, made: list[TensorVariable], x: TensorVariable) -> TensorVariable:
    """Apply an elementwise function to something made before, and something that broadcasts with it."""
    other = draw.choose(*made, draw.beside(x), draw.number(x))
    return draw.one_of(
        lambda: made[-1] + other,
        lambda: made[-1] * other,
        lambda: lt.neg(made[-1]),
        lambda: lt.maximum(other, made[-1]),
        lambda: lt.switch(lt.lt(made[-1], other), made[-1], other),
        lambda: lt.square(made[-1]),
        lambda: lt.sqrt(lt.abs(made[-1])),
        lambda: other - made[-1],
    )


def _elementwise(draw: Draw) -> Made:
    x = draw.tensor(draw.choose("float64", "int64", "float32", "int8"))
    made = [x]
    for _ in range(draw.integer(2, 7)):
        made.append(elementwise_step(draw, made, x))
    others = [draw.choose(*made) for _ in range(draw.integer(0, 2))]
    if draw.flag():
        made[-1] = lt.sum(made[-1])
    return [made[-1], *others]


def _reduced(draw: Draw) -> Made:
    x = draw.tensor(draw.choose("float64", "int64", "float32", "int8"), draw.shape(1, 3))
    made = [x]
    for _ in range(draw.integer(1, 3)):
        made.append(elementwise_step(draw, made, x))
    whole, axes = made[-1], draw.axes(made[-1].ndim, least=1)
    reduced = draw.one_of(
        lambda: lt.sum(whole, axis=axes),
        lambda: lt.max(whole, axis=axes),
        lambda: lt.min(whole, axis=axes),
        lambda: lt.prod(whole, axis=axes),
        lambda: lt.any(whole, axis=axes),
    )
    return draw.choose([reduced], [reduced, lt.sum(whole)], [whole, reduced])


def _indexed(draw: Draw) -> Made:
    dtype = draw.choose("float64", "int64", "float32", "int8")
    (length,) = draw.shape(1, 1, least=1)
    n = draw.integer(2, 4)
    table, z = draw.tensor(dtype, (length,)), draw.tensor(dtype, (length,))
    index = draw.choose(*[draw.tensor("int64", (n,), -length, length - 1, static=static) for static in ((None,), (n,))])
    x = draw.tensor(dtype, (n,), static=(None,))
    made = [table[index], x]
    for _ in range(draw.integer(1, 3)):
        made.append(elementwise_step(draw, made, x))
    read = draw.choose(made[-1], lt.square(table[index]))
    fused = [made[-1] - made[0], lt.sum(read)]
    if draw.flag():
        fused.append(lt.inc_subtensor(z[index], lt.cast(read + x, dtype)))
    return fused


FUSION: Final = (
    GraphsFor("fusion", _elementwise),
    GraphsFor("reduction_fusion", _reduced),
    GraphsFor("indexing_fusion", _indexed),
)
"""For fusion."""
