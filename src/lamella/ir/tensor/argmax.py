"""`Argmax` and `Argmin`: where the first extreme element is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.extremes import max as max_over
from lamella.ir.tensor.reduced_axes import kept, reduced_shape, sorted_axes, with_kept_axes
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Argmax", "Argmin", "argmax", "argmin", "max_and_argmax"]


@attrs.frozen(eq=False, repr=False)
class _ArgExtreme(Op[[TensorLike], TensorVariable]):
    """What `Argmax` and `Argmin` share."""

    axis: int | None = None

    @abstractmethod
    def find(self, x: npt.NDArray[Any], axis: int | None) -> npt.NDArray[np.int64]:
        """Return the indices of the first extremes along an axis, or in the flat array."""

    def axes(self, ndim: int) -> tuple[int, ...]:
        """Return the axes that the result has not."""
        return sorted_axes(self.axis, ndim)

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        axes = self.axes(input.ndim)
        op = attrs.evolve(self, axis=axes[0] if len(axes) == 1 else None)
        return Apply(op, [input], [TensorType("int64", kept(input.type.shape, axes))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.asarray(self.find(inputs[0], self.axis), dtype="int64")

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return reduced_shape(shapes, self.axes(len(shapes[0])))

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [zero_cotangent(inputs[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None]


@final
class Argmax(_ArgExtreme):
    """The index of the first greatest element along an axis; of the first NaN, where there is one. The derivative is 0.

    Parameters
    ----------
    axis
        The axis; None to count in the flat array.
    """

    __slots__ = ()

    @override
    def find(self, x: npt.NDArray[Any], axis: int | None) -> npt.NDArray[np.int64]:
        return np.asarray(np.argmax(x, axis=axis))


@final
class Argmin(_ArgExtreme):
    """The index of the first least element along an axis; in all else as `Argmax`.

    Parameters
    ----------
    axis
        The axis; None to count in the flat array.
    """

    __slots__ = ()

    @override
    def find(self, x: npt.NDArray[Any], axis: int | None) -> npt.NDArray[np.int64]:
        return np.asarray(np.argmin(x, axis=axis))


def _apply(op: Argmax | Argmin, x: TensorLike, keepdims: bool) -> TensorVariable:
    input = as_tensor_variable(x)
    index = op(input)
    return with_kept_axes(index, op.axes(input.ndim)) if keepdims else index


def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
    """Return the indices of the first greatest elements, as int64; a NaN is greater than all numbers.

    Parameters
    ----------
    x
        The array.
    axis
        The axis to search along; negative ones count from the last. None searches the flat array.
    keepdims
        Keep the reduced axes, with length 1.

    Raises
    ------
    numpy.exceptions.AxisError
        The axis is not there.
    ValueError
        At run time: there are no elements.
    """
    return _apply(Argmax(axis), x, keepdims)


def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
    """Return the indices of the first least elements, as int64; a NaN is less than all numbers.

    Parameters
    ----------
    x, axis, keepdims
        As those of `argmax`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError
        As `argmax`.
    """
    return _apply(Argmin(axis), x, keepdims)


def max_and_argmax(
    x: TensorLike, axis: int | None = None, keepdims: bool = False
) -> tuple[TensorVariable, TensorVariable]:
    """Return the greatest elements and the indices of the first of them.

    Parameters
    ----------
    x, axis, keepdims
        As those of `argmax`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError
        As `argmax`.
    """
    return max_over(x, axis, keepdims), argmax(x, axis, keepdims)
