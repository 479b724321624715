"""Debugging users' C: what is compiled under ``c_debug``, and the session of ``docs/debugging_c.gdb``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import lamella as lm
import lamella.tensor as lt

from .ops import VectorTimesScalar

ROOT = Path(__file__).parents[4]


def test_debugging_keeps_the_source_beside_code_that_has_its_symbols(tmp_path: Path) -> None:
    x, s = lt.dvector("x"), lt.dscalar("s")
    with lm.config.override(c_debug=True, cache_dir=tmp_path):
        f = lm.function([x, s], VectorTimesScalar()(x, s))
    np.testing.assert_array_equal(f(np.ones(3), 2.0), [2, 2, 2])
    (source,) = [path for path in tmp_path.glob("c/*.c") if "user_0" in path.read_text()]
    text = source.read_text()
    assert "c_code: __attribute__((unused));" in text
    assert "PyArray_DIM(V0, 0)" in text
    compiled = source.with_suffix(".so").read_bytes()
    assert b".debug_info" in compiled
    assert b"user_0" in compiled
    assert b"-O0" in compiled


def test_the_documented_session_stops_in_c_code(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "LAMELLA_FLAGS": "c_debug=true"}
    program = [sys.executable, "-m", "examples.c_op"]
    gdb = shutil.which("gdb")
    script = ROOT / "docs" / "debugging_c.gdb"
    command = [*([gdb, "-batch", "-x", str(script), "--args"] if gdb else []), *program]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    if gdb and "Operation not permitted" in done.stderr + done.stdout:  # a container may forbid to trace processes
        gdb = None
        done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert "[1. 4. 9.]" in done.stdout
    sources = [path for path in tmp_path.glob("lamella/c/*.c") if "c_code:" in path.read_text()]
    assert len(sources) == 1
    if gdb:
        assert "Breakpoint 1, user_0 (" in done.stdout
        assert "const npy_intp n = PyArray_DIM(V0, 0);" in done.stdout
        assert sources[0].name in done.stdout
        assert "$1 = 3" in done.stdout
        assert "\nn = 3\n" in done.stdout
