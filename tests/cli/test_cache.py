"""``lamella cache``: what it lists, what it finds wrong, what it removes."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lamella.cli import main
from lamella.codegen import CompiledCache, list_cache
from lamella.config import config


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache of two entries, a new one that answers 1, and an old one that answers 2."""
    folder = tmp_path_factory.mktemp("compiled") / "c"
    for number in (1, 2):
        text = f"int number(void) {{ return {number}; }}\n"
        CompiledCache(folder).load(text, ("-O0", "-fPIC"), lambda p: ctypes.CDLL(str(p)), f"answers {number}")
    return folder


@pytest.fixture
def folder(tmp_path: Path, compiled: Path) -> Path:
    """Return a cache of two entries, one of them a month old."""
    place = tmp_path / "c"
    place.mkdir(mode=0o700)
    for entry in list_cache(compiled):
        path = place / entry.path.name
        path.write_bytes(entry.path.read_bytes())
        path.chmod(0o700)
        age = 0.0 if entry.description == "answers 1" else 30 * 86400.0
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    return place


def old(folder: Path) -> Path:
    """Return the file of the old entry."""
    return min(folder.glob("*.so"), key=lambda path: path.stat().st_mtime)


def run(folder: Path, *words: str) -> int:
    with config.override(cache_dir=folder.parent):
        return main(["cache", *words])


def test_list_names_the_entries_the_newest_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "list") == 0
    heading, first, second, total = capsys.readouterr().out.splitlines()
    assert heading.split() == ["key", "written", "size", "what"]
    assert first.endswith("answers 1")
    assert second.endswith("answers 2")
    assert old(folder).stem.startswith(second.split()[0])
    assert total.startswith("2 entries")


def test_check_finds_nothing_wrong_with_a_whole_cache(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "check") == 0
    assert "no problems" in capsys.readouterr().out


def test_check_names_a_damaged_entry(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = old(folder)
    damaged.write_bytes(damaged.read_bytes()[:-5])
    assert run(folder, "check") == 1
    assert f"{damaged.name} is cut short" in capsys.readouterr().out
    run(folder, "list")
    assert "is cut short" in capsys.readouterr().out


def test_check_names_a_folder_that_others_may_change(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.chmod(0o777)
    assert run(folder, "check") == 1
    assert "others may write" in capsys.readouterr().out


def test_clear_keeps_what_is_young(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    aged = old(folder)
    assert run(folder, "clear", "--older-than", "7") == 0
    assert len(list(folder.glob("*.so"))) == 1
    assert not aged.exists()
    assert run(folder, "clear") == 0
    assert list(folder.glob("*.so")) == []
    assert capsys.readouterr().out.count("1 entries removed") == 2


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = str(tmp_path / "missing")
    for action in ("list", "check", "clear"):
        assert main(["cache", action, "--folder", missing]) == 0
    assert not (tmp_path / "missing").exists()
    assert capsys.readouterr().out.startswith("0 entries, 0.0 MB")


def test_an_unknown_action_is_an_error_of_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["cache", "polish"])
    assert stopped.value.code == 2
    assert "polish" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_crash(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = f"from lamella.cli import main; main(['cache', 'list', '--folder', {str(folder)!r}])"
    done = subprocess.run(
        [sys.executable, "-c", command], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writing)
    assert done.stderr == ""
