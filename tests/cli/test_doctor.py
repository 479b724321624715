"""``lamella doctor``: what it finds, and what it advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamella.cli import main
from lamella.codegen import Finding, diagnose
from lamella.config import config


def finding(subject: str) -> Finding:
    (found,) = [f for f in diagnose() if f.subject == subject]
    return found


def test_where_all_is_well_a_function_is_compiled_and_called(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    told = capsys.readouterr().out
    for subject in ("compiler", "flags", "vector maths", "threads", "headers of Python", "BLAS", "cache", "extra demo"):
        assert f"  {subject}  " in told
    assert "compiled and called" in told
    assert told.endswith("Functions are compiled.\n")
    assert "NO" not in [line[:2] for line in told.splitlines()]


def test_without_a_compiler_it_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    with config.override(compiler="no-such-compiler"):
        assert main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "NO  compiler" in told
    assert "apt install gcc" in told
    assert "compiled and called" not in told
    assert told.endswith("Functions cannot be compiled.\n")


def test_flags_that_the_compiler_refuses_are_shown_with_its_words() -> None:
    with config.override(compiler_flags="-fno-such-flag"):
        found = finding("flags")
    assert found.state == "failing"
    assert "-fno-such-flag" in found.found.split("\n", 1)[1]
    assert "`compiler_flags`" in found.remedy


def test_flags_that_are_not_quoted_well_are_a_finding_too() -> None:
    with config.override(compiler_flags="-DX='"):
        assert finding("flags").state == "failing"
    with config.override(compiler="cc '"):
        assert finding("compiler").state == "failing"


def test_a_cache_folder_that_is_unsafe_or_cannot_be_made_is_named(tmp_path: Path) -> None:
    with config.override(cache_dir=tmp_path / "new"):
        assert finding("cache").state == "fine"
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    with config.override(cache_dir=tmp_path / "file"):
        assert finding("cache").state == "lacking"
    (tmp_path / "c").mkdir()
    (tmp_path / "c").chmod(0o777)
    with config.override(cache_dir=tmp_path):
        found = finding("cache")
    assert found.state == "lacking"
    assert "others may write" in found.found
    assert "`cache_dir`" in found.remedy


def test_threads_tell_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with config.override(openmp=True, threads=2):
        found = finding("threads").found
    assert "OMP_NUM_THREADS=3" in found
    assert "`threads` is 2" in found
    assert "`openmp` is on" in found
