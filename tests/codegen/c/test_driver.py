"""The compiler driver: which compiler, which flags, what its failures say."""

from __future__ import annotations

import ctypes
import stat
from pathlib import Path

import pytest

from lamella.codegen import compile_shared_object, find_compiler, optimising_flags
from lamella.config import config
from lamella.errors import CompileError, CompilerNotFoundError


def test_a_compiler_is_found_and_says_its_version() -> None:
    compiler = find_compiler()
    assert Path(compiler.command[0]).is_absolute()
    assert compiler.version
    assert compiler.version in compiler.identity


def test_without_a_compiler_the_error_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        config.override(compiler=""),
        pytest.raises(CompilerNotFoundError, match=r"cc: not found; gcc: not found; clang: not found.*apt install gcc"),
    ):
        find_compiler()


def test_the_flag_names_the_compiler(tmp_path: Path) -> None:
    with (
        config.override(compiler="no-such-compiler"),
        pytest.raises(CompilerNotFoundError, match="no-such-compiler: not found"),
    ):
        find_compiler()
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with (
        config.override(compiler=str(broken)),
        pytest.raises(CompilerNotFoundError, match=r"failed \(3\):\nit is broken"),
    ):
        find_compiler()
    with config.override(compiler=f"{find_compiler().command[0]} -DNAMED"):
        assert find_compiler().command[1:] == ("-DNAMED",)


def test_another_compiler_in_the_same_place_is_another_identity(tmp_path: Path) -> None:
    place = tmp_path / "cc"
    identities = set()
    for version in ("1.0", "2.0"):
        place.unlink(missing_ok=True)
        place.write_text(f"#!/bin/sh\necho cc {version}\n")
        place.chmod(0o755)
        with config.override(compiler=f"{place} -D{version[0]}"):  # other words, so that it is looked at again
            identities.add(find_compiler().identity)
    assert len(identities) == 2


def test_flags_keep_what_floating_point_numbers_mean() -> None:
    flags = optimising_flags(find_compiler())
    assert "-ffp-contract=off" in flags
    assert not {"-ffast-math", "-Ofast", "-fno-signed-zeros", "-ffinite-math-only"} & set(flags)


def test_flags_for_a_debugger_and_extra_flags() -> None:
    with config.override(c_debug=True):
        assert {"-O0", "-g"} <= set(optimising_flags(find_compiler()))
    with config.override(compiler_flags="-DONE '-DTWO=2 3'"):
        assert optimising_flags(find_compiler())[-2:] == ("-DONE", "-DTWO=2 3")


def test_compile_and_load(tmp_path: Path) -> None:
    source, target = tmp_path / "a.c", tmp_path / "a.so"
    source.write_text('__attribute__((visibility("default"))) int answer(void) { return 42; }\n')
    compiler = find_compiler()
    compile_shared_object(compiler, source, target, optimising_flags(compiler), tmp_path)
    assert ctypes.CDLL(str(target)).answer() == 42


def test_a_compile_error_holds_what_the_compiler_said(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("int wrong(void) { return undeclared_name; }\n")
    with pytest.raises(CompileError, match=r"failed \(1\)(.|\n)*undeclared_name"):
        compile_shared_object(find_compiler(), source, tmp_path / "wrong.so", [], tmp_path)


def test_a_product_is_rounded_before_it_is_added(tmp_path: Path) -> None:
    source, target = tmp_path / "fma.c", tmp_path / "fma.so"
    source.write_text(
        '__attribute__((visibility("default"))) double f(double a, double b, double c) { return a * b + c; }\n'
    )
    compiler = find_compiler()
    compile_shared_object(compiler, source, target, optimising_flags(compiler), tmp_path)
    function = ctypes.CDLL(str(target)).f
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * 3
    a = 1.0 + 2.0**-30
    assert function(a, a, -(a * a)) == 0.0
