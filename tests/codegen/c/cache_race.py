"""Two processes fill one empty cache with the same functions, and one of them is killed at some time.

    python -m tests.codegen.c.cache_race --rounds 20 --sources 50

A round passes if every result is right, nothing is left over, and the next process compiles nothing.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lamella.codegen import check_cache, list_cache, lower_to_c
from lamella.config import config
from lamella.ir import FunctionGraph, TensorType, lt
from lamella.typing_layer import schedule


def fill(folder: Path, n_sources: int, order: int) -> None:
    """Compile and run functions; print how long each took to be there."""
    numbers = list(range(n_sources))
    random.Random(order).shuffle(numbers)
    with config.override(cache_dir=folder):
        for number in numbers:
            x = TensorType("float64", (None,))("x")
            y = lt.add(lt.mul(x, float(number)), 1.0)
            function = lower_to_c(schedule(FunctionGraph([x], [y]))).executable()
            (result,) = function([np.arange(3.0)])
            assert np.array_equal(result, np.arange(3.0) * number + 1.0), (number, result)
            print(number, flush=True)


def run_round(folder: Path, n_sources: int, seed: int) -> None:
    """Run one round in an empty folder.

    Raises
    ------
    AssertionError
        The round does not pass.
    """
    rng = random.Random(seed)

    def start(order: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.codegen.c.cache_race", "--fill", str(folder)]
        command += ["--sources", str(n_sources), "--order", str(order)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    survivor, victim = start(seed), start(seed if rng.random() < 0.5 else seed + 1000)
    assert victim.stdout is not None
    for _ in range(rng.randrange(n_sources)):
        victim.stdout.readline()
    time.sleep(rng.random() * 0.2)
    victim.kill()
    victim.communicate()
    printed, errors = survivor.communicate()
    assert survivor.returncode == 0, errors
    assert len(printed.split()) == n_sources
    before = {entry.path: entry.modified for entry in list_cache(folder / "c")}
    assert len(before) == n_sources + 1, "an entry for each source, and the host module"
    again = start(seed + 1)
    _, errors = again.communicate()
    assert again.returncode == 0, errors
    assert {entry.path: entry.modified for entry in list_cache(folder / "c")} == before, "something was compiled again"
    assert check_cache(folder / "c") == []
    # Code for a debugger keeps its source beside it.
    left = [p for p in (folder / "c").rglob("*") if p.with_suffix(".so") not in before and p.name != "building"]
    assert left == [], f"left over: {left}"


def main() -> None:
    """Run rounds, or fill a cache as one of the processes of a round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sources", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--fill", type=Path, help="internal: fill the cache in this folder")
    parser.add_argument("--order", type=int, default=0, help="internal: the order in which it is filled")
    arguments = parser.parse_args()
    if arguments.fill is not None:
        fill(arguments.fill, arguments.sources, arguments.order)
        return
    print(f"seed {arguments.seed}")
    for number in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            run_round(Path(folder) / "cache", arguments.sources, arguments.seed + number)
            print(f"round {number + 1}: passed in {time.perf_counter() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
