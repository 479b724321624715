"""Bytes allocated by a call of each model, without and with in-place rewriting: ``python -m benchmarks.memory``.

A column says how many bytes of arrays have memory of their own, and how many bytes of buffers hold them, for a buffer serves again when
nobody needs what is in it. ``--time`` measures the CPU time of a call as well.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import lamella as lm
from benchmarks.peers import Lamella
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["MODELS", "compiled", "main", "modes"]

_NAMES = (
    "logreg_vg",
    "mlp_vg",
    "softmax_vg_2000x500",
    "gemm3_500",
    "gmm_vg",
    "chain30_1e6",
    "setsub_jacobi_2000",
)
MODELS: Final = tuple([workload for workload in WORKLOADS if workload.name in _NAMES])
"""The workloads that allocate much beside their results."""


def modes() -> dict[str, lm.Mode]:
    """Return the modes that are compared, by what is switched on."""
    run = lm.FAST_RUN
    return {
        "neither": run.excluding("inplace", "fusion"),
        "fusion": run.excluding("inplace"),
        "fusion, in-place": run,
    }


def compiled(model: Workload, mode: lm.Mode) -> lm.Function:
    """Compile a model."""
    inputs, outputs = Lamella().graph(model, model.inputs(np.random.default_rng(0)))
    return lm.function(inputs, outputs, mode=mode)


def _cpu_time(call: Callable[[], Any]) -> float:
    call()
    best = float("inf")
    for _ in range(5):
        start, count = time.process_time(), 0
        while time.process_time() - start < 0.1:
            call()
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return best


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", action="store_true", help="measure the CPU time of a call, too")
    options = parser.parse_args()
    print("| model | " + " | ".join([f"{name}: arrays, buffers (MiB)" for name in modes()]) + " |")
    print("|---" * (len(modes()) + 1) + "|")
    for model in MODELS:
        values = model.inputs(np.random.default_rng(0))
        cells: list[str] = []
        for mode in modes().values():
            function = compiled(model, mode)
            use = lm.memory_use(function, *values)
            cell = f"{use.requested / 2**20:.2f}, {use.allocated / 2**20:.2f}"
            if options.time:
                function.trust_input = True
                cell += f", {1e3 * _cpu_time(lambda f=function, v=values: f(*v)):.3g} ms"  # type: ignore[misc]  # defaults bind the loop's variables
            cells.append(cell)
        print(f"| {model.name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
