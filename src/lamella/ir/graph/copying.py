"""`ViewOp` and `DeepCopyOp`: the same value, in the same memory or in memory of its own. They work on every Type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, final

from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable

__all__ = ["DeepCopyOp", "ViewOp", "deep_copy_op", "view_op"]

VariableT = TypeVar("VariableT", bound=Variable[Any])


class _Identity(Op[..., Any]):
    """Returns a value equal to its only input."""

    __slots__ = ()

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if len(args) != 1 or kwargs:
            raise TypeError(f"{self} takes one input, not {len(args) + len(kwargs)}")
        return Apply(self, args, [args[0].type])

    @override
    def __call__(self, x: VariableT, /) -> VariableT:
        """Apply the Op; the result is of the same Type."""
        result: VariableT = super().__call__(x)
        return result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        return [output_grads[0]]

    @override
    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Sequence[Variable[Any] | None]:
        return [eval_points[0]]


@final
class ViewOp(_Identity):
    """The same value in the same memory."""

    __slots__ = ()

    @property
    @override
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # the same for all
        return {0: [0]}

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]


@final
class DeepCopyOp(_Identity):
    """An equal value that shares no memory with its input: what `Type.copy_value` makes."""

    __slots__ = ()

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = node.inputs[0].type.copy_value(inputs[0])


view_op = ViewOp()
deep_copy_op = DeepCopyOp()
