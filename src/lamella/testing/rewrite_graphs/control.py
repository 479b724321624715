"""Graphs for the rewrites of choices, checks, inner graphs and batches."""

from __future__ import annotations

from typing import Final

from lamella.ir import (
    Assert,
    Blockwise,
    CheckAndRaise,
    DimShuffle,
    Dot,
    IfElse,
    Max,
    OpFromGraph,
    SortOp,
    Sum,
    TensorVariable,
    ifelse,
    lt,
)
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor, Made

__all__ = ["CONTROL"]


def _pair(draw: Draw) -> tuple[TensorVariable, TensorVariable]:
    """Two values of one dtype and number of dimensions, of equal lengths or not."""
    x = draw.anything()
    y = draw.like(x) if draw.flag() else draw.tensor(x.dtype, [draw.length() for _ in range(x.ndim)])
    return x, y


def _known(draw: Draw) -> Made:
    x, y = _pair(draw)
    condition = draw.choose(True, False, 2.0, float("nan"), 0)
    return [ifelse(condition, x, y)] if draw.flag() else list(IfElse(2)(condition, x, y, y, x))


def _same(draw: Draw) -> Made:
    x, y = _pair(draw)
    condition = draw.booleans(())
    return [ifelse(condition, x, x)] if draw.flag() else list(IfElse(3)(condition, y, x, x, x, x, y))


def _nested(draw: Draw) -> Made:
    x, y = _pair(draw)
    condition = draw.booleans(())
    inner = ifelse(condition, x, y)
    return draw.one_of(lambda: ifelse(condition, inner, x), lambda: ifelse(condition, y, inner))


def _negated(draw: Draw) -> Made:
    x, y = _pair(draw)
    condition = draw.choose(lt.logical_not, lt.bitwise_not)(draw.booleans(()))
    return list(IfElse(2).make_node(condition, x, y, y, x).outputs)


def _check(draw: Draw, message: str) -> CheckAndRaise:
    return draw.choose(Assert(message), CheckAndRaise(ValueError, message))


def _known_check(draw: Draw) -> Made:
    x, c = draw.anything(), draw.given(True)
    check = _check(draw, "no")
    return draw.one_of(lambda: check(x, True), lambda: check(x), lambda: check(x, True, c), lambda: check(x, c, c))


def _same_check(draw: Draw) -> Made:
    x, c, d = draw.anything(), draw.given(True), draw.given(True)
    checked = _check(draw, "first")(x, c)
    return draw.one_of(lambda: _check(draw, "second")(checked, c), lambda: _check(draw, "second")(checked, d, c))


def _inner_graph(draw: Draw) -> Made:
    x = draw.floats()
    y = draw.like(x)
    a, b = x.type(), y.type()
    inner = OpFromGraph([a, b], [lt.exp(a) * b, lt.sin(b)])
    outer = OpFromGraph([a, b], [*inner(b, a), a])
    return list(draw.choose(inner, outer)(x, y))


def _one(draw: Draw) -> Made:
    x = draw.floats((draw.length(), draw.length()))
    y = draw.tensor(x.dtype, (draw.shape_of(x)[1],))
    return list(Blockwise(Dot(), "(m,n),(n)->(m)").make_node(x, y).outputs)


def _at_once(draw: Draw) -> Made:
    dtype, batch = draw.float_dtype(), draw.shape(1, 2)
    rows, columns = draw.length(1), draw.length(1)
    shape = (*batch, rows, columns)
    x = draw.tensor(dtype, shape, static=[n if n == 1 else None for n in shape])
    known = draw.tensor(dtype, shape, static=shape)
    vectors = (*draw.choose(batch, batch[1:], ()), columns)
    y = draw.tensor(dtype, vectors, static=[n if n == 1 else None for n in vectors])
    made: TensorVariable = draw.one_of(
        lambda: Blockwise(Dot(), "(m,n),(n)->(m)")(x, y),
        lambda: Blockwise(Max((0,)), "(m,n)->(n)")(known),
        lambda: Blockwise(Sum((0,)), "(m,n)->(n)")(x),
        lambda: Blockwise(SortOp(0), "(n)->(n)")(x),
        lambda: Blockwise(DimShuffle(2, (1, 0)), "(m,n)->(n,m)")(x),
    )
    return made


CONTROL: Final = (
    GraphsFor("ifelse_of_known", _known),
    GraphsFor("ifelse_of_same", _same),
    GraphsFor("ifelse_of_ifelse", _nested),
    GraphsFor("ifelse_of_not", _negated),
    GraphsFor("check_of_known", _known_check),
    GraphsFor("check_of_same", _same_check),
    GraphsFor("inline_op_from_graph", _inner_graph),
    GraphsFor("blockwise_of_one", _one),
    GraphsFor("blockwise_at_once", _at_once),
)
"""For choices, checks and inner graphs."""
