"""The cache on disk: compiled once, never a wrong entry loaded, nothing left over."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from lamella.codegen import CompiledCache, Compiler, check_cache, clear_cache, compile_shared_object, list_cache
from lamella.errors import CacheWarning, CompileError
from tests.codegen.c.cache_race import run_round

FLAGS = ("-O0", "-fPIC")


def answering(number: int) -> str:
    return f"int answer(void) {{ return {number}; }}\n"


def load(cache: CompiledCache, number: int) -> int:
    answer: int = cache.load(
        answering(number), FLAGS, lambda path: ctypes.CDLL(str(path)).answer(), f"answers {number}"
    )
    return answer


def entry(cache: CompiledCache) -> Path:
    (found,) = cache.folder.glob("*.so")
    return found


@pytest.fixture
def cache(tmp_path: Path) -> CompiledCache:
    return CompiledCache(tmp_path / "cache")


Compile = Callable[[Compiler, Path, Path, Sequence[str], Path], None]


def replace_compilation(monkeypatch: pytest.MonkeyPatch, replacement: Compile) -> None:
    monkeypatch.setattr("lamella.codegen.c.cache.compile_shared_object", replacement)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note what is compiled."""
    done: list[str] = []

    def noting(compiler: Compiler, source: Path, target: Path, flags: Sequence[str], folder: Path) -> None:
        done.append(source.read_text())
        compile_shared_object(compiler, source, target, flags, folder)

    replace_compilation(monkeypatch, noting)
    return done


def test_a_source_is_compiled_once(cache: CompiledCache, compilations: list[str]) -> None:
    assert [load(cache, 1), load(cache, 2), load(cache, 1)] == [1, 2, 1]
    assert [load(CompiledCache(cache.folder), n) for n in (1, 2)] == [1, 2]
    assert compilations == [answering(1), answering(2)]


def test_flags_and_context_are_part_of_the_key(cache: CompiledCache) -> None:
    source = "int answer(void) { return NUMBER; }\n"
    found = [
        cache.load(source, (*FLAGS, f"-DNUMBER={number}"), lambda path: ctypes.CDLL(str(path)).answer())
        for number in (1, 2)
    ]
    assert found == [1, 2]
    for context in ("numpy 1", "numpy 2"):
        cache.load(answering(3), FLAGS, lambda path: None, context=context)
    assert len(list_cache(cache.folder)) == 4


