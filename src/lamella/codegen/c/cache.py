"""The cache of compiled code on disk, safe for many processes and threads.

An entry is named after the hash of all that went into it: source, flags, compiler, processor. It is compiled under a name
of its own and renamed into place, so that nobody sees half of it; what a killed process left behind is removed by the next
one. An entry carries a hash of its own contents: a damaged one is compiled again. Compiled code is run, so a folder in which
others may write is refused, and an entry that belongs to somebody else is not loaded.

    <cache_dir>/c/<key>.so                 the shared object, followed by a description and a hash
    <cache_dir>/c/<key>.graph              which shared object computes a graph, and its constants: see `recall`
    <cache_dir>/c/building/<name>/         where something is being compiled just now
    <cache_dir>/c/building/<name>.lock     held by the process that does it, for as long as it lives

Where the folder cannot be used (read-only, full, unsafe), a temporary one serves, and one warning says so.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self, final

import attrs
from typing_extensions import TypeVar

from lamella.codegen.c.cache_entries import Damaged, cache_folder, folder_problem, read_entry, sealed
from lamella.codegen.c.driver import Compiler, compile_shared_object, cpu_identity, find_compiler
from lamella.errors import CacheWarning, CompileError

__all__ = [
    "CacheEntry",
    "CompiledCache",
    "check_cache",
    "clear_cache",
    "default_cache",
    "list_cache",
    "unit_key",
    "writing_problem",
]

T = TypeVar("T")


@final
@attrs.frozen
class CacheEntry:
    """What is known of one entry without loading it.

    Attributes
    ----------
    key
        The hash of what went into it.
    path
        Where it is.
    size
        Its size in bytes.
    modified
        When it was written, in seconds since the epoch.
    description
        What it was compiled from, in a few words; empty for a damaged entry.
    problem
        What is wrong with it; empty where nothing is.
    """

    key: str
    path: Path
    size: int
    modified: float
    description: str
    problem: str


class _Once:
    """Lets one thread at a time work on one key."""

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock = threading.Lock()


def unit_key(
    source: str, flags: Sequence[str], context: str = "", *, cxx: str = "", compiler: Compiler | None = None
) -> str:
    """Return the stem of the name of the entry that `CompiledCache.load` finds or makes for the same arguments."""
    identity = (compiler or find_compiler()).identity
    parts = (source, *flags, identity, cpu_identity(), context, *([cxx] if cxx else []))
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=20).hexdigest()


class CompiledCache:
    """Compiled code, kept in one folder.

    Parameters
    ----------
    folder
        The folder; made when first needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._guard = threading.Lock()
        self._building: weakref.WeakValueDictionary[str, _Once] = weakref.WeakValueDictionary()
        self._fallback: Path | None = None
        self._swept = False

    def load(
        self,
        source: str,
        flags: Sequence[str],
        loader: Callable[[Path], T],
        description: str = "",
        context: str = "",
        *,
        cxx: str = "",
        compiler: Compiler | None = None,
    ) -> T:
        """Return the loaded shared object of a source, compiled now if there is none.

        Several threads may ask for the same source: it is compiled once. While one source is being compiled, others are not
        kept waiting.

        Parameters
        ----------
        source
            The C text.
        flags
            Flags for compiling it.
        loader
            Loads a shared object. An `OSError` or `ImportError` from it means that the entry is damaged.
        description
            A few words for people who look at the cache.
        context
            Whatever else the compiled code depends on, such as the versions of headers.
        cxx
            A second text, in C++.
        compiler
            The compiler; the configured one by default.

        Raises
        ------
        CompilerNotFoundError
            There is no compiler.
        CompileError
            The compiler failed, or its product cannot be loaded.
        """
        compiler = compiler or find_compiler()
        key = unit_key(source, flags, context, cxx=cxx, compiler=compiler)
        with self._guard:
            once = self._building.get(key)
            if once is None:
                once = self._building[key] = _Once()
        with once.lock:
            build = _Build(compiler, key, source, tuple(flags), description, cxx)
            path = self._entry(build)
            try:
                return loader(path)
            except (OSError, ImportError) as error:
                # It is whole, and yet not to be loaded (a library it needs has gone, say): once more, from the beginning.
                self._give_up(path, error)
            path = self._entry(build)
            try:
                return loader(path)
            except (OSError, ImportError) as error:
                raise CompileError(f"what the compiler made cannot be loaded: {error}") from error

    def keep(self, name: str, contents: bytes, facts: dict[str, str]) -> None:
        """Keep something that was not compiled; where the folder cannot be used or written, nothing.

        Parameters
        ----------
        name
            The name of its file.
        contents, facts
            As of `sealed`.
        """
        if self._usable_folder() != self.folder:
            return
        with suppress(OSError), _workplace(self.folder) as work:
            _write(work / name, sealed(contents, facts))
            os.replace(work / name, self.folder / name)

    def _entry(self, build: _Build) -> Path:
        folder = self._usable_folder()
        path = folder / f"{build.key}.so"
        try:
            read_entry(path)
            return path
        except FileNotFoundError:
            pass
        except Damaged:
            with suppress(OSError):  # where it cannot be removed, nothing can be put in its place
                path.unlink(missing_ok=True)
        try:
            return build.run(folder)
        except OSError as error:
            problem = str(error)
        except CompileError:
            problem = writing_problem(folder)
            if not problem:
                raise
        try:
            return build.run(self._fall_back(f"{folder} cannot be written: {problem}"))
        except OSError as error:
            raise CompileError(
                f"compiled code can be written neither to {folder} ({problem}) nor to a temporary folder ({error})"
            ) from error

    def _give_up(self, path: Path, error: Exception) -> None:
        """See to it that an entry that cannot be loaded is not taken again."""
        try:
            path.unlink(missing_ok=True)
        except OSError as why:
            self._fall_back(f"{path.name} cannot be loaded ({error}) nor removed ({why})")
            return
        if "failed to map segment" in str(error):
            self._fall_back(f"code in {path.parent} may not be run: {error}")

    def _usable_folder(self) -> Path:
        with self._guard:
            if self._fallback is not None:
                return self._fallback
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            problem = folder_problem(self.folder)
        except OSError as error:
            problem = str(error)
        if problem:
            return self._fall_back(f"it is not used: {problem}")
        with self._guard:
            swept, self._swept = self._swept, True
        if not swept:
            _sweep(self.folder)
        return self.folder

    def _fall_back(self, reason: str) -> Path:
        with self._guard:
            first = self._fallback is None
            if self._fallback is None:
                self._fallback = Path(tempfile.mkdtemp(prefix="lamella-"))
                atexit.register(shutil.rmtree, self._fallback, ignore_errors=True)
            folder = self._fallback
        if first:
            warnings.warn(
                f"compiled code is kept in the temporary folder {folder} and lost at the end of the process, because of the "
                f"cache folder {self.folder}: {reason}. The flag cache_dir names another folder",
                CacheWarning,
                stacklevel=2,
            )
        return folder


