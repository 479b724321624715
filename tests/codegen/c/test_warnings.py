"""C is compiled without warnings: here the host of compiled functions, and in the catalogue the C of every Op."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamella.codegen import compile_shared_object, find_compiler, optimising_flags
from lamella.codegen.c import loading
from lamella.config import config
from lamella.errors import CompileError
from tests.catalogue.batches import WITHOUT_WARNINGS


def test_the_host_compiles_without_warnings(tmp_path: Path) -> None:
    source = tmp_path / "host.c"
    source.write_text(loading._host_source())
    with config.override(compiler_flags=WITHOUT_WARNINGS):
        compile_shared_object(find_compiler(), source, tmp_path / "host.so", loading._host_flags(), tmp_path)


def test_the_flags_of_the_catalogue_make_a_warning_an_error(tmp_path: Path) -> None:
    source = tmp_path / "unit.c"
    source.write_text("static int nobody_calls_it(void) { return 1; }\n")
    with config.override(compiler_flags=WITHOUT_WARNINGS):
        flags = optimising_flags(find_compiler())
    with pytest.raises(CompileError, match="nobody_calls_it"):
        compile_shared_object(find_compiler(), source, tmp_path / "unit.so", flags, tmp_path)