@pytest.mark.parametrize("damage", ["truncate", "change", "empty", "extend", "replace by a folder's link", "writable"])
def test_a_damaged_entry_is_compiled_again(cache: CompiledCache, compilations: list[str], damage: str) -> None:
    load(cache, 5)
    path = entry(cache)
    contents = path.read_bytes()
    path.unlink()  # what is loaded is not to change
    path.write_bytes(contents)
    path.chmod(0o600)
    if damage == "truncate":
        path.write_bytes(contents[: len(contents) // 2])
    elif damage == "change":
        path.write_bytes(contents[:2000] + bytes([contents[2000] ^ 1]) + contents[2001:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "extend":
        path.write_bytes(contents + b"\0")
    elif damage == "writable":
        path.chmod(0o666)
    else:
        other = cache.folder / "other"
        other.write_bytes(contents)
        path.unlink()
        path.symlink_to(other)
    (problem,) = check_cache(cache.folder)
    assert path.name in problem
    assert load(CompiledCache(cache.folder), 5) == 5
    assert len(compilations) == 2
    assert check_cache(cache.folder) == []


def test_an_entry_that_does_not_load_is_compiled_again(cache: CompiledCache, compilations: list[str]) -> None:
    load(cache, 7)
    tries: list[Path] = []

    def failing_once(path: Path) -> int:
        tries.append(path)
        if len(tries) == 1:
            raise OSError("a library that it needs has gone")
        answer: int = ctypes.CDLL(str(path)).answer()
        return answer

    assert cache.load(answering(7), FLAGS, failing_once) == 7
    assert len(compilations) == 2

    def failing(path: Path) -> int:
        raise OSError("a library that it needs has gone")

    with pytest.raises(CompileError, match="cannot be loaded: a library"):
        cache.load(answering(7), FLAGS, failing)


def test_a_compile_error_leaves_nothing_behind(cache: CompiledCache) -> None:
    with pytest.raises(CompileError, match="undeclared_name"):
        cache.load("int wrong(void) { return undeclared_name; }\n", FLAGS, lambda path: None)
    assert [path.name for path in cache.folder.iterdir()] == ["building"]
    assert list((cache.folder / "building").iterdir()) == []


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    cache = CompiledCache(folder)
    with pytest.warns(CacheWarning, match="others may write to"):
        assert load(cache, 1) == 1
    assert list(folder.iterdir()) == []
    assert load(cache, 2) == 2  # no second warning


def test_a_folder_that_others_may_rename_is_refused(tmp_path: Path) -> None:
    parent = tmp_path / "open"
    parent.mkdir()
    (parent / "cache").mkdir(mode=0o700)
    parent.chmod(0o777)
    with pytest.warns(CacheWarning, match="put another folder in the place"):
        assert load(CompiledCache(parent / "cache"), 1) == 1
    parent.chmod(0o1777)  # as /tmp is
    assert load(CompiledCache(parent / "cache"), 1) == 1
    assert list_cache(parent / "cache")


def test_a_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CompiledCache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match=r"temporary folder .*lamella-.*The flag cache_dir names another"):
        assert load(cache, 1) == 1


@pytest.mark.parametrize("error", ["No space left on device", "Read-only file system", "Disk quota exceeded"])
def test_a_folder_that_cannot_be_written_is_replaced_by_a_temporary_one(
    cache: CompiledCache, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    load(cache, 1)
    original = os.replace

    def full(source: str | Path, target: str | Path) -> None:
        if Path(target).parent == cache.folder:
            raise OSError(28, error)
        original(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert load(cache, 1) == 1  # what is there is used
    with pytest.warns(CacheWarning, match=error):
        assert load(cache, 2) == 2
    assert load(cache, 3) == 3


def test_threads_that_want_one_source_compile_it_once(cache: CompiledCache, compilations: list[str]) -> None:
    start = threading.Barrier(8)
    found: list[int] = []

    def run() -> None:
        start.wait()
        found.append(load(cache, 9))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [9] * 8
    assert len(compilations) == 1


def test_one_source_does_not_wait_for_another(cache: CompiledCache, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(compiler: Compiler, source: Path, target: Path, flags: Sequence[str], folder: Path) -> None:
        if source.read_text() == answering(1):
            begun.set()
            assert go_on.wait(60)
        compile_shared_object(compiler, source, target, flags, folder)

    replace_compilation(monkeypatch, slow)
    thread = threading.Thread(target=load, args=(cache, 1))
    thread.start()
    assert begun.wait(60)
    assert load(cache, 2) == 2  # while the other one is being compiled
    go_on.set()
    thread.join()
    assert len(list_cache(cache.folder)) == 2


def test_list_and_clear(cache: CompiledCache) -> None:
    for number in (1, 2, 3):
        load(cache, number)
    entries = list_cache(cache.folder)
    assert {e.description for e in entries} == {"answers 1", "answers 2", "answers 3"}
    assert all(e.size == e.path.stat().st_size and not e.problem for e in entries)
    assert clear_cache(cache.folder, older_than=3600) == 0
    assert clear_cache(cache.folder) == 3
    assert list_cache(cache.folder) == []
    assert load(cache, 1) == 1
    shutil.rmtree(cache.folder)
    assert not list_cache(cache.folder)
    assert not check_cache(cache.folder)
    assert clear_cache(cache.folder) == 0
    assert load(cache, 1) == 1


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_kept(cache: CompiledCache) -> None:
    load(cache, 1)
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "import lamella.codegen.c.cache as cache\n"
        "with cache._workplace(Path(sys.argv[1])) as work:\n"
        "    (work / 'half.so').write_bytes(b'half')\n"
        "    print(work, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(cache.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    work = Path(process.stdout.readline().strip())
    assert load(CompiledCache(cache.folder), 1) == 1
    assert (work / "half.so").exists()
    process.kill()
    process.communicate()
    assert (work / "half.so").exists()
    assert load(CompiledCache(cache.folder), 1) == 1
    assert list((cache.folder / "building").iterdir()) == []


def test_two_processes_fill_one_cache_and_one_is_killed(tmp_path: Path) -> None:
    run_round(tmp_path / "cache", n_sources=8, seed=1)
