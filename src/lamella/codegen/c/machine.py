"""What compiled code depends on beside its text, found without starting a process: processor, compiler, Python, NumPy, this package."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from lamella.config import config
from lamella.loaded import LOADED_AT, LOADED_FROM

__all__ = ["COMPILERS", "cpu_features", "cpu_names", "machine_state"]

COMPILERS: Final = ("cc", "gcc", "clang")
"""The commands that are tried, in this order, where none is asked for."""


@cache
def _cpu_facts() -> Mapping[str, str]:
    """Return what the system says of the first processor; nothing where it says nothing."""
    facts: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break
                name, _, value = line.partition(":")
                facts[name.strip()] = value.strip()
    except OSError:
        pass
    return facts


def cpu_names() -> list[str]:
    """Return what the processor is called, and by whom."""
    facts = _cpu_facts()
    return [facts.get(name, "") for name in ("vendor_id", "cpu family", "model", "model name", "CPU part")]


def cpu_features() -> frozenset[str]:
    """Return the names of the instruction sets that the processor has."""
    facts = _cpu_facts()
    return frozenset((facts.get("flags") or facts.get("Features") or "").split())


def machine_state() -> tuple[object, ...] | None:
    """Return what is equal only where equal graphs become equal compiled code, and that can be run; None where it is not known.

    That is told by sizes and times of files, as Python itself tells whether a module has to be compiled anew. It is not known where there
    are no files, or where one has changed since this package was loaded.
    """
    sources = _sources()
    if not sources or max([modified for _, _, modified in sources]) >= LOADED_AT:
        return None
    python = (sys.implementation.cache_tag, sys.version, os.uname().sysname, os.uname().machine)
    return (
        python,
        np.__version__,
        tuple(cpu_names()),
        tuple(sorted(cpu_features())),
        _compilers(config.compiler, os.environ.get("PATH", os.defpath)),
        sources,
    )


def _compilers(wanted: str, path: str) -> tuple[object, ...]:
    found: list[object] = [wanted]
    for command in shlex.split(wanted)[:1] or COMPILERS:
        place = shutil.which(command, path=path)
        if place is not None:
            status = os.stat(place)
            found.append((os.path.realpath(place), status.st_size, status.st_mtime_ns))
    return tuple(found)


@cache
def _sources() -> tuple[tuple[str, int, int], ...]:
    """Return the files of this package, with their sizes and times of change; none where it does not lie in a folder."""
    root = str(LOADED_FROM)
    found: list[tuple[str, int, int]] = []
    waiting = [root] if os.path.isdir(root) else []
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".c", ".h")):
                    status = entry.stat()
                    found.append((entry.path[len(root) :], status.st_size, status.st_mtime_ns))
                elif entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return tuple(sorted(found))
