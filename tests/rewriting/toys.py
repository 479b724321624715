"""A world of real numbers, small enough to see what an engine does: one Type and a few Ops."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, Type, Variable, ancestors, interpret


@attrs.frozen(repr=False)
class Real(Type[float]):
    """Real numbers; the `positive` ones are among them."""

    positive: bool = False

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        if strict and not isinstance(value, float):
            raise TypeError(f"{value!r} is no float")
        number = float(value)
        if self.positive and not number > 0:
            raise TypeError(f"{value!r} is not positive")
        return number

    def is_super(self, other: Type[Any]) -> Type[Any] | None:
        return self if isinstance(other, Real) and (other.positive or not self.positive) else None

    def __str__(self) -> str:
        return "positive" if self.positive else "real"


RealVariable = Variable[Real]
Operand = RealVariable | float


@attrs.frozen
class Text(Type[str]):
    """What is no number."""

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
        return str(value)


REAL = Real()
POSITIVE = Real(positive=True)


def as_real(value: Operand) -> RealVariable:
    return value if isinstance(value, Variable) else REAL.make_constant(float(value))


@attrs.frozen(repr=False)
class RealOp(Op[..., RealVariable]):
    """A function of real numbers."""

    symbol: str
    function: Callable[..., float]
    commutative: bool = False

    def make_node(self, *args: Operand) -> Apply[RealVariable]:
        return Apply(self, [as_real(a) for a in args], [REAL])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = float(self.function(*inputs))

    def __str__(self) -> str:
        return self.symbol


@attrs.frozen(repr=False)
class Exp(RealOp):
    """An Op class of its own: exponentials are positive."""

    symbol: str = "exp"
    function: Callable[..., float] = math.exp

    def make_node(self, *args: Operand) -> Apply[RealVariable]:
        return Apply(self, [as_real(a) for a in args], [POSITIVE])


@attrs.frozen(repr=False)
class Pair(Op[..., Any]):
    """Two outputs: the sum and the difference."""

    def make_node(self, *args: Operand) -> Apply[Any]:
        x, y = args
        return Apply(self, [as_real(x), as_real(y)], [REAL, REAL])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, y = inputs
        output_storage[0][0], output_storage[1][0] = x + y, x - y


def _add(*xs: float) -> float:
    return math.fsum(xs)


def _mul(*xs: float) -> float:
    return math.prod(xs)


def _sub(x: float, y: float) -> float:
    return x - y


def _div(x: float, y: float) -> float:
    return x / y


def _neg(x: float) -> float:
    return -x


def _same(x: float) -> float:
    return x


add = RealOp("add", _add, commutative=True)
mul = RealOp("mul", _mul, commutative=True)
sub = RealOp("sub", _sub)
true_div = RealOp("true_div", _div)
neg = RealOp("neg", _neg)
log = RealOp("log", math.log)
identity = RealOp("identity", _same)
exp = Exp()
pair = Pair()


def real(name: str) -> RealVariable:
    return REAL(name)


def graph_of(*outputs: Variable[Any]) -> FunctionGraph:
    """The graph of Variables; its inputs in the order of their names."""
    roots = {v for v in ancestors(outputs) if v.owner is None and not v.is_constant}
    return FunctionGraph(sorted(roots, key=lambda v: v.name or ""), outputs)


def show(graph: FunctionGraph | Variable[Any]) -> str:
    """The graph as a term; for small graphs."""
    if isinstance(graph, FunctionGraph):
        return ", ".join([show(variable) for variable in graph.outputs])
    if graph.owner is None:
        return str(graph.name or graph.stored_value())
    which = f".{graph.index}" if len(graph.owner.outputs) > 1 else ""
    return f"{graph.owner.op}({', '.join([show(variable) for variable in graph.owner.inputs])}){which}"


def value(graph: FunctionGraph, *values: float) -> list[float]:
    """The values of the outputs."""
    found: list[float] = interpret(graph.inputs, graph.outputs, list(values))
    return found
