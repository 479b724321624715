"""Where an array is not zero: `Nonzero`, and what makes boolean masks into indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import BOOL_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = ["CheckMask", "Nonzero", "argwhere", "flatnonzero", "mask_indices", "nonzero"]


@final
class Nonzero(Op[[TensorLike], tuple[TensorVariable, ...]]):
    """For each axis the indices of the elements that are not zero, in C order: vectors of int64 of one length.

    Its results vary in steps, so they have no gradient.
    """

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike) -> Apply[tuple[TensorVariable, ...]]:
        input = as_tensor_variable(x)
        if input.ndim == 0:
            raise ValueError(f"{self} takes arrays of one dimension or more, not {input!r} of {input.type}")
        if isinstance(input, TensorConstant):
            length: int | None = int(np.count_nonzero(input.data))
        else:
            length = 0 if 0 in input.type.shape else None
        return Apply(self, [input], [TensorType("int64", (length,))] * input.ndim)

    @override
    def __call__(self, x: TensorLike) -> tuple[TensorVariable, ...]:
        """Return the vectors of indices, in a tuple also where there is one."""
        return tuple([as_tensor_variable(out) for out in self.make_node(x).outputs])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        for cell, indices in zip(output_storage, np.nonzero(inputs[0]), strict=True):
            cell[0] = indices.astype("int64", copy=False)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        known = node.outputs[0].type.shape[0]
        if known is None:
            return list(super().infer_shape(fgraph, node, shapes))
        return [(constant(known, dtype="int64"),)] * node.nout

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False] * node.nout]

    @override
    def L_op(
        self, inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], output_grads: Sequence[Variable[Any]]
    ) -> list[Variable[Any]]:
        return [DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> list[Variable[Any] | None]:
        return [None] * inputs[0].type.ndim


@final
class CheckMask(Op[..., TensorVariable]):
    """Return a boolean mask, a view, having checked that its shape is that of what it masks.

    The inputs are the mask and, for each of its axes, a length.
    """

    __slots__ = ()

    view_map = {0: [0]}

    @override
    def make_node(self, mask: TensorLike, *lengths: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(mask)
        scalars = [as_length(length) for length in lengths]
        if input.dtype not in BOOL_DTYPES or input.ndim != len(scalars):
            raise TypeError(f"{self} takes a mask of {len(scalars)} dimensions, not {input!r} of {input.type}")
        shape = list(input.type.shape)
        for axis, scalar in enumerate(scalars):
            if isinstance(scalar, TensorConstant):
                if shape[axis] not in (None, int(scalar.data)):
                    raise _wrong_length(axis, int(scalar.data), shape[axis])
                shape[axis] = int(scalar.data)
        return Apply(self, [input, *scalars], [TensorType(input.dtype, shape)])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # Lengths that become known must not turn a wrong mask, in a branch never taken, into a failure to compile.
        return Apply(self, inputs, [inputs[0].type])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        mask, *lengths = inputs
        for axis, (found, wanted) in enumerate(zip(mask.shape, lengths, strict=True)):
            if found != wanted:
                raise _wrong_length(axis, int(wanted), found)
        output_storage[0][0] = mask

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False]] * node.nin

    @override
    def L_op(
        self, inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]], output_grads: Sequence[Variable[Any]]
    ) -> list[Variable[Any]]:
        return [DisconnectedType()() for _ in inputs]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> list[Variable[Any] | None]:
        return [None]


def _wrong_length(axis: int, wanted: int, found: int | None) -> IndexError:
    return IndexError(
        f"boolean index did not match indexed array along axis {axis} of the mask; size of axis is {wanted} but size of "
        f"corresponding boolean axis is {found}"
    )


def mask_indices(mask: TensorVariable, x: TensorVariable, first: int) -> tuple[TensorVariable, ...]:
    """Return the indices of the true elements of a mask over some axes of an array: a vector for each axis.

    Parameters
    ----------
    mask
        Booleans, in one dimension or more.
    x
        The array that is masked.
    first
        The first axis that the mask is for.

    Raises
    ------
    IndexError
        A length of the mask is not that of `x`: here where both are known, else at run time.
    """
    lengths = [lt.shape_i(x, first + axis) for axis in range(mask.ndim)]
    checked = CheckMask()(mask, *lengths)  # raises where known lengths differ
    if all([a is not None and a == b for a, b in zip(mask.type.shape, x.type.shape[first:], strict=False)]):
        checked = mask
    if isinstance(checked, TensorConstant):
        return tuple([constant(indices, dtype="int64") for indices in np.nonzero(checked.data)])
    return Nonzero()(checked)


def nonzero(x: TensorLike) -> tuple[TensorVariable, ...]:
    """Return, for each axis of `x`, the indices of the elements that are not zero: vectors of int64 of one length.

    Raises
    ------
    ValueError
        `x` has no dimensions.
    """
    return Nonzero()(x)


def flatnonzero(x: TensorLike) -> TensorVariable:
    """Return the indices of the elements that are not zero in the flattened `x`: a vector of int64."""
    return Nonzero()(lt.flatten(x, 1))[0]


def argwhere(x: TensorLike) -> TensorVariable:
    """Return the indices of the elements that are not zero, one row each: int64 of shape ``(number of them, x.ndim)``."""
    variable = as_tensor_variable(x)
    if variable.ndim == 0:
        return lt.zeros((lt.shape_i(flatnonzero(variable), 0), 0), "int64")
    return lt.stack(list(nonzero(variable)), axis=1)
