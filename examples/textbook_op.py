"""An Op of one's own, from its definition to its gradient in a compiled function: ``python -m examples.textbook_op``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, FunctionGraph, Op, OutputStorage
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable


class Double(Op[[TensorLike], TensorVariable]):
    """``2 * x``."""

    __props__ = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        """Say what it may be applied to, and of which type the result is."""
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the result."""
        output_storage[0][0] = 2 * inputs[0]

    def infer_shape(self, fgraph: FunctionGraph | None, node: Apply, shapes: Sequence[Any]) -> Sequence[Any]:
        """Find the shape of the result without computing it."""
        return shapes

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[TensorVariable]:
        """Pull the gradient of the cost back through the Op."""
        return [2 * output_grads[0]]


double = Double()
x = lt.dvector("x")
cost = lt.sum(double(x) ** 2)
cost_and_gradient = lm.function([x], [cost, lm.grad(cost, x)])


if __name__ == "__main__":
    print(cost_and_gradient(np.array([1.0, 2.0, 3.0])))
