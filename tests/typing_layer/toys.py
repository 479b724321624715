"""Toy Ops on short integer arrays: plain, viewing, working in place; and ways to run their graphs with and without aliasing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import Apply, FunctionGraph, Op, Type, Variable, toposort
from lamella.typing_layer import ScheduledGraph

Array = npt.NDArray[np.int64]
Var = Variable[Any]


@attrs.frozen(repr=False)
class ArrayType(Type[Array]):
    """Arrays of four integers."""

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Array:
        if strict and not isinstance(value, np.ndarray):
            raise TypeError(f"{value!r} is no array")
        return np.asarray(value, dtype=np.int64)

    def freeze(self, value: Array) -> Array:
        private = value.copy()
        private.setflags(write=False)
        return private

    def constant_key(self, value: Array) -> bytes:
        return value.tobytes()


ARRAY = ArrayType()


def array(name: str) -> Var:
    return ARRAY(name)


def combined(inputs: Sequence[Array], seed: int) -> Array:
    """A sum in which every element of every input matters."""
    total = np.full(4, seed, dtype=np.int64)
    for i, value in enumerate(inputs):
        total = total * 3 + (2 * i + 1) * value
    return total


@attrs.frozen(repr=False)
class Toy(Op[..., Any]):
    """Computes a sum of its inputs for each output."""

    name: str
    n_out: int = 1
    views: tuple[tuple[int, tuple[int, ...]], ...] = ()
    destroys: tuple[tuple[int, tuple[int, ...]], ...] = ()
    destroyhandler_tolerate_same: tuple[tuple[int, int], ...] = ()
    destroyhandler_tolerate_aliased: tuple[tuple[int, int], ...] = ()

    @property
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # declared as an attribute
        return dict(self.views)

    @property
    def destroy_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # declared as an attribute
        return dict(self.destroys)

    def make_node(self, *inputs: Var) -> Apply[Any]:
        return Apply(self, inputs, [ARRAY] * self.n_out)

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        values = [combined(inputs, len(self.name) + 7 * i) for i in range(self.n_out)]
        for i, cell in enumerate(output_storage):
            if i in self.destroy_map:
                first, *others = self.destroy_map[i]
                for other in others:
                    inputs[other][:] = -77
                inputs[first][:] = values[i]
                cell[0] = inputs[first]
            else:
                cell[0] = values[i]

    def __str__(self) -> str:
        return self.name


@attrs.frozen(repr=False)
class View(Op[..., Any]):
    """Views one of its inputs, reversed; or copies it, though it may view it."""

    name: str
    n_in: int = 1
    choice: int = 0
    copies: bool = False

    @property
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # declared as an attribute
        return {0: range(self.n_in)}

    def make_node(self, *inputs: Var) -> Apply[Any]:
        return Apply(self, inputs, [ARRAY])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        view = inputs[self.choice][::-1]
        output_storage[0][0] = view.copy() if self.copies else view

    def __str__(self) -> str:
        return self.name


def plain(name: str, n_out: int = 1) -> Toy:
    return Toy(name, n_out)


def inplace(name: str, *places: int, tolerate: bool = False, n_in: int = 0) -> Toy:
    pairs = tuple((i, j) for i in places for j in range(n_in) if i != j) if tolerate else ()
    return Toy(name, 1, (), ((0, places or (0,)),), (), pairs)


VIEW = View("view")


def run_purely(fgraph: FunctionGraph, values: Sequence[Array]) -> list[Array]:
    """The values of the outputs, where no two Variables share memory."""
    computed: dict[Var, Any] = {v: value.copy() for v, value in zip(fgraph.inputs, values, strict=True)}
    return _run(fgraph, toposort(fgraph.outputs, fgraph.inputs), computed, lambda value: value.copy())


def run_aliased(fgraph: FunctionGraph, order: Sequence[Apply[Any]], values: Sequence[Array]) -> list[Array]:
    """The values of the outputs, where views are views and what is overwritten is overwritten."""
    computed: dict[Var, Any] = dict(zip(fgraph.inputs, values, strict=True))
    return _run(fgraph, order, computed, lambda value: value)


def _run(
    fgraph: FunctionGraph, order: Sequence[Apply[Any]], computed: dict[Var, Any], pass_on: Callable[[Array], Array]
) -> list[Array]:
    for node in order:
        storage: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [pass_on(value_of(v, computed)) for v in node.inputs], storage)
        computed.update({v: cell[0] for v, cell in zip(node.outputs, storage, strict=True)})
    return [value_of(v, computed) for v in fgraph.outputs]


def value_of(variable: Var, computed: Mapping[Var, Any]) -> Any:
    return variable.stored_value() if variable.carries_value else computed[variable]


def run_like_a_linker(scheduled: ScheduledGraph, values: Sequence[Array]) -> list[Array]:
    """Run as the storage plan allows: what was read last is dropped, the memory of what died is spoilt, outputs are copied where said."""
    fgraph, storage = scheduled.fgraph, scheduled.storage
    computed: dict[Var, Any] = dict(zip(fgraph.inputs, values, strict=True))
    memory: dict[Var, Array] = {}
    steps = zip(scheduled.order, storage.last_read_after, storage.dies_after, strict=True)
    for node, dropped, dead in steps:
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [value_of(v, computed) for v in node.inputs], cells)
        computed.update({v: cell[0] for v, cell in zip(node.outputs, cells, strict=True)})
        memory.update({v: cell[0] for v, cell in zip(node.outputs, cells, strict=True)})
        for variable in dropped:
            del computed[variable]
        for variable in dead:
            memory[variable][:] = -99
    results = [value_of(v, computed) for v in fgraph.outputs]
    return [value.copy() if copied else value for value, copied in zip(results, storage.must_copy, strict=True)]
