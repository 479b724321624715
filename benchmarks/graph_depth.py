"""How the cost of everything grows with the depth of a graph: ``python -m benchmarks.graph_depth [length ...]``.

A chain of tensor Ops is built, walked, differentiated, printed, pickled, compiled without C, and run. Everything is linear, so the
microseconds per node hardly change from row to row, and nothing is recursive, so that no length is too long.
"""

import argparse
import gc
import io
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella.tensor import TensorVariable


def chain(length: int, start: TensorVariable) -> TensorVariable:
    """Return an expression of so many nodes, each of which needs the one before."""
    result = start
    for _ in range(length // 2):
        result = lt.sin(result) * 1.01
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

    x = lt.dscalar("x")
    deep = timed("build", lambda: chain(length, x))
    timed("build again", lambda: chain(length, x))
    timed("toposort", lambda: lm.toposort([deep]))
    timed("FunctionGraph", lambda: lm.FunctionGraph([x], [deep]).clients)
    y = lt.dscalar("y")
    moved = timed("replace", lambda: lm.clone_replace(deep, {x: y}))
    timed("compare", lambda: lm.equal_computations([deep], [moved], [x], [y]))
    gradient = timed("grad", lambda: lm.grad(deep, x))
    timed("dprint(depth=10)", lambda: lm.dprint(deep, depth=10, file=io.StringIO()))
    timed("to_text", lambda: lm.to_text(deep))
    data = timed("pickle", lambda: pickle.dumps(deep))
    timed("unpickle", lambda: pickle.loads(data))
    timed("eval", lambda: deep.eval({x: 0.5}))
    f = timed("FAST_COMPILE", lambda: lm.function([x], deep, mode="FAST_COMPILE"))
    timed("call", lambda: f(np.array(0.5)))
    g = timed("FAST_COMPILE of grad", lambda: lm.function([x], [deep, gradient], mode="FAST_COMPILE"))
    timed("call of grad", lambda: g(np.array(0.5)))
    return found


def main() -> None:
    """Print microseconds per node."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lengths", nargs="*", type=int, default=[10_000, 50_000, 200_000])
    lengths: list[int] = parser.parse_args().lengths
    columns = [measure(length) for length in lengths]
    print(f"{'microseconds per node':24}" + "".join([f"{length:>10}" for length in lengths]))
    for name in columns[0]:
        per_node = [column[name] / length * 1e6 for column, length in zip(columns, lengths, strict=True)]
        print(f"{name:24}" + "".join([f"{value:10.2f}" for value in per_node]))


if __name__ == "__main__":
    main()
