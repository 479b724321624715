"""What goes wrong around the cache: never a wrong entry loaded, nothing half-written left, compiled anew instead."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from lamella.codegen import CompiledCache, Compiler, check_cache, find_compiler, list_cache
from lamella.codegen.c import loading
from lamella.codegen.c.host import LoadedHost
from lamella.config import config
from lamella.errors import CacheWarning, CompileError, CompilerNotFoundError

FLAGS = ("-O0", "-fPIC")


def answering(number: int) -> str:
    return f"int answer(void) {{ return {number}; }}\n"


def load(cache: CompiledCache, number: int, compiler: Compiler | None = None) -> int:
    answer: int = cache.load(answering(number), FLAGS, lambda path: ctypes.CDLL(str(path)).answer(), compiler=compiler)
    return answer


def entries(cache: CompiledCache) -> list[Path]:
    return [entry.path for entry in list_cache(cache.folder)]


def nothing_is_half_written(folder: Path) -> bool:
    left = {path.name for path in folder.rglob("*") if path.suffix != ".so"}
    return left <= {"building"} and check_cache(folder) == []


@pytest.fixture
def cache(tmp_path: Path) -> CompiledCache:
    return CompiledCache(tmp_path / "cache")


def test_an_entry_with_a_changed_byte_or_a_part_of_one_is_refused(cache: CompiledCache) -> None:
    load(cache, 1)
    (path,) = entries(cache)
    contents = path.read_bytes()
    path.unlink()  # it is loaded
    rng = random.Random(1)
    places = [*rng.sample(range(len(contents)), 150), *range(len(contents) - 60, len(contents))]
    for place in places:
        changed = bytearray(contents)
        changed[place] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        path.chmod(0o600)
        assert check_cache(cache.folder), place
        path.write_bytes(contents[:place])
        assert check_cache(cache.folder), place
    assert load(CompiledCache(cache.folder), 1) == 1
    assert nothing_is_half_written(cache.folder)


def test_an_entry_under_the_name_of_another_one_is_refused(cache: CompiledCache) -> None:
    load(cache, 1)
    (one,) = entries(cache)
    load(cache, 2)
    (two,) = set(entries(cache)) - {one}
    contents = one.read_bytes()
    two.unlink()  # it is loaded
    two.write_bytes(contents)
    two.chmod(0o600)
    assert check_cache(cache.folder) == [f"{two.name} is the entry {one.stem}"]
    assert load(CompiledCache(cache.folder), 2) == 2
    assert check_cache(cache.folder) == []


def give_away(path: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if how == "chown":
        os.chown(path, 12345, -1)
        return
    given = path.stat()
    os.link(path, path.with_name("kept"))  # no other file gets its number
    original = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        status = original(descriptor)
        if status.st_ino != given.st_ino:
            return status
        return os.stat_result((*status[:4], 12345, *status[5:]))

    monkeypatch.setattr(os, "fstat", fstat)


@pytest.mark.parametrize("how", ["stat", *(["chown"] if os.geteuid() == 0 else [])])
def test_an_entry_of_another_user_is_not_loaded(
    cache: CompiledCache, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    load(cache, 6)
    (path,) = entries(cache)
    before = path.stat().st_ino
    give_away(path, how, monkeypatch)
    assert check_cache(cache.folder) == [f"{path.name} belongs to the user 12345"]
    assert load(CompiledCache(cache.folder), 6) == 6
    assert path.stat().st_ino != before
    assert check_cache(cache.folder) == []


def test_a_folder_of_another_user_is_refused(cache: CompiledCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.folder.mkdir(mode=0o700)
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.warns(CacheWarning, match=f"belongs to the user {mine}, not to you"):
        assert load(cache, 1) == 1
    assert list(cache.folder.iterdir()) == []


def test_a_folder_that_code_may_not_be_run_from_is_replaced_by_a_temporary_one(cache: CompiledCache) -> None:
    def refused(path: Path) -> int:
        if path.parent == cache.folder:
            raise OSError(f"{path}: failed to map segment from shared object: Operation not permitted")
        answer: int = ctypes.CDLL(str(path)).answer()
        return answer

    with pytest.warns(CacheWarning, match="may not be run"):
        assert cache.load(answering(1), FLAGS, refused) == 1
    assert cache.load(answering(2), FLAGS, refused) == 2


# What root may do, it gives up, so that permissions hold; no dump of memory is written.
PREAMBLE = """
import ctypes, os, resource, shutil, sys, warnings
from pathlib import Path
from lamella.codegen import CompiledCache, list_cache
from lamella.errors import CompileError

header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert ctypes.CDLL(None, use_errno=True).capset(header, data) == 0
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
folder = Path(sys.argv[1])
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)

def load(cache, number):
    source = f"int answer(void) {{ return {number}; }}"
    return cache.load(source, ("-O0", "-fPIC"), lambda path: ctypes.CDLL(str(path)).answer())

def warned(cache, number):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert load(cache, number) == number
    return [str(warning.message) for warning in caught]

assert warned(CompiledCache(folder), 1) == []
(entry,) = folder.glob("*.so")
"""

READ_ONLY = """
folder.chmod(0o500)
before = entry.read_bytes()
assert warned(CompiledCache(folder), 1) == []
cache = CompiledCache(folder)
(said,) = warned(cache, 2)
assert "cannot be written" in said and "Permission denied" in said and "temporary folder" in said, said
assert warned(cache, 3) == warned(cache, 1) == []
# A damaged entry that cannot be removed is not loaded either.
def replace_entry(contents):  # what is loaded is not to change
    folder.chmod(0o700)
    entry.unlink()
    entry.write_bytes(contents)
    entry.chmod(0o600)
    folder.chmod(0o500)
