"""Basic indices whose numbers are known, that select everything, or that read what was just written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from lamella.ir import (
    Alloc,
    Apply,
    FunctionGraph,
    IncSubtensor,
    Subtensor,
    TensorConstant,
    TensorVariable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    Part,
    entries_of,
    index_inputs,
    indexed,
    is_full,
    numbers_selected,
    parts_by_axis,
    parts_of,
    within_bounds,
)
from lamella.typing_layer import symbolic_shape

__all__ = ["inc_of_whole", "index_of_known", "index_of_unit_axes", "set_of_whole", "subtensor_of_written"]


@node_rewriter([Subtensor, IncSubtensor])
def index_of_known(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i] -> x[2]``, for i known to be 2; ``x[0:n] -> x[:]``, for x of length n; ``x[:] -> x``; and the same for ``x[i].set(v)``.

    Always valid: an index that is out of bounds still is. It pays because equal indices are seen to be equal, and because x itself is not
    indexed at all.
    """
    parts = parts_of(node)
    x = as_tensor_variable(node.inputs[0])
    whole = [place for axis, place in parts_by_axis(parts).items() if _is_whole(parts[place], x, axis)]
    if not whole and not _is_improper(node, parts):
        return None  # before a node is made only to be the one that is there
    for place in whole:
        parts[place] = slice(None)
    (out,) = node.outputs
    if not isinstance(node.op, IncSubtensor):
        return fitted(indexed(x, parts), out)
    entries, inputs = entries_of(parts)
    written = Apply(attrs.evolve(node.op, idx_list=entries), [x, node.inputs[1], *inputs], [out.type])
    return [as_tensor_variable(written.outputs[0])]


def _is_improper(node: Apply[Any], parts: Sequence[Part]) -> bool:
    """Whether an index has inputs that are known, slices of everything at its end, or nothing but those and new axes."""
    return (
        any([isinstance(variable, TensorConstant) for variable in index_inputs(node)])
        or all([part is None or is_full(part) for part in parts])
        or is_full(parts[-1])
    )


def _is_whole(part: Part, x: TensorVariable, axis: int) -> bool:
    """Whether a part is a slice, and not a full one, that selects all along an axis, in order."""
    if not isinstance(part, slice) or is_full(part):
        return False
    length = x.type.shape[axis]
    selected = numbers_selected(part, length)
    if selected is not None:
        return selected == range(length or 0) and (selected.step == 1 or length == 1)
    if part.start not in (None, 0) or part.step not in (None, 1) or not isinstance(part.stop, TensorVariable):
        return False
    return part.stop is symbolic_shape(x)[axis]


@node_rewriter([Subtensor])
def index_of_unit_axes(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[:, 0] -> dimshuffle(x, 0)``, for x of shape (n, 1)

    Valid where the axes that integers index are known to have length 1, and all of the others is selected. It pays because others see through axes that
    are dropped.
    """
    x = as_tensor_variable(node.inputs[0])
    axes = iter(range(x.ndim))
    order: list[int | str] = []
    for part in parts_of(node):
        axis = None if part is None else next(axes)
        if axis is None:
            order.append("x")
        elif is_full(part):
            order.append(axis)
        elif not isinstance(part, int) or part not in (0, -1) or x.type.shape[axis] != 1:
            return None
    return fitted(lt.dimshuffle(x, [*order, *axes]), node.outputs[0])


@node_rewriter([IncSubtensor])
def inc_of_whole(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[:].inc(v) -> x + v``

    Valid where v is not larger than x, as far as its type tells. It pays because elementwise operations fuse.
    """
    match node.op:
        case IncSubtensor((), inplace=False, set_instead_of_inc=False):
            x, value = [as_tensor_variable(variable) for variable in node.inputs]
            total = lt.add(x, value)
            same = total.type.broadcastable == x.type.broadcastable
            return fitted(total, node.outputs[0]) if same else None
        case _:
            return None


@node_rewriter([IncSubtensor])
def set_of_whole(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[:].set(v) -> alloc(v, shape of x)``

    Always valid, but that errors of computing x are not raised. It pays because x need not be computed.
    """
    match node.op:
        case IncSubtensor((), inplace=False, set_instead_of_inc=True):
            x, value = [as_tensor_variable(variable) for variable in node.inputs]
            return fitted(Alloc()(value, *symbolic_shape(x)), node.outputs[0])
        case _:
            return None


@node_rewriter([Subtensor], tracks_inputs=[IncSubtensor])
def subtensor_of_written(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i].set(v)[i] -> v``, and ``x[i].inc(v)[i] -> x[i] + v``, for slices i.

    Valid for the same basic index, where integers are within bounds. That v does not fit is not noticed where it need not be repeated. It pays because
    x is not copied.
    """
    match node.op, node.inputs[0].owner:
        case Subtensor(entries), Apply(IncSubtensor(same) as op, (x, v, *_)) as written if entries == same:
            pass
        case _:
            return None
    x, value, parts = as_tensor_variable(x), as_tensor_variable(v), parts_of(node)
    if list(index_inputs(written)) != list(index_inputs(node)) or not within_bounds(parts, x):
        return None
    (out,) = node.outputs
    if not op.set_instead_of_inc:
        return fitted(lt.add(indexed(x, parts), value), out)
    whole = value.type.broadcastable == out.type.broadcastable
    return fitted(value if whole else Alloc()(value, *symbolic_shape(out)), out)
