"""Graphs for the rewrites of products of matrices."""

from __future__ import annotations

from typing import Final

from lamella.ir import TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["BLAS"]


def _transposed_factors(draw: Draw) -> TensorVariable:
    n, k, m = draw.shape(3, 3)
    dtype = draw.choose("float64", "float32", "int64")
    return lt.dot(draw.tensor(dtype, (k, n)).T, draw.tensor(dtype, (m, k)).T)


def _transposed_product(draw: Draw) -> TensorVariable:
    n, k, m = draw.shape(3, 3)
    dtype = draw.choose("float64", "float32", "int64")
    if draw.flag():
        return lt.dot(draw.tensor(dtype, (k, n)).T, draw.tensor(dtype, (k, m))).T
    return lt.dot(draw.tensor(dtype, (n, k)), draw.tensor(dtype, (m, k)).T).T


def _column_times_row(draw: Draw) -> TensorVariable:
    n, m = draw.shape(2, 2)
    dtype = draw.choose("float64", "float32", "int64", "bool")
    column = draw.tensor(dtype, (n, 1), static=(None, 1))
    if draw.flag():
        return lt.dot(column, draw.tensor(dtype, (1,), static=(1,)))
    return lt.dot(column, draw.tensor(dtype, (1, m), static=(1, None)))


def _scaled(draw: Draw, x: TensorVariable) -> TensorVariable:
    return draw.one_of(
        lambda: x,
        lambda: 0.5 * x,
        lambda: lt.neg(x),
        lambda: draw.tensor(x.dtype, ()) * x,
    )


def _added_product(draw: Draw) -> TensorVariable:
    """A product that is added to something of its shape."""
    n, k, m = draw.shape(3, 3)
    dtype = draw.choose("float64", "float32")
    kind = draw.integer(0, 2)
    shape: tuple[int, ...]
    if kind == 0:
        product, shape = lt.dot(draw.tensor(dtype, (n, k)), draw.tensor(dtype, (k, m))), (n, m)
    elif kind == 1:
        product, shape = lt.dot(draw.tensor(dtype, (n, k)), draw.tensor(dtype, (k,))), (n,)
    else:
        product, shape = lt.dot(draw.tensor(dtype, (k,)), draw.tensor(dtype, (k, m))), (m,)
    there = draw.tensor(dtype, shape, static=product.type.shape)
    a, b = _scaled(draw, product), _scaled(draw, there)
    return draw.one_of(lambda: a + b, lambda: b + a, lambda: a - b, lambda: b - a)


BLAS: Final = (
    GraphsFor("outer_dot", _column_times_row),
    GraphsFor("gemm", _added_product),
    GraphsFor("dot_of_transposed", _transposed_factors),
    GraphsFor("transposed_dot", _transposed_product),
)
"""For products of matrices."""
