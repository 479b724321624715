"""The processes that measure, one for each package, and how they take turns."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from benchmarks.peers import PEERS
from benchmarks.workloads import Workload

__all__ = ["Measured", "measure"]

ROOT = Path(__file__).parent.parent
_WARM_STARTS = 3  # of models
_THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@final
@attrs.define
class Measured:
    """What was measured of a package on a workload, in seconds.

    Attributes
    ----------
    call
        The median time of a call, by the number of threads.
    turns
        The median time of a call in each turn, by the number of threads.
    cold, warm
        The time to the first result, with nothing in the cache, and in a new process with what that left there: the median of some.
    start
        The time from an import to the first result in such a process, of which `warm` is a part.
    cores
        How many cores calls kept busy, by the number of threads.
    note
        Why there is nothing.
    """

    call: dict[int, float] = attrs.Factory(dict)
    turns: dict[int, list[float]] = attrs.Factory(dict)
    cold: float | None = None
    warm: float | None = None
    start: float | None = None
    cores: dict[int, float] = attrs.Factory(dict)
    note: str = ""


@final
class _Worker:
    def __init__(self, peer: str, python: str, cache: Path, threads: int) -> None:
        self.peer = peer
        environment = os.environ | dict.fromkeys(_THREAD_COUNTS, str(threads)) | {"PYTHONPATH": str(ROOT)}
        environment |= PEERS[peer].environment(cache, threads)
        # What is installed has been compiled to bytecode; so is a checkout, once it was imported.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
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
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"failed": "the process ended"}
        return answer

    def stay_on_one_processor(self) -> None:
        """Let all threads run where those of the other processes do: one processor may be faster than another, or have a busier neighbour."""
        tasks = Path("/proc", str(self.process.pid), "task")
        if hasattr(os, "sched_setaffinity") and tasks.exists():
            for task in tasks.iterdir():
                os.sched_setaffinity(int(task.name), {max(os.sched_getaffinity(0))})

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def _difference(results: Path, expected: Path, rtol: float) -> str:
    """Say where results are not what is expected."""
    with np.load(results) as ours, np.load(expected) as theirs:
        if len(ours.files) != len(theirs.files):
            return f"{len(ours.files)} results, not {len(theirs.files)}"
        for name in theirs.files:
            found, right = np.asarray(ours[name]), np.asarray(theirs[name])
            if found.shape != right.shape:
                return f"{name} has the shape {found.shape}, not {right.shape}"
            scale = np.max(np.abs(right), initial=1e-300)
            worst = np.max(np.abs(found - right), initial=0.0) / scale
            if not worst <= rtol:
                return f"{name} is {worst:.1e} of its scale away from what NumPy gives"
    return ""


def _compile(
    workload: Workload, pythons: Mapping[str, str], folder: Path, found: dict[str, Measured]
) -> dict[str, str]:
    """Compile with a cold and with a warm cache, compare results, and return the packages that can."""
    results = {peer: folder / f"{peer}.npz" for peer in pythons}
    warm: dict[str, list[float]] = {peer: [] for peer in pythons}
    starts: dict[str, list[float]] = {peer: [] for peer in pythons}
    for start in range(1 + (_WARM_STARTS if workload.wrt else 1)):
        for peer, python in pythons.items():
            if found[peer].note:
                continue
            worker = _Worker(peer, python, folder, 1)
            begun = worker.ask("start")
            answer = begun if "failed" in begun else worker.ask("compile", workload.name, str(results[peer]))
            worker.close()
            if "seconds" not in answer:
                found[peer].note = answer.get("failed") or answer["unsupported"]
            elif start == 0:
                found[peer].cold = answer["seconds"]
            else:
                warm[peer].append(answer["seconds"])
                starts[peer].append(begun["import"] + begun["start"] + answer["seconds"])
    for peer in pythons:
        if warm[peer]:
            found[peer].warm, found[peer].start = statistics.median(warm[peer]), statistics.median(starts[peer])
        if not found[peer].note and peer != "numpy" and "numpy" in pythons:
            found[peer].note = _difference(results[peer], results["numpy"], workload.rtol)
    return {peer: python for peer, python in pythons.items() if not found[peer].note}


def measure(
    workload: Workload, pythons: Mapping[str, str], folder: Path, threads: Sequence[int], rounds: int
) -> dict[str, Measured]:
    """Measure a workload.

    Parameters
    ----------
    workload
        The workload.
    pythons
        The interpreters of the packages, by their names.
    folder
        Where caches and results are put.
    threads
        The numbers of threads to measure with.
    rounds
        How often the packages take turns.
    """
    found = {peer: Measured() for peer in pythons}
    able = _compile(workload, pythons, folder, found)
    for count in threads:
        workers = [_Worker(peer, python, folder, count) for peer, python in able.items()]
        times: dict[str, list[float]] = {peer: [] for peer in able}
        turns: dict[str, list[float]] = {peer: [] for peer in able}
        cores: dict[str, list[float]] = {peer: [] for peer in able}
        for worker in workers:
            worker.ask("start")
            worker.ask("compile", workload.name, str(folder / "again.npz"))
            if count == 1:
                worker.stay_on_one_processor()
        for _ in range(rounds):
            for worker in workers:
                answer = worker.ask("measure", 0.1)
                if "times" in answer:
                    times[worker.peer] += answer["times"]
                    turns[worker.peer].append(statistics.median(answer["times"]))
                cores[worker.peer] += [answer["cores"]] if "cores" in answer else []
        for worker in workers:
            worker.close()
        for peer, measured in times.items():
            if measured:
                found[peer].call[count] = statistics.median(measured)
                found[peer].turns[count] = turns[peer]
                found[peer].cores[count] = statistics.median(cores[peer])
    return found
