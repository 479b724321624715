"""The table of NumPy's functions that symbolic tensors take, each with NumPy's names and order of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["FUNCTIONS"]


FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {}
"""What builds the graph, by the function of NumPy."""


def _stands_for(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(build: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = build
        return build

    return enter


def _in_c_order(order: str) -> None:
    if order != "C":
        raise TypeError(
            f"symbolic tensors have no memory layout: order={order!r} means nothing to them, or transpose first"
        )


# Reductions and statistics.


@_stands_for(np.sum)
def _sum(
    a: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> TensorVariable:
    return lt.sum(a, axis, dtype, keepdims)


@_stands_for(np.prod)
def _prod(
    a: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> TensorVariable:
    return lt.prod(a, axis, dtype, keepdims)


@_stands_for(np.max, np.amax)
def _max(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.max(a, axis, keepdims)


@_stands_for(np.min, np.amin)
def _min(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.min(a, axis, keepdims)


@_stands_for(np.ptp)
def _ptp(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.max(a, axis, keepdims) - lt.min(a, axis, keepdims)


@_stands_for(np.all)
def _all(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.all(a, axis, keepdims)


@_stands_for(np.any)
def _any(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.any(a, axis, keepdims)


@_stands_for(np.count_nonzero)
def _count_nonzero(a: TensorLike, axis: Axis = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.count_nonzero(a, axis, keepdims)


@_stands_for(np.mean)
def _mean(
    a: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, *, keepdims: bool = False
) -> TensorVariable:
    return lt.mean(a, axis, dtype, keepdims)


@_stands_for(np.var)
def _var(
    a: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, *, ddof: float = 0, keepdims: bool = False
) -> TensorVariable:
    return lt.var(a, axis, ddof, keepdims, dtype)


@_stands_for(np.std)
def _std(
    a: TensorLike, axis: Axis = None, dtype: npt.DTypeLike | None = None, *, ddof: float = 0, keepdims: bool = False
) -> TensorVariable:
    return lt.std(a, axis, ddof, keepdims, dtype)


@_stands_for(np.argmax)
def _argmax(a: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.argmax(a, axis, keepdims)


@_stands_for(np.argmin)
def _argmin(a: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> TensorVariable:
    return lt.argmin(a, axis, keepdims)


@_stands_for(np.cumsum)
def _cumsum(a: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.cumsum(a, axis, dtype)


@_stands_for(np.cumprod)
def _cumprod(a: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.cumprod(a, axis, dtype)


@_stands_for(np.diff)
def _diff(a: TensorLike, n: int = 1, axis: int = -1) -> TensorVariable:
    return lt.diff(a, n, axis)


# Elementwise.


@_stands_for(np.where)
def _where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, /
) -> TensorVariable | tuple[TensorVariable, ...]:
    if x is None and y is None:
        return lt.nonzero(condition)
    if x is None or y is None:
        raise TypeError("np.where takes both x and y, or neither")
    return lt.where(condition, x, y)


@_stands_for(np.clip)
def _clip(
    a: TensorLike,
    a_min: TensorLike | None = None,
    a_max: TensorLike | None = None,
    *,
    min: TensorLike | None = None,
    max: TensorLike | None = None,
) -> TensorVariable:
    return lt.clip(a, a_min if min is None else min, a_max if max is None else max)


@_stands_for(np.round, np.around)
def _round(a: TensorLike, decimals: int = 0) -> TensorVariable:
    return lt.round(a, decimals)


@_stands_for(np.real)
def _real(val: TensorLike) -> TensorVariable:
    return lt.real(val)


@_stands_for(np.imag)
def _imag(val: TensorLike) -> TensorVariable:
    return lt.imag(val)


@_stands_for(np.angle)
def _angle(z: TensorLike, deg: bool = False) -> TensorVariable:
    return lt.rad2deg(lt.angle(z)) if deg else lt.angle(z)


@_stands_for(np.isclose)
def _isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    return lt.isclose(a, b, rtol, atol, equal_nan)


@_stands_for(np.allclose)
def _allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    return lt.allclose(a, b, rtol, atol, equal_nan)


@_stands_for(np.copy)
def _copy(a: TensorLike) -> TensorVariable:
    return lt.tensor_copy(a)


# Shapes and axes.


@_stands_for(np.shape)
def _shape(a: TensorLike) -> TensorVariable:
    return lt.shape(a)


@_stands_for(np.ndim)
def _ndim(a: TensorLike) -> int:
    return as_tensor_variable(a).ndim


@_stands_for(np.size)
def _size(a: TensorLike, axis: int | None = None) -> TensorVariable:
    return lt.size(a) if axis is None else lt.shape(a)[axis]


@_stands_for(np.iscomplexobj)
def _iscomplexobj(x: TensorLike) -> bool:
    return as_tensor_variable(x).dtype in COMPLEX_DTYPES


@_stands_for(np.isrealobj)
def _isrealobj(x: TensorLike) -> bool:
    return as_tensor_variable(x).dtype not in COMPLEX_DTYPES


@_stands_for(np.reshape)
def _reshape(a: TensorLike, /, shape: TensorLike | Sequence[TensorLike], order: str = "C") -> TensorVariable:
    _in_c_order(order)
    return lt.reshape(a, shape)


@_stands_for(np.ravel)
def _ravel(a: TensorLike, order: str = "C") -> TensorVariable:
    _in_c_order(order)
    return lt.ravel(a)


@_stands_for(np.transpose)
def _transpose(a: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    return lt.transpose(a, axes)


@_stands_for(np.matrix_transpose)
def _matrix_transpose(x: TensorLike, /) -> TensorVariable:
    return lt.swapaxes(x, -1, -2)


@_stands_for(np.swapaxes)
def _swapaxes(a: TensorLike, axis1: int, axis2: int) -> TensorVariable:
    return lt.swapaxes(a, axis1, axis2)


@_stands_for(np.moveaxis)
def _moveaxis(a: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> TensorVariable:
    return lt.moveaxis(a, source, destination)


@_stands_for(np.squeeze)
def _squeeze(a: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    return lt.squeeze(a, axis)


@_stands_for(np.expand_dims)
def _expand_dims(a: TensorLike, axis: int | Sequence[int]) -> TensorVariable:
    return lt.expand_dims(a, axis)


@_stands_for(np.atleast_1d)
def _atleast_1d(ary: TensorLike, /) -> TensorVariable:
    return lt.atleast_1d(ary)


@_stands_for(np.atleast_2d)
def _atleast_2d(ary: TensorLike, /) -> TensorVariable:
    return lt.atleast_2d(ary)


@_stands_for(np.atleast_3d)
def _atleast_3d(ary: TensorLike, /) -> TensorVariable:
    return lt.atleast_3d(ary)


@_stands_for(np.broadcast_to)
def _broadcast_to(array: TensorLike, shape: TensorLike | Sequence[TensorLike]) -> TensorVariable:
    return lt.broadcast_to(array, shape)


@_stands_for(np.flip)
def _flip(m: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    return lt.flip(m, axis)


@_stands_for(np.roll)
def _roll(a: TensorLike, shift: TensorLike, axis: int | None = None) -> TensorVariable:
    return lt.roll(a, shift, axis)


@_stands_for(np.repeat)
def _repeat(a: TensorLike, repeats: TensorLike | Sequence[int], axis: int | None = None) -> TensorVariable:
    return lt.repeat(a, repeats, axis)


@_stands_for(np.tile)
def _tile(A: TensorLike, reps: TensorLike | Sequence[TensorLike]) -> TensorVariable:
    return lt.tile(A, reps)


# Joining.


@_stands_for(np.concatenate)
def _concatenate(
    arrays: Sequence[TensorLike], /, axis: int | None = 0, *, dtype: npt.DTypeLike | None = None
) -> TensorVariable:
    joined = lt.concatenate(arrays, axis)
    return joined if dtype is None else lt.cast(joined, dtype)


@_stands_for(np.stack)
def _stack(arrays: Sequence[TensorLike], axis: int = 0, *, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    joined = lt.stack(arrays, axis)
    return joined if dtype is None else lt.cast(joined, dtype)


@_stands_for(np.hstack)
def _hstack(tup: Sequence[TensorLike]) -> TensorVariable:
    return lt.hstack(tup)


@_stands_for(np.vstack)
def _vstack(tup: Sequence[TensorLike]) -> TensorVariable:
    return lt.vstack(tup)


# Picking and ordering.


@_stands_for(np.take)
def _take(
    a: TensorLike, indices: TensorLike, axis: int | None = None, *, mode: Literal["raise", "wrap", "clip"] = "raise"
) -> TensorVariable:
    return lt.take(a, indices, axis, mode)


@_stands_for(np.take_along_axis)
def _take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None = -1) -> TensorVariable:
    return lt.take_along_axis(arr, indices, axis)


@_stands_for(np.nonzero)
def _nonzero(a: TensorLike) -> tuple[TensorVariable, ...]:
    return lt.nonzero(a)


@_stands_for(np.flatnonzero)
def _flatnonzero(a: TensorLike) -> TensorVariable:
    return lt.flatnonzero(a)


@_stands_for(np.argwhere)
def _argwhere(a: TensorLike) -> TensorVariable:
    return lt.argwhere(a)


@_stands_for(np.sort)
def _sort(a: TensorLike, axis: int | None = -1) -> TensorVariable:
    return lt.sort(a, axis)


@_stands_for(np.argsort)
def _argsort(a: TensorLike, axis: int | None = -1) -> TensorVariable:
    return lt.argsort(a, axis)


@_stands_for(np.diag)
def _diag(v: TensorLike, k: int = 0) -> TensorVariable:
    return lt.diag(v, k)


@_stands_for(np.diagonal)
def _diagonal(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    return lt.diagonal(a, offset, axis1, axis2)


@_stands_for(np.trace)
def _trace(a: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    return lt.trace(a, offset, axis1, axis2)


@_stands_for(np.tril)
def _tril(m: TensorLike, k: TensorLike = 0) -> TensorVariable:
    return lt.tril(m, k)


@_stands_for(np.triu)
def _triu(m: TensorLike, k: TensorLike = 0) -> TensorVariable:
    return lt.triu(m, k)


# Products.


@_stands_for(np.dot)
def _dot(a: TensorLike, b: TensorLike) -> TensorVariable:
    return lt.dot(a, b)


@_stands_for(np.vdot)
def _vdot(a: TensorLike, b: TensorLike, /) -> TensorVariable:
    return lt.vdot(a, b)


@_stands_for(np.inner)
def _inner(a: TensorLike, b: TensorLike, /) -> TensorVariable:
    return lt.inner(a, b)


@_stands_for(np.outer)
def _outer(a: TensorLike, b: TensorLike) -> TensorVariable:
    return lt.outer(a, b)


@_stands_for(np.tensordot)
def _tensordot(a: TensorLike, b: TensorLike, axes: Any = 2) -> TensorVariable:
    return lt.tensordot(a, b, axes)


# Making arrays in the shape of others.


@_stands_for(np.zeros_like)
def _zeros_like(a: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.zeros_like(a, dtype)


@_stands_for(np.ones_like)
def _ones_like(a: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.ones_like(a, dtype)


@_stands_for(np.full_like)
def _full_like(a: TensorLike, fill_value: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.full_like(a, fill_value, dtype)


@_stands_for(np.empty_like)
def _empty_like(prototype: TensorLike, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    return lt.empty_like(prototype, dtype)
