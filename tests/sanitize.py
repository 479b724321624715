"""The suite under AddressSanitizer and UndefinedBehaviorSanitizer, in all C: the host, the units, users' code.

    python -m tests.sanitize                                what `make sanitize` runs: everything
    python -m tests.sanitize tests/codegen/c/lowerings      a part, with any options of pytest; tests of how much the process
                                                            grows run only in a part of such tests

Python itself is not compiled with the sanitizers: their library is loaded before it, and its `malloc` serves Python's objects
too. Leaks are not looked for, as Python frees little at its end; the tests of leaks do that. What a sanitizer finds ends the
process, and so fails the test that ran.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lamella.codegen import Compiler, find_compiler

ROOT = Path(__file__).parent.parent

FLAGS = "-O0 -g -fno-omit-frame-pointer -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined"

GROWTH = [
    "tests/codegen/c/interfaces/test_failures.py",
    "tests/codegen/c/interfaces/test_cxx_exceptions.py",
    "tests/codegen/c/lowerings/test_references.py",
    "tests/codegen/c/test_allocation_failures.py",
    "tests/codegen/c/test_leaks.py",
    "tests/codegen/c/test_result_memory.py",
    "tests/rewriting/engine/test_tables.py",
    "tests/runtime/test_calling.py",
]
"""Tests of how much the process grows, or of what is put where something else was: freed memory, which is kept from being used again so that
uses of it are seen, must be little there."""

LEFT_OUT = ["tests/codegen/c/interfaces/test_debugging.py", "tests/test_layers.py", "tests/typing"]
"""A debugger would have the sanitizers in itself, and wait for ever; the others run no C, and take long."""

# Each does what it is named after, in the code of a user's Op.
FAULTS = {
    "AddressSanitizer: heap-buffer-overflow": "((double *)PyArray_DATA({z}))[PyArray_SIZE({z}) + 1] = 1;",
    "AddressSanitizer: heap-use-after-free": "char *p = malloc(8); free(p); *(double *)PyArray_DATA({z}) = *p;",
    "runtime error: signed integer overflow": "int big = INT_MAX - 1 + (int)PyArray_NDIM({z}); ++big; *(double *)PyArray_DATA({z}) = big;",
}

PROBE = """
import sys
import numpy as np
import lamella as lm, lamella.tensor as lt
from lamella.codegen import COp

class Faulty(COp):
    __props__ = ()

    def make_node(self, x):
        return lm.Apply(self, [x], [x.type])

    def c_code(self, node, name, inputs, outputs, sub):
        z = outputs[0]
        return f"Py_XDECREF({z}); {z} = (PyArrayObject *)PyArray_NewCopy({inputs[0]}, NPY_ANYORDER);" + sys.argv[1].format(z=z)

x = lt.dvector("x")
lm.function([x], Faulty()(x + 1))(np.ones(100))
"""


def environment(quarantine: int) -> Mapping[str, str]:
    """Return the environment in which a Python runs C with the sanitizers.

    Parameters
    ----------
    quarantine
        Megabytes of freed memory that are kept from being used again.
    """
    compiler = find_compiler()
    names = ("libasan.so", "libstdc++.so")  # the latter, as the former wants to know how C++ throws
    libraries = [_printed([*compiler.command, f"-print-file-name={name}"]) for name in names]
    missing = [library for library in libraries if not Path(library).is_absolute()]
    if compiler.family != "gcc" or missing:
        raise SystemExit(f"gcc with its sanitizers is needed; {compiler.version} has no {', '.join(missing)}")
    asan = {"detect_leaks": 0, "allocator_may_return_null": 1, "quarantine_size_mb": quarantine}
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": ":".join([f"{name}={value}" for name, value in asan.items()]),
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "LAMELLA_FLAGS": f"compiler={_unobserved(compiler)},compiler_flags={FLAGS}",
    }


def _unobserved(compiler: Compiler) -> Path:
    """Return a command that is the compiler, without the sanitizers in it."""
    script = ROOT / ".pytest_cache" / "unobserved-cc"
    text = f'#!/bin/sh\nunset LD_PRELOAD\nexec {shlex.join(compiler.command)} "$@"\n'
    if not script.is_file() or script.read_text() != text:  # another file would be another compiler
        script.parent.mkdir(exist_ok=True)
        script.write_text(text)
        script.chmod(0o755)
    return script


def _printed(command: Sequence[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def check_that_faults_are_found() -> None:
    """Run faulty C, which must be found to be.

    Raises
    ------
    SystemExit
        It is not.
    """
    for report, code in FAULTS.items():
        done = subprocess.run(
            [sys.executable, "-c", PROBE, code],
            env=environment(quarantine=64),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == 0 or report not in done.stdout:
            raise SystemExit(f"the sanitizers did not find {report!r} in {code!r}:\n{done.stdout}")
        print(f"found where it was put: {report}", flush=True)


def run_tests(arguments: Sequence[str], quarantine: int) -> int:
    """Run pytest, and return its exit status."""
    # What the sanitizers say is written by C; and they, not Python, are to see invalid addresses.
    command = [sys.executable, "-m", "pytest", "--capture=sys", "-p", "no:faulthandler", "-o", "timeout=3600"]
    return subprocess.run([*command, *arguments], env=environment(quarantine), cwd=ROOT, check=False).returncode


def main() -> int:
    """Run the suite, or what is named on the command line."""
    check_that_faults_are_found()
    arguments = sys.argv[1:]
    named = [argument for argument in arguments if argument.startswith("tests")]
    if named and all([name.split("::")[0] in GROWTH for name in named]):
        return run_tests(arguments, quarantine=1)
    ignored = [f"--ignore={path}" for path in (*GROWTH, *LEFT_OUT)]
    if named:
        return run_tests([*arguments, *ignored], quarantine=64)
    return run_tests([*arguments, "tests", *ignored], quarantine=64) | run_tests([*arguments, *GROWTH], quarantine=1)


if __name__ == "__main__":
    sys.exit(main())
