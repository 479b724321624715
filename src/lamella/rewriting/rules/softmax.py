"""Weights of a softmax that underflow: their logarithms where some are picked out, and what is divided by them and multiplied again.

    before                                      after
    %0 = Softmax{axis=(1,)}(%x)                 %0 = LogSoftmax{axis=(1,)}(%x)
    %1 = AdvancedSubtensor{i0, i1}(%0, %i, %y)  %1 = AdvancedSubtensor{i0, i1}(%0, %i, %y)
    %2 = log(%1)

These are likelihoods of classes, and their gradients. A weight is not 0, but where it is rounded. So these change values on purpose.
"""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    AnnihilatingMul,
    Apply,
    DimShuffle,
    Elemwise,
    FunctionGraph,
    IncSubtensor,
    Log,
    LogSoftmax,
    Mul,
    Reciprocal,
    Softmax,
    Sub,
    Subtensor,
    TensorVariable,
    Variable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.operands import applied, elementwise, instead_of, is_zeros, operands
from lamella.rewriting.rules.products import product_with

__all__ = ["log_of_part_of_softmax", "slope_of_log_of_softmax"]

_PARTS: Final = (Subtensor, AdvancedSubtensor, AdvancedSubtensor1, DimShuffle)


def _is_softmax(variable: Variable[Any]) -> bool:
    return variable.owner is not None and isinstance(variable.owner.op, Softmax)


@node_rewriter(elementwise(Log))
def log_of_part_of_softmax(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``log(softmax(x, axes)[i]) -> log_softmax(x, axes)[i]``, for any index; also where axes are moved.

    Valid for floats. It pays where weights underflow.
    """
    part = node.inputs[0].owner
    if part is None or not isinstance(part.op, _PARTS) or not _is_softmax(part.inputs[0]):
        return None
    weights = part.inputs[0].owner
    assert weights is not None
    assert isinstance(weights.op, Softmax)
    logarithms = LogSoftmax(weights.op.axes)(as_tensor_variable(weights.inputs[0]))
    made = part.clone_with_new_inputs([logarithms, *part.inputs[1:]]).outputs[0]
    return fitted(as_tensor_variable(made), node.outputs[0])


@node_rewriter(elementwise(Mul, AnnihilatingMul))
def slope_of_log_of_softmax(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``g * (1 / p) * p -> g``, for weights p of a softmax; likewise ``zeros[i].inc(g * (1 / p[i])) * p -> zeros[i].inc(g)``.

    So too for a difference, ``(g * (1 / p) - y) * p -> g - y * p``. Valid for floats. It pays where weights underflow, as in derivatives of
    ``log(softmax(x))`` and of some of its elements.
    """
    if len(node.inputs) != 2:
        return None
    product, weights = operands(node)
    if not _is_softmax(weights):
        if not _is_softmax(product) or not applied(Mul, node.outputs[0]):
            return None
        product, weights = weights, product
    assert isinstance(node.op, Elemwise)
    whole = _with_weights(product, weights, node.op)
    if whole is not None:
        return instead_of(node, whole)
    difference = applied(Sub, product)
    whole = None if difference is None else _with_weights(difference[0], weights, node.op)
    if difference is None or whole is None:
        return None
    return instead_of(node, lt.sub(whole, node.op(difference[1], weights)))


def _with_weights(product: TensorVariable, weights: TensorVariable, op: Elemwise[Any]) -> TensorVariable | None:
    """Return what has been divided by weights, or written to zeros having been divided by some of them."""
    found = product_with(product, weights, _cancelled, op)
    written = product.owner
    if found is not None or written is None:
        return found
    array, value, *indices = written.inputs if len(written.inputs) > 1 else (None, None)
    if array is None or value is None or not is_zeros(array) or not isinstance(value, TensorVariable):
        return None
    writing = written.op
    part: TensorVariable
    if isinstance(writing, IncSubtensor) and not writing.inplace:
        part = Subtensor(writing.idx_list)(weights, *indices)
    elif isinstance(writing, AdvancedIncSubtensor) and not writing.inplace:
        part = AdvancedSubtensor(writing.idx_list)(weights, *indices)
    elif isinstance(writing, AdvancedIncSubtensor1) and not writing.inplace:
        part = AdvancedSubtensor1(writing.axis)(weights, as_tensor_variable(indices[0]))
    else:
        return None
    scaled = product_with(value, part, _cancelled, op)
    if scaled is None:
        return None
    return as_tensor_variable(written.clone_with_new_inputs([array, scaled, *indices]).outputs[0])


def _cancelled(other: TensorVariable, weights: TensorVariable) -> TensorVariable | None:
    reciprocal = applied(Reciprocal, other)
    if reciprocal is None or reciprocal[0] is not weights:
        return None
    return lt.second(weights, constant(1, dtype=weights.dtype))
