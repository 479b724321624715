"""`Alloc` and `AllocEmpty`: new arrays, filled with a value or with nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import normalize_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dimshuffle import dimshuffle
from lamella.ir.tensor.known_integers import known_integer
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.specify_shape import unbroadcast
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Alloc", "AllocEmpty"]

_MOST_ELEMENTS_FOLDED: Final = 64


def static_lengths(owner: Op[Any, Any], lengths: Sequence[TensorVariable]) -> StaticShape:
    """Return what is known of lengths that an array is to have.

    Raises
    ------
    StaticShapeError
        A length is negative.
    """
    static = tuple([known_integer(length) for length in lengths])
    if any(length is not None and length < 0 for length in static):
        raise StaticShapeError(f"{owner}: negative lengths in the shape {static}")
    return static


def run_time_lengths(owner: Op[Any, Any], lengths: Sequence[npt.NDArray[Any]]) -> tuple[int, ...]:
    """Return the values of lengths.

    Raises
    ------
    ValueError
        A length is negative.
    """
    shape = tuple([int(length) for length in lengths])
    if any(length < 0 for length in shape):
        raise ValueError(f"{owner}: negative lengths in the shape {shape}")
    return shape


@final
class Alloc(Op[..., TensorVariable]):
    """Make an array of given lengths that repeats a value along new axes, and along those of its axes that have length 1.

    The inputs are the value and the lengths. As everywhere, an axis of the value is repeated where its length is known to be 1
    when the node is built, never where it is unknown.
    """

    __slots__ = ()

    @override
    def make_node(self, value: TensorLike, *lengths: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(value)
        scalars = [as_length(length) for length in lengths]
        if input.ndim > len(scalars):
            raise StaticShapeError(
                f"{input!r} of {input.ndim} dimensions cannot fill an array of {len(scalars)} dimensions"
            )
        static = list(static_lengths(self, scalars))
        first = len(static) - input.ndim
        for axis, length in enumerate(input.type.shape):
            if length is None or length == 1:
                continue
            if static[first + axis] not in (None, length):
                raise StaticShapeError(
                    f"{input!r} of type {input.type} cannot fill an array of shape {tuple(static)}: "
                    f"its length {length} along axis {axis} does not fit {static[first + axis]}"
                )
            static[first + axis] = length
        return Apply(self, [input, *scalars], [TensorType(input.dtype, static)])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # An axis that is now known to have length 1, and was not when the node was built, must not begin to broadcast.
        value: Any = inputs[0]
        before = node.inputs[0].type.shape
        axes = [i for i, (a, b) in enumerate(zip(value.type.shape, before, strict=True)) if a == 1 and b is None]
        return self.make_node(unbroadcast(value, axes), *[as_tensor_variable(length) for length in inputs[1:]])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        value, *lengths = inputs
        shape = run_time_lengths(self, lengths)
        first = len(shape) - value.ndim
        for axis, known in enumerate(node.inputs[0].type.shape):
            found, wanted = value.shape[axis], shape[first + axis]
            if known != 1 and found != wanted:
                remedy = (
                    f". An unknown length is never broadcast: use specify_shape to say that it is 1 along axis {axis}"
                    if found == 1
                    else ""
                )
                raise BroadcastError(
                    f"{node.inputs[0]!r} of shape {value.shape} cannot fill an array of shape {shape}: "
                    f"its length {found} along axis {axis} is not {wanted}{remedy}"
                )
        result = np.empty(shape, dtype=node.outputs[0].type.dtype)
        result[...] = value
        output_storage[0][0] = result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [node_lengths(node, node.inputs[1:])]

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Refuse where it would only make a large constant."""
        static = node.outputs[0].type.shape
        return None not in static and int(np.prod(static)) <= _MOST_ELEMENTS_FOLDED

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], *[[False]] * (len(node.inputs) - 1)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        value, (gz,) = inputs[0], output_grads
        new = gz.ndim - value.ndim
        repeated = [new + i for i, length in enumerate(value.type.shape) if length == 1 and gz.type.shape[new + i] != 1]
        axes = [*range(new), *repeated]
        summed = lt.sum(gz, axis=axes, keepdims=True, dtype=gz.dtype) if axes else gz
        kept = dimshuffle(summed, list(range(new, gz.ndim))) if new else summed
        return [kept, *[DisconnectedType()() for _ in inputs[1:]]]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self(tangent, *inputs[1:])]


def node_lengths(node: Apply[Any], lengths: Sequence[Variable[Any]]) -> tuple[TensorVariable, ...]:
    """Return the lengths of a node's only output: what its type knows, else the int64 scalars given."""
    static: StaticShape = node.outputs[0].type.shape
    return tuple(
        [
            as_tensor_variable(b) if a is None else as_tensor_variable(a, dtype="int64")
            for a, b in zip(static, lengths, strict=True)
        ]
    )


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


@final
@attrs.frozen(eq=False, repr=False)
class AllocEmpty(Op[..., TensorVariable]):
    """Make an array of given lengths whose elements are whatever its memory holds; each must be set before it is read.

    Parameters
    ----------
    dtype
        The dtype of the array.
    """

    dtype: str = attrs.field(converter=_dtype_name)

    @override
    def make_node(self, *lengths: TensorLike) -> Apply[TensorVariable]:
        scalars = [as_length(length) for length in lengths]
        return Apply(self, scalars, [TensorType(self.dtype, static_lengths(self, scalars))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.empty(run_time_lengths(self, inputs), dtype=self.dtype)

    @override
    def debug_perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Fill the array with one odd value, so that a graph that reads it gives the same wrong result each time."""
        self.perform(node, inputs, output_storage)
        output_storage[0][0].fill(np.array(-123456789).astype(self.dtype))

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [node_lengths(node, node.inputs)]

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Refuse: there is no value to keep."""
        return False

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False] for _ in node.inputs]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        return [DisconnectedType()() for _ in inputs]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None]
