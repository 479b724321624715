"""Indices of indexed arrays, made one index.

    x[2:][::3]         ->  x[2::3]
    x[7:2:-2][1]       ->  x[5]           for x of a known length
    x[::-1][::-1]      ->  x[::1]

Merging must keep what is out of bounds out of bounds: ``x[2:5][4]`` raises, where ``x[6]`` may not. What does not follow from the numbers that are known
is left alone.
"""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, FunctionGraph, Subtensor, TensorVariable, as_tensor_variable
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    Part,
    Slice,
    bounds,
    indexed,
    is_full,
    known_bounds,
    numbers_selected,
    parts_of,
    slice_of,
)

__all__ = ["subtensor_of_subtensor"]


@node_rewriter([Subtensor])
def subtensor_of_subtensor(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i][j] -> x[i[j]]``

    Valid where one index says the same as both, whatever the lengths are that are not known; all axes or none are merged. It pays because one view
    is made, and because others see x.
    """
    inner = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, Subtensor):
        return None
    x = as_tensor_variable(inner.inputs[0])
    merged = _merged(parts_of(inner), parts_of(node), x)
    return None if merged is None else fitted(indexed(x, merged), node.outputs[0])


def _merged(first: list[Part], second: list[Part], x: TensorVariable) -> list[Part] | None:
    """Return the index that selects what `second` selects of what `first` selects."""
    merged: list[Part] = []
    wanted = list(second)
    axis = 0
    for part in first:
        # New axes of the second index come before the axis that it goes on with.
        if part is not None and not isinstance(part, slice):
            merged.append(part)
            axis += 1
            continue
        while wanted and wanted[0] is None:
            merged.append(wanted.pop(0))
        chosen = wanted.pop(0) if wanted else slice(None)
        if part is None:
            if is_full(chosen):
                merged.append(None)
            elif not isinstance(chosen, int) or chosen not in (0, -1):
                return None
            continue
        found = _of_slice(part, chosen, x.type.shape[axis])
        if found is None:
            return None
        merged.append(found)
        axis += 1
    return [*merged, *wanted]


def _of_slice(first: Slice, second: Part, length: int | None) -> int | TensorVariable | Slice | None:
    """Return what selects, of an axis, what `second` selects of what `first` selects of it; None where it is not known."""
    if is_full(first):
        return second
    if is_full(second):
        return first
    selected = numbers_selected(first, length)
    if selected is None:
        return _of_unknown_length(first, second)
    known = known_bounds(second)
    if known is not None:
        return slice_of(selected[slice(*known)])
    return selected[second] if isinstance(second, int) and -len(selected) <= second < len(selected) else None


def _of_unknown_length(first: Slice, second: Part) -> int | Slice | None:
    if bounds(first) == (None, None, -1) and isinstance(second, slice) and bounds(second) == (None, None, -1):
        return slice(None)
    outer = _counting_up(first)
    if outer is None:
        return None
    start, stop, step = outer
    if isinstance(second, int):
        place = start + second * step
        return place if second >= 0 and (stop is None or place < stop) else None
    inner = _counting_up(second)
    if inner is None:
        return None
    begin, end, stride = inner
    ends = [bound for bound in (stop, None if end is None else start + end * step) if bound is not None]
    return slice(start + begin * step, min(ends) if ends else None, step * stride)


def _counting_up(part: Part) -> tuple[int, int | None, int] | None:
    """Return start, stop and step of a slice that selects start, start + step, ... until stop or the end of the axis, whichever comes first."""
    known = known_bounds(part)
    if known is None:
        return None
    start, stop, step = 0 if known[0] is None else known[0], known[1], 1 if known[2] is None else known[2]
    return None if start < 0 or step < 0 or (stop is not None and stop < 0) else (start, stop, step)
