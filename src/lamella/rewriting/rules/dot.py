"""Products of matrices that are transposed, and of columns and rows."""

from __future__ import annotations

from typing import Any

from lamella.ir import FLOAT_DTYPES, Apply, DimShuffle, Dot, FunctionGraph, TensorVariable, constant, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted

__all__ = ["dot_of_transposed", "outer_dot", "transposed_dot"]


@node_rewriter([Dot])
def dot_of_transposed(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dot(x.T, y.T) -> dot(y, x).T``, for matrices.

    Always valid, but that the products of numbers are added up as those of the other matrix are. It pays because one transposed view is made, and
    because both are one node then.
    """
    match node.inputs[0].owner, node.inputs[1].owner:
        case (
            Apply(DimShuffle(2, (1, 0)), (TensorVariable() as x,)),
            Apply(DimShuffle(2, (1, 0)), (TensorVariable() as y,)),
        ):
            return fitted(Dot()(y, x).T, node.outputs[0])
        case _:
            return None


@node_rewriter([DimShuffle])
def transposed_dot(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dot(x.T, y).T -> dot(y.T, x)``, and ``dot(x, y.T).T -> dot(y, x.T)``, for matrices.

    Always valid, but that the products of numbers are added up as those of the other matrix are. It pays because one view less is made, where
    nothing else needs the product; the result is contiguous.
    """
    match node.op, node.inputs[0].owner:
        case DimShuffle(2, (1, 0)), Apply(Dot(), (TensorVariable() as a, TensorVariable() as b)) if (
            a.ndim == b.ndim == 2
        ):
            first, second = _transposed(a), _transposed(b)
            if (first is None and second is None) or len(fgraph.get_clients(node.inputs[0])) > 1:
                return None
            return fitted(Dot()(b.T if second is None else second, a.T if first is None else first), node.outputs[0])
        case _:
            return None


@node_rewriter([Dot])
def outer_dot(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dot(x, y) -> x * y + 0``, for a column x and a row y; for a column and a vector of one element likewise.

    Valid where the axis that is summed over is known to have length 1 in both. A sum begins with 0: that of -0.0 is 0.0. It pays because
    elementwise operations fuse with others: a matrix to which an outer product is added (the BLAS calls that ger) is read and written once, in place
    where nobody needs it any more.
    """
    match node.inputs:
        case (TensorVariable() as x, TensorVariable() as y) if x.type.shape[-1] == 1 == y.type.shape[0]:
            pass
        case _:
            return None
    (out,) = node.outputs
    if out.type.dtype in (
        "float16",
        "complex64",
        "complex128",
    ):  # added up in another dtype; multiplied by other formulas
        return None
    column = x if y.ndim == 2 and x.ndim == 2 else lt.dimshuffle(x, list(range(x.ndim - 1)))
    row = y if y.ndim == 2 and x.ndim == 2 else lt.dimshuffle(y, list(range(1, y.ndim)))
    product = lt.mul(column, row)
    return fitted(
        lt.add(product, constant(0, dtype=out.type.dtype)) if out.type.dtype in FLOAT_DTYPES else product, out
    )


def _transposed(x: TensorVariable) -> TensorVariable | None:
    """Return y, if x is ``y.T``."""
    match x.owner:
        case Apply(DimShuffle(2, (1, 0)), (TensorVariable() as y,)):
            return y
        case _:
            return None
