"""`SpecifyShape` and `Unbroadcast`: views that add to what is known of a shape, and that forget it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.known_integers import known_integer
from lamella.ir.tensor.lengths import as_length, as_lengths
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["SpecifyShape", "Unbroadcast", "specify_shape", "unbroadcast"]


@final
@attrs.frozen(eq=False, repr=False)
class SpecifyShape(Op[..., TensorVariable]):
    """Assert lengths of an array; the result is a view whose type knows them.

    Its inputs are the array and, for each of `axes`, a length.

    Parameters
    ----------
    axes
        The axes whose lengths are asserted, counted from the first.
    """

    axes: tuple[int, ...]

    view_map = {0: [0]}

    @override
    def make_node(self, x: TensorLike, *lengths: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        if len(lengths) != len(self.axes):
            raise TypeError(f"{self} takes an array and {len(self.axes)} lengths, not {len(lengths)}")
        if any(not 0 <= axis < input.ndim for axis in self.axes) or len(set(self.axes)) != len(self.axes):
            raise ValueError(f"{self.axes} are not distinct axes of {input!r} of {input.ndim} dimensions")
        scalars = [as_length(length) for length in lengths]
        static = list(input.type.shape)
        for axis, scalar in zip(self.axes, scalars, strict=True):
            asserted = known_integer(scalar)
            if asserted is None:
                continue
            if asserted < 0 or static[axis] not in (None, asserted):
                raise StaticShapeError(
                    f"{input!r} of type {input.type} cannot have length {asserted} along axis {axis}, as is specified"
                )
            static[axis] = asserted
        return Apply(self, [input, *scalars], [TensorType(input.dtype, static)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, *lengths = inputs
        for axis, length in zip(self.axes, lengths, strict=True):
            if x.shape[axis] != length:
                raise ShapeMismatchError(
                    f"{node.inputs[0]!r} has length {x.shape[axis]} along axis {axis}, where {length} is specified "
                    f"(its shape is {x.shape})"
                )
        output_storage[0][0] = x

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        static = node.outputs[0].type.shape
        return [tuple([b if a is None else constant(a, dtype="int64") for a, b in zip(static, shapes[0], strict=True)])]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], *[[False]] * len(self.axes)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [output_grads[0], *[DisconnectedType()() for _ in self.axes]]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self(tangent, *inputs[1:])]


@final
@attrs.frozen(eq=False, repr=False)
class Unbroadcast(Op[[TensorLike], TensorVariable]):
    """Forget that lengths are known to be 1, so that these axes do not broadcast; the result is a view.

    It keeps the meaning of a node whose input turns out to have length 1 where that was not known when the node was built.

    Parameters
    ----------
    axes
        The axes, counted from the first.
    """

    axes: tuple[int, ...]

    view_map = {0: [0]}

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        static = input.type.shape
        if any(not 0 <= axis < input.ndim or static[axis] != 1 for axis in self.axes):
            raise ValueError(f"{self.axes} are not axes of length 1 of {input!r} of type {input.type}")
        forgotten = [None if axis in self.axes else length for axis, length in enumerate(static)]
        return Apply(self, [input], [TensorType(input.dtype, forgotten)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Refuse: a constant's type would know again what this Op makes the type forget."""
        return False

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [specify_shape(output_grads[0], inputs[0].type.shape)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (tangent,) = eval_points
        return [None if tangent is None else self(tangent)]


def specify_shape(x: TensorLike, shape: TensorLike | Sequence[TensorLike | None]) -> TensorVariable:
    """Return `x` with its shape asserted: a view, whose type knows the lengths that are known.

    Parameters
    ----------
    x
        The array.
    shape
        For each axis its length, a number or a symbolic integer, or None to say nothing; or a vector of as many lengths as `x`
        has dimensions.

    Raises
    ------
    StaticShapeError
        `x` cannot have this shape: known lengths differ, or the number of dimensions does.
    ShapeMismatchError
        At run time: a length is not what is specified.
    """
    variable = as_tensor_variable(x)
    entries = tuple(shape) if isinstance(shape, list | tuple) else as_lengths(as_tensor_variable(shape))
    if len(entries) != variable.ndim:
        raise StaticShapeError(
            f"{variable!r} has {variable.ndim} dimensions, where a shape of {len(entries)} lengths is specified"
        )
    axes: list[int] = []
    lengths: list[TensorVariable] = []
    for axis, entry in enumerate(entries):
        if entry is None:
            continue
        length = as_length(entry)
        if variable.type.shape[axis] is None or variable.type.shape[axis] != known_integer(length):
            axes.append(axis)
            lengths.append(length)
    return SpecifyShape(tuple(axes))(variable, *lengths) if axes else variable


def unbroadcast(x: TensorLike | Variable[Any], axes: Sequence[int]) -> TensorVariable:
    """Return a view of `x` whose type does not know that it has length 1 along `axes`.

    Axes whose lengths are not known to be 1 are passed over.
    """
    variable = as_tensor_variable(x)
    known = tuple([axis for axis in sorted(set(axes)) if variable.type.shape[axis] == 1])
    return Unbroadcast(known)(variable) if known else variable
