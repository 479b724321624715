"""Arrays cut into parts: into one, what was just joined, and what repeats one value."""

from __future__ import annotations

from typing import Any

from lamella.ir import (
    Alloc,
    Apply,
    FunctionGraph,
    Join,
    Split,
    TensorVariable,
    Variable,
    as_lengths,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fill import repeated
from lamella.rewriting.rules.fitting import fitted_to
from lamella.typing_layer import symbolic_shape

__all__ = ["split_into_one", "split_of_fill", "split_of_join"]


def _all_fitted(parts: list[TensorVariable], node: Apply[Any]) -> list[Variable[Any]] | None:
    found = [fitted_to(part, out.type) for part, out in zip(parts, node.outputs, strict=True)]
    known = [part for part in found if part is not None]
    return [*known] if len(known) == len(found) else None


@node_rewriter([Split])
def split_into_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``split(x, (n,)) -> specify_shape(x, (n, ?))``

    Always valid. It pays because others see through it.
    """
    x, sizes = [as_tensor_variable(variable) for variable in node.inputs]
    if not isinstance(node.op, Split) or node.op.n_splits != 1 or sizes.type.shape != (1,):
        return None
    asserted: list[TensorVariable | None] = [None] * x.ndim
    (asserted[node.op.axis],) = as_lengths(sizes)
    return _all_fitted([lt.specify_shape(x, asserted)], node)


@node_rewriter([Split])
def split_of_join(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``split(join(0, x, y), (length of x, length of y)) -> x, y``

    Valid where the lengths are seen to be those; that x and y do not fit together is not noticed. It pays because nothing is joined.
    """
    joined, sizes = node.inputs
    match node.op, joined.owner:
        case Split(n, axis), Apply(Join(same), inputs) if same == axis and len(inputs) == n:
            parts = [as_tensor_variable(x) for x in inputs]
        case _:
            return None
    vector = as_tensor_variable(sizes)
    if vector.type.shape[0] is None:
        return None
    lengths = [symbolic_shape(part)[axis] for part in parts]
    if any([a is not b for a, b in zip(as_lengths(vector), lengths, strict=True)]):
        return None
    return _all_fitted(parts, node)


@node_rewriter([Split])
def split_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``split(alloc(v, n), (a, b)) -> alloc(v, a), alloc(v, b)``, for v that is repeated along the axis; the same for ``fill(x, v)``.

    Valid where the lengths fit: the error that they do not is not raised. It pays because those who use the parts repeat v by themselves: gradients of
    sums of joined arrays begin so.
    """
    (x, _) = node.inputs
    value = repeated(x)
    if value is None or not isinstance(node.op, Split):
        return None
    whole = as_tensor_variable(value, ndim=x.type.ndim)
    if whole.type.shape[node.op.axis] != 1 or x.type.shape[node.op.axis] == 1:
        return None
    return _all_fitted([Alloc()(value, *symbolic_shape(out)) for out in node.outputs], node)
