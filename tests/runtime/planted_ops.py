"""Ops that break one promise each, for tests of `DebugMode`."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, OutputStorage, TensorVariable

Array = npt.NDArray[Any]


class OneVector(lm.Op[[Any], TensorVariable]):
    """Takes a vector or matrix and gives one like it; the double of its input where a subclass does nothing else."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: Any) -> Apply[TensorVariable]:
        variable = lt.as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = self.compute(inputs[0])

    def compute(self, x: Array) -> Any:
        return 2 * x


class Double(OneVector):
    """The double of its input: keeps every promise."""


class Narrow(OneVector):
    def compute(self, x: Array) -> Any:
        return x.astype(np.float32)


class Longer(OneVector):
    """Adds an element where the static shape promises none."""

    def compute(self, x: Array) -> Any:
        return np.zeros(len(x) + 1)


class UndeclaredView(OneVector):
    def compute(self, x: Array) -> Any:
        return x[::-1]


class UndeclaredDestruction(OneVector):
    def compute(self, x: Array) -> Any:
        result = 2 * x
        x += 1
        return result


class DestroysAnother(lm.Op[[Any, Any], TensorVariable]):
    """Declares that it overwrites its first input, and overwrites the second."""

    __props__: ClassVar[tuple[str, ...]] = ()
    destroy_map = {0: [0]}

    def make_node(self, x: Any, y: Any) -> Apply[TensorVariable]:
        return Apply(self, [x, y], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, y = inputs
        y += x
        output_storage[0][0] = y.copy()


class DestroysNothing(OneVector):
    """Declares that it works in place, and does not."""

    destroy_map = {0: [0]}


class WorksInPlace(OneVector):
    destroy_map = {0: [0]}

    def compute(self, x: Array) -> Any:
        x *= 2
        return x


class Impure(OneVector):
    not_identity = frozenset({"numbers"})

    def __init__(self) -> None:
        self.numbers = itertools.count()

    def compute(self, x: Array) -> Any:
        return x + next(self.numbers)


class KeepsItsResult(OneVector):
    """Stores the same array in every call."""

    not_identity = frozenset({"kept"})

    def __init__(self) -> None:
        self.kept = np.zeros(2)

    def compute(self, x: Array) -> Any:
        self.kept[:] = x
        return self.kept


class Accumulates(OneVector):
    """Adds to what it finds in its output storage."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        kept = output_storage[0][0]
        if kept is None or kept.shape != inputs[0].shape:
            kept = np.zeros_like(inputs[0])
        kept += inputs[0]
        output_storage[0][0] = kept


class AssumesItFits(OneVector):
    """Takes an array in its output storage for one that is contiguous."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        kept = output_storage[0][0]
        if kept is None or kept.shape != inputs[0].shape:
            kept = np.empty(inputs[0].shape)
        memory = kept.ravel()  # a copy where it is not contiguous
        memory[:] = inputs[0].ravel()
        output_storage[0][0] = kept


class ReadsMemory(OneVector):
    """Takes the elements of its input in the order in which they lie in memory."""

    def compute(self, x: Array) -> Any:
        return x.ravel(order="K").reshape(x.shape).copy()


class FailsOnStrides(OneVector):
    def compute(self, x: Array) -> Any:
        if not x.flags.c_contiguous:
            raise ValueError("only contiguous arrays")
        return x.copy()


class WrongShape(OneVector):
    """Its ``infer_shape`` says that the result is one longer than it is."""

    def infer_shape(
        self, fgraph: Any, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return [tuple([n + 1 for n in shapes[0]])]


class TwoViews(lm.Op[[Any], Any]):
    """Two outputs in one memory."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: Any) -> Apply[Any]:
        return Apply(self, [x], [x.type, x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = 2 * inputs[0]
        output_storage[1][0] = output_storage[0][0][::-1]


OpMaker = Callable[[], lm.Op[[Any], TensorVariable]]
