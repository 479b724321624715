"""How the cost of handling a graph grows with its depth: ``python -m benchmarks.graph_depth``.

Everything is linear, so the microseconds per node hardly change from row to row.
"""

import gc
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

from typing_extensions import override

from lamella.ir import (
    Apply,
    FunctionGraph,
    Op,
    OutputStorage,
    Type,
    Variable,
    clone_replace,
    equal_computations,
    explicit_graph_inputs,
    toposort,
)


class Float(Type[float]):
    """Python floats."""

    __props__ = ()

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> float:
        """Return the value as a float."""
        return float(value)


class Add(Op[[Variable[Float], Variable[Float]], Variable[Float]]):
    """The sum of two numbers."""

    __props__ = ()

    @override
    def make_node(self, a: Variable[Float], b: Variable[Float]) -> Apply[Variable[Float]]:
        """Make the node."""
        return Apply(self, [a, b], [a.type])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Add."""
        output_storage[0][0] = inputs[0] + inputs[1]


add = Add()


def chain(length: int, start: Variable[Float], other: Variable[Float]) -> Variable[Float]:
    """Return a graph as deep as it has nodes."""
    result = start
    for _ in range(length):
        result = add(result, other)
    return result


def measure(length: int) -> dict[str, float]:
    """Return the seconds of processor time that each thing takes on a chain of `length` nodes."""
    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> Any:
        gc.collect()
        begin = time.process_time()
        result = work()
        found[name] = time.process_time() - begin
        return result

    x, y = Float()("x"), Float()("y")
    one = Float().make_constant(1.0)
    deep = timed("build", lambda: chain(length, x, one))
    timed("build again", lambda: chain(length, x, one))
    timed("toposort", lambda: toposort([deep]))
    timed("FunctionGraph", lambda: FunctionGraph([x], [deep]).clients)
    timed("eval", lambda: deep.eval({x: 0.0}))
    moved = timed("replace", lambda: clone_replace(deep, {x: y}))
    timed("compare", lambda: equal_computations([deep], [moved], [x], [y]))
    data = timed("pickle", lambda: pickle.dumps(deep))
    restored = timed("unpickle", lambda: pickle.loads(data))
    assert equal_computations([deep], [restored], [x], list(explicit_graph_inputs(restored)))
    return found


def main() -> None:
    """Print microseconds per node."""
    lengths = (10_000, 50_000, 200_000)
    columns = [measure(length) for length in lengths]
    print(f"{'microseconds per node':24}" + "".join([f"{length:>10}" for length in lengths]))
    for name in columns[0]:
        per_node = [column[name] / length * 1e6 for column, length in zip(columns, lengths, strict=True)]
        print(f"{name:24}" + "".join([f"{value:10.2f}" for value in per_node]))


if __name__ == "__main__":
    main()
