"""Graphs for the rewrites of arithmetic."""

from __future__ import annotations

from typing import Final

from lamella.ir import TensorVariable, lt
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["ALGEBRA"]


def _product_of_three_with_one(draw: Draw) -> TensorVariable:
    x = draw.reals()
    return lt.mul(x, draw.repeated(1, x), draw.like(x))


ALGEBRA: Final = (
    GraphsFor(
        "mul_by_one",
        lambda draw: (x := draw.reals()) * draw.repeated(1, x),
        lambda draw: (x := draw.booleans()) * draw.repeated(True, x),
        _product_of_three_with_one,
    ),
)
