"""Loading compiled code: the host module, compiled once for a machine and a Python, and functions, which it loads."""

from __future__ import annotations

import sysconfig
import threading
import weakref
from collections.abc import Callable, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol, final

import numpy as np

from lamella.codegen.c.cache import CompiledCache, default_cache
from lamella.codegen.c.driver import find_compiler, optimising_flags
from lamella.codegen.c.unit import support_text
from lamella.errors import CompilerNotFoundError

__all__ = ["Entry", "Library", "load_library"]

Perform = Callable[[int, list[Any]], Sequence[Any]]
"""Computes a step, given its number and the values of its inputs."""

Annotate = Callable[[int, BaseException], None]
"""Tells an exception which step it came from."""


class Entry(Protocol):
    """A compiled function, linked with its constants. Threads may call it at once."""

    def __call__(self, inputs: Sequence[Any], /) -> list[Any]:
        """Return the outputs. Arrays are checked as far as memory safety needs: dtype, dimensions, known lengths."""

    def timed(self, inputs: Sequence[Any], /) -> tuple[list[Any], list[tuple[float, int]]]:
        """Return the outputs, and for each step the seconds that it took and the bytes of those of its outputs that are new arrays."""


class Library(Protocol):
    """A loaded shared object."""

    def link(self, constants: Sequence[Any], perform: Perform, annotate: Annotate, /) -> Entry:
        """Return the function with values for its constants, and what computes and annotates steps."""


@final
class _Libraries:
    """The libraries that this process has loaded and still uses, and the host module."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._loaded: weakref.WeakValueDictionary[tuple[CompiledCache, str, tuple[str, ...]], Library] = (
            weakref.WeakValueDictionary()
        )
        self._host: ModuleType | None = None

    def host(self) -> ModuleType:
        with self._guard:
            known = self._host
        if known is not None:
            return known
        made = default_cache().load(_host_source(), _host_flags(), _load_host, "the host of compiled functions", _abi())
        with self._guard:
            if self._host is None:
                self._host = made
            return self._host

    def load(self, source: str, description: str) -> Library:
        cache = default_cache()
        flags = optimising_flags(find_compiler())
        key = (cache, source, flags)
        with self._guard:
            known = self._loaded.get(key)
        if known is not None:
            return known
        host = self.host()
        made: Library = cache.load(source, flags, lambda path: host.load(path), description)
        with self._guard:
            return self._loaded.setdefault(key, made)


def _host_source() -> str:
    parts = ["#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n#include <structmember.h>"]
    parts += [support_text(name) for name in ("lamella.h", "core.c", "sorting.c", "blas.c", "glue.c")]
    return "\n".join(parts)


def _host_flags() -> tuple[str, ...]:
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise CompilerNotFoundError(
            f"the C headers of Python are missing ({include / 'Python.h'}); install them "
            "(Debian and Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"
        )
    # It does next to no arithmetic: compiling it fast matters more than making it fast.
    return (
        "-std=gnu11",
        "-O1",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-strict-aliasing",
        f"-I{include}",
        f"-I{np.get_include()}",
    )


def _abi() -> str:
    return f"{sysconfig.get_config_var('SOABI')} numpy {np.__version__}"


def _load_host(path: Path) -> ModuleType:
    loader = ExtensionFileLoader("lamella_glue", str(path))
    spec = spec_from_file_location("lamella_glue", path, loader=loader)
    if spec is None:
        raise ImportError(f"{path} is no extension module")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


_libraries: Final = _Libraries()


def load_library(source: str, description: str = "") -> Library:
    """Return the loaded library of a translation unit: from this process, from the cache, or compiled now.

    Parameters
    ----------
    source
        The text of the unit.
    description
        A few words for people who look at the cache.

    Raises
    ------
    CompilerNotFoundError
        There is no compiler, or the headers of Python are missing.
    CompileError
        The compiler failed.
    """
    return _libraries.load(source, description)
