"""Index arrays of advanced indexing: their dtype, how they broadcast with each other, and whether they stay in bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError
from lamella.ir.graph.apply import Apply
from lamella.ir.scalar.dtypes import INTEGER_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.index_entries import ArrayEntry, FlagEntry, IndexEntry, consumed_axes
from lamella.ir.tensor.slice_length import Length, known_or_symbolic
from lamella.ir.tensor.type import StaticShape
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = [
    "as_index_array",
    "broadcast_index_shape",
    "check_constant_bounds",
    "check_index_bounds",
    "check_index_broadcast",
    "inferred_index_shape",
]


def as_index_array(value: TensorLike) -> TensorVariable:
    """Return an integer array as an int64 Variable, for an index.

    Raises
    ------
    IndexError
        It is no array of integers.
    """
    variable = as_tensor_variable(value)
    if variable.dtype not in INTEGER_DTYPES:
        raise IndexError(
            f"arrays used as indices must be of integer (or boolean) type; {variable!r} is {variable.type}"
        )
    if variable.dtype == "int64":
        return variable
    if isinstance(variable, TensorConstant):
        return as_tensor_variable(variable.data.astype("int64"))
    return lt.cast(variable, "int64")


def _positions(entries: Sequence[IndexEntry]) -> list[tuple[int, bool]]:
    """Return the position of each array or flag, and whether it is a flag."""
    return [(e.position, isinstance(e, FlagEntry)) for e in entries if isinstance(e, ArrayEntry | FlagEntry)]


def _static_index_shape(variable: TensorVariable, is_flag: bool) -> StaticShape:
    if not is_flag:
        return variable.type.shape
    return (int(variable.data) if isinstance(variable, TensorConstant) else None,)


def broadcast_index_shape(entries: Sequence[IndexEntry], index: Sequence[TensorVariable]) -> StaticShape:
    """Return the static shape that the index arrays broadcast to; an unknown length is never broadcast.

    Raises
    ------
    IndexError
        Known lengths differ.
    """
    shapes = [_static_index_shape(index[position], is_flag) for position, is_flag in _positions(entries)]
    ndim = max([len(shape) for shape in shapes], default=0)
    result: list[int | None] = []
    for axis in range(-ndim, 0):
        lengths = {shape[axis] for shape in shapes if len(shape) >= -axis}
        known = lengths - {None, 1}
        if len(known) > 1:
            raise IndexError(
                "shape mismatch: indexing arrays could not be broadcast together with shapes "
                + " ".join([str(shape) for shape in shapes])
            )
        result.append(known.pop() if known else None if None in lengths else 1)
    return tuple(result)


def inferred_index_shape(
    entries: Sequence[IndexEntry], index: Sequence[TensorVariable], shapes: Sequence[tuple[Any, ...]]
) -> list[Length]:
    """Return the shape that the index arrays broadcast to, as expressions, given their shapes."""
    result: list[Length] = []
    positions = _positions(entries)
    static = broadcast_index_shape(entries, index)
    for axis, known in zip(range(-len(static), 0), static, strict=True):
        if known is not None:
            result.append(known)
            continue
        # All arrays that are not broadcast along an axis have the same length, or the node raises.
        for position, is_flag in positions:
            shape = _static_index_shape(index[position], is_flag)
            if len(shape) >= -axis and shape[axis] is None:
                result.append(
                    lt.cast(index[position], "int64") if is_flag else known_or_symbolic(shapes[position][axis])
                )
                break
    return result


def check_index_broadcast(
    node: Apply[Any], first: int, entries: Sequence[IndexEntry], values: Sequence[npt.NDArray[Any]]
) -> tuple[int, ...]:
    """Return the shape that the values of the index arrays broadcast to, by the pattern fixed when the node was built.

    Parameters
    ----------
    node
        The node.
    first
        Which of its inputs is the first index input.
    entries, values
        The index, and the values of the index inputs.

    Raises
    ------
    IndexError
        Lengths differ.
    BroadcastError
        Lengths differ, and one is 1 that was not known to be 1.
    """
    shapes: list[tuple[int, ...]] = []
    statics: list[StaticShape] = []
    for position, is_flag in _positions(entries):
        variable, value = node.inputs[first + position], values[position]
        shapes.append((int(value),) if is_flag else value.shape)
        statics.append(_static_index_shape(as_tensor_variable(variable), is_flag))
    ndim = max([len(shape) for shape in shapes], default=0)
    result: list[int] = []
    for axis in range(-ndim, 0):
        here = [
            (shape[axis], static[axis]) for shape, static in zip(shapes, statics, strict=True) if len(shape) >= -axis
        ]
        fixed = {length for length, known in here if known != 1}
        if len(fixed) > 1:
            message = "shape mismatch: indexing arrays could not be broadcast together with shapes " + " ".join(
                [str(shape) for shape in shapes]
            )
            if 1 not in fixed or len(fixed) > 2:
                raise IndexError(message)
            raise BroadcastError(
                f"{message}. A length that is not known to be 1 while the graph is built is never broadcast: "
                "declare it by specify_shape"
            )
        result.append(fixed.pop() if fixed else 1)
    return tuple(result)


def _out_of_bounds(array: npt.NDArray[Any], axis: int, length: int) -> IndexError:
    outside = array[(array < -length) | (array >= length)]
    return IndexError(f"index {outside.flat[0]} is out of bounds for axis {axis} with size {length}")


def check_index_bounds(entries: Sequence[IndexEntry], shape: Sequence[int], values: Sequence[npt.NDArray[Any]]) -> None:
    """Raise an IndexError where an integer of an index array is out of the bounds of its axis."""
    axis = 0
    for entry in entries:
        if isinstance(entry, ArrayEntry):
            array, length = values[entry.position], shape[axis]
            if array.size and (array.min() < -length or array.max() >= length):
                raise _out_of_bounds(array, axis, length)
        axis += consumed_axes([entry])


def check_constant_bounds(entries: Sequence[IndexEntry], shape: StaticShape, index: Sequence[TensorVariable]) -> None:
    """Raise an IndexError where an integer of a constant index array is out of the bounds of a known length, and sure to be used.

    Where an index array may be empty, so may be what they broadcast to: nothing is selected then, and NumPy checks nothing.
    """
    if not all(broadcast_index_shape(entries, index)):
        return
    axis = 0
    for entry in entries:
        if isinstance(entry, ArrayEntry):
            variable, length = index[entry.position], shape[axis]
            if isinstance(variable, TensorConstant) and length is not None:
                array = variable.data
                if array.size and (np.min(array) < -length or np.max(array) >= length):
                    raise _out_of_bounds(array, axis, length)
        axis += consumed_axes([entry])
