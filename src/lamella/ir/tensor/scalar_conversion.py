"""`TensorFromScalar` and `ScalarFromTensor`: between numbers and arrays of no dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarVariable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["ScalarFromTensor", "TensorFromScalar", "scalar_from_tensor", "tensor_from_scalar"]


@final
class TensorFromScalar(Op[[ScalarVariable], TensorVariable]):
    """Make an array of no dimensions of a number."""

    __slots__ = ()

    @override
    def make_node(self, x: ScalarVariable) -> Apply[TensorVariable]:
        if not isinstance(x, ScalarVariable):
            raise TypeError(f"{self} takes a scalar variable, not {x!r} of type {type(x).__name__}")
        return Apply(self, [x], [TensorType(x.dtype, ())])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.array(inputs[0])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [()]

    @override
    def L_op(
        self,
        inputs: Sequence[ScalarVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [ScalarFromTensor()(output_grads[0])]

    @override
    def R_op(
        self, inputs: Sequence[ScalarVariable], eval_points: Sequence[ScalarVariable | None]
    ) -> list[Variable[Any] | None]:
        (tangent,) = eval_points
        return [None if tangent is None else self(tangent)]


@final
class ScalarFromTensor(Op[[TensorLike], ScalarVariable]):
    """Take the number out of an array of no dimensions."""

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike) -> Apply[ScalarVariable]:
        input = as_tensor_variable(x)
        if input.ndim != 0:
            raise TypeError(f"{self} takes an array of no dimensions; {input!r} has {input.ndim}")
        return Apply(self, [input], [ScalarType(input.dtype)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0][()]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [()]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[ScalarVariable],
        output_grads: Sequence[ScalarVariable],
    ) -> list[Variable[Any]]:
        return [TensorFromScalar()(output_grads[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (tangent,) = eval_points
        return [None if tangent is None else self(tangent)]


def tensor_from_scalar(x: ScalarVariable) -> TensorVariable:
    """Return a number as an array of no dimensions."""
    return TensorFromScalar()(x)


def scalar_from_tensor(x: TensorLike) -> ScalarVariable:
    """Return the number in an array of no dimensions.

    Raises
    ------
    TypeError
        The array has dimensions.
    """
    return ScalarFromTensor()(x)
