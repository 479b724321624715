"""Indices of indexed arrays, made one index.

    x[2:][::3]         ->  x[2::3]
    x[7:2:-2][1]       ->  x[5]           for x of a known length
    x[::-1][::-1]      ->  x
    x[::-1][i]         ->  x[-1 - i]
    x[n:][:-2]         ->  x[n:-2]        for a length n

Merging must keep what is out of bounds out of bounds: ``x[2:5][4]`` raises, where ``x[6]`` may not. What does not follow from the numbers that are known
is left alone.
"""

from __future__ import annotations

from typing import Any, Final, final

import attrs

from lamella.ir import Apply, FunctionGraph, Shape_i, Subtensor, TensorVariable, as_tensor_variable, lt
from lamella.rewriting.engine import node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.rewriting.rules.index_parts import (
    Bound,
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

_FAR: Final = 1 << 61
"""Farther than any array is long; sums of two that are not more fit into int64."""


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
    if selected is not None:
        known = known_bounds(second)
        if known is not None:
            return slice_of(selected[slice(*known)])
        if isinstance(second, int):
            return selected[second] if -len(selected) <= second < len(selected) else None
    return _of_reversed(second) if bounds(first) == (None, None, -1) else _of_unknown_length(first, second)


def _of_reversed(second: Part) -> int | TensorVariable | Slice | None:
    """Return what selects what `second` selects of a reversed axis: place i of that is place -1 - i of the axis, for i of either sign."""
    if not isinstance(second, slice):
        return None if second is None else _reflected(second)
    start, stop, step = bounds(second)
    if isinstance(step, TensorVariable) or step == 0:
        return None
    back = -1 if step is None else -step
    return slice(
        None if start is None else _reflected(start),
        None if stop is None else _reflected(stop),
        None if back == 1 else back,
    )


def _reflected(place: int | TensorVariable) -> int | TensorVariable:
    return lt.sub(-1, place) if isinstance(place, TensorVariable) else -1 - place


def _of_unknown_length(first: Slice, second: Part) -> int | TensorVariable | Slice | None:
    outer = _Counting.of(first)
    if outer is None:
        return None
    if second is not None and not isinstance(second, slice):
        return outer.element(second)
    inner = None if second is None else _Counting.of(second)
    return None if inner is None else outer.then(inner)


@final
@attrs.frozen
class _Counting:
    """A slice that selects start, start + step, ... until stop, or as many elements before the end of the axis, or the end, whichever comes first.

    Symbolic bounds are lengths of arrays: sums of them do not overflow.
    """

    start: int | TensorVariable
    stop: int | TensorVariable | None
    before_end: int
    step: int

    @staticmethod
    def of(part: Slice) -> _Counting | None:
        start, stop, step = bounds(part)
        step = 1 if step is None else step
        if (
            isinstance(step, TensorVariable)
            or step < 1
            or not (_is_length(start) and (stop is None or _is_place(stop)))
        ):
            return None
        before_end = -stop if isinstance(stop, int) and stop < 0 else 0
        return _Counting(0 if start is None else start, None if before_end else stop, before_end, step)

    def element(self, place: int | TensorVariable) -> int | TensorVariable | None:
        """Return the place of an element, where it is out of bounds exactly if it is not selected."""
        if self.before_end or isinstance(place, TensorVariable):
            return None
        if self.stop is None and 0 <= place * self.step < _FAR:
            return _sum(self.start, place * self.step)
        if isinstance(self.start, int) and isinstance(self.stop, int):
            found = self.start + place * self.step
            return found if place >= 0 and found < min(self.stop, _FAR) else None
        return None

    def then(self, inner: _Counting) -> Slice | None:
        """Return what selects what `inner` selects of what this selects."""
        symbolic = isinstance(inner.start, TensorVariable) or isinstance(inner.stop, TensorVariable)
        if (inner.before_end or symbolic) and self.step != 1:
            return None
        if (inner.before_end and self.stop is not None) or (self.before_end and inner.stop is not None):
            return None
        stops = [self.stop] if self.stop is not None else []
        if inner.stop is not None:
            stops.append(_sum(self.start, _times(inner.stop, self.step)))
        stop = _least(stops) if stops else -(self.before_end + inner.before_end) or None
        return slice(_sum(self.start, _times(inner.start, self.step)), stop, self.step * inner.step)


def _is_place(bound: Bound) -> bool:
    return isinstance(bound, int) or _is_length(bound)


def _is_length(bound: Bound) -> bool:
    """Whether a bound is known not to be negative, or left out."""
    if isinstance(bound, TensorVariable):
        return bound.owner is not None and isinstance(bound.owner.op, Shape_i)
    return bound is None or bound >= 0


def _sum(a: int | TensorVariable, b: int | TensorVariable) -> int | TensorVariable:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    a, b = [n if isinstance(n, TensorVariable) else min(n, _FAR) for n in (a, b)]
    return b if a == 0 else a if b == 0 else lt.add(a, b)


def _times(bound: int | TensorVariable, step: int) -> int | TensorVariable:
    return bound if isinstance(bound, TensorVariable) else bound * step


def _least(stops: list[int | TensorVariable]) -> int | TensorVariable:
    first, *others = stops
    for other in others:
        first = min(first, other) if isinstance(first, int) and isinstance(other, int) else lt.minimum(first, other)
    return first
