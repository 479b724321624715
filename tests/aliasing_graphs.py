"""Random graphs that are full of views and writes: inputs that may be overwritten or share memory, updates, views of views.

A graph is drawn from a number, so that a failure names the number that reproduces it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt

import lamella as lm
import lamella.tensor as lt
from lamella.ir import FunctionGraph, TensorVariable, Variable, interpret, to_text
from lamella.runtime import Function, In, Mode

__all__ = ["AliasingGraph", "aliasing_graph", "check", "check_together"]

Array = npt.NDArray[Any]
Shaped = tuple[TensorVariable, tuple[int, ...]]

N = 4


@final
@attrs.frozen(eq=False)
class AliasingGraph:
    """A graph with values for its inputs and for the shared variables that it updates.

    Attributes
    ----------
    seed
        What it was drawn from.
    inputs, mutable
        The inputs, and for each whether it may be overwritten.
    shared
        The shared variables.
    outputs, updates
        The outputs, and for each shared variable what becomes of it.
    arrays
        Values of the inputs; some lie in one piece of memory.
    """

    seed: int
    inputs: tuple[TensorVariable, ...]
    mutable: tuple[bool, ...]
    shared: tuple[Any, ...]
    outputs: tuple[TensorVariable, ...]
    updates: tuple[TensorVariable, ...]
    arrays: Callable[[], list[Array]]

    def __str__(self) -> str:
        graph = FunctionGraph([*self.inputs, *self.shared], [*self.outputs, *self.updates])
        return f"seed {self.seed}, mutable {self.mutable}\n{to_text(graph)}"


@final
class _Drawing:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made: list[Shaped] = []

    def pick(self, *ndims: int) -> Shaped:
        """Pick something made before, of some number of dimensions; what was made last is likely."""
        fitting = [made for made in self.made if made[0].ndim in ndims and 0 not in made[1]]
        place = min(int(self.random.expovariate(0.35)), len(fitting) - 1)
        return fitting[-1 - place] if self.random.random() < 0.8 else self.random.choice(fitting)

    def of_shape(self, shape: tuple[int, ...]) -> TensorVariable:
        """Return something made before of a shape, or a number."""
        fitting = [variable for variable, known in self.made if known == shape]
        number = lt.constant(float(self.random.randint(-2, 2)))
        return self.random.choice([*fitting[-4:], *fitting, number]) if fitting else number

    def add(self, variable: Any, shape: tuple[int, ...]) -> None:
        self.made.append((variable, shape))

    def index(self, shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        """Draw an index of one axis or two, and the shape of what it selects from an array of a shape."""
        places: list[Any] = []
        lengths: list[int] = []
        for length in shape[: self.random.randint(1, len(shape))]:
            kind = self.random.randint(0, 5)
            if kind == 0:
                places.append(self.random.randint(-length, length - 1))
                continue
            bounds: list[Any] = [None, None, None, 1, -1, 2, 0]
            cut = slice(
                self.random.choice(bounds), self.random.choice(bounds), self.random.choice([None, 1, -1, 2, -2])
            )
            if not range(length)[cut]:
                cut = slice(None, None, -1)
            places.append(cut)
            lengths.append(len(range(length)[cut]))
        return tuple(places), (*lengths, *shape[len(places) :])

    def view(self) -> None:
        """Look at something in another way."""
        x, shape = self.pick(1, 2)
        kind = self.random.randint(0, 5)
        if kind == 0:
            self.add(x.T, shape[::-1])
        elif kind == 1:
            self.add(lt.reshape(x, (-1,)), (int(np.prod(shape)),))
        elif kind == 2 and x.ndim == 1:
            self.add(x.dimshuffle(0, "x")[:, 0], shape)
        else:
            place, lengths = self.index(shape)
            self.add(x[place], lengths)

    def write(self) -> None:
        """Set a part, or add to it."""
        x, shape = self.pick(1, 2)
        kind = self.random.randint(0, 5)
        if kind == 0:
            rows = [self.random.randrange(shape[0]) for _ in range(self.random.randint(1, 3))]
            place: Any = lt.constant(rows)
            lengths: tuple[int, ...] = (len(rows), *shape[1:])
        elif kind == 1:
            place, lengths = x > 0, ()
        else:
            place, lengths = self.index(shape)
        value = self.of_shape(lengths) if kind != 1 else self.of_shape(())
        write = lt.set_subtensor if self.random.random() < 0.5 else lt.inc_subtensor
        self.add(write(x[place], value), shape)

    def compute(self) -> None:
        """Compute element by element, in one or more steps."""
        x, shape = self.pick(0, 1, 2)
        other = self.of_shape(shape)
        functions: list[Callable[[], TensorVariable]] = [
            lambda: lt.neg(x),
            lambda: lt.sin(x),
            lambda: x + other,
            lambda: other - x,
            lambda: lt.minimum(x, other),
            lambda: 0.5 * x,
            lambda: lt.switch(lt.lt(x, other), x, other),
            lambda: lt.tanh(x) * other,
        ]
        self.add(self.random.choice(functions)(), shape)

    def combine(self) -> None:
        """Reduce, multiply matrices, join."""
        x, shape = self.pick(1, 2)
        kind = self.random.randint(0, 4)
        if kind == 0:
            axis = self.random.randrange(len(shape))
            self.add(lt.sum(x, axis=axis), shape[:axis] + shape[axis + 1 :])
        elif kind == 1 and len(shape) == 2 and shape[0] == shape[1]:
            self.add(0.1 * lt.dot(x, self.matrix(shape)) + self.matrix(shape), shape)
        elif kind == 2:
            self.add(lt.concatenate([x, x[::-1]]), (2 * shape[0], *shape[1:]))
        elif kind == 3:
            self.add(lt.max(x, axis=0, keepdims=True)[0], shape[1:])
        else:
            self.add(lt.softmax(x, axis=0), shape)

    def matrix(self, shape: tuple[int, ...]) -> TensorVariable:
        variable = self.of_shape(shape)
        return variable if variable.ndim == 2 else lt.alloc(variable, *shape)


def aliasing_graph(seed: int) -> AliasingGraph:
    """Draw a graph."""
    drawing = _Drawing(seed)
    choose = drawing.random
    matrices = choose.randint(1, 2)
    inputs = [lt.matrix(f"m{i}") for i in range(matrices)] + [lt.vector(f"v{i}") for i in range(choose.randint(1, 2))]
    values = np.random.default_rng(seed)
    shared = [lm.shared(values.integers(-3, 4, (N, N)).astype("float64"), name="s")]
    shared += [lm.shared(values.integers(-3, 4, N).astype("float64"), name="t")]
    for variable in (*inputs, *shared):
        drawing.add(variable, (N,) * variable.ndim)
    steps = [drawing.view] * 3 + [drawing.write] * 4 + [drawing.compute] * 3 + [drawing.combine]
    for _ in range(choose.randint(4, 20)):
        choose.choice(steps)()
    outputs = [choose.choice(drawing.made[-6:])[0] for _ in range(choose.randint(1, 3))]
    updates: list[TensorVariable] = []
    for variable in shared:
        fitting = [made for made, shape in drawing.made if shape == (N,) * variable.ndim and made.dtype == "float64"]
        updates.append(choose.choice([*fitting[-5:], variable]))
    base = values.integers(-3, 4, (3 * N, N)).astype("float64")
    starts = [choose.randint(0, 2 * N) if choose.random() < 0.4 else i * N for i in range(len(inputs))]

    def arrays() -> list[Array]:
        memory = base.copy()
        found = [memory[s : s + N] if v.ndim == 2 else memory[s % (2 * N)] for s, v in zip(starts, inputs, strict=True)]
        return [array.T if i % 3 == 1 and array.ndim == 2 else array for i, array in enumerate(found)]

    mutable = tuple([choose.random() < 0.6 for _ in inputs])
    return AliasingGraph(seed, tuple(inputs), mutable, tuple(shared), tuple(outputs), tuple(updates), arrays)


def _same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"result {i}")


def check(graph: AliasingGraph, mode: Mode) -> Function:
    """See that a compiled graph computes what the interpreter does, twice, and that nobody's memory is touched; return the function."""
    try:
        return _check([graph], mode)
    except Exception as error:
        error.add_note(str(graph))
        raise


