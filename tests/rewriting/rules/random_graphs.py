"""Random graphs of tensors with values for their inputs, small, and full of lengths of 0 and 1, NaN, infinities and zeros of both signs."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from lamella.ir import FunctionGraph, Subtensor, TensorType, TensorVariable, constant, interpret, lt, to_text

Array = npt.NDArray[Any]

FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, np.nan, np.inf, -np.inf, 1e-3, 7.0]
INTEGERS = [0, 1, -1, 2, 3, -5, 127, 100]
REAL = ("float64", "float32", "int64", "bool")
UNARY = (
    *(
        "exp",
        "tanh",
        "sqrt",
        "abs",
        "sign",
        "square",
        "reciprocal",
        "floor",
        "rint",
        "isnan",
        "logical_not",
        "tensor_copy",
    ),
    *("neg", "neg"),
)
BINARY = (
    "add",
    "mul",
    "sub",
    "true_divide",
    "minimum",
    "maximum",
    "eq",
    "lt",
    "second",
    "annihilating_mul",
    "logical_and",
)
REDUCTIONS = ("sum", "prod", "max", "min", "all", "any")


@attrs.define(repr=False)
class RandomGraph:
    """A graph as it grows: inputs with their values, and everything that was computed, each with its value.

    Attributes
    ----------
    draw
        Hypothesis's function.
    inputs, values
        The inputs, and arrays for them.
    made
        All Variables so far, with what they are.
    """

    draw: st.DrawFn
    inputs: list[TensorVariable] = attrs.field(factory=list)
    values: list[Array] = attrs.field(factory=list)
    made: list[tuple[TensorVariable, Array]] = attrs.field(factory=list)

    def __repr__(self) -> str:
        values = "".join([f"{v.name} = {value!r}\n" for v, value in zip(self.inputs, self.values, strict=True)])
        return f"{to_text(FunctionGraph(self.inputs, [variable for variable, _ in self.made]))}{values}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def add_input(self) -> None:
        shape = [self.one_of([1, 2, 3, 2, 0]) for _ in range(self.number(0, 3))]
        dtype = self.one_of(REAL)
        choices = FLOATS if dtype.startswith("float") else INTEGERS
        size = int(np.prod(shape))
        rng = np.random.default_rng(self.number(0, 1000))
        value = np.array([choices[i] for i in rng.integers(0, len(choices), size)]).reshape(shape).astype(dtype)
        static = [self.one_of([length, None]) for length in shape]
        variable = TensorType(dtype, static)(f"x{len(self.inputs)}")
        self.inputs.append(variable)
        self.values.append(value)
        self.made.append((variable, value))

    def operand(self) -> tuple[TensorVariable, Array]:
        """What was made, the latest most often."""
        back = self.one_of([1, 1, 1, 2, 2, 3, len(self.made)])
        found: tuple[TensorVariable, Array] = self.made[-min(back, len(self.made))]
        return found

    def grow(self) -> None:
        """Compute one thing more, if what was drawn fits."""
        step: Callable[[RandomGraph], TensorVariable] = self.one_of(STEPS)
        try:
            variable = step(self)
            value = self.compute(variable)
        except (TypeError, ValueError, LookupError, ArithmeticError):
            return
        if value.size <= 64 and variable.ndim <= 4:
            self.made.append((variable, value))

    def compute(self, variable: TensorVariable) -> Array:
        result: Array = interpret(self.inputs, [variable], self.values)[0]
        return result


def _unary(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    made: TensorVariable = getattr(lt, graph.one_of(UNARY))(x)
    return made


def _binary(graph: RandomGraph) -> TensorVariable:
    (x, _), (y, _) = graph.operand(), graph.operand()
    if graph.number(0, 1):
        x, y = y, x
    made: TensorVariable = getattr(lt, graph.one_of(BINARY))(x, y)
    return made


def _with_literal(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    number = graph.one_of([0, 1, 2.0, -1.0, 0.0, -0.0])
    made: TensorVariable = getattr(lt, graph.one_of(BINARY))(*graph.one_of([(x, number), (number, x)]))
    return made


def _switch(graph: RandomGraph) -> TensorVariable:
    (c, _), (x, _), (y, _) = graph.operand(), graph.operand(), graph.operand()
    condition = graph.one_of([c, c, lt.gt(c, 0), True, False, lt.zeros_like(c), lt.ones_like(c)])
    return lt.switch(condition, x, graph.one_of([x, y, y, 0.0]))


def _cast(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    return lt.cast(x, graph.one_of(["float64", "float32", "float64", "bool", "complex128"]))


def _dimshuffle(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    left = list(range(x.ndim))
    order: list[Any] = [left.pop(graph.number(0, len(left) - 1)) for _ in range(x.ndim)]
    order = [axis for axis in order if value.shape[axis] != 1 or graph.number(0, 2)]
    for _ in range(graph.number(0, 2)):
        order.insert(graph.number(0, len(order)), "x")
    return lt.dimshuffle(x, order)


def _reduction(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    axes = [axis for axis in range(x.ndim) if graph.number(0, 1)]
    made: TensorVariable = getattr(lt, graph.one_of(REDUCTIONS))(x, axis=axes, keepdims=bool(graph.number(0, 1)))
    return made


def _length(graph: RandomGraph, like: int) -> Any:
    """A length: a number, or symbolic."""
    candidates: list[Any] = [like]
    for variable, value in graph.made:
        candidates += [lt.shape_i(variable, axis) for axis in range(variable.ndim) if value.shape[axis] == like]
    return graph.one_of(candidates)


def _alloc(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    shape = [length if length != 1 or graph.number(0, 1) else graph.number(0, 3) for length in value.shape]
    shape = [graph.number(0, 3) for _ in range(graph.number(0, 1))] + shape
    return lt.alloc(x, [_length(graph, length) for length in shape])


def _fill(graph: RandomGraph) -> TensorVariable:
    (x, _), (y, _) = graph.operand(), graph.operand()
    return lt.fill(x, graph.one_of([y, 1.0, 0.0, 2]))


def _zeros_like(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    return graph.one_of([lt.zeros_like, lt.ones_like])(x)  # type: ignore[no-any-return]  # drawn


def _reshape(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    shapes: list[tuple[int, ...]] = [
        value.shape,
        (value.size,),
        (-1,),
        (1, *value.shape),
        (*value.shape, 1),
        value.shape[::-1],
    ]
    shapes += [(value.shape[0], -1)] if value.ndim else []
    shapes += [tuple([length for length in value.shape if length != 1])]
    shape = graph.one_of(shapes)
    return lt.reshape(x, [length if length == -1 else _length(graph, length) for length in shape])


def _index(graph: RandomGraph, value: Array) -> tuple[Any, ...]:
    index: list[Any] = []
    for length in value.shape[: graph.number(0, value.ndim)]:
        kind = graph.number(0, 5)
        if kind == 0 and length:
            place = graph.number(-length, length - 1)
            index.append(place if graph.number(0, 1) or place < 0 else _length(graph, place))
        elif kind == 1:
            index.append(slice(None))
        elif kind == 2:
            index.append(slice(graph.one_of([None, 0]), graph.one_of([length, _length(graph, length)])))
        else:
            start, stop = [graph.one_of([None, graph.number(-length - 1, length + 1)]) for _ in range(2)]
            index.append(slice(start, stop, graph.one_of([None, None, 1, -1, 2, -2])))
        if graph.number(0, 9) == 0:
            index.append(None)
    return tuple(index)


def _subtensor(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    return lt.getitem(x, _index(graph, value))


def _written(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    y, _ = graph.operand()
    selected = lt.getitem(x, _index(graph, value))
    return graph.one_of([lt.set_subtensor, lt.inc_subtensor])(selected, graph.one_of([y, 2, lt.fill(selected, 1)]))  # type: ignore[no-any-return]  # drawn


def _read_back(graph: RandomGraph) -> TensorVariable:
    written = _written(graph)
    node = written.owner
    assert node is not None
    made = lt.getitem(written, ())
    op: Any = node.op
    return Subtensor(op.idx_list)(made, *node.inputs[2:]) if hasattr(op, "idx_list") else made


def _taken(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    places = [graph.number(-value.shape[0], value.shape[0] - 1) for _ in range(graph.number(0, 3))]
    return lt.getitem(x, np.array(places, dtype="int64"))


def _join(graph: RandomGraph) -> TensorVariable:
    arrays = [graph.operand()[0] for _ in range(graph.number(1, 3))]
    if graph.number(0, 2) == 0:
        return lt.stack(arrays, axis=0)
    return lt.concatenate(arrays, axis=graph.number(0, max(0, arrays[0].ndim - 1)))


def _of_own_parts(graph: RandomGraph) -> TensorVariable:
    """A vector of the elements of one, or an array joined of the parts of one, or those of joined arrays."""
    x, value = graph.operand()
    if x.ndim == 0:
        return lt.stack([x, graph.operand()[0], x])
    if value.ndim == 1 and graph.number(0, 1):
        return lt.stack([x[place] for place in range(len(value))])
    cut = graph.number(0, value.shape[0])
    parts = lt.split(x, [_length(graph, cut), value.shape[0] - cut])
    return graph.one_of([parts[0], parts[1], lt.concatenate(parts), lt.concatenate([parts[0], lt.exp(x), x])])  # type: ignore[no-any-return]  # drawn


def _written_again(graph: RandomGraph) -> TensorVariable:
    """An array that is written to twice, at one place or at two, or with what it holds."""
    written = _written(graph)
    node = written.owner
    assert node is not None
    op: Any = node.op
    again = Subtensor(op.idx_list)(written, *node.inputs[2:]) if hasattr(op, "idx_list") else lt.getitem(written, ())
    if graph.number(0, 2) == 0:
        again = lt.getitem(written, _index(graph, graph.compute(written)))
    y, _ = graph.operand()
    value = graph.one_of([y, 0, -0.0, again, again + y, lt.fill(again, 2), y[:1] if y.ndim else y])
    return graph.one_of([lt.set_subtensor, lt.inc_subtensor])(again, value)  # type: ignore[no-any-return]  # drawn


def _written_at_array(graph: RandomGraph) -> TensorVariable:
    """An array that is written to at places of an array or a mask, and perhaps read there."""
    x, value = graph.operand()
    length = value.shape[0]
    places = [graph.number(-length, length - 1) for _ in range(graph.number(0, 3))] if length else []
    own = graph.one_of([np.array(places, dtype="int64"), lt.arange(_length(graph, length)), lt.gt(x, 0)])
    y, _ = graph.operand()
    written = graph.one_of([lt.set_subtensor, lt.inc_subtensor])(lt.getitem(x, own), graph.one_of([y, 2]))
    return graph.one_of([written, lt.getitem(written, own), lt.getitem(x, own)])  # type: ignore[no-any-return]  # drawn


def _scaled(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    made = graph.one_of([lt.neg, lambda v: v * 2, lambda v: -4 * v, lambda v: v / 2, lambda v: v * 0])(x)
    return lt.sum(made, axis=[axis for axis in range(x.ndim) if graph.number(0, 1)])


def _specify_shape(graph: RandomGraph) -> TensorVariable:
    x, value = graph.operand()
    return lt.specify_shape(x, [graph.one_of([None, length, _length(graph, length)]) for length in value.shape])


def _unbroadcast(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    return lt.unbroadcast(x, [axis for axis in range(x.ndim) if graph.number(0, 1)])


def _shape(graph: RandomGraph) -> TensorVariable:
    x, _ = graph.operand()
    return graph.one_of([lt.shape, lt.size])(x)  # type: ignore[no-any-return]  # drawn


def _constant(graph: RandomGraph) -> TensorVariable:
    shape = [graph.one_of([1, 2, 3]) for _ in range(graph.number(0, 2))]
    values = np.array(FLOATS)[np.arange(int(np.prod(shape))) % len(FLOATS)].reshape(shape)
    return constant(values if graph.number(0, 1) else np.zeros(shape, graph.one_of(["float32", "int64"])))


STEPS: list[Callable[[RandomGraph], TensorVariable]] = [
    *[_unary] * 4,
    *[_binary] * 8,
    *[_with_literal] * 3,
    *[_switch] * 2,
    *[_cast] * 2,
    *[_dimshuffle] * 4,
    *[_reduction] * 3,
    *[_alloc] * 3,
    *[_fill] * 3,
    *[_zeros_like] * 2,
    *[_reshape] * 2,
    *[_subtensor] * 4,
    *[_written] * 2,
    *[_read_back],
    *[_taken],
    *[_join] * 2,
    *[_of_own_parts] * 2,
    *[_written_again] * 2,
    *[_written_at_array],
    *[_scaled],
    *[_specify_shape] * 2,
    *[_unbroadcast] * 2,
    *[_shape],
    *[_constant],
]


@st.composite
def random_graphs(draw: st.DrawFn, most_steps: int = 12) -> RandomGraph:
    """Draw a graph whose last Variables are worth computing."""
    graph = RandomGraph(draw)
    for _ in range(graph.number(1, 3)):
        graph.add_input()
    for _ in range(graph.number(1, most_steps)):
        graph.grow()
    return graph
