"""Graphs for the rewrites of indices, of parts that are written to, and of joined arrays."""

from __future__ import annotations

from typing import Final

from lamella.ir import (
    IncSubtensor,
    Index,
    Join,
    MakeVector,
    Subtensor,
    TensorVariable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["INDEXING"]


def _slice(draw: Draw, length: int) -> slice[int | None, int | None, int | None]:
    def bound() -> int | None:
        return draw.choose(None, draw.integer(-length - 1, length + 1))

    return slice(bound(), bound(), draw.choose(None, 1, -1, 2, -2))


def _part(draw: Draw, length: int) -> Index:
    """An integer that is within bounds, or a slice."""
    if length and draw.integer(0, 2) == 0:
        return draw.integer(-length, length - 1)
    return draw.choose(slice(None), _slice(draw, length))


def _array(draw: Draw, least: int = 0) -> TensorVariable:
    return draw.anything(draw.shape(1, 3, least))


def _known_index(draw: Draw) -> TensorVariable:
    x = _array(draw, least=1)
    shape = draw.shape_of(x)
    place = constant(draw.integer(0, shape[0] - 1))
    own = lt.shape_i(x, 0)
    indices: list[Index] = [place, slice(0, own), slice(None, own, 1), slice(place, None)]
    part = x[draw.choose(*indices)]
    if draw.flag():
        return part
    return lt.set_subtensor(part, draw.tensor(x.dtype, ()))


def _whole_of_known_length(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = draw.tensor(draw.choose("float64", "bool", "complex64"), shape, static=shape)
    return x[draw.choose(slice(0, shape[0]), slice(-shape[0] - 1, None))]


def _nested(draw: Draw) -> TensorVariable:
    x = _array(draw)
    shape = draw.shape_of(x)
    first = draw.one_of(lambda: slice(None, None, -1), lambda: _slice(draw, shape[0]), lambda: None)
    part = x[first]
    second = _part(draw, len(range(shape[0])[first]) if isinstance(first, slice) else 1)
    return part[second]


def _of_vector(draw: Draw) -> TensorVariable:
    dtype = draw.choose("int64", "float64", "bool")
    count = draw.integer(1, 4)
    vector = MakeVector(dtype)(*[draw.tensor(dtype, ()) for _ in range(count)])
    return vector[_part(draw, count)]


def _of_join(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3, least=1)
    axis = draw.integer(0, len(shape) - 1)
    dtype = draw.choose("float64", "int64", "bool")
    lengths = [draw.integer(1, 3) for _ in range(draw.integer(1, 3))]
    shapes = [(*shape[:axis], n, *shape[axis + 1 :]) for n in lengths]
    whole = Join(axis)(
        *[draw.tensor(dtype, s, static=[n if i == axis else None for i, n in enumerate(s)]) for s in shapes]
    )
    place = draw.integer(0, len(lengths) - 1)
    begin = sum(lengths[:place])
    end = begin + lengths[place]
    parts: list[Index] = [begin, end - 1, slice(begin, end), slice(begin, begin + 1)]
    inside = draw.choose(*parts)
    return whole[(slice(None),) * axis + (inside,)]


def _read_back(draw: Draw) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "int64", "float32"), shape := draw.shape(1, 3), static=shape)
    part = x[_part(draw, draw.shape_of(x)[0])]
    if part.owner is None or not isinstance(part.owner.op, Subtensor):
        part = x[1:]
    assert part.owner is not None
    assert isinstance(part.owner.op, Subtensor)
    lengths = [0 if n is None else n for n in part.type.shape]
    value = draw.tensor(x.dtype, draw.choose(lengths, ()))
    written = draw.choose(lt.set_subtensor, lt.inc_subtensor)(part, value)
    return as_tensor_variable(Subtensor(part.owner.op.idx_list)(written, *part.owner.inputs[1:]))


def _whole_written(draw: Draw, set_instead_of_inc: bool) -> TensorVariable:
    x = draw.tensor(draw.choose("float64", "int64"), draw.shape(1, 3))
    return IncSubtensor((), set_instead_of_inc=set_instead_of_inc)(x, draw.beside(x))


INDEXING: Final = (
    GraphsFor("index_of_known", _known_index, _whole_of_known_length),
    GraphsFor("subtensor_of_make_vector", _of_vector),
    GraphsFor("subtensor_of_subtensor", _nested),
    GraphsFor("subtensor_of_join", _of_join),
    GraphsFor("join_of_one", lambda draw: Join(0)(_array(draw))),
    GraphsFor("subtensor_of_written", _read_back),
    GraphsFor("inc_of_whole", lambda draw: _whole_written(draw, set_instead_of_inc=False)),
    GraphsFor("set_of_whole", lambda draw: _whole_written(draw, set_instead_of_inc=True)),
)
"""For indices."""