def check_together(graphs: Sequence[AliasingGraph], mode: Mode) -> Function:
    """The same, for several graphs compiled as one function; where it fails, for each of them alone."""
    try:
        return _check(graphs, mode)
    except Exception as error:
        for graph in graphs:
            check(graph, mode)
        error.add_note("none of these fails alone:\n" + "\n".join([str(graph) for graph in graphs]))
        raise


def _check(graphs: Sequence[AliasingGraph], mode: Mode) -> Function:
    inputs = [v for g in graphs for v in g.inputs]
    mutable = [m for g in graphs for m in g.mutable]
    shared = [v for g in graphs for v in g.shared]
    outputs = [v for g in graphs for v in g.outputs]
    updates = [v for g in graphs for v in g.updates]
    wanted: list[Variable[Any]] = [*outputs, *updates]
    before = [v.get_value() for v in shared]
    function = lm.function(
        [In(v, mutable=m) for v, m in zip(inputs, mutable, strict=True)],
        list(outputs),
        updates=list(zip(shared, updates, strict=True)),
        mode=mode,
        on_unused_input="ignore",
    )
    state = before
    try:
        for _ in range(2):
            given = [array for g in graphs for array in g.arrays()]
            kept = [array.copy() for array in given]
            expected = interpret([*inputs, *shared], wanted, [array.copy() for array in (*kept, *state)])
            found = function(*given)
            state = [v.get_value(borrow=True) for v in shared]
            _same([*found, *state], expected)
            _check_memory(found, given, state)
            for array, was, may_change in zip(given, kept, mutable, strict=True):
                # What shares memory with an argument that may be overwritten was copied before.
                if not may_change and not any(
                    np.shares_memory(array, other) for other, m in zip(given, mutable, strict=True) if m
                ):
                    np.testing.assert_array_equal(array, was)
            for array in found:
                array[...] = 77.0  # it is the caller's own
            _same(state, expected[len(outputs) :])
    finally:
        for variable, value in zip(shared, before, strict=True):
            variable.set_value(value)
    return function


def _check_memory(found: Sequence[Array], given: Sequence[Array], state: Sequence[Array]) -> None:
    everything = [*found, *state]
    for i, array in enumerate(everything):
        for other in (*everything[i + 1 :], *given):
            assert not np.shares_memory(array, other), f"result {i} shares memory with another result or an argument"
