"""Sums with arrays of zeros that were written to, as gradients of slices are: what was written is added where it belongs.

before                                       after
%1 = IncSubtensor{:2}(%zeros, %v)            %1 = IncSubtensor{:2}(%zeros, %v)
%2 = IncSubtensor{2:}(%zeros, %w)            %2 = IncSubtensor{2:}(%1, %w)
%3 = Add(%1, %2)
"""

from __future__ import annotations

from typing import Any, Final

import attrs

from lamella.ir import (
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    Add,
    Apply,
    FunctionGraph,
    IncSubtensor,
    TensorVariable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.operands import elementwise, never_negative_zero, operands
from lamella.rewriting.rules.usage import used_once
from lamella.typing_layer import uniform_value

__all__ = ["sum_with_written_zeros"]

_MOST_WRITES: Final = 64
"""Writes that are gone through to see what an array was made of."""


@node_rewriter(elementwise(Add))
def sum_with_written_zeros(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x + zeros[i].inc(v) -> x[i].inc(v)``, and the same for ``set``, for a basic index, which selects nothing twice

    Valid where x is as large as the zeros, because it is made of the same zeros or both have known shapes, and has no -0.0. At the index,
    ``x + (0 + v)`` is ``x + v``, since only ``-0.0 + -0.0`` depends on the sign of 0 + v; elsewhere, ``x + 0.0`` is x. Where the zeros are
    -0.0, x may have any. Operands are added in the order they have; those after the first that stays as it is stay too. It pays because what is zero is neither made, nor read, nor added, where nothing else needs it.
    """
    (out,) = node.outputs
    total, *others = operands(node)
    rest: list[TensorVariable] = []
    changed = False
    for term in others:
        combined = None if rest else _added(fgraph, total, term)
        if combined is None and not rest:
            combined = _added(fgraph, term, total)
        if combined is not None:
            total, changed = combined, True
        else:
            rest.append(term)
    if not changed:
        return None
    return fitted(lt.add(total, *rest) if rest else total, out)


def _added(fgraph: FunctionGraph, x: TensorVariable, term: TensorVariable) -> TensorVariable | None:
    """Return x to which was added what was written to zeros; None where that may be something else than the sum."""
    written = term.owner
    if written is None or not isinstance(written.op, IncSubtensor) or written.op.inplace or not used_once(fgraph, term):
        return None
    zeros, value, *index = [as_tensor_variable(v) for v in written.inputs]
    zero = uniform_value(zeros)
    if zero is None or zero != 0 or any([v.dtype != zeros.dtype for v in (x, value)]) or x.dtype in COMPLEX_DTYPES:
        return None
    if _base(x) is not zeros and (None in x.type.shape or x.type.shape != zeros.type.shape):
        return None
    if x.dtype in FLOAT_DTYPES and str(zero) != "-0.0" and not _has_no_negative_zero(x):
        return None
    return as_tensor_variable(attrs.evolve(written.op, set_instead_of_inc=False)(x, value, *index))


def _base(x: TensorVariable) -> TensorVariable:
    """Return the array that was written to first."""
    for _ in range(_MOST_WRITES):
        node = x.owner
        if node is None or not isinstance(node.op, IncSubtensor):
            break
        x = as_tensor_variable(node.inputs[0])
    return x


def _has_no_negative_zero(x: TensorVariable) -> bool:
    """Whether no element of a tensor of floats is -0.0: sums are not, unless both operands are."""
    for _ in range(_MOST_WRITES):
        node = x.owner
        if node is None or not isinstance(node.op, IncSubtensor):
            break
        if node.op.set_instead_of_inc and not never_negative_zero(as_tensor_variable(node.inputs[1])):
            return False
        x = as_tensor_variable(node.inputs[0])
    known = uniform_value(x)
    return never_negative_zero(x) or (known is not None and str(known) != "-0.0")
