"""An Op of one's own, as a user would write it: a smooth absolute value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from typing_extensions import override

from lamella import Apply, FunctionGraph, Op, OutputStorage, Variable
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable

__all__ = ["SmoothAbs"]


@attrs.frozen
class SmoothAbs(Op[[TensorLike], TensorVariable]):
    """``sqrt(x**2 + width**2) - width``: nearly ``abs(x)``, and differentiable at 0."""

    width: float

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.asarray(np.hypot(inputs[0], self.width) - self.width)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return shapes

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (y,), (gy,) = inputs, outputs, output_grads
        return [gy * x / (y + self.width)]
