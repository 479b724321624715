"""The processes that measure, one for each package, and how they take turns."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import attrs
import numpy as np

from benchmarks.peers import PEERS
from benchmarks.workloads import Workload

__all__ = ["Measured", "measure"]

ROOT = Path(__file__).parent.parent
_STARTS = 3  # of models, with a cold cache and with a warm one
_LONG_COMPILATION = 5.0  # seconds after which one start with a cold cache is enough
_TURN = 0.02  # seconds: shorter than a machine's slow phases, so that they come to all packages
_ENOUGH = 30.0  # seconds after which there are no more turns, if all packages had some
_FEWEST_TURNS = 10
_TURNS_IN_PLACE = 10  # then inputs are moved: how fast they are read depends on where in memory they are
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
        The time to the first result, with nothing in the cache, and in a new process with what that left there: medians of some starts.
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


def _cache(folder: Path, start: int) -> Path:
    """Return where caches are that are cold at one of several starts; those of the first are the warm ones later."""
    return folder / f"caches_{start}"


def _compile(
    workload: Workload, pythons: Mapping[str, str], folder: Path, found: dict[str, Measured]
) -> dict[str, str]:
    """Compile with a cold and with a warm cache, compare results, and return the packages that can."""
    results = {peer: folder / f"{peer}.npz" for peer in pythons}
    cold: dict[str, list[float]] = {peer: [] for peer in pythons}
    warm: dict[str, list[float]] = {peer: [] for peer in pythons}
    begins: dict[str, list[float]] = {peer: [] for peer in pythons}

    def start(peer: str, cache: Path, times: list[float]) -> None:
        worker = _Worker(peer, pythons[peer], cache, 1)
        begun = worker.ask("start")
        answer = begun if "failed" in begun else worker.ask("compile", workload.name, str(results[peer]))
        worker.close()
        if "seconds" in answer:
            times.append(answer["seconds"])
            begins[peer].append(begun["import"] + begun["start"])
        else:
            found[peer].note = answer.get("failed") or answer["unsupported"]

    several = _STARTS if workload.wrt else 1
    for turn in range(several):
        for peer in pythons:
            if not found[peer].note and max(cold[peer], default=0.0) < _LONG_COMPILATION:
                start(peer, _cache(folder, turn), cold[peer])
    for _ in range(several):
        for peer in pythons:
            if not found[peer].note:
                start(peer, _cache(folder, 0), warm[peer])
    for peer in pythons:
        if not found[peer].note:
            found[peer].cold, found[peer].warm = statistics.median(cold[peer]), statistics.median(warm[peer])
            warm_begins = begins[peer][-several:]
            found[peer].start = statistics.median([sum(pair) for pair in zip(warm_begins, warm[peer], strict=True)])
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
        How often the packages take turns; where calls are long, less often.
    """
    found = {peer: Measured() for peer in pythons}
    able = _compile(workload, pythons, folder, found)
    for count in threads:
        workers = [_Worker(peer, python, _cache(folder, 0), count) for peer, python in able.items()]
        times: dict[str, list[float]] = {peer: [] for peer in able}
        turns: dict[str, list[float]] = {peer: [] for peer in able}
        cores: dict[str, list[float]] = {peer: [] for peer in able}
        for worker in workers:
            worker.ask("start")
            worker.ask("compile", workload.name, str(folder / "again.npz"))
            if count == 1:
                worker.stay_on_one_processor()
        begin, order = time.perf_counter(), random.Random(0)
        for turn in range(rounds):
            if turn >= _FEWEST_TURNS and time.perf_counter() > begin + _ENOUGH:
                break
            order.shuffle(workers)  # what runs before may have left something to do
            for worker in workers:
                if turn % _TURNS_IN_PLACE == 0:
                    worker.ask("move")
                answer = worker.ask("measure", _TURN)
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
