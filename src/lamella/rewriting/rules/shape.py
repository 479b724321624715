"""Shapes of what is computed, found without computing it.

before                                   after
%0 = Exp(%x)                             %0 = Shape_i{axis=0}(%x)
%1 = Shape_i{axis=0}(%0)
"""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, FunctionGraph, MakeVector, Shape, Shape_i, TensorVariable
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import symbolic_shape

__all__ = ["shape_i_of_computed", "shape_of_lengths"]


@node_rewriter([Shape_i])
def shape_i_of_computed(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``shape_i(f(x), axis) -> the length, in terms of those of x``

    Valid where `Op.infer_shape` tells; errors that computing f(x) would raise are not raised. It pays because f need not be computed for its
    shape.
    """
    match node.op:
        case Shape_i(axis):
            return fitted(symbolic_shape(node.inputs[0])[axis], node.outputs[0])
        case _:
            return None


@node_rewriter([Shape])
def shape_of_lengths(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``shape(x) -> make_vector(shape_i(x, 0), shape_i(x, 1), ...)``

    Valid as `shape_i_of_computed` is. It pays because lengths are seen to be the same, or to be known.
    """
    return fitted(MakeVector("int64")(*symbolic_shape(node.inputs[0])), node.outputs[0])
