"""A process that compiles one chain with one package: prints the processor seconds of each phase as JSON.

It runs under the package's own interpreter, so it needs NumPy and nothing else.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CHAINS", "MEASURED", "PHASES", "Seconds", "main"]

PHASES = ("build", "gradient", "rewrite", "compile", "first call")
POINT = np.linspace(-1.0, 1.0, 10)

Seconds = dict[str, float]


def elem(names: Any, x: Any, n: int) -> Any:
    """Return the sum of a chain of `n` elementwise nodes."""
    for i in range(n):
        x = names.tanh(x) if i % 3 == 0 else x * 1.01 if i % 3 == 1 else x + 0.05
    return names.sum(x)


def mixed(names: Any, x: Any, n: int) -> Any:
    """Return the sum of squares of a chain of `n` nodes: elementwise ones, reductions and indexing."""
    for _ in range(n // 5):
        x = names.tanh(x)
        x = (x - 0.03 * names.sum(x))[::-1]
    return names.sum(x * x)


CHAINS: dict[str, Callable[[Any, Any, int], Any]] = {"elem": elem, "mixed": mixed}
"""The chains, by name."""


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum([usage.ru_utime + usage.ru_stime for usage in usages])


class Clock:
    """Splits processor time into phases; one may have several parts."""

    def __init__(self) -> None:
        self.seconds: Seconds = {}
        self._since = _cpu()

    def ends(self, phase: str) -> None:
        """Say that a phase ends here, and the next begins."""
        now = _cpu()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._since
        self._since = now


def _lamella(chain: str, n: int) -> tuple[Seconds, list[Any]]:
    import lamella as lm
    import lamella.tensor as lt
    from lamella.typing_layer import Supervisor

    y = lt.dvector("y")
    lm.function([y], lt.exp(y))(POINT)
    compile_only = lm.Mode(lm.FAST_RUN.linker, lm.RewriteDatabaseQuery(include=()))
    clock = Clock()
    x = lt.dvector("x")
    cost = CHAINS[chain](lt, x, n)
    clock.ends("build")
    gradient = lm.grad(cost, x)
    clock.ends("gradient")
    protected = lm.FunctionGraph([x], [cost, gradient]).with_feature(Supervisor([x]))
    clock.ends("compile")  # as for the others, that the graph is made a function's
    rewritten = lm.FAST_RUN.rewrite(protected)
    clock.ends("rewrite")
    f = lm.function([x], list(rewritten.outputs), mode=compile_only)
    clock.ends("compile")
    results = f(POINT)
    clock.ends("first call")
    return clock.seconds, results


def _pytensor(chain: str, n: int, numba: bool) -> tuple[Seconds, list[Any]]:
    pytensor: Any = importlib.import_module("pytensor")
    names: Any = importlib.import_module("pytensor.tensor")
    rewriter = pytensor.compile.mode.get_mode("NUMBA" if numba else "FAST_RUN").optimizer
    mode = pytensor.compile.mode.Mode(linker="numba" if numba else "cvm", optimizer=rewriter)
    y = names.dvector("y")
    pytensor.function([y], names.exp(y), mode=mode)(POINT)
    apply = rewriter.apply
    spent: list[float] = []

    def timed(fgraph: Any) -> Any:
        start = _cpu()
        try:
            return apply(fgraph)
        finally:
            spent.append(_cpu() - start)

    rewriter.apply = timed
    clock = Clock()
    x = names.dvector("x")
    cost = CHAINS[chain](names, x, n)
    clock.ends("build")
    gradient = pytensor.grad(cost, x)
    clock.ends("gradient")
    f = pytensor.function([x], [cost, gradient], mode=mode, trust_input=True)
    clock.ends("compile")
    clock.seconds["rewrite"] = sum(spent)
    clock.seconds["compile"] -= clock.seconds["rewrite"]
    results = f(POINT)
    clock.ends("first call")
    return clock.seconds, results


def _jax(chain: str, n: int) -> tuple[Seconds, list[Any]]:
    jax: Any = importlib.import_module("jax")

    def body(x: Any) -> Any:
        return CHAINS[chain](jax.numpy, x, n)

    x = jax.numpy.asarray(POINT)
    jax.block_until_ready(jax.jit(jax.numpy.exp)(x))
    clock = Clock()
    jax.jit(body).trace(x)
    clock.ends("build")
    traced = jax.jit(jax.value_and_grad(body)).trace(x)
    clock.ends("gradient")
    clock.seconds["gradient"] -= clock.seconds["build"]
    lowered = traced.lower()
    clock.ends("rewrite")
    f = lowered.compile()
    clock.ends("compile")
    results = jax.block_until_ready(f(x))
    clock.ends("first call")
    return clock.seconds, list(results)


MEASURED: dict[str, Callable[[str, int], tuple[Seconds, list[Any]]]] = {
    "lamella": _lamella,
    "pytensor_c": lambda chain, n: _pytensor(chain, n, False),
    "pytensor_numba": lambda chain, n: _pytensor(chain, n, True),
    "jax": _jax,
}


def main(peer: str, chain: str, n: int) -> None:
    """Measure one chain, check the results against NumPy, and print the seconds of each phase as JSON."""
    sys.setrecursionlimit(100_000)
    seconds, (value, gradient) = MEASURED[peer](chain, n)
    expected = CHAINS[chain](np, POINT, n)
    step = 1e-6 * np.ones_like(POINT)
    slope = (CHAINS[chain](np, POINT + step, n) - CHAINS[chain](np, POINT - step, n)) / 2e-6
    np.testing.assert_allclose(value, expected, rtol=1e-7)
    np.testing.assert_allclose(np.sum(gradient), slope, rtol=1e-4, atol=1e-7)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
