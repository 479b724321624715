"""Moving elements about, whatever they are: only their size in bytes matters."""

from __future__ import annotations

from collections.abc import Sequence

from lamella.codegen.c.step import Array, Step, Strided, integers

__all__ = [
    "copy_elements",
    "copy_of",
    "fill_with_zeros",
    "lengths_of",
    "move_element",
    "whole_view",
]


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
    if ndim:
        step.emit(
            f"call->serve->copy(call, {itemsize}, {ndim}, {shape}, {to.data}, {to.strides}, {source.data}, {source.strides});"
        )
    else:
        step.emit(move_element(itemsize, to.data, source.data))


def move_element(itemsize: int, to: str, source: str) -> str:
    """Return the statement that copies one element from one address to another."""
    return f"memcpy({to}, {source}, {itemsize});"


def fill_with_zeros(step: Step, z: Array) -> None:
    """Set all elements to zero."""
    zero = Strided("(char[16]){0}", integers(["0"] * z.ndim))
    copy_elements(step, z.c.itemsize, z.shape, z.ndim, z.strided, zero)


def lengths_of(x: Array) -> Sequence[str]:
    """Return all lengths of an array."""
    return [x.length(axis) for axis in range(x.ndim)]


def whole_view(step: Step, x: Array, index: int = 0) -> Array:
    """Let an output be an input itself, and return it."""
    return step.view(x, x.data, lengths_of(x), [x.stride(axis) for axis in range(x.ndim)], index)


def copy_of(step: Step, x: Array, index: int = 0) -> Array:
    """Let an output be a copy of an input, laid out as it is, and return it."""
    z = step.allocate(lengths_of(x), index, like=[x])
    copy_elements(step, x.c.itemsize, z.shape, z.ndim, z.strided, x.strided)
    return z
