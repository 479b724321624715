"""Ops as users write them: a right one, and the same with one fault each."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from lamella import Apply, FunctionGraph, Op, OutputStorage, Variable
from lamella.ir import TensorType
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable, cast


@attrs.frozen
class Scale(Op[[TensorLike], TensorVariable]):
    """``factor * x**2``."""

    factor: float = 2.0

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        output_storage[0][0] = np.asarray(self.factor * x * x).astype(x.dtype)

    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return shapes

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> Sequence[Variable[Any]]:
        return [output_grads[0] * inputs[0] * (2 * self.factor)]


@attrs.frozen
class WrongGradient(Scale):
    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Sequence[Variable[Any]]:
        return [output_grads[0] * inputs[0] * self.factor]


@attrs.frozen
class GradientOfAnotherDtype(Scale):
    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Sequence[Variable[Any]]:
        return [cast(output_grads[0] * inputs[0] * (2 * self.factor), "float64")]


@attrs.frozen
class TooManyCotangents(Scale):
    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Sequence[Variable[Any]]:
        return [*output_grads, *output_grads]


@attrs.frozen
class WrongTangent(Scale):
    def R_op(self, inputs: Any, eval_points: Any) -> Sequence[Variable[Any] | None]:
        return [eval_points[0] * inputs[0] * self.factor]


@attrs.frozen
class NoGradient(Scale):
    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Sequence[Variable[Any]]:
        return Op.L_op(self, inputs, outputs, output_grads)


@attrs.frozen
class WrongShape(Scale):
    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Sequence[tuple[Any, ...]]:
        return [shapes[0][::-1]]


@attrs.frozen
class TooManyShapes(Scale):
    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Sequence[tuple[Any, ...]]:
        return [*shapes, *shapes]


@attrs.frozen
class ShapeByComputing(Scale):
    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Sequence[tuple[Any, ...]]:
        return [tuple([node.outputs[0].shape[i] for i in range(node.outputs[0].ndim)])]


@attrs.frozen
class NoShape(Scale):
    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Sequence[tuple[Any, ...]]:
        return Op.infer_shape(self, fgraph, node, shapes)


@attrs.frozen
class WrongStaticShape(Scale):
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        x = as_tensor_variable(x)
        return Apply(self, [x], [TensorType(x.dtype, x.type.shape[::-1])])


@attrs.frozen
class WrongDtype(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = np.asarray(self.factor * inputs[0] ** 2, "float32")


@attrs.frozen
class PythonNumber(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = 3.0


@attrs.frozen
class OverwritesInput(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        if inputs[0].flags.writeable:
            inputs[0][...] *= self.factor
        output_storage[0][0] = inputs[0].copy()


@attrs.frozen
class GivesView(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0][...]


@attrs.frozen
class GivesViewOfReversed(Scale):
    """It gives a view only of arrays that run backwards."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        output_storage[0][0] = x if min(x.strides, default=0) < 0 else x.copy()


_counter: Iterator[int] = itertools.count()


@attrs.frozen
class Impure(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] + next(_counter)


@attrs.frozen
class KeepsBuffer(Scale):
    buffers: ClassVar[dict[Any, Any]] = {}

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        kept = self.buffers.setdefault((x.dtype, x.shape), np.empty(x.shape, x.dtype))
        kept[...] = self.factor * x**2
        output_storage[0][0] = kept


@attrs.frozen
class AddsToStorage(Scale):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        old = output_storage[0][0]
        kept = old if old is not None and old.shape == x.shape else np.zeros(x.shape, x.dtype)
        kept += x
        output_storage[0][0] = kept


@attrs.frozen
class BelievesInContiguity(Scale):
    """It looks at memory, not at elements."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        forwards = x if min(x.strides, default=0) >= 0 else x[tuple([slice(None, None, -1)] * x.ndim)]
        output_storage[0][0] = np.array(forwards)


class NewNodeEveryTime(Scale):
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type(f"call {next(_counter)}")])


@attrs.frozen
class ConvertsTwice(Scale):
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        x = as_tensor_variable(x) + 0
        return Apply(self, [x], [x.type()])


@attrs.frozen
class WrongPattern(Scale):
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        return [[True, True]]


@attrs.frozen
class InPlace(Scale):
    destroy_map = {0: [0]}

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        x *= x * self.factor
        output_storage[0][0] = x


@attrs.frozen
class Unpicklable(Scale):
    def __reduce__(self) -> Any:
        raise TypeError("it holds a lock")
