"""Graphs for the rewrites of shapes: axes, lengths, repeated values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lamella.ir import Alloc, DimShuffle, NewOrder, Shape, SpecifyShape, TensorVariable, constant, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["SHAPES"]


def _with_new_axes(draw: Draw, x: TensorVariable) -> TensorVariable:
    """Move the axes of an array, and add some."""
    order: list[int | str] = list(draw.order(x.ndim))
    for _ in range(draw.integer(0, 2)):
        order.insert(draw.integer(0, len(order)), "x")
    return lt.dimshuffle(x, order)


def _moved_twice(draw: Draw) -> TensorVariable:
    moved = _with_new_axes(draw, draw.anything())
    dropped = [axis for axis in draw.order(moved.ndim) if moved.type.shape[axis] != 1 or draw.flag()]
    return lt.dimshuffle(moved, dropped)


def _moved_to_where_it_was(draw: Draw) -> TensorVariable:
    x = draw.tensor("float64", draw.shape(1, 3))
    order: NewOrder = tuple(["x" if n == 1 and draw.flag() else axis for axis, n in enumerate(x.type.shape)])
    return DimShuffle(x.ndim, order)(x)


def _fill(draw: Draw, value: TensorVariable, shape: Sequence[int]) -> TensorVariable:
    """Repeat a value to a shape, by `alloc` or `fill`."""
    if draw.flag() and len(shape):
        return lt.alloc(value, [draw.symbolic(n) for n in shape])
    return lt.fill(draw.tensor("float64", shape), value)


def _value_and_shape(draw: Draw) -> tuple[TensorVariable, tuple[int, ...]]:
    """A value, and the shape to repeat it to: with more axes, and other lengths in the place of 1."""
    value = draw.anything(draw.shape(0, 2))
    lengths = [
        n if n != 1 or known is None else draw.length()
        for n, known in zip(draw.shape_of(value), value.type.shape, strict=True)
    ]
    return value, (*draw.shape(0, 3 - value.ndim), *lengths)


def _elementwise_of_fill(draw: Draw) -> TensorVariable:
    value, shape = _value_and_shape(draw)
    filled = _fill(draw, value, shape)
    other = draw.tensor(value.dtype, shape)
    return draw.one_of(lambda: filled * other, lambda: lt.isnan(filled), lambda: lt.eq(other, filled))


def _alloc_of_fill(draw: Draw) -> TensorVariable:
    value, shape = _value_and_shape(draw)
    return lt.alloc(_fill(draw, value, shape), [draw.symbolic(n) for n in (*draw.shape(1, 1), *shape)])


def _alloc_of_whole(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    return Alloc()(draw.anything(shape), *[draw.symbolic(n) for n in shape])


def _alloc_of_unit_axes(draw: Draw) -> TensorVariable:
    value, shape = _value_and_shape(draw)
    raised = lt.dimshuffle(value, ["x", *range(value.ndim)])
    lengths = shape if len(shape) > value.ndim else (2, *shape)
    return Alloc()(raised, *[draw.symbolic(n) for n in lengths])


def _fill_with_whole(draw: Draw) -> TensorVariable:
    shape = draw.shape()
    return lt.fill(draw.anything(shape), draw.anything(shape))


def _filled(draw: Draw) -> TensorVariable:
    value, shape = _value_and_shape(draw)
    return lt.fill(draw.tensor("float64", shape), value)


def _moved_axes_of_fill(draw: Draw) -> TensorVariable:
    value, shape = _value_and_shape(draw)
    return _with_new_axes(draw, _fill(draw, value, shape))


def _moved_fill(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 2)
    filled = _fill(draw, draw.anything(()), shape)
    return draw.one_of(
        lambda: lt.reshape(filled, (*[draw.symbolic(n) for n in shape[::-1]], 1)),
        lambda: filled[1:],
        lambda: filled[::-2],
    )


def _fill_written(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3, least=1)
    x = draw.tensor("float64", shape)
    part = draw.choose(x[1:], x[[0, -1]], x[::-1])
    length = {0: shape[0] - 1, 1: 2, 2: shape[0]}[0 if part is x[1:] else 1 if part is x[[0, -1]] else 2]
    value = _fill(draw, draw.tensor("float64", ()), (length, *shape[1:]))
    return draw.choose(lt.set_subtensor, lt.inc_subtensor)(part, value)


def _unit_axes_reshaped(draw: Draw) -> TensorVariable:
    x = draw.tensor("float64", draw.shape(1, 3))
    lengths: list[TensorVariable] = [
        constant(n) if n is not None else lt.shape_i(x, axis) for axis, n in enumerate(x.type.shape) if n != 1
    ]
    for _ in range(draw.integer(0, 2)):
        lengths.insert(draw.integer(0, len(lengths)), constant(1))
    return lt.reshape(x, lengths)


def _reshaped_twice(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = draw.anything(shape)
    middle = lt.reshape(x, draw.choose((-1,), shape[::-1]) if 0 not in shape else shape[::-1])
    return lt.reshape(middle, [draw.symbolic(n) for n in draw.choose(shape, (1, *shape))])


def _lengths(draw: Draw) -> TensorVariable:
    x = draw.tensor("float64", draw.shape(1, 3))
    computed = draw.one_of(
        lambda: lt.exp(x),
        lambda: lt.sum(x, axis=0, keepdims=True),
        lambda: lt.concatenate([x, x]),
        lambda: x[1:],
        lambda: lt.alloc(x, [draw.symbolic(2), *lt.shape_tuple(x)]),
        lambda: x.T,
    )
    return lt.shape_i(computed, draw.integer(0, computed.ndim - 1))


def _specified(draw: Draw, x: TensorVariable, shape: Sequence[int]) -> TensorVariable:
    asserted = draw.axes(len(shape), least=1)
    return SpecifyShape(asserted)(x, *[draw.symbolic(shape[axis]) for axis in asserted])


def _known_specified(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = draw.tensor("float64", shape, static=draw.choose(shape, (None,) * len(shape)))
    own = lt.shape_tuple(x)
    asserted = draw.axes(len(shape), least=1)
    return SpecifyShape(asserted)(x, *[own[axis] if x.type.shape[axis] is None else shape[axis] for axis in asserted])


def _specified_twice(draw: Draw) -> TensorVariable:
    shape = draw.shape(1, 3)
    x = draw.anything(shape)
    if draw.flag():
        n = draw.symbolic(shape[0])
        return SpecifyShape((0,))(SpecifyShape((0,))(x, n), n)
    half = len(shape) // 2
    first, second = draw.choose((range(half), range(half, len(shape))), (range(half, len(shape)), range(half)))
    inner = SpecifyShape(tuple(first))(x, *[draw.symbolic(shape[axis]) for axis in first])
    return SpecifyShape(tuple(second))(inner, *[draw.symbolic(shape[axis]) for axis in second])


def _units(draw: Draw, dtype: str = "float64") -> TensorVariable:
    """An argument some of whose lengths are 1, and known to be."""
    shape = [1, *[draw.choose(1, 2, 3) for _ in range(draw.integer(0, 2))]]
    return draw.tensor(dtype, shape, static=[1 if n == 1 else None for n in shape])


def _hidden(draw: Draw, x: TensorVariable) -> TensorVariable:
    """Hide that some lengths are 1."""
    return lt.unbroadcast(x, [axis for axis, n in enumerate(x.type.shape) if n == 1 and draw.flag()] or [0])


def _seen_through(draw: Draw) -> TensorVariable:
    hidden = _hidden(draw, _units(draw))
    return draw.one_of(
        lambda: lt.sum(hidden, axis=0),
        lambda: hidden.T,
        lambda: hidden[0],
        lambda: Shape()(hidden),
        lambda: lt.shape_i(hidden, 0),
        lambda: lt.reshape(hidden, (-1,)),
        lambda: lt.softmax(hidden, axis=0),
        lambda: lt.specify_shape(hidden, (1, *[None] * (hidden.ndim - 1))),
        lambda: lt.concatenate([hidden, hidden], axis=0),
    )


def _hidden_twice(draw: Draw) -> TensorVariable:
    x = draw.tensor("float64", (1, 1), static=(1, 1))
    return lt.unbroadcast(lt.unbroadcast(x, [draw.integer(0, 1)]), [draw.integer(0, 1)])


def _elementwise_of_hidden(draw: Draw) -> TensorVariable:
    x = _units(draw)
    hidden = _hidden(draw, x)
    return draw.one_of(lambda: lt.exp(hidden), lambda: hidden + x)


SHAPES: Final = (
    GraphsFor("dimshuffle_of_nothing", _moved_to_where_it_was),
    GraphsFor("dimshuffle_of_dimshuffle", _moved_twice),
    GraphsFor("elemwise_of_fill", _elementwise_of_fill),
    GraphsFor("alloc_of_fill", _alloc_of_fill),
    GraphsFor("alloc_of_whole", _alloc_of_whole),
    GraphsFor("alloc_of_unit_axes", _alloc_of_unit_axes),
    GraphsFor("fill_with_whole", _fill_with_whole),
    GraphsFor("second_to_alloc", _filled),
    GraphsFor("dimshuffle_of_fill", _moved_axes_of_fill),
    GraphsFor("moved_fill", _moved_fill),
    GraphsFor("fill_written", _fill_written),
    GraphsFor("reshape_of_unit_axes", _unit_axes_reshaped),
    GraphsFor("reshape_of_reshape", _reshaped_twice),
    GraphsFor("shape_i_of_computed", _lengths),
    GraphsFor("shape_of_lengths", lambda draw: Shape()(draw.anything())),
    GraphsFor("specify_shape_of_known", _known_specified),
    GraphsFor("specify_shape_of_specify_shape", _specified_twice),
    GraphsFor("op_of_unbroadcast", _seen_through),
    GraphsFor("unbroadcast_of_unbroadcast", _hidden_twice),
    GraphsFor("elemwise_of_unbroadcast", _elementwise_of_hidden),
    GraphsFor(
        "switch_of_known", lambda draw: lt.switch(draw.choose(True, False), x := draw.anything(), draw.beside(x))
    ),
    GraphsFor("switch_of_same", lambda draw: lt.switch(draw.booleans(draw.shape_of(x := draw.anything())), x, x)),
)
"""For axes, lengths and repeated values."""
