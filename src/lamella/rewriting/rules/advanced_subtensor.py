"""Advanced indices that basic ones can say, and that select everything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lamella.ir import (
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    Apply,
    ARange,
    ArrayEntry,
    DimShuffle,
    FunctionGraph,
    IncSubtensor,
    IndexEntry,
    MakeVector,
    NewAxisEntry,
    SliceEntry,
    TensorConstant,
    TensorVariable,
    Variable,
    as_tensor_variable,
    known_integer,
)
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import Part, Slice, bound_of, entries_of, indexed, slice_of
from lamella.typing_layer import symbolic_shape

__all__ = ["set_at_progression", "take_all", "take_of_one", "take_progression"]


@node_rewriter([AdvancedSubtensor1, AdvancedSubtensor])
def take_progression(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[[1, 3, 5]] -> x[1:6:2]``, for x of a known length

    Valid where one vector stands among slices and new axes, and its numbers are known, evenly spaced, and within bounds. It pays because nothing is
    copied, and because others see through slices.
    """
    x, *index = [as_tensor_variable(variable) for variable in node.inputs]
    entries = node.op.idx_list if isinstance(node.op, AdvancedSubtensor | AdvancedSubtensor1) else ()
    parts = _parts(entries, index, x)
    return None if parts is None else fitted(indexed(x, parts), node.outputs[0])


def _parts(entries: Sequence[IndexEntry], index: Sequence[TensorVariable], x: TensorVariable) -> list[Part] | None:
    """Return an advanced index as a basic one; None where it is none."""
    parts: list[Part] = []
    axis = 0
    arrays = 0
    for entry in entries:
        if isinstance(entry, NewAxisEntry):
            parts.append(None)
            continue
        if isinstance(entry, SliceEntry):
            parts.append(slice(*[bound_of(bound, index) for bound in (entry.start, entry.stop, entry.step)]))
        elif isinstance(entry, ArrayEntry):
            arrays += 1
            found = _progression(index[entry.position], x.type.shape[axis])
            if found is None or arrays > 1:
                return None
            parts.append(found)
        else:
            return None
        axis += 1
    return parts


def _progression(index: TensorVariable, length: int | None) -> Slice | None:
    """Return the slice that selects what a vector of known numbers selects of an axis of known length."""
    if length is None or index.ndim != 1 or not isinstance(index, TensorConstant):
        return None
    numbers = [int(number) for number in index.data]
    if not numbers:
        return slice(0, 0)
    if min(numbers) < -length or max(numbers) >= length:
        return None
    places = [number % length for number in numbers]
    steps = {b - a for a, b in pairwise(places)} or {1}
    step = steps.pop()
    return None if steps or step == 0 else slice_of(range(places[0], places[-1] + step, step))


@node_rewriter([AdvancedIncSubtensor1])
def set_at_progression(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``x[[1, 3, 5]].set(v) -> x[1:6:2].set(v)``, for x of a known length; the same for ``inc``.

    Valid where the numbers are known, evenly spaced, and within bounds. It pays because no numbers are read, or checked.
    """
    op = node.op
    if not isinstance(op, AdvancedIncSubtensor1) or op.inplace:
        return None
    x, value, index = [as_tensor_variable(variable) for variable in node.inputs]
    found = _progression(index, x.type.shape[op.axis])
    if found is None:
        return None
    entries, _ = entries_of([*[slice(None)] * op.axis, found])
    written = IncSubtensor(entries, set_instead_of_inc=op.set_instead_of_inc)
    return Apply(written, [x, value], [x.type]).outputs


@node_rewriter([AdvancedSubtensor1])
def take_all(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[arange(length of x)] -> x``

    Always valid. It pays because nothing is copied.
    """
    x, index = [as_tensor_variable(variable) for variable in node.inputs]
    match node.op, index.owner:
        case AdvancedSubtensor1(axis), Apply(ARange(), (TensorVariable() as start, stop, TensorVariable() as step)) if (
            stop is symbolic_shape(x)[axis]
        ):
            pass
        case _:
            return None
    return fitted(x, node.outputs[0]) if known_integer(start) == 0 and known_integer(step) == 1 else None


@node_rewriter([AdvancedSubtensor1])
def take_of_one(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[make_vector(i)] -> x[i, newaxis]``; the same for ``dimshuffle(i, "x")``.

    Always valid. It pays because nothing is copied.
    """
    x, index = [as_tensor_variable(variable) for variable in node.inputs]
    match node.op, index.owner:
        case AdvancedSubtensor1(axis), Apply(MakeVector() | DimShuffle(0, ("x",)), (TensorVariable() as place,)):
            pass
        case _:
            return None
    return fitted(indexed(x, [*[slice(None)] * axis, place, None]), node.outputs[0])
