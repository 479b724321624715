"""`DimShuffle`: axes reordered, added and dropped, as a view."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Literal, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.errors import BroadcastError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["DimShuffle", "NewOrder", "dimshuffle"]

NewOrder = tuple[int | Literal["x"], ...]
"""For each axis of the result: the axis of the input that it is, or ``"x"`` for a new axis of length 1."""


@final
@attrs.frozen(eq=False, repr=False)
class DimShuffle(Op[[TensorLike], TensorVariable]):
    """Reorder, add and drop axes; the result is a view.

    Parameters
    ----------
    input_ndim
        Number of dimensions of the input.
    new_order
        See `NewOrder`. Axes of the input that are not named are dropped: their length must be 1.

    Raises
    ------
    ValueError
        An axis is named twice or is not there.
    """

    input_ndim: int
    new_order: NewOrder

    view_map = {0: [0]}

    def __attrs_post_init__(self) -> None:
        axes = [axis for axis in self.new_order if axis != "x"]
        if len(set(axes)) != len(axes) or any(not 0 <= axis < self.input_ndim for axis in axes):
            raise ValueError(f"the order {self.new_order} does not name axes of {self.input_ndim} dimensions once each")

    @property
    def dropped(self) -> tuple[int, ...]:
        """The axes of the input that the result has not."""
        return tuple([axis for axis in range(self.input_ndim) if axis not in self.new_order])

    @property
    def added(self) -> tuple[int, ...]:
        """The axes of the result that the input has not."""
        return tuple([i for i, axis in enumerate(self.new_order) if axis == "x"])

    @property
    def shuffle(self) -> tuple[int, ...]:
        """The axes of the input that are kept, in the order of the result."""
        return tuple([axis for axis in self.new_order if axis != "x"])

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        if input.ndim != self.input_ndim:
            raise TypeError(f"{self} takes arrays of {self.input_ndim} dimensions; {input!r} has {input.ndim}")
        lengths = input.type.shape
        for axis in self.dropped:
            if lengths[axis] not in (1, None):
                raise ValueError(f"axis {axis} of {input!r} cannot be dropped: its length is {lengths[axis]}, not 1")
        return Apply(self, [input], [TensorType(input.dtype, [1 if a == "x" else lengths[a] for a in self.new_order])])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        for axis in self.dropped:
            if x.shape[axis] != 1:
                raise BroadcastError(
                    f"axis {axis} of {node.inputs[0]!r} cannot be dropped: its length is {x.shape[axis]}, not 1"
                )
        # A reshape would copy some strided arrays: with an index of 0 at the dropped axes this is always a view.
        kept = x.transpose((*self.shuffle, *self.dropped))[(..., *[0] * len(self.dropped))]
        output_storage[0][0] = np.expand_dims(kept, self.added)

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return the only input: the result is made of its elements."""
        return (0,)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        (lengths,) = shapes
        return [
            tuple([as_tensor_variable(1, dtype="int64") if axis == "x" else lengths[axis] for axis in self.new_order])
        ]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (gz,) = output_grads
        back: list[int | Literal["x"]] = ["x"] * self.input_ndim
        for i, axis in enumerate(self.new_order):
            if axis != "x":
                back[axis] = i
        return [DimShuffle(gz.ndim, tuple(back))(gz)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (tangent,) = eval_points
        return [None if tangent is None else self(tangent)]

    @override
    def __str__(self) -> str:
        return f"DimShuffle{{order=[{','.join([str(axis) for axis in self.new_order])}]}}"


def dimshuffle(x: TensorLike, *pattern: int | str | Sequence[int | str]) -> TensorVariable:
    """Return an array with its axes reordered, added and dropped: a view.

    Parameters
    ----------
    x
        The array.
    *pattern
        For each axis of the result: an axis of `x` (negative ones count from the last), or ``"x"`` for a new one of length 1. One
        sequence of these is taken too. Axes of `x` that are not named are dropped; their length must be 1.

    Raises
    ------
    ValueError
        An axis is not there, is named twice, or is dropped and not of length 1.
    """
    variable = as_tensor_variable(x)
    flat: list[int | str] = []
    for part in pattern:
        flat.extend(part if isinstance(part, Sequence) and not isinstance(part, str) else [part])
    order: list[int | Literal["x"]] = []
    for axis in flat:
        if isinstance(axis, str):
            if axis != "x":
                raise ValueError(f"a new axis is written 'x', not {axis!r}")
            order.append("x")
        elif not -variable.ndim <= axis < variable.ndim:
            raise ValueError(f"axis {axis} is out of bounds for {variable!r} of {variable.ndim} dimensions")
        else:
            order.append(index(axis) % variable.ndim)
    if order == list(range(variable.ndim)):
        return variable
    return DimShuffle(variable.ndim, tuple(order))(variable)
