"""Long graphs: rewriting is linear in their length, and recurses nowhere."""

from collections.abc import Callable

import lamella as lm
import lamella.tensor as lt
from lamella.ir import FunctionGraph, TensorVariable
from lamella.rewriting import rewrite_graph
from tests.effort import calls_made

x, y = lt.vector("x"), lt.vector("y")


def _chain(length: int) -> TensorVariable:
    steps: list[Callable[[TensorVariable], TensorVariable]] = [
        lt.tanh,
        lambda v: v * y,
        lambda v: v + 1.5,
        lambda v: lt.fill(v, 2.0) * v,
        lambda v: v.dimshuffle("x", 0)[0],
    ]
    v: TensorVariable = x
    for i in range(length):
        v = steps[i % len(steps)](v)
    return v


def _effort(fgraph: FunctionGraph, include: str) -> int:
    return calls_made(rewrite_graph, fgraph, include=[include], exclude=["nan_unsafe"])


def test_effort_grows_with_the_length() -> None:
    for include in ("fast_compile", "fast_run"):
        short, long = [_effort(FunctionGraph([x, y], [_chain(n)]), include) for n in (500, 4000)]
        assert 4 * short < long < 9 * short


def test_a_long_chain_with_its_gradient() -> None:
    cost = lt.sum(_chain(2000))
    new = rewrite_graph(FunctionGraph([x, y], lm.grad(cost, [x, y])), include=["fast_run"], exclude=["nan_unsafe"])
    assert new.outputs[0].type == x.type
