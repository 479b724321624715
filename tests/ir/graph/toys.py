"""A toy family: numbers, and Ops on them in the styles that people write Ops in."""

from collections.abc import Sequence
from typing import Any, Literal

import attrs
from hypothesis import strategies as st

from lamella.ir import Apply, Op, OutputStorage, Type, Variable


@attrs.frozen
class Number(Type[float]):
    """Python floats; of a known sign, or of any."""

    sign: Literal["any", "positive"] = "any"

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        if strict and not isinstance(value, float):
            raise TypeError(f"{value!r} is no float")
        if isinstance(value, str):
            raise TypeError(f"{value!r} is no number")
        found = float(value)
        if self.sign == "positive" and not found > 0:
            raise TypeError(f"{found} is not positive")
        return found

    def is_super(self, other: Type[Any]) -> Type[Any] | None:
        return self if isinstance(other, Number) and self.sign in ("any", other.sign) else None

    def in_same_class(self, other: Type[Any]) -> bool:
        return isinstance(other, Number)


NumberVariable = Variable[Number]
NUMBER = Number()
POSITIVE = Number("positive")


def number(name: str | None = None) -> NumberVariable:
    return NUMBER(name)


class Add(Op[[NumberVariable, NumberVariable], NumberVariable]):
    """In the tutorial's style: `make_node`, `perform`, `__props__`."""

    __props__ = ()

    def make_node(self, a: NumberVariable, b: NumberVariable) -> Apply[NumberVariable]:
        positive = a.type.sign == b.type.sign == "positive"
        return Apply(self, [a, b], [POSITIVE if positive else NUMBER])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] + inputs[1]


class Scale(Op[[NumberVariable], NumberVariable]):
    """In the tutorial's style, with a property."""

    __props__ = ("factor",)
    itypes = [NUMBER]
    otypes = [NUMBER]

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = self.factor * inputs[0]


@attrs.frozen
class Power(Op[[NumberVariable], NumberVariable]):
    """As an attrs class."""

    exponent: float

    def make_node(self, base: NumberVariable) -> Apply[NumberVariable]:
        return Apply(self, [base], [base.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = float(inputs[0] ** self.exponent)


class DivMod(Op[[NumberVariable, NumberVariable], tuple[NumberVariable, NumberVariable]]):
    """With two outputs."""

    __props__ = ()

    def make_node(self, a: NumberVariable, b: NumberVariable) -> Apply[tuple[NumberVariable, NumberVariable]]:
        return Apply(self, [a, b], [NUMBER("quotient"), NUMBER("remainder")])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0], output_storage[1][0] = divmod(inputs[0], inputs[1])


class SafeDivMod(DivMod):
    """Like `DivMod`, but dividing by 0 gives 0 and the dividend."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        a, b = inputs
        output_storage[0][0], output_storage[1][0] = divmod(a, b) if b else (0.0, a)


add = Add()
double = Scale(2.0)
square = Power(2)
div_mod = DivMod()
safe_div_mod = SafeDivMod()


def chain(length: int, start: NumberVariable, other: NumberVariable) -> NumberVariable:
    """A graph as deep as it has nodes."""
    result = start
    for _ in range(length):
        result = add(result, other)
    return result


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12) -> tuple[list[NumberVariable], list[NumberVariable]]:
    """A random graph: its inputs, and all its Variables (the inputs first, then each after those that it needs)."""
    inputs = [number(f"x{i}") for i in range(draw(st.integers(1, 3)))]
    variables: list[NumberVariable] = [*inputs]
    for _ in range(draw(st.integers(0, max_nodes))):
        a, b = draw(st.sampled_from(variables)), draw(st.sampled_from(variables))
        kind = draw(st.sampled_from(["add", "scale", "divmod", "constant"]))
        if kind == "add":
            variables.append(add(a, b))
        elif kind == "scale":
            variables.append(Scale(float(draw(st.integers(-2, 2))))(a))
        elif kind == "divmod":
            variables.extend(safe_div_mod(a, b))
        else:
            variables.append(add(a, NUMBER.make_constant(float(draw(st.integers(-2, 2))))))
    return inputs, list(dict.fromkeys(variables))
