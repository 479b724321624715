"""Sorting along an axis: `SortOp` and `ArgSortOp`, stable, NaN last."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["ArgSortOp", "SortKind", "SortOp", "argsort", "sort"]

SortKind = Literal["quicksort", "mergesort", "heapsort", "stable"]
"""NumPy's names of sorting algorithms. All that any of them promises, a stable sort keeps."""


@attrs.frozen(eq=False, repr=False)
class _AlongAxis(Op[[TensorLike], TensorVariable]):
    axis: int

    def node_with_dtype(self, x: TensorLike, dtype: str | None = None) -> Apply[TensorVariable]:
        """Make the node, whose result has the shape of the input."""
        input = as_tensor_variable(x)
        if not 0 <= self.axis < input.ndim:
            raise np.exceptions.AxisError(self.axis, input.ndim)
        return Apply(self, [input], [TensorType(dtype or input.dtype, input.type.shape)])

    @abstractmethod
    def compute(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the result."""

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = self.compute(inputs[0])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]


@final
class SortOp(_AlongAxis):
    """Sort along an axis, stably: complex numbers by real, then by imaginary part; NaN come last.

    The gradient goes to the elements that `ArgSortOp` names: among equal ones the order is that of the input.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    """

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return self.node_with_dtype(x)

    @override
    def compute(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.sort(x, axis=self.axis, kind="stable")

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(x.dtype):
            return [zero_cotangent(x)]
        places = lt.take_along_axis(lt.zeros_like(x), ArgSortOp(self.axis)(x), self.axis)
        return [lt.inc_subtensor(places, gz)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        return [None if tangent is None else lt.take_along_axis(tangent, ArgSortOp(self.axis)(x), self.axis)]


@final
class ArgSortOp(_AlongAxis):
    """The indices (int64) that sort an array along an axis, stably. They vary in steps, so they have no gradient.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    """

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return self.node_with_dtype(x, "int64")

    @override
    def compute(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.argsort(x, axis=self.axis, kind="stable").astype("int64", copy=False)

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


def _prepared(x: TensorLike, axis: int | None) -> tuple[TensorVariable, int]:
    variable = as_tensor_variable(x)
    if axis is None:
        return lt.flatten(variable, 1), 0
    return variable, normalize_axis(axis, variable.ndim)


def sort(x: TensorLike, axis: int | None = -1, kind: SortKind | None = None) -> TensorVariable:
    """Return `x` sorted along an axis, NaN last.

    Parameters
    ----------
    x
        The array.
    axis
        The axis; None for the flattened array.
    kind
        As in NumPy. The order is that of a stable sort, which serves for all of them.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable, place = _prepared(x, axis)
    return SortOp(place)(variable)


def argsort(x: TensorLike, axis: int | None = -1, kind: SortKind | None = None) -> TensorVariable:
    """Return the indices (int64) that sort `x` along an axis, NaN last.

    Parameters
    ----------
    x
        The array.
    axis
        The axis; None for the flattened array.
    kind
        As in NumPy. Equal elements keep their order, whatever it is.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    variable, place = _prepared(x, axis)
    return ArgSortOp(place)(variable)
