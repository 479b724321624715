"""Compare with peers, side by side: ``python -m benchmarks --python jax=/path/to/python --only 'fused*'``.

Every package runs in a process of its own; they take turns, a short block of calls each, round after round, so that a machine that
becomes slower becomes slower for all. A figure is the median of all calls. One thread, unless ``--threads`` says otherwise.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS
from benchmarks.workloads import WORKLOADS, Workload

ROOT = Path(__file__).parent.parent


class Worker:
    """A process that measures one package."""

    def __init__(self, peer: str, python: str, cache: Path, threads: int) -> None:
        names = (
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMBA_NUM_THREADS",
            "NUMEXPR_NUM_THREADS",
        )
        self.peer = peer
        environment = os.environ | dict.fromkeys(names, str(threads)) | {"PYTHONPATH": str(ROOT)}
        environment |= PEERS[peer].environment(cache)
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", peer],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *request: object) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"failed": "the process ended"}
        return answer

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def _measure(workload: Workload, pythons: dict[str, str], cache: Path, threads: int, rounds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind in ("cold", "warm"):
        for peer, python in pythons.items():
            if found.get(peer, {}).get("note"):
                continue
            worker = Worker(peer, python, cache / workload.name, threads)
            answer = worker.ask("compile", workload.name)
            worker.close()
            found.setdefault(peer, {})[kind] = answer.get("seconds")
            found[peer]["note"] = answer.get("failed") or answer.get("unsupported")
            found[peer]["checksums"] = answer.get("checksums")
    able = {peer: python for peer, python in pythons.items() if not found[peer]["note"]}
    workers = [Worker(peer, python, cache / workload.name, threads) for peer, python in able.items()]
    times: dict[str, list[float]] = {peer: [] for peer in able}
    for worker in workers:
        worker.ask("compile", workload.name)
    for _ in range(rounds):
        for worker in workers:
            times[worker.peer].extend(worker.ask("measure", workload.name, 0.1).get("times", ()))
    for worker in workers:
        worker.close()
    for peer, measured in times.items():
        found[peer]["median"] = statistics.median(measured) if measured else None
    return found


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def _rows(results: dict[str, dict[str, Any]], peers: list[str]) -> list[list[str]]:
    rows = []
    for name, found in results.items():
        others = [found[p].get("median") for p in peers if p != "lamella" and found[p].get("median")]
        ours = found.get("lamella", {}).get("median")
        ratio = f"{min(others) / ours:.2f}" if ours and others else "-"
        cells = [
            f"{_seconds(found[p].get('median'))} [{_seconds(found[p].get('cold'))}, {_seconds(found[p].get('warm'))}]"
            for p in peers
        ]
        rows.append([name, ratio, *cells])
    return rows


def _disagreements(results: dict[str, dict[str, Any]]) -> list[str]:
    notes = []
    for name, found in results.items():
        reference = found.get("numpy", {}).get("checksums")
        for peer, entry in found.items():
            if entry["note"]:
                notes.append(f"{name}, {peer}: {entry['note']}")
            elif reference and any(
                abs(a - b) > 1e-4 * (1 + abs(b)) for a, b in zip(entry["checksums"], reference, strict=True)
            ):
                notes.append(f"{name}, {peer}: gives {entry['checksums']} where NumPy gives {reference}")
    return notes


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
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    given = dict(word.split("=", 1) for word in options.python)
    pythons: dict[str, str] = {}
    for peer in options.peers.split(","):
        others = (given.get("peers") if peer not in ("lamella", "numpy") else None) or sys.executable
        python = given.get(peer) or others
        if python != sys.executable or importlib.util.find_spec(PEERS[peer].module) is not None:
            pythons[peer] = python
    results = {}
    patterns = options.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        for workload in WORKLOADS:
            if any(fnmatch.fnmatch(workload.name, pattern) for pattern in patterns):
                results[workload.name] = _measure(workload, pythons, Path(folder), options.threads, options.rounds)
                print(f"{workload.name} done", file=sys.stderr, flush=True)
    peers = list(pythons)
    print(
        "A cell: median time of a call [first result with a cold cache, with a warm one]. Ratio: best other / lamella.\n"
    )
    print("| workload | ratio | " + " | ".join(peers) + " |")
    print("|---" * (len(peers) + 2) + "|")
    for row in _rows(results, peers):
        print("| " + " | ".join(row) + " |")
    for note in _disagreements(results):
        print(f"- {note}")


if __name__ == "__main__":
    main()
