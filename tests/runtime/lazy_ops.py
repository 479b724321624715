"""A lazy Op and an Op that counts its calls, for tests of linkers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, OutputStorage, TensorVariable


class Choose(lm.Op[[Any, Any, Any], TensorVariable]):
    """The second input where the first is true, else the third; only that one is computed."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, condition: Any, then: Any, otherwise: Any) -> Apply[TensorVariable]:
        c, a, b = (lt.as_tensor_variable(x) for x in (condition, then, otherwise))
        return Apply(self, [c, a, b], [a.type])

    def required_inputs(self, node: Apply[Any], known: Mapping[int, Any]) -> Collection[int]:
        return [1 if known[0] else 2] if known else [0]

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = (inputs[1] if inputs[0] else inputs[2]).copy()


class Counted(lm.Op[[Any], TensorVariable]):
    """Its input, copied; notes every call."""

    __props__: ClassVar[tuple[str, ...]] = ("name",)
    not_identity = frozenset({"log"})

    def __init__(self, name: str, log: list[str], fails: bool = False) -> None:
        self.name = name
        self.log = log
        self.fails = fails

    def make_node(self, x: Any) -> Apply[TensorVariable]:
        variable = lt.as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        self.log.append(self.name)
        if self.fails:
            raise ZeroDivisionError("computed although it is not needed")
        output_storage[0][0] = inputs[0].copy()


choose = Choose()
