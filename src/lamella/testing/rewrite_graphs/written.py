"""Graphs for the rewrites of arrays that are written to, and read again, and of index arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from lamella.ir import IncSubtensor, Index, MakeVector, Subtensor, TensorVariable, as_tensor_variable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["WRITTEN"]

_WAYS: Final[tuple[Callable[..., TensorVariable], ...]] = (lt.set_subtensor, lt.inc_subtensor)


def _array(draw: Draw, least: int = 1) -> TensorVariable:
    return draw.tensor(draw.choose("float64", "int64", "float32"), draw.shape(1, 3, least))


def _known_array(draw: Draw) -> tuple[TensorVariable, tuple[int, ...]]:
    shape = draw.shape(1, 2, least=1)
    return draw.tensor(draw.choose("float64", "int64", "float32"), shape, static=shape), shape


def _basic(draw: Draw, length: int) -> Index:
    indices: list[Index] = [slice(1, None), draw.integer(-length, length - 1), slice(None, None, -1), slice(None, -1)]
    return draw.choose(*indices)


def _again(written: TensorVariable) -> TensorVariable:
    """Return the part of an array that was just written to."""
    node = written.owner
    assert node is not None
    op: Any = node.op
    if isinstance(op, IncSubtensor):
        return Subtensor(op.idx_list)(written, *node.inputs[2:])
    return as_tensor_variable(op.selection.select(written, node.inputs[2:]))


def _value(draw: Draw, part: TensorVariable) -> TensorVariable:
    return draw.tensor(part.dtype, ())


def _written_twice(draw: Draw, *ways: Callable[..., TensorVariable], advanced: bool = True) -> TensorVariable:
    x = _array(draw)
    length = draw.shape_of(x)[0]
    indices: list[Index] = [_basic(draw, length)]
    if advanced:
        indices.append(draw.tensor("int64", (draw.length(),), -length, length - 1))
    part = x[draw.choose(*indices)]
    if part is x:
        part = x[:1]
    first, second = ways
    return second(_again(first(part, _value(draw, part))), _value(draw, part))


def _set_again(draw: Draw) -> TensorVariable:
    return _written_twice(draw, draw.choose(*_WAYS), lt.set_subtensor)


def _set_and_increased(draw: Draw) -> TensorVariable:
    return _written_twice(draw, lt.set_subtensor, lt.inc_subtensor, advanced=False)


def _zeros_increased(draw: Draw) -> TensorVariable:
    dtype = draw.choose("int64", "float64", "uint8", "float32")
    x = lt.alloc(constant(draw.choose(0.0, -0.0), dtype=dtype), draw.symbolic(3), 2)
    value = draw.tensor(dtype, ())
    return lt.inc_subtensor(x[_basic(draw, 3)], lt.exp(value) if dtype == "float64" and draw.flag() else value)


def _sum_of_written_zeros(draw: Draw) -> TensorVariable:
    dtype = draw.choose("float64", "int64", "float32")
    zeros = lt.alloc(constant(draw.choose(0.0, 0.0, -0.0), dtype=dtype), draw.choose(constant(3), draw.symbolic(3)), 2)
    terms = []
    for _ in range(draw.integer(2, 4)):
        part = zeros[_basic(draw, 3)]
        way = lt.inc_subtensor if draw.integer(0, 2) else lt.set_subtensor
        terms.append(way(part, draw.tensor(dtype, ())))
    if draw.flag():
        other = draw.tensor(dtype, (3, 2), static=(3, 2))
        terms.insert(draw.integer(0, len(terms)), lt.square(other) if draw.flag() else other)
    return lt.add(*terms)


def _increased_by_hand(draw: Draw) -> TensorVariable:
    x = _array(draw)
    part = x[_basic(draw, draw.shape_of(x)[0])]
    value = _value(draw, part)
    return lt.set_subtensor(part, part + value if draw.flag() else value + part)


def _own_part(draw: Draw) -> TensorVariable:
    x, shape = _known_array(draw)
    part = x[_basic(draw, shape[0])]
    return lt.set_subtensor(part, part)


def _same_number(draw: Draw) -> TensorVariable:
    dtype = draw.choose("float64", "int64", "bool")
    number = draw.choose(0, 1) if dtype != "float64" else draw.choose(0.0, -0.0, float("nan"))
    x = lt.alloc(constant(number, dtype=dtype), 3, draw.symbolic(2))
    if draw.flag():
        return lt.set_subtensor(x[_basic(draw, 3)], constant(number, dtype=dtype))
    return lt.inc_subtensor(
        x[_basic(draw, 3)], constant(draw.choose(0, -0.0 if dtype == "float64" else 0), dtype=dtype)
    )


def _other_part(draw: Draw) -> TensorVariable:
    way = draw.choose(*_WAYS)
    pairs: list[tuple[Index, Index]] = [(0, 1), (0, 2), (-1, -2), (slice(1, None), 0), (slice(None, 1), slice(1, None))]
    known: list[tuple[Index, Index]] = [
        (0, slice(1, None)),
        (slice(2), -1),
        (2, 0),
        (slice(None, None, 2), slice(1, 2)),
    ]
    static, several = draw.choose(((None, None), pairs), ((3, None), known))
    x = draw.tensor(draw.choose("float64", "int64"), (3, 2), static=static)
    one, other = draw.choose(*several)
    return way(x[one], _value(draw, x))[other]


def _distinct(draw: Draw, length: int) -> TensorVariable:
    places = draw.order(length)[: draw.integer(1, length)]
    return constant(np.array([place - length for place in places] if draw.flag() else places))


def _taken_back(draw: Draw) -> TensorVariable:
    x, shape = _known_array(draw)
    index: Index = draw.one_of(
        lambda: _distinct(draw, shape[0]), lambda: draw.tensor("bool", shape[:1], static=shape[:1])
    )
    part = x[index]
    return _again(draw.choose(*_WAYS)(part, _value(draw, part)))


def _progression(draw: Draw, length: int) -> list[int]:
    begin, end = draw.integer(0, length - 1), draw.integer(0, length - 1)
    step = draw.choose(1, 2, -1)
    places = list(range(begin, end, step)) or [begin]
    return [place - length for place in places] if draw.flag() else places


def _taken_evenly(draw: Draw) -> TensorVariable:
    x, shape = _known_array(draw)
    index: Sequence[Index] = [
        np.array(_progression(draw, shape[0])),
        *[slice(None, None, -1)] * draw.integer(0, x.ndim - 1),
    ]
    return x[tuple(index)]


def _set_evenly(draw: Draw) -> TensorVariable:
    x, shape = _known_array(draw)
    part = x[np.array(_progression(draw, shape[0]))]
    return draw.choose(*_WAYS)(part, _value(draw, part))


def _taken_all(draw: Draw) -> TensorVariable:
    x = draw.anything(draw.shape(1, 3))
    axis = draw.integer(0, x.ndim - 1)
    return x[(slice(None),) * axis + (lt.arange(lt.shape_i(x, axis)),)]


def _taken_one(draw: Draw) -> TensorVariable:
    x = _array(draw)
    axis = draw.integer(0, x.ndim - 1)
    place = draw.tensor("int64", (), 0, draw.shape_of(x)[axis] - 1)
    index = MakeVector("int64")(place) if draw.flag() else lt.dimshuffle(place, "x")
    return x[(slice(None),) * axis + (index,)]


WRITTEN: Final = (
    GraphsFor("set_of_written", _set_again),
    GraphsFor("inc_of_set", _set_and_increased),
    GraphsFor("inc_of_zeros", _zeros_increased),
    GraphsFor("sum_with_written_zeros", _sum_of_written_zeros),
    GraphsFor("set_of_increased", _increased_by_hand),
    GraphsFor("set_of_own_part", _own_part),
    GraphsFor("write_of_same_number", _same_number),
    GraphsFor("subtensor_of_other_part", _other_part),
    GraphsFor("take_of_written", _taken_back),
    GraphsFor("take_progression", _taken_evenly),
    GraphsFor("set_at_progression", _set_evenly),
    GraphsFor("take_all", _taken_all),
    GraphsFor("take_of_one", _taken_one),
)
"""For writes, and for index arrays."""
