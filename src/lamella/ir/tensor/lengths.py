"""Lengths and shapes as people write them, made into int64 scalars and vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import lamella.ir.tensor.functions as lt
from lamella.ir.scalar.dtypes import INTEGER_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.known_integers import elements
from lamella.ir.tensor.make_vector import MakeVector
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = ["ShapeLike", "as_length", "as_lengths", "as_shape_vector"]

ShapeLike = TensorLike | Sequence[TensorLike]
"""A shape: lengths, each a number or a symbolic integer; an integer vector; or one length."""


def _as_integers(x: TensorLike) -> TensorVariable:
    variable = as_tensor_variable(x)
    if variable.dtype not in INTEGER_DTYPES and not (variable.is_constant and variable.type.shape == (0,)):
        raise TypeError(f"a length is an integer; {variable!r} is of dtype {variable.dtype}")
    if variable.dtype == "int64":
        return variable
    if isinstance(variable, TensorConstant):
        return constant(variable.data.astype("int64"))
    return lt.cast(variable, "int64")


def as_length(x: TensorLike) -> TensorVariable:
    """Return a length as an int64 scalar.

    Raises
    ------
    TypeError
        It is no integer, or no scalar.
    """
    variable = constant(x, dtype="int64") if type(x) is int else _as_integers(x)
    if variable.ndim != 0:
        raise TypeError(f"a length is a scalar; {variable!r} has {variable.ndim} dimensions")
    return variable


def as_lengths(shape: ShapeLike) -> tuple[TensorVariable, ...]:
    """Return the lengths of a shape, each an int64 scalar.

    Raises
    ------
    TypeError
        They are no integers, or a vector of them has no known length.
    """
    if isinstance(shape, list | tuple):
        return tuple([as_length(x) for x in shape])
    if type(shape) is int:
        return (as_length(shape),)
    variable = _as_integers(shape)  # type: ignore[arg-type]  # lists and tuples are gone, and other sequences are refused there
    if variable.ndim == 0:
        return (variable,)
    if variable.ndim != 1 or variable.type.shape[0] is None:
        raise TypeError(f"{variable!r} of type {variable.type} is no shape: a vector of known length is wanted")
    found = elements(variable)
    return tuple([_element(variable, i, None if found is None else found[i]) for i in range(variable.type.shape[0])])


def _element(vector: TensorVariable, i: int, known: int | TensorVariable | None) -> TensorVariable:
    if known is None:
        return lt.getitem(vector, i)
    return constant(known, dtype="int64") if isinstance(known, int) else known


def as_shape_vector(shape: ShapeLike) -> TensorVariable:
    """Return a shape as an int64 vector.

    Raises
    ------
    TypeError
        It is no vector of integers.
    """
    if isinstance(shape, list | tuple):
        lengths = as_lengths(shape)
        if all([length.is_constant for length in lengths]):
            return constant(np.array([length.stored_value() for length in lengths], dtype="int64"))
        return MakeVector("int64")(*lengths)
    variable = _as_integers(shape)  # type: ignore[arg-type]  # as above
    if variable.ndim > 1:
        raise TypeError(f"{variable!r} of type {variable.type} is no shape: a vector is wanted")
    return MakeVector("int64")(variable) if variable.ndim == 0 else variable
