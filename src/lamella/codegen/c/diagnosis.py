"""What compiled functions find on this machine, what is wrong with it, and what to do about that."""

from __future__ import annotations

import ctypes
import os
import shlex
import sysconfig
import tempfile
from pathlib import Path
from typing import Final, Literal, final

import attrs

from lamella.codegen.c.blas import blas_routines
from lamella.codegen.c.cache import check_cache, list_cache, writing_problem
from lamella.codegen.c.cache_entries import cache_folder, folder_problem
from lamella.codegen.c.driver import (
    Compiler,
    accepts,
    compile_shared_object,
    find_compiler,
    has_vector_maths,
    optimising_flags,
)
from lamella.codegen.c.interfaces.openmp_op import has_openmp
from lamella.config import config
from lamella.errors import CompileError, CompilerNotFoundError

__all__ = ["Finding", "FindingState", "diagnose"]

FindingState = Literal["fine", "lacking", "failing"]
"""Lacking: compiled functions do without it, less well. Failing: functions are not compiled."""

_TRIAL: Final = """
#include <math.h>
__attribute__((visibility("default"))) int trial(void)
{
    double x[100], total = 0;
    for (int i = 0; i < 100; ++i) x[i] = exp((double)(i - i));
    for (int i = 0; i < 100; ++i) total += x[i];
    return (int)total;
}
"""


@final
@attrs.frozen
class Finding:
    """What is known of one thing that compiled functions need.

    Attributes
    ----------
    subject
        The thing.
    state
        Whether it is as it should be.
    found
        What there is.
    remedy
        What to do about it; empty where nothing need be done.
    """

    subject: str
    state: FindingState
    found: str
    remedy: str = ""


def diagnose() -> list[Finding]:
    """Look at everything that C code needs, under the configuration in force.

    Returns
    -------
    list of Finding
        Compiler, flags, headers, vector maths, BLAS, threads and cache folder. A finding never is an exception.
    """
    findings = [_headers(), _blas(), _cache()]
    try:
        compiler = find_compiler()
    except (CompilerNotFoundError, ValueError) as error:
        return [Finding("compiler", "failing", "none: functions run in Python, on NumPy", str(error)), *findings]
    found = [_compiler(compiler), _flags(compiler)]
    if found[-1].state != "failing":
        found += [_vector_maths(compiler), _threads(compiler)]
    return [*found, *findings]


def _compiler(compiler: Compiler) -> Finding:
    told = f"{shlex.join(compiler.command)} ({compiler.version})"
    if compiler.family == "other":
        remedy = "gcc and clang are known better, and optimise more; name one by the flag `compiler`"
        return Finding("compiler", "lacking", told, remedy)
    return Finding("compiler", "fine", told)


def _flags(compiler: Compiler) -> Finding:
    try:
        flags = optimising_flags(compiler)
    except ValueError as error:
        return Finding(
            "flags", "failing", f"{config.compiler_flags}: {error}", "quote the flag `compiler_flags` as a shell does"
        )
    told = shlex.join(flags)
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source, target = folder / "trial.c", folder / "trial.so"
            source.write_text(_TRIAL)
            compile_shared_object(compiler, source, target, flags, folder)
            answer: int = ctypes.CDLL(str(target)).trial()
    except (CompileError, OSError) as error:
        remedy = "the compiler must be able to make a shared library with these flags"
        if config.compiler_flags:
            remedy += f"; the flag `compiler_flags` adds {config.compiler_flags}"
        return Finding("flags", "failing", f"{told}\n{error}", remedy)
    if answer != 100:
        return Finding(
            "flags", "failing", f"{told}: code compiled with them gives wrong results", "use another compiler"
        )
    if config.c_debug:
        return Finding("flags", "lacking", told, "the flag `c_debug` is set: code is not optimised")
    return Finding("flags", "fine", told)


def _headers() -> Finding:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if header.is_file():
        return Finding("headers of Python", "fine", str(header.parent))
    remedy = "install them (Debian and Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"
    return Finding("headers of Python", "failing", f"{header} is missing", remedy)


def _vector_maths(compiler: Compiler) -> Finding:
    if not has_vector_maths(compiler):
        remedy = "loops over exp, log and the like run faster with gcc and glibc on x86-64"
        return Finding("vector maths", "lacking", "none", remedy)
    if not accepts(compiler, ("-lmvec",), "int probe;"):
        return Finding("vector maths", "failing", "libmvec is missing", "install the development files of glibc")
    return Finding("vector maths", "fine", "libmvec of glibc")


def _blas() -> Finding:
    try:
        routines = blas_routines()
    except ImportError as error:
        remedy = "install SciPy again: its BLAS multiplies matrices in compiled functions"
        return Finding("BLAS", "failing", str(error), remedy)
    import scipy  # here, for loading it takes time that compiled functions need not spend

    blas = scipy.show_config(mode="dicts")["Build Dependencies"]["blas"]
    name = f"{blas['name']} {blas['version']}"
    return Finding("BLAS", "fine", f"{name} of SciPy {scipy.__version__}, {len(routines)} routines")


def _threads(compiler: Compiler) -> Finding:
    n = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    told = [f"{n} processor{'' if n == 1 else 's'}"]
    asked = os.environ.get("OMP_NUM_THREADS")
    if asked is not None:
        told.append(f"OMP_NUM_THREADS={asked}")
    if config.threads > 0:
        told.append(f"the flag `threads` is {config.threads}")
    told.append(f"the flag `openmp` is {'on' if config.openmp else 'off'}")
    if not has_openmp(compiler):
        told.append("the compiler has no OpenMP")
        remedy = "install the compiler's OpenMP library (libgomp, libomp), or set the flag `openmp` to false"
        return Finding("threads", "lacking", ", ".join(told), remedy if config.openmp else "")
    return Finding("threads", "fine", ", ".join(told))


def _cache() -> Finding:
    folder = cache_folder()
    advice = "until then, compiled code is kept for one process only; name another folder by the flag `cache_dir`"
    try:
        if not folder.exists():
            place = next(parent for parent in folder.parents if parent.exists())
            if not os.access(place, os.W_OK | os.X_OK):
                return Finding("cache", "lacking", f"{folder} cannot be made: {place} is not yours to write to", advice)
            return Finding("cache", "fine", f"{folder}, which will be made")
        problem = folder_problem(folder) or writing_problem(folder)
        if problem:
            return Finding("cache", "lacking", f"{folder} is not used: {problem}", advice)
        entries = list_cache(folder)
        damaged = check_cache(folder)
    except OSError as error:
        return Finding("cache", "lacking", f"{folder} is not used: {error}", advice)
    told = f"{folder}: {len(entries)} entries, {sum([entry.size for entry in entries]) / 1e6:.1f} MB"
    if damaged:
        remedy = "damaged entries are compiled again when needed; `lamella cache check` names them"
        return Finding("cache", "lacking", f"{told}, {len(damaged)} damaged", remedy)
    return Finding("cache", "fine", told)