replace_entry(before[:-1])
(said,) = warned(CompiledCache(folder), 1)
assert "Permission denied" in said
replace_entry(before)
# Nor does one that is whole and cannot be loaded come again and again.
tried = []
def picky(path):
    tried.append(path)
    if path.parent == folder: raise OSError("a library that it needs has gone")
    return ctypes.CDLL(str(path)).answer()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cache = CompiledCache(folder)
    assert cache.load("int answer(void) { return 1; }", ("-O0", "-fPIC"), picky) == 1
assert len(caught) == 1 and "nor removed" in str(caught[0].message)
assert tried[0] == entry and len(tried) == 2
folder.chmod(0o700)
assert [path.name for path in folder.iterdir() if path != entry] == ["building"]
assert entry.read_bytes() == before
"""

FULL = """
def contents():
    return sorted([path.name for path in folder.rglob("*")])

before = contents()
size = entry.stat().st_size
# The source, the compiler's files, the product, or only the entry do not go on the disk.
for limit in (10, 600, size // 2, size - 100, size - 1):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, unlimited[1]))
    cache = CompiledCache(folder)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        assert load(cache, 1) == 1
        try:
            load(cache, 2)
        except CompileError as error:
            pass
        else:
            raise AssertionError(limit)
    assert contents() == before, (limit, contents())
    resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
assert warned(CompiledCache(folder), 2) == []
assert len(list_cache(folder)) == 2
"""


@pytest.mark.parametrize("program", [READ_ONLY, FULL], ids=["read-only", "full"])
def test_a_folder_that_cannot_be_written(tmp_path: Path, program: str) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + program, str(tmp_path / "cache")],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert list(temporary.iterdir()) == []
    assert nothing_is_half_written(tmp_path / "cache")


def scripted(folder: Path, script: str) -> Path:
    """Make a compiler that does something before it is what it is, or instead."""
    real = shutil.which("cc") or find_compiler().command[0]
    place = folder / "scripted-cc"
    place.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\n{script}\nexec {real} "$@"\n')
    place.chmod(0o755)
    return place


def test_a_compiler_that_vanishes_between_two_compilations(cache: CompiledCache, tmp_path: Path) -> None:
    compiler = scripted(tmp_path, "")
    with config.override(compiler=str(compiler)):
        assert load(cache, 1) == 1
        found = find_compiler()
        compiler.unlink()
        with pytest.raises(CompilerNotFoundError, match="scripted-cc: not found"):
            load(cache, 2)
        with pytest.raises(CompilerNotFoundError, match="could not be started"):  # after it has been found
            load(cache, 2, found)
        assert nothing_is_half_written(cache.folder)
        scripted(tmp_path, "")
        assert load(cache, 2) == 2
    assert len(entries(cache)) == 2


HALF = 'for word; do [ "$last" = -o ] && printf half > "$word"; last=$word; done\n'


@pytest.mark.parametrize(
    "death", ["kill -9 $$", "echo 'cc: fatal error: Killed signal terminated program cc1'; exit 1"]
)
def test_a_compiler_that_is_killed(cache: CompiledCache, tmp_path: Path, death: str) -> None:
    once = tmp_path / "once"
    compiler = scripted(tmp_path, f"{HALF}[ -e {once} ] || {{ : > {once}; {death}; }}")
    with config.override(compiler=str(compiler)):
        assert load(cache, 1) == 1
    assert once.exists()
    assert nothing_is_half_written(cache.folder)
    with config.override(compiler=f"{scripted(tmp_path, HALF + death)} -DAGAIN"):
        with pytest.raises(CompileError, match=r"killed by signal 9|Killed signal"):
            load(cache, 2)
        assert len(entries(cache)) == 1
        assert nothing_is_half_written(cache.folder)


def test_processors_and_pythons_side_by_side(cache: CompiledCache, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    loaded: list[Path] = []

    def compile(compiler: Compiler, source: Path, target: Path, flags: Sequence[str], folder: Path) -> None:
        compiled.append(source.stem)
        target.write_bytes(b"compiled")

    class Host(ModuleType):
        def load(self, path: Path) -> Host:
            loaded.append(path)
            return Host("a unit")

    def load_host(path: Path) -> Host:
        loaded.append(path)
        return Host(f"host {len(compiled)}")

    monkeypatch.setattr("lamella.codegen.c.cache.compile_shared_object", compile)
    monkeypatch.setattr(loading, "default_cache", lambda: cache)
    monkeypatch.setattr(loading, "load_host", load_host)

    def keys(python: str, processor: str) -> tuple[str, str]:
        """Return the keys of the host, and of a unit, in a new process."""
        monkeypatch.setattr("sysconfig.get_config_var", lambda name: python)
        monkeypatch.setattr("lamella.codegen.c.cache.cpu_identity", lambda: processor)
        loaded.clear()
        loading._Libraries(LoadedHost()).load("int unit;\n", "a unit")
        host, unit = loaded
        return host.stem, unit.stem

    first = keys("cpython-311-x86_64", "avx2")
    other_python = keys("cpython-312-x86_64", "avx2")
    other_processor = keys("cpython-311-x86_64", "avx512f")
    # A unit has no Python in it: two Pythons share it.
    assert first[0] != other_python[0]
    assert first[1] == other_python[1]
    assert not {*first, *other_python} & {*other_processor}
    assert len(compiled) == len(set(compiled)) == 5
    assert keys("cpython-311-x86_64", "avx2") == first
    assert len(compiled) == 5
