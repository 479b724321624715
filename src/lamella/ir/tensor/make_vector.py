"""`MakeVector`: scalars put side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype, normalize_dtype
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["MakeVector"]


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


@final
@attrs.frozen(eq=False, repr=False)
class MakeVector(Op[..., TensorVariable]):
    """Make a vector of scalars.

    Parameters
    ----------
    dtype
        The dtype of the vector; scalars of other dtypes are cast where that loses nothing.
    """

    dtype: str = attrs.field(default="int64", converter=_dtype_name)

    @override
    def make_node(self, *scalars: TensorLike) -> Apply[TensorVariable]:
        inputs = [self._element(x) for x in scalars]
        return Apply(self, inputs, [TensorType(self.dtype, (len(inputs),))])

    def _element(self, x: TensorLike) -> TensorVariable:
        if isinstance(x, bool | int | float | complex) and not isinstance(x, np.generic):
            return constant(x, dtype=self.dtype)
        variable = as_tensor_variable(x)
        if variable.ndim != 0:
            raise TypeError(f"{self} takes scalars; {variable!r} has {variable.ndim} dimensions")
        if variable.dtype == self.dtype:
            return variable
        if not np.can_cast(variable.dtype, self.dtype, "safe"):
            raise TypeError(f"{variable!r} of dtype {variable.dtype} is no element of {self}: cast it first")
        return lt.cast(variable, self.dtype)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.array(inputs, dtype=self.dtype).reshape(len(inputs))

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return all inputs: the vector is made of them."""
        return range(len(node.inputs))

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [(constant(len(node.inputs), dtype="int64"),)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (gz,) = output_grads
        return [lt.getitem(gz, i) for i in range(len(inputs))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        if not is_differentiable_dtype(self.dtype) or all(tangent is None for tangent in eval_points):
            return [None]
        return [self(*[constant(0, dtype=self.dtype) if t is None else t for t in eval_points])]
