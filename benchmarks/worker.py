"""A process that measures one package: reads a request a line, writes an answer a line, as JSON."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, Unsupported
from benchmarks.workloads import WORKLOADS

__all__ = ["main"]


def _block(call: Callable[[], Any], seconds: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def main(peer_name: str) -> None:
    """Serve requests: ``["compile", workload]`` and ``["measure", workload, seconds]``."""
    peer = PEERS[peer_name]
    importlib.import_module(peer.module)  # importing is no part of compiling
    workloads = {w.name: w for w in WORKLOADS}
    calls: dict[str, Callable[[], Any]] = {}
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a package prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if request[0] == "compile":
                workload = workloads[request[1]]
                arrays = workload.inputs(np.random.default_rng(0))
                start = time.perf_counter()
                calls[workload.name] = peer.compile(workload, arrays)
                result = calls[workload.name]()
                first = time.perf_counter() - start
                several = result if isinstance(result, list | tuple) else [result]
                answer = {"seconds": first, "checksums": [float(np.sum(np.asarray(r, np.float64))) for r in several]}
            else:
                answer = {"times": _block(calls[request[1]], request[2])}
        except Unsupported as error:
            answer = {"unsupported": str(error)}
        except Exception as error:  # noqa: BLE001 -- whatever a peer raises is its result
            answer = {"failed": f"{type(error).__name__}: {error}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
