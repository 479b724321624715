"""`Join`: arrays put one after another along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import result_dtype
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.make_vector import MakeVector
from lamella.ir.tensor.reshape import ravel
from lamella.ir.tensor.shape import shape_i
from lamella.ir.tensor.split import Split
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.unit_axes import atleast_1d, atleast_2d, expand_dims
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Join", "concatenate", "hstack", "join", "stack", "vstack"]


def _common_dtype(variables: Sequence[TensorVariable]) -> list[TensorVariable]:
    dtype = result_dtype(*[v.dtype for v in variables])
    return [v if v.dtype == dtype else lt.cast(v, dtype) for v in variables]


@final
@attrs.frozen(eq=False, repr=False)
class Join(Op[..., TensorVariable]):
    """Put arrays one after another along an axis.

    All other lengths must be equal; nothing is broadcast. Arrays of several dtypes are cast to their common one first.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    """

    axis: int

    @override
    def make_node(self, *arrays: TensorLike) -> Apply[TensorVariable]:
        if not arrays:
            raise TypeError(f"{self} takes one array or more")
        inputs = _common_dtype([as_tensor_variable(x) for x in arrays])
        ndim = inputs[0].ndim
        if any(v.ndim != ndim for v in inputs) or not 0 <= self.axis < ndim:
            raise StaticShapeError(
                f"{self} takes arrays of the same number of dimensions, which have the axis: "
                + ", ".join([f"{v!r} is {v.type}" for v in inputs])
            )
        return Apply(self, inputs, [TensorType(inputs[0].dtype, self._static_shape(inputs))])

    def _static_shape(self, inputs: Sequence[TensorVariable]) -> StaticShape:
        result: list[int | None] = []
        for axis, lengths in enumerate(zip(*[v.type.shape for v in inputs], strict=True)):
            known = [length for length in lengths if length is not None]
            if axis == self.axis:
                result.append(sum(known) if len(known) == len(lengths) else None)
            elif len(set(known)) > 1:
                raise StaticShapeError(
                    f"{self}: lengths {known} along axis {axis} differ: "
                    + ", ".join([f"{v!r} is {v.type}" for v in inputs])
                )
            else:
                result.append(known[0] if known else None)
        return tuple(result)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        first = inputs[0].shape
        for i, array in enumerate(inputs):
            for axis, (a, b) in enumerate(zip(first, array.shape, strict=True)):
                if a != b and axis != self.axis:
                    raise ShapeMismatchError(
                        f"{self}: input 0 ({node.inputs[0]!r}) has length {a} along axis {axis}, "
                        f"input {i} ({node.inputs[i]!r}) has length {b}"
                    )
        output_storage[0][0] = np.concatenate(inputs, axis=self.axis)

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return all inputs: the result is made of them."""
        return range(len(node.inputs))

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        lengths: list[TensorVariable] = []
        for axis, known in enumerate(node.outputs[0].type.shape):
            if known is not None:
                lengths.append(constant(known, dtype="int64"))
            elif axis != self.axis:
                lengths.append(shapes[0][axis])
            else:
                parts = [lengths[axis] for lengths in shapes]
                lengths.append(parts[0] if len(parts) == 1 else lt.add(*parts))
        return [tuple(lengths)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (gz,) = output_grads
        if len(inputs) == 1:
            return [gz]
        lengths = MakeVector("int64")(*[shape_i(x, self.axis) for x in inputs])
        return list(Split(len(inputs), self.axis)(gz, lengths))

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        if all(tangent is None for tangent in eval_points):
            return [None]
        return [self(*[lt.zeros_like(x) if t is None else t for x, t in zip(inputs, eval_points, strict=True)])]


def concatenate(arrays: Sequence[TensorLike] | TensorVariable, axis: int | None = 0) -> TensorVariable:
    """Return arrays put one after another along an axis; flattened first where `axis` is None.

    Parameters
    ----------
    arrays
        The arrays, or one array whose first axis they are.
    axis
        The axis; negative ones count from the last.

    Raises
    ------
    StaticShapeError
        Numbers of dimensions, or known lengths along other axes, differ.
    ShapeMismatchError
        At run time: lengths along other axes differ.
    numpy.exceptions.AxisError
        There is no such axis.
    ValueError
        There is no array.
    """
    variables = [as_tensor_variable(x) for x in arrays]
    if not variables:
        raise ValueError("concatenate takes one array or more")
    if axis is None:
        variables, axis = [ravel(v) for v in variables], 0
    place = normalize_axis(axis, variables[0].ndim)
    return variables[0] if len(variables) == 1 else Join(place)(*variables)


def join(axis: int, *arrays: TensorLike) -> TensorVariable:
    """Return arrays put one after another along an axis: `concatenate` with its arguments the other way round."""
    return concatenate(arrays, axis)


def stack(arrays: Sequence[TensorLike] | TensorVariable, axis: int = 0) -> TensorVariable:
    """Return arrays of one shape put side by side along a new axis.

    Parameters
    ----------
    arrays
        The arrays.
    axis
        The place of the new axis in the result; negative ones count from its last.

    Raises
    ------
    StaticShapeError, ShapeMismatchError
        The shapes differ.
    ValueError
        There is no array.
    """
    variables = [as_tensor_variable(x) for x in arrays]
    if not variables:
        raise ValueError("stack takes one array or more")
    place = normalize_axis(axis, variables[0].ndim + 1)
    if all(v.ndim == 0 for v in variables):
        common = _common_dtype(variables)
        return MakeVector(common[0].dtype)(*common)
    if any(v.ndim != variables[0].ndim for v in variables):
        raise StaticShapeError(
            "stack takes arrays of one shape: " + ", ".join([f"{v!r} is {v.type}" for v in variables])
        )
    return concatenate([expand_dims(v, place) for v in variables], place)


def vstack(arrays: Sequence[TensorLike]) -> TensorVariable:
    """Return arrays put one below another: along the first axis, vectors as rows."""
    return concatenate([atleast_2d(x) for x in arrays], 0)


def hstack(arrays: Sequence[TensorLike]) -> TensorVariable:
    """Return arrays put side by side: along the second axis, vectors along their only one."""
    variables = [atleast_1d(x) for x in arrays]
    return concatenate(variables, 0 if variables and variables[0].ndim == 1 else 1)
