"""Moving elements about, whatever they are: only their size in bytes matters."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.dtypes import CDType
from lamella.codegen.c.step import Array, Step, Strided

__all__ = ["copy_elements", "copy_of", "move_element", "whole_view"]


def copy_elements(step: Step, itemsize: int, shape: str, ndim: int, to: Strided, source: Strided) -> None:
    """Copy elements; a source whose strides are 0 is repeated. No element that is read may be written.

    Parameters
    ----------
    step
        The step.
    itemsize
        Bytes of an element.
    shape, ndim
        The expression for the array of lengths, and how many there are.
    to, source
        Where elements are written and read.
    """
    step.emit(
        f"call->serve->copy(call, {itemsize}, {ndim}, {shape}, {to.data}, {to.strides}, {source.data}, {source.strides});"
    )


def move_element(dtype: CDType, to: str, source: str) -> str:
    """Return the statement that copies one element from one address to another."""
    return f"memcpy({to}, {source}, {dtype.itemsize});"


def whole_view(step: Step, x: Array, index: int = 0) -> Array:
    """Let an output be an input itself, and return it."""
    axes = range(x.ndim)
    return step.view(x, x.data, [x.length(axis) for axis in axes], [x.stride(axis) for axis in axes], index)


def copy_of(step: Step, x: Array, index: int = 0) -> Array:
    """Let an output be a copy of an input, laid out as it is, and return it."""
    z = step.allocate([x.length(axis) for axis in range(x.ndim)], index, like=[x])
    if x.ndim:
        copy_elements(step, x.c.itemsize, z.shape, z.ndim, z.strided, x.strided)
    else:
        step.emit(move_element(x.c, z.data, x.data))
    return z


def lengths_of(x: Array) -> Sequence[str]:
    """Return all lengths of an array."""
    return [x.length(axis) for axis in range(x.ndim)]
