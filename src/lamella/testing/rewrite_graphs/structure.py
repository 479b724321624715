"""Graphs for the rewrites of structure that belong to no shape and no index: constants, copies, casts, what undoes itself, equal nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from lamella.ir import Cast, Elemwise, TensorVariable, constant, grad_clip, lt, view_op, zero_grad
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["STRUCTURE"]


def _of_constants(draw: Draw) -> Sequence[TensorVariable]:
    x = draw.reals()
    c = constant(np.arange(3, dtype=draw.real_dtype()))
    return draw.one_of(
        lambda: [x * lt.sum(c)],
        lambda: [lt.add(c, c), lt.exp(x)],
        lambda: [lt.dimshuffle(c, ["x", 0])],
        lambda: [lt.true_divide(c, constant(0.0))],
        lambda: [x + lt.log(lt.neg(lt.cast(c, "float64")))[1]],
    )


def _copies(draw: Draw) -> TensorVariable:
    x = draw.anything()
    return draw.one_of(lambda: lt.tensor_copy(x), lambda: view_op(x))


def _gradient_controls(draw: Draw) -> TensorVariable:
    x = draw.floats()
    return draw.one_of(lambda: grad_clip(x, -1.0, 1.0), lambda: zero_grad(x))


def _casts(draw: Draw) -> TensorVariable:
    first, second, third = draw.choose(
        ("int8", "int64", "int16"),
        ("float32", "float64", "float16"),
        ("bool", "uint8", "float32"),
        ("int32", "float64", "int64"),
        ("uint8", "int16", "bool"),
        ("float32", "complex128", "complex64"),
        ("float64", "complex128", "bool"),
        ("int16", "float32", "float64"),
    )
    return lt.cast(lt.cast(draw.tensor(first), second), third)


def _twice(draw: Draw) -> TensorVariable:
    if draw.flag():
        return lt.logical_not(lt.logical_not(draw.booleans()))
    if draw.flag():
        return lt.bitwise_not(lt.bitwise_not(draw.choose(draw.integers, draw.booleans)()))
    return draw.choose(lt.neg, lt.conj)(draw.choose(lt.neg, lt.conj)(draw.numbers()))


def _involution(draw: Draw) -> TensorVariable:
    of = draw.choose(lt.neg, lt.conj)
    return of(of(draw.numbers()))


def _equal_but_for_names(draw: Draw) -> Sequence[TensorVariable]:
    x, y = (first := draw.reals()), draw.beside(first)
    a, b = lt.add(x, y), lt.add(y, x)
    return [a * lt.neg(x), b.named("b") * lt.neg(x)]


STRUCTURE: Final = (
    GraphsFor("constant_folding", _of_constants),
    GraphsFor("identity_of_x", _copies, _gradient_controls),
    GraphsFor("cast_to_own_dtype", lambda draw: Elemwise(Cast((x := draw.anything()).dtype))(x)),
    GraphsFor("cast_of_cast", _casts),
    GraphsFor("involution_of_itself", _twice, _involution),
    GraphsFor(
        "idempotent_of_itself",
        lambda draw: (of := draw.choose(lt.abs, lt.sign))(of(draw.reals())),
        lambda draw: lt.abs(lt.abs(draw.numbers())),
    ),
    GraphsFor(
        "rounding_of_rounded",
        lambda draw: draw.choose(lt.floor, lt.ceil, lt.rint, lt.trunc)(
            draw.choose(lt.floor, lt.ceil, lt.rint, lt.trunc)(draw.floats())
        ),
    ),
    *[GraphsFor(name, _equal_but_for_names) for name in ("merge1", "merge", "merge1.2", "merge2", "merge3")],
)
"""For constants, copies, casts and equal nodes."""
