"""Whatever allocation fails, it is a `MemoryError`, nothing is lost, and the next call works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.codegen.c.allocation_failures import REPETITIONS


def test_each_request_for_memory_may_fail(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.codegen.c.allocation_failures", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    requests = [int(line.split(":")[1].split()[0]) for line in done.stdout.splitlines()]
    assert len(requests) == 6
    assert all(requests)
    assert sum(requests) * REPETITIONS > 10_000
