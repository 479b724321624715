"""Loading compiled code: the host module, compiled once for a machine and a Python, and functions, which it loads."""

from __future__ import annotations

import atexit
import shlex
import shutil
import sysconfig
import tempfile
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, final

import attrs
import numpy as np

from lamella.codegen.c.cache import CompiledCache, default_cache, unit_key
from lamella.codegen.c.driver import find_compiler, optimising_flags
from lamella.codegen.c.entry import Annotate, Entry, Library, Perform
from lamella.codegen.c.host import LoadedHost, load_host, loaded_host
from lamella.codegen.c.interfaces.user_code import Build
from lamella.codegen.c.unit import support_text
from lamella.config import config
from lamella.errors import CompilerNotFoundError

__all__ = ["UserUnit", "library_keys", "load_library", "load_user_library"]


@final
@attrs.frozen
class UserUnit:
    """A translation unit that holds C code of users' Ops.

    Attributes
    ----------
    source
        Its text.
    cxx
        The text of a second unit, in C++; empty where there is none.
    build
        How it is compiled.
    description
        A few words for people who look at the cache.
    """

    source: str
    cxx: str
    build: Build
    description: str = attrs.field(eq=False)

    def link_alone(
        self, constants: Sequence[Any], perform: Perform, annotate: Annotate, params: tuple[Any, ...]
    ) -> Entry:
        """Link a function that has the variables of the unit for itself: with a copy of the library that nobody else uses."""
        with _libraries.copies_guard:
            library = _libraries.own_copy(self)
            if self.build.may_be_reused:
                _libraries.keep(self, library)
            made = library.link(constants, perform, annotate, params)
            # What this code will make may outlive the function, and refer to the code: it stays.
            _libraries.keep(self, library)
        return made


@final
class _Libraries:
    """The libraries that this process has loaded and still uses, and the host module."""

    def __init__(self, host: LoadedHost) -> None:
        self._guard = threading.Lock()
        self._loaded: weakref.WeakValueDictionary[tuple[CompiledCache, str, tuple[str, ...]], Library] = (
            weakref.WeakValueDictionary()
        )
        self._host = host
        self._copies: dict[tuple[CompiledCache, UserUnit, tuple[str, ...]], list[Library]] = {}
        self._users: dict[tuple[CompiledCache, UserUnit, tuple[str, ...]], Library] = {}
        self.copies_guard = threading.RLock()

    def host(self) -> ModuleType:
        known = self._host.module
        if known is not None:
            return known
        made = default_cache().load(_host_source(), _host_flags(), load_host, "the host of compiled functions", _abi())
        return self._host.settle(made)

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

    def load_user(self, unit: UserUnit) -> Library:
        """Return the library of a unit, whose functions share it; it stays loaded."""
        key = self._user_key(unit)
        with self.copies_guard:
            known = self._users.get(key)
            if known is None:
                host = self.host()
                known = self._users[key] = self._load_user(unit, key, host.load)
            return known

    def own_copy(self, unit: UserUnit) -> Library:
        """Return a library of a unit that no function uses: of one that is no more, where that may be, else a new copy."""
        key = self._user_key(unit)
        if unit.build.may_be_reused:
            for library in self._copies.get(key, ()):
                if library.n_linked == 0:
                    return library
        host = self.host()

        def load_copy(path: Path) -> Library:
            # What is loaded from one file is one library: of a copy it is another one. In some folders nothing can be run.
            for place in (None, path.parent):
                folder = Path(tempfile.mkdtemp(dir=place, prefix="lamella-copy-"))
                try:
                    copy = folder / path.name
                    shutil.copyfile(path, copy)
                    return host.load(copy)  # type: ignore[no-any-return]  # the host is a module without types
                except OSError:
                    if place is not None:
                        raise
                finally:
                    if config.c_debug:  # a debugger reads it again and again
                        atexit.register(shutil.rmtree, folder, ignore_errors=True)
                    else:
                        shutil.rmtree(folder, ignore_errors=True)
            raise AssertionError("there is a last place")

        return self._load_user(unit, key, load_copy)

    def keep(self, unit: UserUnit, library: Library) -> None:
        """Keep a library loaded for the life of the process."""
        kept = self._copies.setdefault(self._user_key(unit), [])
        if library not in kept:
            kept.append(library)

    def _user_key(self, unit: UserUnit) -> tuple[CompiledCache, UserUnit, tuple[str, ...]]:
        return default_cache(), unit, optimising_flags(find_compiler(unit.build.compiler))

    def _load_user(
        self,
        unit: UserUnit,
        key: tuple[CompiledCache, UserUnit, tuple[str, ...]],
        loader: Callable[[Path], Library],
    ) -> Library:
        cache, _, optimising = key
        build = unit.build
        flags = [*optimising, *_header_flags(), *build.flags]
        kept = tuple([flag for flag in flags if flag not in build.without])
        return cache.load(
            unit.source,
            (*kept, *build.libraries),
            loader,
            unit.description,
            _abi(),
            cxx=unit.cxx,
            compiler=find_compiler(build.compiler),
        )


CORE: Final = (
    "processor.c",
    "memory.c",
    "threads.c",
    "short_rows.c",
    "loops.c",
    "core.c",
    "reducing.c",
    "rowwise.c",
    "indexing.c",
    "indexed.c",
)
"""The files of ``support`` with the services that need no host, in order; they follow ``lamella.h``, and take ``-pthread``."""


_OF_PYTHON: Final = (
    "sorting.c",
    "small_products.c",
    "narrow_products.c",
    "block_products.c",
    "blas.c",
    "scipy_blas.c",
    "host.h",
    "array_memory.c",
    "arrays.c",
    "services.c",
    "calling.c",
    "function.c",
    "glue.c",
)


def _host_source() -> str:
    parts = ["#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n#include <structmember.h>"]
    parts += [support_text(name) for name in ("lamella.h", "user.h", *CORE, *_OF_PYTHON)]
    return "\n".join(parts)


def _header_flags() -> tuple[str, ...]:
    """Return the flags for finding the headers of Python and NumPy."""
    include = Path(sysconfig.get_path("include"))
    if not (include / "Python.h").is_file():
        raise CompilerNotFoundError(
            f"the C headers of Python are missing ({include / 'Python.h'}); install them "
            "(Debian and Ubuntu: apt install python3-dev; Fedora: dnf install python3-devel)"
        )
    return f"-I{include}", f"-I{np.get_include()}"


def _host_flags() -> tuple[str, ...]:
    # The loops that compute are in the units, and those that only move elements ask for more themselves: it is to compile fast.
    flags = ("-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing", "-pthread", *_header_flags())
    return (*flags, *shlex.split(config.compiler_flags))


def _abi() -> str:
    return f"{sysconfig.get_config_var('SOABI')} numpy {np.__version__}"


_libraries: Final = _Libraries(loaded_host)


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


def library_keys(source: str) -> tuple[str, str]:
    """Return the stems of the names under which the cache keeps the library of a translation unit, and the host that loads it."""
    return unit_key(source, optimising_flags(find_compiler())), unit_key(_host_source(), _host_flags(), _abi())


def load_user_library(unit: UserUnit) -> Library:
    """Return the loaded library of a unit with C code of users' Ops.

    Parameters
    ----------
    unit
        The unit.

    Raises
    ------
    CompilerNotFoundError
        There is no such compiler, or the headers of Python are missing.
    CompileError
        The compiler failed.
    """
    return _libraries.load_user(unit)
