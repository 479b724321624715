"""How compiling grows with the graph: ``python -m benchmarks.compile_scaling --python peers=/path/to/python``.

The value and the gradient of a chain of N nodes, from a cold cache. *elem* is elementwise only (tanh, a product, a sum, in turn); in *mixed* a
turn of five nodes is tanh, a sum over all elements, two elementwise nodes, and an indexing. Every package builds, differentiates, rewrites and
compiles each chain in a process of its own; importing, and a first tiny function, are not counted. Seconds are of processor time, the
compiler's included, so that another busy process changes them little; of several runs the one with the least total is shown.

For all, *rewrite* is the rewriting of a graph that is there, from the first rewriter to the last, and *compile* is the rest of making a function.
What JAX does is traced twice: *gradient* is what tracing takes longer with it; *rewrite* is lowering.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compile_phases import CHAINS, MEASURED, PHASES, Seconds
from benchmarks.peers import PEERS

ROOT = Path(__file__).parent.parent


def _measure(peer: str, python: str, chain: str, n: int, timeout: float) -> Seconds | str:
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        environment |= PEERS[peer].environment(Path(cache), 1)
        try:
            done = subprocess.run(
                [python, "-m", "benchmarks.compile_phases", peer, chain, str(n)],
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
    options = parser.parse_args()
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
