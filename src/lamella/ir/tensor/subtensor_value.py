"""What the Ops that write to a part of an array share: the value that is written fits that part, and how its cotangent is summed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, result_dtype
from lamella.ir.scalar.op import operand_dtype
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.type import StaticShape
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["as_written_value", "check_written_value", "fitted_value", "kept_unbroadcast", "summed_to_value"]


def as_written_value(x: TensorVariable, value: TensorLike, increment: bool) -> TensorVariable:
    """Return a value to set or to add to elements of `x`, cast to the dtype of `x`.

    Setting casts as NumPy's assignment does (a float set into integers is truncated). Adding follows ``+=``: the sum's dtype must be
    castable within its kind.

    Raises
    ------
    TypeError
        The value is complex and `x` is not, or the sum is of another kind than `x`.
    OverflowError
        A Python integer is out of the bounds of the dtype of `x`.
    """
    if isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic):
        return _literal(x, value, increment)
    variable = as_tensor_variable(value)
    if variable.dtype in COMPLEX_DTYPES and x.dtype not in COMPLEX_DTYPES:
        raise TypeError(f"complex values {variable!r} cannot be written to {x!r} of dtype {x.dtype}")
    if increment:
        _check_sum(x, result_dtype(x.dtype, variable.dtype), variable)
    return variable if variable.dtype == x.dtype else lt.cast(variable, x.dtype)


def _literal(x: TensorVariable, value: bool | int | float | complex, increment: bool) -> TensorVariable:
    if isinstance(value, complex) and x.dtype not in COMPLEX_DTYPES:
        raise TypeError(f"{value} is complex: it cannot be written to {x!r} of dtype {x.dtype}")
    if increment:
        _check_sum(x, result_dtype(x.dtype, operand_dtype(value)), value)
    array = np.empty((), dtype=x.dtype)
    with np.errstate(all="ignore"):
        array[...] = value
    return constant(array)


def _check_sum(x: TensorVariable, dtype: str, value: object) -> None:
    if not np.can_cast(dtype, x.dtype, "same_kind"):
        raise TypeError(
            f"the sum of {x!r} of dtype {x.dtype} and {value!r} is of dtype {dtype}: it cannot be kept in {x.dtype}"
        )


def fitted_value(value: TensorVariable, shape: StaticShape) -> TensorVariable:
    """Return a value with as many dimensions as the part of static shape `shape` that it is written to.

    Raises
    ------
    StaticShapeError
        The value does not broadcast to this shape.
    """
    extra = value.ndim - len(shape)
    if extra > 0 and all([length == 1 for length in value.type.shape[:extra]]):
        value = lt.dimshuffle(value, list(range(extra, value.ndim)))
    elif extra < 0:
        value = as_tensor_variable(value, ndim=len(shape))
    fits = value.ndim == len(shape) and all(
        [a in (1, None) or b is None or a == b for a, b in zip(value.type.shape, shape, strict=True)]
    )
    if not fits:
        raise StaticShapeError(f"{value!r} of {value.type} does not broadcast to the indexed part, of shape {shape}")
    return value


def check_written_value(node: Apply[Any], value: npt.NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raise a BroadcastError where the value (input 1 of `node`) does not fit the part it is written to, of shape `shape`.

    It is broadcast along the axes where its length was known to be 1 when the node was built.
    """
    for axis, (found, wanted, static) in enumerate(zip(value.shape, shape, node.inputs[1].type.shape, strict=True)):
        if static != 1 and found != wanted:
            message = (
                f"{node.op}: the value {node.inputs[1]!r} of shape {value.shape} does not fit the indexed part of shape "
                f"{shape}: its length along axis {axis} is {found}, not {wanted}"
            )
            if found == 1:
                message += (
                    ". A length that is not known to be 1 while the graph is built is never broadcast: declare it, as in "
                    f"specify_shape({node.inputs[1].name or 'value'}, ...) with length 1 along axis {axis}"
                )
            raise BroadcastError(message)


def kept_unbroadcast(new: Sequence[Variable[Any]], old: Sequence[Variable[Any]]) -> list[TensorVariable]:
    """Return inputs for a node to be rebuilt; those now known to have length 1 where that was not known still do not broadcast."""
    kept: list[TensorVariable] = []
    for variable, before in zip(new, old, strict=True):
        lengths = zip(variable.type.shape, before.type.shape, strict=True)
        axes = [axis for axis, (a, b) in enumerate(lengths) if a == 1 and b is None]
        tensor = as_tensor_variable(variable)
        kept.append(lt.unbroadcast(tensor, axes) if axes else tensor)
    return kept


def summed_to_value(cotangent: TensorVariable, value: TensorVariable) -> TensorVariable:
    """Return the cotangent of a value, given that of the part it was written to: the sum over what it was broadcast along."""
    lengths = zip(value.type.shape, cotangent.type.shape, strict=True)
    axes = [axis for axis, (a, b) in enumerate(lengths) if a == 1 and b != 1]
    return lt.sum(cotangent, axis=axes, dtype=cotangent.dtype, keepdims=True) if axes else cotangent
