"""A process that measures one package: reads a request a line, writes an answer a line, as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import numpy as np

from benchmarks.peers import PEERS, Bind, Call, Unsupported
from benchmarks.workloads import WORKLOADS
from benchmarks.workloads.workload import Array

__all__ = ["main"]

_SHORTEST: Final = 50e-6  # seconds that are timed at once


def _seconds(call: Callable[[], Any], count: int) -> float:
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - begin


def _block(call: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """Call for some seconds, and return times of a call, and how many cores were busy.

    Short calls are timed several at once, so that reading the clock is no part of what is measured.
    """
    several = 1
    while _seconds(call, several) < _SHORTEST:
        several *= 2
    times: list[float] = []
    first, cpu = time.perf_counter(), time.process_time()
    while not times or time.perf_counter() < first + seconds:
        times.append(_seconds(call, several) / several)
    elapsed = time.perf_counter() - first
    return {"times": times, "cores": (time.process_time() - cpu) / elapsed}


def main(peer_name: str) -> None:
    """Serve requests: ``["start"]``, ``["compile", workload, file for results]``, ``["move"]`` and ``["measure", seconds]``."""
    peer = PEERS[peer_name]
    workloads = {w.name: w for w in WORKLOADS}
    bind: Bind
    call: Call
    arrays: list[Array] = []
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a package prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if request[0] == "start":
                begin = time.perf_counter()
                import_module(peer.module)
                imported = time.perf_counter()
                peer.start()
                answer = {"import": imported - begin, "start": time.perf_counter() - imported}
            elif request[0] == "compile":
                workload = workloads[request[1]]
                arrays = list(workload.inputs(np.random.default_rng(0)))
                begin = time.perf_counter()
                bind = peer.compile(workload, arrays)
                call = bind(arrays)
                result = call()
                answer = {"seconds": time.perf_counter() - begin}
                several = result if isinstance(result, list | tuple) else [result]
                np.savez(request[2], *[np.asarray(r) for r in several])
            elif request[0] == "move":
                arrays = [array.copy() for array in arrays]
                call = bind(arrays)
                answer = {}
            else:
                answer = _block(call, request[1])
        except Unsupported as error:
            answer = {"unsupported": str(error)}
        except Exception as error:  # noqa: BLE001 -- whatever a peer raises is its result
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
