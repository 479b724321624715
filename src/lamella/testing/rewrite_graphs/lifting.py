"""Graphs for the rewrites that move views of computed arrays to what they are computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from lamella.ir import Alloc, Index, Join, Reshape, SpecifyShape, TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor
from lamella.testing.rewrite_graphs.joining import parts_to_join

__all__ = ["LIFTING"]


def _elementwise(draw: Draw, shape: Sequence[int]) -> TensorVariable:
    """A result of an elementwise operation, of a given shape."""
    x = draw.tensor(draw.choose("float64", "int64", "float32"), shape)
    return draw.one_of(
        lambda: lt.exp(x),
        lambda: x + draw.tensor(x.dtype, shape),
        lambda: x * draw.beside(x),
        lambda: lt.switch(draw.booleans(shape), x, 0.5),
        lambda: lt.maximum(draw.beside(x), x),
    )


def _part(draw: Draw, length: int) -> Index:
    """An integer that is within bounds, or a slice."""
    if length and draw.integer(0, 2) == 0:
        place = draw.integer(-length, length - 1)
        return draw.given(np.int64(place)) if draw.flag() else place
    start, stop = [draw.choose(None, draw.integer(-length - 1, length + 1)) for _ in range(2)]
    return slice(start, stop, draw.choose(None, 1, -1, 2))


def _index(draw: Draw, shape: Sequence[int]) -> tuple[Index, ...]:
    """An index of the first axes, of at least one."""
    return tuple([_part(draw, n) for n in shape[: draw.integer(1, len(shape))]])


def _part_of_elementwise(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    return _elementwise(draw, shape)[_index(draw, shape)]


def _part_of_stretched(draw: Draw) -> TensorVariable:
    n, m = draw.length(), draw.length()
    column, row = draw.tensor("float64", (n, 1), static=(None, 1)), draw.tensor("float64", (1, m), static=(1, None))
    return (column + row)[_index(draw, (n, m))]


def _part_of_fill(draw: Draw) -> TensorVariable:
    value = draw.anything(draw.shape(0, 2))
    n = draw.length(least=1)
    shape = (n, *draw.shape_of(value))
    filled = Alloc()(value, draw.symbolic(n), *lt.shape_tuple(value))
    if draw.flag():
        known = draw.tensor("int64", shape, static=shape)
        filled = lt.fill(known, value)
    return filled[_index(draw, shape)]


def _part_of_moved(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    order: list[int | str] = list(draw.order(len(shape)))
    lengths = [shape[axis] for axis in order if isinstance(axis, int)]
    if draw.flag():
        place = draw.integer(0, len(order))
        order.insert(place, "x")
        lengths.insert(place, 1)
    moved = lt.dimshuffle(draw.anything(shape), order)
    if moved is draw.arguments[-1].variable:
        moved = lt.dimshuffle(moved, ["x", *range(moved.ndim)])
        lengths.insert(0, 1)
    return moved[_index(draw, lengths)]


def _part_of_reduction(draw: Draw) -> TensorVariable:
    shape = draw.shape(2, 3)
    x = draw.tensor(draw.choose("float64", "int64", "float32", "bool"), shape)
    axis = draw.integer(0, len(shape) - 1)
    ways: Sequence[Callable[..., TensorVariable]] = (lt.sum, lt.prod, lt.all, lt.max) if shape[axis] else (lt.sum,)
    of = draw.choose(*ways)
    return of(x, axis=axis)[_index(draw, [n for i, n in enumerate(shape) if i != axis])]


def _part_of_dot(draw: Draw) -> TensorVariable:
    n, m, k = draw.length(), draw.length(), draw.length()
    dtype = draw.choose("float64", "int64", "float32")
    left, right = draw.choose(((n, k), (k, m)), ((n, k), (k,)), ((k,), (k, m)))
    product = lt.dot(draw.tensor(dtype, left), draw.tensor(dtype, right))
    return product[_index(draw, [*left[:-1], *right[1:]])]


def _part_across_join(draw: Draw) -> TensorVariable:
    axis = draw.integer(0, 1)
    parts = parts_to_join(draw, axis, [draw.length(), draw.length()])
    if parts[0].ndim < 2:
        parts = [lt.dimshuffle(x, 0, "x") for x in parts]
    shape = [5 if n is None else n for n in Join(axis)(*parts).type.shape]
    index: list[Index] = [slice(None)] * len(shape)
    index[1 - axis] = draw.choose(slice(1, None), slice(None, None, -1), slice(-1, None), slice(None, 1))
    return Join(axis)(*parts)[tuple(index)]


def _unit_axes_indexed(draw: Draw) -> TensorVariable:
    shape = [draw.choose(1, 3) for _ in range(draw.integer(0, 2))]
    shape.insert(draw.integer(0, len(shape)), 1)
    x = draw.anything(shape)
    known = draw.tensor("float64", shape, static=[1 if n == 1 else None for n in shape])
    place = shape.index(1)
    return draw.choose(x, known)[(slice(None),) * place + (draw.choose(0, -1),)]


def _elementwise_moved(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = _elementwise(draw, shape)
    return draw.one_of(
        lambda: lt.exp(lt.dimshuffle(x, ["x", *range(x.ndim)])),
        lambda: lt.exp(lt.dimshuffle(x, [*range(x.ndim), "x"])),
        lambda: x.T + draw.tensor(x.dtype, shape[::-1]),
        lambda: lt.abs(lt.dimshuffle(_elementwise(draw, (3, 1)), [0])),
        lambda: lt.exp(draw.tensor("float64", shape).T).T,
    )


def _reshaped(draw: Draw, x: TensorVariable, shape: Sequence[int]) -> TensorVariable:
    lengths = [draw.symbolic(n) for n in shape]
    if 0 not in shape and draw.flag():
        return Reshape(len(shape))(x, [*lengths[:-1], -1])
    return Reshape(len(shape))(x, lengths)


def _reshaped_and_moved(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 2)
    reshaped = _reshaped(draw, draw.anything(shape), draw.choose(shape[::-1], (1, *shape)))
    axes: list[int | str] = [axis for axis in range(reshaped.ndim) if reshaped.type.shape[axis] != 1]
    return lt.dimshuffle(reshaped, [*axes, "x"])


def _moved_and_reshaped(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = draw.anything(shape)
    order: list[int | str] = [axis for axis in range(x.ndim) if x.type.shape[axis] != 1]
    order.insert(draw.integer(0, len(order)), "x")
    return _reshaped(draw, lt.dimshuffle(x, order), shape[::-1])


def _reshaped_elementwise(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    inner = _reshaped(draw, draw.tensor("float64", shape), shape[::-1])
    made = draw.one_of(lambda: lt.tanh(inner), lambda: inner * 2.0, lambda: 1.0 - inner)
    return _reshaped(draw, made, (*shape, 1))


def _specified(draw: Draw, x: TensorVariable, shape: Sequence[int]) -> TensorVariable:
    axes = draw.axes(len(shape), least=1)
    return SpecifyShape(axes)(x, *[draw.symbolic(shape[axis]) for axis in axes])


def _specified_elementwise(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    return _specified(draw, _elementwise(draw, shape), shape)


def _specified_moved(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    order = draw.order(len(shape))
    moved = lt.dimshuffle(draw.anything(shape), [*order, "x"])
    return _specified(draw, moved, [shape[axis] for axis in order])


def _alloc_of_own_shape(draw: Draw) -> TensorVariable:
    x = draw.anything(draw.shape(1, 3))
    return Alloc()(x, *lt.shape_tuple(x))


LIFTING: Final = (
    GraphsFor("subtensor_of_elemwise", _part_of_elementwise, _part_of_stretched),
    GraphsFor("subtensor_of_fill", _part_of_fill),
    GraphsFor("subtensor_of_dimshuffle", _part_of_moved),
    GraphsFor("subtensor_of_reduction", _part_of_reduction),
    GraphsFor("subtensor_of_dot", _part_of_dot),
    GraphsFor("subtensor_across_join", _part_across_join),
    GraphsFor("index_of_unit_axes", _unit_axes_indexed),
    GraphsFor("dimshuffle_of_elemwise", _elementwise_moved),
    GraphsFor("dimshuffle_of_reshape", _reshaped_and_moved),
    GraphsFor("reshape_of_dimshuffle", _moved_and_reshaped),
    GraphsFor("reshape_of_elemwise", _reshaped_elementwise),
    GraphsFor("specify_shape_of_elemwise", _specified_elementwise),
    GraphsFor("specify_shape_of_dimshuffle", _specified_moved),
    GraphsFor("alloc_of_own_shape", _alloc_of_own_shape),
)
"""For views of what is computed."""
