"""`CAReduce`: an associative and commutative function of two numbers, applied to all elements along axes.

Each reduction is a final class of its own, so that rewrites and lowerings tell them apart by ``match``; this is what they share. The Op of
a node is in normal form: `axis` is a sorted tuple of indices from the first, and every dtype is filled in.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.reduced_axes import Axes, as_axes, kept, reduced_shape, sorted_axes, with_kept_axes
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["CAReduce", "apply_reduction"]


@attrs.frozen(eq=False, repr=False)
class CAReduce(Op[[TensorLike], TensorVariable]):
    """Reduce an array along axes by a function of two numbers.

    A subclass gives `ufunc`, `scalar_op` and `loop`.

    Parameters
    ----------
    axis
        The axes to reduce. None (all of them) and negative ones are resolved when the Op is applied: a node's Op has a sorted tuple.

    Raises
    ------
    numpy.exceptions.AxisError
        On application: an axis is not there.
    ValueError
        On application: an axis is named twice. At run time: there are no elements, and the function has no identity.

    Attributes
    ----------
    ufunc
        The function, as NumPy has it.
    scalar_op
        The function, as a scalar Op.
    """

    ufunc: ClassVar[np.ufunc]
    scalar_op: ClassVar[ScalarOp[Any]]

    axis: Axes = attrs.field(default=None, converter=as_axes)

    @abstractmethod
    def loop(self, dtype: str) -> tuple[str, str]:
        """Return the dtype to accumulate in and that of the result, for elements of `dtype`.

        Raises
        ------
        TypeError
            The reduction is not defined for it.
        """

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes, of an Op in normal form.

        Raises
        ------
        ValueError
            The axes are known on application only.
        """
        if self.axis is None:
            raise ValueError(f"{self} reduces all axes of what it is applied to; the Op of a node names them")
        return self.axis

    def normal_form(self, dtype: str, ndim: int) -> Self:
        """Return this Op as the node has it that applies it to arrays of `dtype` and `ndim` dimensions."""
        return attrs.evolve(self, axis=sorted_axes(self.axis, ndim))

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        op = self.normal_form(input.dtype, input.ndim)
        _, dtype = op.loop(input.dtype)
        return Apply(op, [input], [TensorType(dtype, kept(input.type.shape, op.axes))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        acc_dtype, dtype = self.loop(node.inputs[0].type.dtype)
        with np.errstate(all="ignore"):
            reduced = self.ufunc.reduce(x, axis=self.axes, dtype=acc_dtype)
            output_storage[0][0] = np.asarray(reduced).astype(dtype, copy=False)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return reduced_shape(shapes, self.axes)

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"


def apply_reduction(op: CAReduce, x: TensorLike, keepdims: bool) -> TensorVariable:
    """Apply a reduction; with `keepdims` the reduced axes stay, with length 1."""
    input = as_tensor_variable(x)
    reduced = op(input)
    return with_kept_axes(reduced, sorted_axes(op.axis, input.ndim)) if keepdims else reduced
