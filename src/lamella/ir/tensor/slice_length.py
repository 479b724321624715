"""How many elements a slice selects: known while the graph is built, or as an expression.

Both follow the definition in the Python reference: bounds that are negative count from the end, all are limited to the axis, and
a bound that was left out is the end that the sign of the step calls for.
"""

from __future__ import annotations

from typing import TypeGuard

import lamella.ir.tensor.functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.index_entries import LARGEST
from lamella.ir.tensor.variable import TensorConstant, TensorVariable

__all__ = ["Length", "known_or_symbolic", "length_variable", "slice_length", "static_slice_length"]

Length = int | TensorVariable
"""A length (or a bound of a slice): a number where it is known, else a scalar of int64."""


def known_or_symbolic(variable: Length) -> Length:
    """Return a length as a number where it is one."""
    return int(variable.data) if isinstance(variable, TensorConstant) else variable


def length_variable(length: Length) -> TensorVariable:
    """Return a length as a Variable, a constant where it is known."""
    return length if isinstance(length, TensorVariable) else as_tensor_variable(length, dtype="int64")


def static_slice_length(
    length: int | None, start: Length | None, stop: Length | None, step: Length | None
) -> int | None:
    """Return the length that a slice selects of a length, where it follows from what is known, else None."""
    if length == 0:
        return 0
    if not (_is_known(start) and _is_known(stop) and _is_known(step)):
        return None
    if length is not None:
        return len(range(*slice(start, stop, step).indices(length)))
    return 0 if _is_always_empty(start, stop, step) else None


def _is_known(bound: Length | None) -> TypeGuard[int | None]:
    return not isinstance(bound, TensorVariable)


def _is_always_empty(start: int | None, stop: int | None, step: int | None) -> bool:
    if step is None or step > 0:
        first, end = 0 if start is None else start, stop
        if end == 0:
            return True
    else:
        first, end = -1 if start is None else start, stop
        if end == -1:
            return True
    if end is None or (first < 0) != (end < 0):
        return False
    return first >= end if step is None or step > 0 else first <= end


def slice_length(length: Length, start: Length | None, stop: Length | None, step: Length | None) -> Length:
    """Return the length that a slice selects of a length, as an expression where it is not known."""
    step = 1 if step is None else step
    if isinstance(step, TensorVariable):
        return _with_symbolic_step(length, start, stop, step)
    if start is None and stop is None:
        return _steps(length, abs(step))
    lower, upper = (0, length) if step > 0 else (-1, _add(length, -1))
    first_default, end_default = (0, length) if step > 0 else (upper, -1)
    first = first_default if start is None else _limited(start, length, lower, upper)
    end = end_default if stop is None else _limited(stop, length, lower, upper)
    distance = _subtract(end, first) if step > 0 else _subtract(first, end)
    if start is not None and stop is not None:  # else one of them is an end of the axis, and none lies beyond
        distance = _maximum(distance, 0)
    return _steps(distance, abs(step))


def _with_symbolic_step(
    length: Length, start: Length | None, stop: Length | None, step: TensorVariable
) -> TensorVariable:
    backwards = lt.lt(step, 0)
    last = _add(length, -1)
    lower, upper = lt.switch(backwards, -1, 0), lt.switch(backwards, last, length)
    first = lt.switch(backwards, last, 0) if start is None else _limited(start, length, lower, upper)
    end = lt.switch(backwards, -1, length) if stop is None else _limited(stop, length, lower, upper)
    distance = lt.maximum(lt.switch(backwards, _subtract(first, end), _subtract(end, first)), 0)
    # The least int64 has no absolute value.
    return length_variable(_steps(distance, lt.abs(lt.maximum(step, -LARGEST))))


def _limited(bound: Length, length: Length, lower: Length, upper: Length) -> Length:
    if isinstance(bound, int):
        return _minimum(bound, upper) if bound >= 0 else _maximum(_add(length, bound), lower)
    return lt.switch(lt.lt(bound, 0), _maximum(_add(length, bound), lower), _minimum(bound, upper))


def _steps(distance: Length, step: Length) -> Length:
    """Return how many numbers 0, step, 2 step, ... are less than `distance`; the sum ``distance + step`` could overflow."""
    if isinstance(step, int):
        if step == 1:
            return distance
        if isinstance(distance, int):
            return (distance - 1) // step + 1
    return _add(lt.floor_divide(_add(distance, -1), step), 1)


def _add(a: Length, b: Length) -> Length:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(b, int) and b == 0:
        return a
    return lt.add(a, b)


def _subtract(a: Length, b: Length) -> Length:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int):
        return _add(a, -b)
    return lt.sub(a, b)


def _minimum(a: Length, b: Length) -> Length:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else lt.minimum(a, b)


def _maximum(a: Length, b: Length) -> Length:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else lt.maximum(a, b)
