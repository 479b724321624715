"""`ExtractDiag` and `AllocDiag`: diagonals taken from arrays, and arrays made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.alloc import run_time_lengths, static_lengths
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.shape import shape_i
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["AllocDiag", "ExtractDiag", "diag", "diagonal", "trace"]


def _diagonal_length(rows: int, columns: int, offset: int) -> int:
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def _static_diagonal_length(rows: int | None, columns: int | None, offset: int) -> int | None:
    if rows is not None and columns is not None:
        return _diagonal_length(rows, columns, offset)
    known = rows if rows is not None else columns
    # However long the other axis is, this one has no room for the diagonal.
    return 0 if known is not None and known <= (max(-offset, 0) if rows is not None else max(offset, 0)) else None


def _diagonal_view(x: npt.NDArray[Any], offset: int, axis1: int, axis2: int) -> npt.NDArray[Any]:
    """Return a view of a diagonal that can be written to where the array can: NumPy's cannot."""
    view = np.diagonal(x, offset, axis1, axis2)
    if x.flags.writeable:
        view.setflags(write=True)
    return view


def _check_axes(owner: Op[Any, Any], axis1: int, axis2: int, ndim: int) -> None:
    if axis1 == axis2 or not (0 <= axis1 < ndim and 0 <= axis2 < ndim):
        raise ValueError(f"{owner}: {axis1} and {axis2} are not two axes of an array of {ndim} dimensions")


@final
@attrs.frozen(eq=False, repr=False)
class ExtractDiag(Op[[TensorLike], TensorVariable]):
    """Take a diagonal of an array; the result is a view, with the diagonal as its last axis.

    Parameters
    ----------
    offset
        Which diagonal: above the main one where it is positive, below it where it is negative.
    axis1, axis2
        The axes of the rows and of the columns, counted from the first.
    """

    offset: int = 0
    axis1: int = 0
    axis2: int = 1

    view_map = {0: [0]}

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        _check_axes(self, self.axis1, self.axis2, input.ndim)
        static = input.type.shape
        kept = [length for axis, length in enumerate(static) if axis not in (self.axis1, self.axis2)]
        length = _static_diagonal_length(static[self.axis1], static[self.axis2], self.offset)
        return Apply(self, [input], [TensorType(input.dtype, [*kept, length])])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = _diagonal_view(inputs[0], self.offset, self.axis1, self.axis2)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        (lengths,) = shapes
        known = node.outputs[0].type.shape[-1]
        kept = [length for axis, length in enumerate(lengths) if axis not in (self.axis1, self.axis2)]
        if known is not None:
            return [(*kept, constant(known, dtype="int64"))]
        rows, columns = lengths[self.axis1], lengths[self.axis2]
        if self.offset == 0:
            return [(*kept, lt.minimum(rows, columns))]
        shorter = lt.minimum(lt.add(rows, min(self.offset, 0)), lt.sub(columns, max(self.offset, 0)))
        return [(*kept, lt.maximum(shorter, 0))]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        back = AllocDiag(self.offset, self.axis1, self.axis2)
        return [back(gz, shape_i(x, self.axis1), shape_i(x, self.axis2))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (tangent,) = eval_points
        return [None if tangent is None else self(tangent)]


@final
@attrs.frozen(eq=False, repr=False)
class AllocDiag(Op[[TensorLike, TensorLike, TensorLike], TensorVariable]):
    """Make an array of zeros with given elements on a diagonal.

    The inputs are the elements, whose last axis is laid along the diagonal, and the numbers of rows and columns.

    Parameters
    ----------
    offset
        Which diagonal: above the main one where it is positive, below it where it is negative.
    axis1, axis2
        The axes of the rows and of the columns in the result, counted from the first.
    """

    offset: int = 0
    axis1: int = 0
    axis2: int = 1

    @override
    def make_node(self, x: TensorLike, rows: TensorLike, columns: TensorLike) -> Apply[TensorVariable]:
        input, lengths = as_tensor_variable(x), [as_length(rows), as_length(columns)]
        if input.ndim == 0:
            raise TypeError(f"{self} takes a vector, or an array of vectors; {input!r} has no dimensions")
        _check_axes(self, self.axis1, self.axis2, input.ndim + 1)
        static = static_lengths(self, lengths)
        wanted = _static_diagonal_length(static[0], static[1], self.offset)
        if wanted is not None and input.type.shape[-1] not in (None, wanted):
            raise StaticShapeError(
                f"{self}: the diagonal of {static[0]} rows and {static[1]} columns has {wanted} elements, "
                f"not {input.type.shape[-1]}"
            )
        return Apply(self, [input, *lengths], [TensorType(input.dtype, self._placed(input.type.shape[:-1], *static))])

    def _placed(self, others: Sequence[Any], rows: Any, columns: Any) -> list[Any]:
        left = iter(others)
        ends = {self.axis1: rows, self.axis2: columns}
        return [ends[axis] if axis in ends else next(left) for axis in range(len(others) + 2)]

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x = inputs[0]
        rows, columns = run_time_lengths(self, inputs[1:])
        wanted = _diagonal_length(rows, columns, self.offset)
        if x.shape[-1] != wanted:
            raise ShapeMismatchError(
                f"{self}: the diagonal of {rows} rows and {columns} columns has {wanted} elements, not {x.shape[-1]}"
            )
        result = np.zeros(self._placed(x.shape[:-1], rows, columns), dtype=node.outputs[0].type.dtype)
        _diagonal_view(result, self.offset, self.axis1, self.axis2)[...] = x
        output_storage[0][0] = result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [tuple(self._placed(shapes[0][:-1], *node.inputs[1:]))]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], [False], [False]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        taken = ExtractDiag(self.offset, self.axis1, self.axis2)(output_grads[0])
        return [taken, DisconnectedType()(), DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self(tangent, inputs[1], inputs[2])]


def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Return a diagonal of `x` as the last axis of the result: a view.

    Parameters
    ----------
    x
        An array of two dimensions or more.
    offset
        Which diagonal: above the main one where it is positive, below it where it is negative.
    axis1, axis2
        The axes of rows and columns; negative ones count from the last.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        The axes are the same.
    """
    variable = as_tensor_variable(x)
    first, second = normalize_axis(axis1, variable.ndim), normalize_axis(axis2, variable.ndim)
    return ExtractDiag(offset, first, second)(variable)


def diag(x: TensorLike, k: int = 0) -> TensorVariable:
    """Return a diagonal of a matrix, or the square matrix with a vector on a diagonal and zeros elsewhere.

    Parameters
    ----------
    x
        A matrix or a vector.
    k
        Which diagonal: above the main one where it is positive, below it where it is negative.

    Raises
    ------
    ValueError
        `x` is neither.
    """
    variable = as_tensor_variable(x)
    if variable.ndim == 2:
        return diagonal(variable, k)
    if variable.ndim != 1:
        raise ValueError(f"diag takes a vector or a matrix; {variable!r} has {variable.ndim} dimensions")
    length = lt.add(shape_i(variable, 0), abs(k)) if k else shape_i(variable, 0)
    return AllocDiag(k)(variable, length, length)


def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Return the sum along a diagonal of `x`; its parameters are those of `diagonal`."""
    return lt.sum(diagonal(x, offset, axis1, axis2), axis=-1)