@final
@attrs.frozen
class _Build:
    """What is to be compiled, and under which key it is kept."""

    compiler: Compiler
    key: str
    source: str
    flags: tuple[str, ...]
    description: str
    cxx: str = ""

    def run(self, folder: Path) -> Path:
        """Compile, and put the result into `folder`."""
        target = folder / f"{self.key}.so"
        with _workplace(folder) as work:
            source, product, entry = work / f"{self.key}.c", work / "product.so", work / "entry.so"
            source.write_text(self.source, encoding="utf-8")
            sources = [source]
            if self.cxx:
                sources.append(work / f"{self.key}.cc")
                sources[1].write_text(self.cxx, encoding="utf-8")
            mapped = [f"-fdebug-prefix-map={work}={folder}"] if "-g" in self.flags else []
            compile_shared_object(self.compiler, source, product, [*self.flags, *mapped], work, *sources[1:])
            facts = {
                "key": self.key,
                "description": self.description,
                "compiler": self.compiler.version,
                "flags": " ".join(self.flags),
            }
            _write(entry, sealed(product.read_bytes(), facts))
            if "-g" in self.flags:
                for text in sources:  # a debugger shows them
                    os.replace(text, folder / text.name)
            os.replace(entry, target)
        return target


def _write(path: Path, contents: bytes) -> None:
    """Write a new file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(contents)


@contextmanager
def _workplace(folder: Path) -> Iterator[Path]:
    """Give a new folder to work in, marked as in use for as long as this process lives."""
    building = folder / "building"
    building.mkdir(mode=0o700, exist_ok=True)
    with _Mark.make(building) as mark:
        work = mark.path.with_suffix("")
        work.mkdir(mode=0o700)
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


class _Mark:
    """A locked file: while the lock is held, its process lives."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def make(cls, folder: Path) -> Self:
        """Make and lock a new file."""
        while True:
            mark = cls._lock(folder / f"{secrets.token_hex(8)}.lock", os.O_CREAT | os.O_EXCL)
            if mark is not None:
                return mark

    @classmethod
    def take(cls, path: Path) -> Self | None:
        """Lock an existing file, if its process has died."""
        return cls._lock(path, 0)

    @classmethod
    def _lock(cls, path: Path, how: int) -> Self | None:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | how, 0o600)
        except (FileNotFoundError, FileExistsError):
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Between being opened and being locked it may have been taken for a dead one's, and removed.
            if os.fstat(descriptor).st_ino == os.stat(path).st_ino:
                return cls(path, descriptor)
        except OSError:
            pass
        os.close(descriptor)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _sweep(folder: Path) -> list[str]:
    """Remove what killed processes left behind; return the names of what was removed."""
    removed: list[str] = []
    building = folder / "building"
    try:
        found = sorted(building.iterdir())
    except OSError:
        return removed
    for path in found:
        try:
            if path.suffix == ".lock":
                mark = _Mark.take(path)
                if mark is None:
                    continue
                with mark:
                    shutil.rmtree(path.with_suffix(""), ignore_errors=True)
            elif path.with_suffix(".lock").exists():
                continue
            else:
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # the folder is read-only: what is there can be loaded all the same
        removed.append(path.stem)
    return removed


