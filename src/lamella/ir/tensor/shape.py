"""`Shape` and `Shape_i`: the lengths of an array, as integers that a graph computes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, final, runtime_checkable

import attrs
import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["HasStaticShape", "Shape", "Shape_i", "shape", "shape_i", "shape_tuple", "size"]


@runtime_checkable
class HasStaticShape(Protocol):
    """A Type whose values have a shape: a dense tensor's, or that of another family."""

    @property
    def shape(self) -> StaticShape:
        """For each axis the length, or None where it is known at run time only."""


def _shaped_variable(x: TensorLike | Variable[Any]) -> tuple[Variable[Any], StaticShape]:
    variable = x if isinstance(x, Variable) else as_tensor_variable(x)
    if not isinstance(variable.type, TensorType | HasStaticShape):  # the first is known at once, a protocol is not
        raise TypeError(f"{variable!r} of type {variable.type} has no shape")
    return variable, variable.type.shape


@final
class Shape(Op[[TensorLike | Variable[Any]], TensorVariable]):
    """The shape of an array: a vector of int64."""

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike | Variable[Any]) -> Apply[TensorVariable]:
        variable, lengths = _shaped_variable(x)
        return Apply(self, [variable], [TensorType("int64", (len(lengths),))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.array(inputs[0].shape, dtype="int64")

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [(constant(len(shapes[0]), dtype="int64"),)]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False]]

    @override
    def L_op(
        self, inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], output_grads: Sequence[Variable[Any]]
    ) -> list[Variable[Any]]:
        return [DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> list[Variable[Any] | None]:
        return [None]


@final
@attrs.frozen(eq=False, repr=False)
class Shape_i(Op[[TensorLike | Variable[Any]], TensorVariable]):
    """The length of an array along one axis: a scalar of int64.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    """

    axis: int

    @override
    def make_node(self, x: TensorLike | Variable[Any]) -> Apply[TensorVariable]:
        variable, lengths = _shaped_variable(x)
        if not 0 <= self.axis < len(lengths):
            raise ValueError(f"{variable!r} of {len(lengths)} dimensions has no axis {self.axis}")
        return Apply(self, [variable], [TensorType("int64", ())])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.array(inputs[0].shape[self.axis], dtype="int64")

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [()]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False]]

    @override
    def L_op(
        self, inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], output_grads: Sequence[Variable[Any]]
    ) -> list[Variable[Any]]:
        return [DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> list[Variable[Any] | None]:
        return [None]


def shape(x: TensorLike) -> TensorVariable:
    """Return the shape of `x`: a vector of int64, constant where all lengths are known."""
    variable = as_tensor_variable(x)
    lengths = variable.type.shape
    if None in lengths:
        return Shape()(variable)
    return constant(np.array(lengths, dtype="int64"))


def shape_i(x: TensorLike, axis: int) -> TensorVariable:
    """Return the length of `x` along one axis: a scalar of int64, constant where it is known.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable = as_tensor_variable(x)
    place = normalize_axis(axis, variable.ndim)
    length = variable.type.shape[place]
    return Shape_i(place)(variable) if length is None else constant(length, dtype="int64")


def shape_tuple(x: TensorLike) -> tuple[TensorVariable, ...]:
    """Return the lengths of `x`, each a scalar of int64; constants where they are known."""
    variable = as_tensor_variable(x)
    return tuple([shape_i(variable, axis) for axis in range(variable.ndim)])


def size(x: TensorLike) -> TensorVariable:
    """Return the number of elements of `x`: a scalar of int64."""
    return product_of_lengths(shape_tuple(x))


def product_of_lengths(lengths: Sequence[TensorVariable]) -> TensorVariable:
    """Return the product of int64 scalars, with what is constant multiplied already."""
    known = 1
    unknown: list[TensorVariable] = []
    for length in lengths:
        if length.is_constant:
            known *= int(length.stored_value())
        else:
            unknown.append(length)
    if not unknown or known == 0:
        return constant(known, dtype="int64")
    factors = unknown if known == 1 else [*unknown, constant(known, dtype="int64")]
    return factors[0] if len(factors) == 1 else lt.mul(*factors)
