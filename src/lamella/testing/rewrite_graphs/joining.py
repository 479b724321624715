"""Graphs for the rewrites of joined and split arrays, and of vectors made of scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lamella.ir import Join, MakeVector, Split, TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["JOINING"]


def parts_to_join(draw: Draw, axis: int, lengths: Sequence[int], least: int = 0) -> list[TensorVariable]:
    """Draw arrays that differ along an axis only; lengths of 0 along it are known."""
    dtype = draw.choose("float64", "int64", "float32", "bool")
    shape = draw.shape(axis + 1, 3, least)
    shapes = [(*shape[:axis], n, *shape[axis + 1 :]) for n in lengths]
    return [draw.tensor(dtype, s, static=[n if n == 0 or draw.flag() else None for n in s]) for s in shapes]


def _with_empty(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    lengths = draw.choose((2, 0, 1), (0, 2), (0, 0), (1, 0, 0))
    return Join(axis)(*parts_to_join(draw, axis, lengths, least=1))


def _joined_twice(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    x, y, z = parts_to_join(draw, axis, [draw.length() for _ in range(3)])
    return draw.one_of(
        lambda: Join(axis)(Join(axis)(x, y), z),
        lambda: Join(axis)(x, Join(axis)(y, z)),
        lambda: Join(axis)(Join(axis)(x, y), Join(axis)(z, x)),
    )


def _joined_scalars(draw: Draw) -> TensorVariable:
    dtype = draw.choose("float64", "int64", "bool")
    make = MakeVector(dtype)

    def vector() -> TensorVariable:
        return draw.one_of(
            lambda: make(*[draw.tensor(dtype, ()) for _ in range(draw.integer(1, 3))]),
            lambda: lt.dimshuffle(draw.tensor(dtype, ()), "x"),
            lambda: constant(np.array([0, 1], dtype)),
        )

    vectors = [vector(), make(draw.tensor(dtype, ()))]
    if draw.flag():
        vectors.insert(draw.integer(0, 2), draw.tensor(dtype, (3,)))
    if len(vectors) > 2:
        vectors.append(vector())
    return Join(0)(*vectors)


def _cut(draw: Draw, axis: int, length: int) -> tuple[TensorVariable, ...]:
    shape = draw.shape(axis + 1, 3)
    x = draw.anything((*shape[:axis], length, *shape[axis + 1 :]))
    first = draw.integer(0, length)
    vector = MakeVector("int64")(draw.symbolic(first), draw.symbolic(length - first))
    return Split(2, axis)(x, vector)


def _joined_again(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    return Join(axis)(*_cut(draw, axis, draw.length()))


def _cut_into_one(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    shape = draw.shape(axis + 1, 3)
    made: object = Split(1, axis)(draw.anything(shape), MakeVector("int64")(draw.symbolic(shape[axis])))
    assert isinstance(made, TensorVariable)
    return made


def _joined_and_cut(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    parts = parts_to_join(draw, axis, [draw.length(), draw.length()])
    lengths = MakeVector("int64")(*[lt.shape_i(x, axis) for x in parts])
    x, y = Split(2, axis)(Join(axis)(*parts), lengths)
    return lt.exp(x) if draw.flag() else lt.neq(y, 0)


def _filled_and_cut(draw: Draw) -> TensorVariable:
    value = draw.anything(draw.choose((), (3,)))
    n, m = draw.length(least=1), draw.length()
    lengths = [draw.symbolic(n + m), *lt.shape_tuple(value)]
    filled = lt.alloc(value, lengths) if draw.flag() or value.ndim else lt.fill(draw.floats((n + m,)), value)
    x, y = Split(2, 0)(filled, MakeVector("int64")(draw.symbolic(n), draw.symbolic(m)))
    return draw.choose(x, y)


def _parts_of_one(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    x = draw.anything(draw.shape(axis + 1, 3))
    before = (slice(None),) * axis
    if draw.flag():
        cut = draw.choose(draw.integer(-3, 3), draw.given(np.int64(draw.integer(-3, 3))))
        first, second = slice(None, cut), slice(cut, None)
    else:
        begin, cut, end = 1, draw.integer(1, 3), draw.choose(3, 4, None)
        first, second = slice(begin, cut), slice(cut, end)
    parts = [x[(*before, first)], x[(*before, second)]]
    if draw.flag():
        parts.insert(draw.choose(0, 2), x)
    return Join(axis)(*parts)


def _made_of_elements(draw: Draw) -> TensorVariable:
    dtype = draw.choose("float64", "int64", "bool")
    n = draw.integer(1, 4)
    x = draw.tensor(dtype, (n,), static=(n,))
    return MakeVector(dtype)(*[x[place - n if draw.flag() else place] for place in range(n)])


JOINING: Final = (
    GraphsFor("join_of_empty", _with_empty),
    GraphsFor("join_of_join", _joined_twice),
    GraphsFor("join_of_scalars", _joined_scalars),
    GraphsFor("join_of_split", _joined_again),
    GraphsFor("join_of_parts", _parts_of_one),
    GraphsFor("make_vector_of_elements", _made_of_elements),
    GraphsFor("split_into_one", _cut_into_one),
    GraphsFor("split_of_join", _joined_and_cut),
    GraphsFor("split_of_fill", _filled_and_cut),
)
"""For joined arrays, and vectors of scalars."""
