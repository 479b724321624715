"""Making tensor Variables of what people write: arrays, numbers, lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import result_dtype
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = ["as_tensor_variable", "constant"]


def constant(value: npt.ArrayLike, name: str | None = None, dtype: npt.DTypeLike | None = None) -> TensorConstant:
    """Make a tensor constant; its static shape is that of the value.

    Parameters
    ----------
    value
        An array, a number, or nested sequences of numbers. The data is copied.
    name
        A name for people.
    dtype
        The dtype; NumPy's choice by default. An integer that fits no dtype is an error.

    Raises
    ------
    TypeError
        The value is no array of numbers.
    OverflowError
        A Python integer is out of the dtype's bounds.
    """
    try:
        array = np.asarray(value) if dtype is None else np.asarray(value, dtype=dtype)
    except OverflowError as error:
        raise OverflowError(f"{value!r} does not fit the dtype {np.dtype(dtype)}") from error
    if array.dtype == object and isinstance(value, int):
        raise OverflowError(f"the integer {value} fits no dtype; the largest is uint64")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"{value!r} of type {type(value).__name__} is no array of numbers")
    return TensorType(array.dtype, array.shape).make_constant(array, name)


def as_tensor_variable(
    x: TensorLike | Variable[Any] | Sequence[Any],
    name: str | None = None,
    ndim: int | None = None,
    dtype: npt.DTypeLike | None = None,
) -> TensorVariable:
    """Return `x` as a tensor Variable.

    Parameters
    ----------
    x
        A tensor Variable (returned as it is), an array, a number, or nested sequences of these, which are stacked.
    name
        A name for a new constant.
    ndim
        Wanted number of dimensions: missing ones are added on the left, with length 1.
    dtype
        Wanted dtype, for what is not a Variable yet.

    Raises
    ------
    TypeError
        `x` cannot be an array of numbers, is a Variable of another Type, or has more than `ndim` dimensions.
    """
    if isinstance(x, TensorVariable):
        variable = x
    elif isinstance(x, Variable):
        raise TypeError(f"{x!r} of type {x.type} is no tensor")
    elif isinstance(x, list | tuple) and _holds_variables(x):
        variable = _stacked(x, dtype)
    else:
        variable = constant(x, name, dtype)
    if ndim is None or variable.ndim == ndim:
        return variable
    if variable.ndim > ndim:
        raise TypeError(f"{variable!r} has {variable.ndim} dimensions where at most {ndim} are wanted")
    if isinstance(variable, TensorConstant) and variable.data.size == 1:
        # A number in any number of dimensions is a constant; no node is needed to make it one.
        return constant(variable.data.reshape((1,) * ndim), variable.name)
    return variable.dimshuffle(["x"] * (ndim - variable.ndim) + list(range(variable.ndim)))


def _holds_variables(parts: Sequence[Any]) -> bool:
    found = list(parts)
    while found:
        part = found.pop()
        if isinstance(part, Variable):
            return True
        if isinstance(part, list | tuple):
            found.extend(part)
    return False


def _stacked(parts: Sequence[Any], dtype: npt.DTypeLike | None) -> TensorVariable:
    variables = [as_tensor_variable(part, dtype=dtype) for part in parts]
    common = result_dtype(*[v.dtype for v in variables])
    return lt.stack([v.astype(common) for v in variables])
