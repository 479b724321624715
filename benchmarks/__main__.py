"""Compare with peers, side by side: ``python -m benchmarks --python peers=/path/to/python --only 'fused*'``.

Every package runs in a process of its own; they take turns, a short block of calls each, round after round, so that a machine that
becomes slower becomes slower for all; with one thread, all stay on one processor. A time is the median of all calls; the ratio to another
package is the median of those of single rounds, and the least of these ratios is shown. Calls of Lamella check their arguments, those of
PyTensor trust them, and JAX is given arrays of its own.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bandwidth import triad_seconds
from benchmarks.peers import PEERS
from benchmarks.processes import Measured, measure
from benchmarks.workloads import WORKLOADS, Workload

_MEMORY_BOUND = "axpbypc_1e7"


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _ratio(found: dict[str, Measured], threads: int) -> str:
    """Compare what was measured in the same round: a machine that becomes slower between rounds changes both."""
    ours = found["lamella"].turns.get(threads) if "lamella" in found else None
    others = [m.turns[threads] for peer, m in found.items() if peer != "lamella" and threads in m.turns]
    if not ours or not others:
        return "-"
    return f"{min([statistics.median([b / a for a, b in zip(ours, theirs, strict=False)]) for theirs in others]):.2f}"


def _row(workload: Workload, found: dict[str, Measured], threads: Sequence[int]) -> list[str]:
    cells = []
    for measured in found.values():
        times = " / ".join([_seconds(measured.call.get(count)) for count in threads])
        cells.append("-" if measured.note else f"{times} [{_seconds(measured.cold)}, {_seconds(measured.warm)}]")
    bar = "" if workload.bar is None else f"{workload.bar:g}"
    return [workload.name, *[_ratio(found, count) for count in threads], bar, *cells]


def _pythons(options: argparse.Namespace) -> dict[str, str]:
    """Return the interpreters of the packages that are there."""
    given = dict(word.split("=", 1) for word in options.python)
    pythons: dict[str, str] = {}
    for peer in options.peers.split(","):
        others = (given.get("peers") if peer not in ("lamella", "numpy") else None) or sys.executable
        python = given.get(peer) or others
        if python != sys.executable or importlib.util.find_spec(PEERS[peer].module) is not None:
            pythons[peer] = python
    return pythons


def main() -> None:
    """Run the comparison and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default=",".join(PEERS), help="names, separated by commas")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PEER=PATH",
        help="interpreter of a peer; 'peers=PATH' for all others",
    )
    parser.add_argument("--only", default="*", help="patterns of workload names, separated by commas")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--threads", default="1", help="numbers of threads, separated by commas")
    options = parser.parse_args()
    threads = [int(count) for count in options.threads.split(",")]
    pythons = _pythons(options)
    patterns = options.only.split(",")
    chosen = [w for w in WORKLOADS if any(fnmatch.fnmatch(w.name, pattern) for pattern in patterns)]
    print("A cell: median time of a call [first result with a cold cache, with a warm one].")
    print("Ratio: of the fastest other package to Lamella; the bar is what is wanted of it with one thread.\n")
    print("| workload |" + "".join([f" ratio, {n} thread{'s' * (n > 1)} |" for n in threads]), end="")
    print(" bar | " + " | ".join(pythons) + " |")
    print("|---" * (2 + len(threads) + len(pythons)) + "|", flush=True)
    notes: list[str] = []
    for workload in chosen:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(workload, pythons, Path(folder), threads, options.rounds)
            if workload.name == _MEMORY_BOUND and "lamella" in found:
                for count in threads:
                    triad = triad_seconds(10_000_000, count, Path(folder))
                    share = triad / found["lamella"].call.get(count, float("inf"))
                    notes.append(
                        f"{workload.name}: {share:.2f} of the bandwidth of STREAM's triad ({_seconds(triad)}), threads: {count}"
                    )
        print("| " + " | ".join(_row(workload, found, threads)) + " |", flush=True)
        notes += [f"{workload.name}, {peer}: {m.note}" for peer, m in found.items() if m.note]
        starts = [f"{peer} {_seconds(m.start)}" for peer, m in found.items() if m.start is not None]
        if workload.wrt and starts:
            notes.append(f"{workload.name}, import to first result with a warm cache: {', '.join(starts)}")
    print()
    for note in notes:
        print(f"- {note}")


if __name__ == "__main__":
    main()
