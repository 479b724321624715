"""The compiler driver: finds a C compiler, knows its flags, runs it. The only place in ``codegen`` that starts processes.

Floating-point numbers mean what NumPy says they mean: ``-ffast-math`` is never used, ``a * b + c`` is rounded twice
(``-ffp-contract=off``), NaN, infinities and signed zeros are kept. ``-fno-math-errno`` and ``-fno-trapping-math`` only give up
``errno`` and the processor's exception flags, which nobody reads, and let loops over ``exp`` and the like become vector code.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, final

import attrs

from lamella.codegen.c.halves import HALVED
from lamella.codegen.c.machine import COMPILERS, cpu_features, cpu_names
from lamella.config import config
from lamella.errors import CompileError, CompilerNotFoundError

__all__ = [
    "Compiler",
    "accepts",
    "compile_shared_object",
    "cpu_identity",
    "find_compiler",
    "has_vector_maths",
    "maths_libraries",
    "optimising_flags",
]

Family = Literal["gcc", "clang", "other"]

_HOW_TO_GET_ONE = (
    "install one (Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install; "
    "conda: conda install c-compiler), or name one by the flag `compiler`"
)


@final
@attrs.frozen
class Compiler:
    """A C compiler that was found to run.

    Attributes
    ----------
    command
        The words that start it; the first one is a path.
    version
        What it says of its version.
    family
        Whose flags it takes.
    identity
        Changes when another compiler is installed in its place.
    """

    command: tuple[str, ...]
    version: str
    family: Family
    identity: str


class _Killed(CompileError):
    """A compiler, or a part of it, was killed."""


def find_compiler(wanted: str = "") -> Compiler:
    """Return the compiler that the flag `compiler` names, else the first of `COMPILERS` that runs.

    Parameters
    ----------
    wanted
        A command, in the place of all these.

    Raises
    ------
    CompilerNotFoundError
        There is none.
    """
    asked = wanted or config.compiler, os.environ.get("PATH", os.defpath)
    found = _find_compiler(*asked)
    if not os.path.exists(found.command[0]):  # it was there before
        _find_compiler.cache_clear()
        found = _find_compiler(*asked)
    return found


@cache
def _find_compiler(wanted: str, path: str) -> Compiler:
    candidates = [tuple(shlex.split(wanted))] if wanted.strip() else [(name,) for name in COMPILERS]
    failures: list[str] = []
    for words in candidates:
        found = shutil.which(words[0], path=path)
        if found is None:
            failures.append(f"{words[0]}: not found")
            continue
        command = (found, *words[1:])
        try:
            version = _run([*command, "--version"]).partition("\n")[0].strip()
        except CompileError as error:
            failures.append(str(error))
            continue
        status = os.stat(found)
        identity = f"{os.path.realpath(found)} {shlex.join(words[1:])} {status.st_size} {status.st_mtime_ns} {version}"
        return Compiler(command, version, _family(version), identity)
    raise CompilerNotFoundError(f"no C compiler works ({'; '.join(failures)}); {_HOW_TO_GET_ONE}")


def _family(version: str) -> Family:
    lowered = version.lower()
    if "clang" in lowered:
        return "clang"
    is_gcc = "gcc" in lowered or lowered.startswith(("g++ ", "cc ")) or "free software foundation" in lowered
    return "gcc" if is_gcc else "other"


@cache
def cpu_identity() -> str:
    """Return a text that differs for processors for which ``-march=native`` may mean different code."""
    return " ".join(
        [platform.system(), platform.machine(), *cpu_names(), platform.processor(), *sorted(cpu_features())]
    )


def has_vector_maths(compiler: Compiler) -> bool:
    """Whether the C library offers vector versions of ``exp`` and the like that the compiler can call (glibc's libmvec)."""
    return compiler.family == "gcc" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"


def optimising_flags(compiler: Compiler) -> tuple[str, ...]:
    """Return the flags for kernels, fitted to this machine; under the flag `c_debug`, those for a debugger."""
    common = ("-std=gnu11", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-ffp-contract=off")
    asked = shlex.split(config.compiler_flags)
    if compiler.family == "other":
        return ("-O2", "-fPIC", *asked)
    if config.c_debug:
        return (*common, "-O0", "-g", "-fno-omit-frame-pointer", *asked)
    native = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
    flags = [*common, "-O3", native, "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"]
    if compiler.family == "gcc":
        flags += ["-fno-semantic-interposition", "-fexcess-precision=standard"]
    if "avx512f" in cpu_features():
        flags += ["-mprefer-vector-width=512"]
    if has_vector_maths(compiler):
        flags += ["-DLM_VECTOR_MATHS"]
    return (*flags, *asked)


def _link_flags(compiler: Compiler) -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ("-bundle", "-undefined", "dynamic_lookup")
    # Without DT_NEEDED for libraries that the object does not use, loading it costs less.
    return ("-shared", "-Wl,--as-needed", *maths_libraries(compiler))


def maths_libraries(compiler: Compiler) -> tuple[str, ...]:
    """Return the flags that link the functions which kernels call."""
    return ("-lmvec", "-lm") if has_vector_maths(compiler) else ("-lm",)


def compile_shared_object(
    compiler: Compiler, source: Path, target: Path, flags: Sequence[str], folder: Path, cxx: Path | None = None
) -> None:
    """Compile one C file to a shared object.

    Parameters
    ----------
    compiler
        The compiler.
    source, target
        The C file, and where to put the result.
    flags
        Flags for compiling, and libraries (``-L...``, ``-l...``, ``-Wl,...``); those for linking are added.
    folder
        An existing folder for the compiler's own temporary files.
    cxx
        A second file, in C++; then the compiler is one of C++.

    Raises
    ------
    CompileError
        The compiler failed; the message holds what it printed.
    CompilerNotFoundError
        It is not there any more.
    """
    # No -pipe: the assembler would run beside the compiler, and wait for it on a machine whose cores are busy.
    libraries = [flag for flag in flags if flag.startswith(("-l", "-L", "-Wl,"))]
    compiling = [flag for flag in flags if flag not in libraries]
    sources = [str(source)]
    if cxx is not None:
        # C++ has no such flags.
        compiling = [flag for flag in compiling if not flag.startswith(("-std=gnu11", "-fexcess-precision"))]
        sources = ["-x", "c", str(source), "-x", "c++", str(cxx), "-x", "none"]
    linking = ["-o", str(target), *libraries, *_link_flags(compiler)]
    environment = {"TMPDIR": str(folder)}
    whole = [*compiler.command, *compiling, *sources, *linking]
    try:
        if cxx is None and "-g" not in flags and _n_compilers() > 1 and HALVED in source.read_text(encoding="utf-8"):
            objects = [target.with_name(f"half{half}.o") for half in (1, 2)]
            halves = [
                [*compiler.command, *compiling, f"-DLM_HALF={half}", "-c", str(source), "-o", str(made)]
                for half, made in enumerate(objects, start=1)
            ]
            _run_together(halves, environment)
            _run([*compiler.command, *[str(made) for made in objects], *linking], environment)
        else:
            _run(whole, environment)
    except _Killed:  # for want of memory, say, that there may be now
        _run(whole, environment)


def _n_compilers() -> int:
    """Return how many compilers may work at a time: as many as the flag `compilers` says, or as processors that the process may use."""
    if config.compilers:
        return config.compilers
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def accepts(compiler: Compiler, flags: Sequence[str], text: str) -> bool:
    """Whether a compiler compiles and links a text with some flags."""
    return _accepts(compiler, tuple(flags), text)


@cache
def _accepts(compiler: Compiler, flags: tuple[str, ...], text: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text(text)
        try:
            compile_shared_object(compiler, source, Path(folder) / "probe.so", ("-fPIC", *flags), Path(folder))
        except CompileError:
            return False
    return True


def _run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it printed."""
    return _run_together([command], environment)[0]


def _run_together(commands: Sequence[Sequence[str]], environment: Mapping[str, str] | None = None) -> list[str]:
    """Run commands at the same time, and return what each printed."""
    started: list[subprocess.Popen[str]] = []
    try:
        for command in commands:
            started.append(_start(command, environment))  # noqa: PERF401 -- known even if the next one cannot be started
        printed = [process.communicate()[0] for process in started]
    finally:
        for process in started:
            if process.returncode is None:
                process.kill()
                process.communicate()
    for command, process, text in zip(commands, started, printed, strict=True):
        code = process.returncode
        if code != 0:
            how = f"was killed by signal {-code}" if code < 0 else f"failed ({code})"
            # What tells of a part of the compiler that was killed is the compiler's message alone.
            is_killed = code < 0 or "signal terminated program" in text
            raise (_Killed if is_killed else CompileError)(f"{shlex.join(command)} {how}:\n{text.strip()}")
    return printed


def _start(command: Sequence[str], environment: Mapping[str, str] | None) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
            text=True,
            errors="replace",
        )
    except FileNotFoundError as error:
        raise CompilerNotFoundError(f"{command[0]} could not be started: {error}; {_HOW_TO_GET_ONE}") from error
    except OSError as error:
        raise CompileError(f"{command[0]} could not be started: {error}") from error
