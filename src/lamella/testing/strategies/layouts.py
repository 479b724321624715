"""Strategies for what arrays look like in memory: their order, strides and addresses, and memory that several share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from lamella.testing.memory_layouts import MEMORY_LAYOUTS, in_layout

__all__ = ["in_any_layout", "in_larger_memory", "views_of"]

Array = npt.NDArray[Any]

_UNREAD = 0xA5  # fills the memory around the elements: no small number in any dtype


@st.composite
def in_larger_memory(draw: st.DrawFn, array: npt.ArrayLike, writeable: bool = False) -> Array:
    """Generate copies of an array that are part of larger memory.

    The axes are in any order there, each with a stride of its own, which may be negative; an axis along which all elements are the same may
    have the stride 0, and addresses may be odd.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    array
        The values.
    writeable
        Leave out strides of 0.
    """
    values = np.asarray(array)
    axes = draw(st.permutations(range(values.ndim)))
    steps = [draw(st.sampled_from([1, -1, 2, 1, -2, 3])) for _ in axes]
    before = [draw(st.integers(0, 1)) for _ in axes]
    alike = [not writeable and n > 1 and _is_alike(values, axis) for axis, n in enumerate(values.shape)]
    stretched = [draw(st.booleans()) if same else False for same in alike]
    kept = values[tuple([slice(0, 1) if s else slice(None) for s in stretched])] if values.ndim else values
    spans = [start + n * abs(step) for start, n, step in zip(before, kept.shape, steps, strict=True)]
    ordered = [spans[axis] for axis in axes]
    odd = int(values.itemsize > 1 and draw(st.booleans()))
    memory = np.full(int(np.prod(ordered)) * values.itemsize + odd, _UNREAD, np.uint8)[odd:]
    whole = np.ndarray(ordered, values.dtype, memory).transpose(np.argsort(axes))
    cuts: tuple[Any, ...] = (..., *[slice(start, None, abs(step)) for start, step in zip(before, steps, strict=True)])
    turns: tuple[Any, ...] = (..., *[slice(None, None, -1 if step < 0 else 1) for step in steps])
    view = whole[cuts][turns]
    view[...] = kept
    return np.broadcast_to(view, values.shape) if any(stretched) else view


def _is_alike(values: Array, axis: int) -> bool:
    first = np.broadcast_to(values.take([0], axis), values.shape)
    return np.array_equal(first, values) and first.tobytes() == values.tobytes()


def in_any_layout(array: npt.ArrayLike, writeable: bool = False) -> st.SearchStrategy[Array]:
    """Generate copies of an array in all layouts of memory; see `MEMORY_LAYOUTS` and `in_larger_memory`.

    Parameters
    ----------
    array
        The values.
    writeable
        Leave out arrays that may not be written to.
    """
    names = [name for name in MEMORY_LAYOUTS if not (writeable and name == "read-only")]
    named = st.sampled_from(names).map(lambda name: in_layout(array, name))
    return st.one_of(named, in_larger_memory(array, writeable))


@st.composite
def views_of(draw: st.DrawFn, array: Array) -> Array:
    """Generate views of an array: parts of it, in another order, repeated, or in windows that overlap. None may be written to.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    array
        What is looked at.
    """
    kind = draw(st.integers(0, 5))
    axis = draw(st.integers(0, array.ndim - 1)) if array.ndim else 0
    view: Array = array[...]
    if array.ndim == 0 or kind == 0:
        view = np.broadcast_to(array, (draw(st.integers(1, 3)), *array.shape)) if array.ndim < 3 else array[...]
    elif kind == 1:
        view = array.T
    elif kind == 2:
        cut = slice(draw(st.sampled_from([None, 1])), None, draw(st.sampled_from([-1, 2, None])))
        view = array[(*[slice(None)] * axis, cut)]
    elif kind == 3 and array.ndim < 3 and array.shape[axis] > 1:
        view = sliding_window_view(array, array.shape[axis] - 1, axis)
    elif kind == 4 and array.ndim > 1:
        view = np.diagonal(array)
    elif kind == 5:
        view = np.flip(array, axis)
    view = view.view()
    view.setflags(write=False)
    return view
