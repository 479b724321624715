"""Arrays that are written to several times at the same index, or with what they hold already.

before                                       after
%0 = SetSubtensor{2:}(%x, %v)                %0 = SetSubtensor{2:}(%x, %w)
%1 = SetSubtensor{2:}(%0, %w)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from lamella.ir import (
    Add,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    Apply,
    FunctionGraph,
    IncSubtensor,
    Subtensor,
    TensorVariable,
    Variable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    parts_of,
    within_bounds,
)
from lamella.rewriting.rules.operands import applied, never_negative_zero
from lamella.rewriting.rules.usage import used_once
from lamella.typing_layer import uniform_value

__all__ = [
    "inc_of_set",
    "inc_of_zeros",
    "set_of_increased",
    "set_of_own_part",
    "set_of_written",
    "write_of_same_number",
]

Writing = IncSubtensor | AdvancedIncSubtensor | AdvancedIncSubtensor1

_WRITING = (IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1)


def _written_before(node: Apply[Any]) -> Apply[Any] | None:
    """Return the node that wrote to the array that a node writes to, at the same index; neither works in place."""
    before = node.inputs[0].owner
    if before is None or type(before.op) is not type(node.op) or before.inputs[2:] != node.inputs[2:]:
        return None
    match node.op, before.op:
        case (IncSubtensor() | AdvancedIncSubtensor() | AdvancedIncSubtensor1()) as op, (
            IncSubtensor() | AdvancedIncSubtensor() | AdvancedIncSubtensor1()
        ) as other if op.idx_list == other.idx_list and not op.inplace and not other.inplace:
            return before
        case _:
            return None


@node_rewriter([*_WRITING])
def set_of_written(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``x[i].set(v)[i].set(w) -> x[i].set(w)``, and ``x[i].inc(v)[i].set(w) -> x[i].set(w)``, for any index

    Always valid, but that v may not fit. It pays because x is written to once, where nothing else needs what is between.
    """
    if not isinstance(node.op, Writing) or not node.op.set_instead_of_inc or not used_once(fgraph, node.inputs[0]):
        return None
    before = _written_before(node)
    return None if before is None else node.clone_with_new_inputs([before.inputs[0], *node.inputs[1:]]).outputs


@node_rewriter([IncSubtensor])
def inc_of_set(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``x[i].set(v)[i].inc(w) -> x[i].set(v + w)``, for a basic index, which selects nothing twice

    Always valid. It pays because x is written to once, where nothing else needs what is between.
    """
    if not isinstance(node.op, IncSubtensor) or node.op.set_instead_of_inc or not used_once(fgraph, node.inputs[0]):
        return None
    before = _written_before(node)
    if before is None or not isinstance(before.op, IncSubtensor) or not before.op.set_instead_of_inc:
        return None
    x, v, *index = [as_tensor_variable(variable) for variable in before.inputs]
    total = lt.add(v, as_tensor_variable(node.inputs[1]))
    return Apply(before.op, [x, total, *index], [node.outputs[0].type]).outputs


@node_rewriter([IncSubtensor])
def inc_of_zeros(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``zeros[i].inc(v) -> zeros[i].set(v)``, for a basic index, which selects nothing twice

    Valid where v cannot be -0.0, which added to 0.0 is 0.0, or where the zeros are -0.0 themselves. It pays because nothing is read and added.
    """
    op = node.op
    if not isinstance(op, IncSubtensor) or op.set_instead_of_inc or op.inplace:
        return None
    x, v = [as_tensor_variable(variable) for variable in node.inputs[:2]]
    zero = uniform_value(x)
    if zero is None or zero != 0:
        return None
    if str(zero) != "-0.0" and not never_negative_zero(v):
        return None
    return Apply(attrs.evolve(op, set_instead_of_inc=True), node.inputs, [node.outputs[0].type]).outputs


@node_rewriter([IncSubtensor])
def set_of_increased(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``x[i].set(x[i] + v) -> x[i].inc(v)``, for a basic index, which selects nothing twice

    Always valid. It pays because the sum is written where it belongs at once, where nothing else needs it.
    """
    op = node.op
    if (
        not isinstance(op, IncSubtensor)
        or not op.set_instead_of_inc
        or op.inplace
        or not used_once(fgraph, node.inputs[1])
    ):
        return None
    x, total, *index = node.inputs
    terms = applied(Add, total)
    if terms is None or len(terms) != 2:
        return None
    for part, value in (terms, terms[::-1]):
        if _is_part(part, x, op, index) and value.dtype == x.type.dtype and _has_no_more(value, part):
            return Apply(attrs.evolve(op, set_instead_of_inc=False), [x, value, *index], [node.outputs[0].type]).outputs
    return None


def _is_part(part: Variable[Any], x: Variable[Any], op: IncSubtensor, index: Sequence[Variable[Any]]) -> bool:
    match part.owner:
        case Apply(Subtensor(entries), (source, *integers)):
            return source is x and entries == op.idx_list and list(integers) == list(index)
        case _:
            return False


def _has_no_more(value: TensorVariable, part: TensorVariable) -> bool:
    """Whether a value does not broadcast a part to more than it is."""
    return all([b != 1 or a == 1 for a, b in zip(value.type.shape, part.type.shape, strict=True)])


@node_rewriter([IncSubtensor])
def set_of_own_part(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i].set(x[i]) -> x``, for a basic index

    Valid where integers are within bounds. It pays because nothing is copied.
    """
    op = node.op
    if not isinstance(op, IncSubtensor) or not op.set_instead_of_inc:
        return None
    x, part, *index = node.inputs
    if not _is_part(part, x, op, index) or not within_bounds(parts_of(node), as_tensor_variable(x)):
        return None
    return fitted(as_tensor_variable(x), node.outputs[0])


@node_rewriter([IncSubtensor])
def write_of_same_number(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``zeros[i].set(0) -> zeros``, and ``zeros[i].inc(0) -> zeros``; the same for any number that writing does not change, to the last bit.

    Valid where integers are within bounds; that the value does not fit is not noticed. It pays because nothing is copied.
    """
    x, value = [as_tensor_variable(variable) for variable in node.inputs[:2]]
    held, number = uniform_value(x), uniform_value(value)
    if held is None or number is None or not isinstance(node.op, IncSubtensor):
        return None
    with np.errstate(all="ignore"):
        result = number if node.op.set_instead_of_inc else held + number
    if result.tobytes() != held.tobytes() or not within_bounds(parts_of(node), x):
        return None
    return fitted(x, node.outputs[0])