def writing_problem(folder: Path) -> str:
    """Return why a file of a usual size cannot be written to a folder; empty where it can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 20))
            file.flush()
    except OSError as error:
        return str(error)
    return ""


_caches: dict[Path, CompiledCache] = {}
_caches_guard = threading.Lock()


def default_cache() -> CompiledCache:
    """Return the cache in the folder that the flag `cache_dir` names."""
    folder = cache_folder()
    with _caches_guard:
        known = _caches.get(folder)
        if known is None:
            known = _caches[folder] = CompiledCache(folder)
        return known


def list_cache(folder: Path | None = None) -> list[CacheEntry]:
    """Return the entries of a cache, the newest first.

    Parameters
    ----------
    folder
        The folder of the cache; that of the flag `cache_dir` by default.
    """
    place = cache_folder() if folder is None else folder
    entries: list[CacheEntry] = []
    for path in (*place.glob("*.so"), *place.glob("*.graph")) if place.is_dir() else ():
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # removed by somebody else just now
        try:
            facts, problem = read_entry(path)[1], ""
        except (FileNotFoundError, Damaged) as error:
            facts, problem = {}, str(error)
        entries.append(
            CacheEntry(path.stem, path, status.st_size, status.st_mtime, facts.get("description", ""), problem)
        )
    return sorted(entries, key=lambda entry: (-entry.modified, entry.key))


def check_cache(folder: Path | None = None) -> list[str]:
    """Return the problems of a cache: damaged entries, and a folder that others may change.

    Parameters
    ----------
    folder
        The folder of the cache; that of the flag `cache_dir` by default.
    """
    place = cache_folder() if folder is None else folder
    if not place.is_dir():
        return []
    unsafe = folder_problem(place)
    damaged = [f"{entry.path.name} {entry.problem}" for entry in list_cache(place) if entry.problem]
    return ([unsafe] if unsafe else []) + damaged


def clear_cache(folder: Path | None = None, older_than: float = 0.0) -> int:
    """Remove entries, and what killed processes left behind; return how many entries were removed.

    Code that has been loaded goes on running.

    Parameters
    ----------
    folder
        The folder of the cache; that of the flag `cache_dir` by default.
    older_than
        Keep entries written within so many seconds.
    """
    place = cache_folder() if folder is None else folder
    if not place.is_dir():
        return 0
    _sweep(place)
    now = time.time()
    removed = 0
    for entry in list_cache(place):
        if now - entry.modified >= older_than:
            entry.path.unlink(missing_ok=True)
            entry.path.with_suffix(".c").unlink(missing_ok=True)
            removed += 1
    return removed
