"""An identity that says when it is computed."""

from collections.abc import Sequence
from typing import Any

from lamella.ir import Apply, Op, OutputStorage, TensorVariable, Variable


class Counted(Op[[TensorVariable], TensorVariable]):
    """Return the input; write a name into a list whenever it is computed. Its gradient passes through."""

    __props__ = ("name",)

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = (log.append,)

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        self.log[0](self.name)
        output_storage[0][0] = inputs[0].copy()

    def infer_shape(
        self, fgraph: object, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return shapes

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        return output_grads
