"""How compiling grows with the graph: ``python -m benchmarks.compile_scaling --python peers=/path/to/python``.

The value and the gradient of a chain of N nodes, from a cold cache. *elem* is elementwise only (tanh, a product, a sum, in turn); in *mixed* a
turn of five nodes is tanh, a sum over all elements, two elementwise nodes, and an indexing. Every package builds, differentiates, rewrites and
compiles each chain in a process of its own; importing, and a first tiny function, are not counted. Seconds are of processor time, the
compiler's included, so that another busy process changes them little; of several runs the one with the least total is shown.

What JAX does is traced twice: *gradient* is what tracing takes longer with it; *rewrite* is lowering.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PEERS

__all__ = ["CHAINS", "main"]

ROOT = Path(__file__).parent.parent
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
    """Splits processor time into phases."""

    def __init__(self) -> None:
        self.seconds: Seconds = {}
        self._since = _cpu()

    def ends(self, phase: str) -> None:
        """Say that a phase ends here, and the next begins."""
        now = _cpu()
        self.seconds[phase] = now - self._since
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
    profiling: Any = importlib.import_module("pytensor.compile.profiling")
    mode = pytensor.compile.mode.get_mode("NUMBA" if numba else "FAST_RUN")
    if not numba:
        mode = pytensor.compile.mode.Mode(linker="cvm", optimizer=mode.optimizer)
    y = names.dvector("y")
    pytensor.function([y], names.exp(y), mode=mode)(POINT)
    clock = Clock()
    x = names.dvector("x")
    cost = CHAINS[chain](names, x, n)
    clock.ends("build")
    gradient = pytensor.grad(cost, x)
    clock.ends("gradient")
    before = profiling.total_graph_rewrite_time
    f = pytensor.function([x], [cost, gradient], mode=mode, trust_input=True)
    clock.ends("compile")
    clock.seconds["rewrite"] = profiling.total_graph_rewrite_time - before  # of the wall clock, as PyTensor takes it
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


def _one(peer: str, chain: str, n: int) -> None:
    """Measure one chain in this process, check the results, and print the seconds of each phase as JSON."""
    sys.setrecursionlimit(100_000)
    seconds, (value, gradient) = MEASURED[peer](chain, n)
    expected = CHAINS[chain](np, POINT, n)
    step = 1e-6 * np.ones_like(POINT)
    slope = (CHAINS[chain](np, POINT + step, n) - CHAINS[chain](np, POINT - step, n)) / 2e-6
    np.testing.assert_allclose(value, expected, rtol=1e-7)
    np.testing.assert_allclose(np.sum(gradient), slope, rtol=1e-4, atol=1e-7)
    print(json.dumps(seconds))


def _measure(peer: str, python: str, chain: str, n: int, timeout: float) -> Seconds | str:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        environment |= PEERS[peer].environment(Path(cache))
        try:
            done = subprocess.run(
                [python, "-m", "benchmarks.compile_scaling", "--one", peer, chain, str(n)],
                env=environment,
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"more than {timeout:.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:100]
    found: Seconds = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value >= 1 else f"{value * 1000:.0f} ms"


def _row(title: str, peer: str, found: Seconds | str) -> str:
    if isinstance(found, str):
        cells = [*[""] * len(PHASES), found]
    else:
        cells = [*[_seconds(found[phase]) for phase in PHASES], f"**{_seconds(sum(found.values()))}**"]
    return "| " + " | ".join([title, peer, *cells]) + " |"


def _table(pythons: dict[str, str], chains: Sequence[str], sizes: Sequence[int], repeats: int, timeout: float) -> None:
    print("| chain | peer | " + " | ".join(PHASES) + " | total |")
    print("|---" * (len(PHASES) + 3) + "|")
    for chain in chains:
        given_up: set[str] = set()
        for n in sizes:
            for peer, python in pythons.items():
                if peer in given_up:
                    continue
                runs = [_measure(peer, python, chain, n, timeout) for _ in range(repeats if n <= 1000 else 1)]
                good = [run for run in runs if not isinstance(run, str)]
                best = min(good, key=lambda run: sum(run.values())) if good else runs[0]
                if isinstance(best, str):
                    given_up.add(peer)
                print(_row(f"{chain} {n}", peer, best), flush=True)


def main() -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(MEASURED), help="names, separated by commas")
    parser.add_argument("--python", action="append", default=[], metavar="PEER=PATH", help="see benchmarks")
    parser.add_argument("--chains", default=",".join(CHAINS))
    parser.add_argument("--sizes", default="100,1000,5000")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each chain of up to 1000 nodes")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds after which a peer is given up")
    parser.add_argument("--one", nargs=3, metavar=("PEER", "CHAIN", "N"), help="measure one chain in this process")
    options = parser.parse_args()
    if options.one:
        peer, chain, n = options.one
        _one(peer, chain, int(n))
        return
    given = dict(word.split("=", 1) for word in options.python)
    pythons: dict[str, str] = {}
    for peer in options.peers.split(","):
        others = (given.get("peers") if peer != "lamella" else None) or sys.executable
        python = given.get(peer) or others
        if python != sys.executable or importlib.util.find_spec(PEERS[peer].module) is not None:
            pythons[peer] = python
    sizes = [int(word) for word in options.sizes.split(",")]
    _table(pythons, options.chains.split(","), sizes, options.repeats, options.timeout)


if __name__ == "__main__":
    main()
