"""Large units are compiled in two halves at the same time."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamella.codegen import find_compiler, lower_to_c, write_program
from lamella.config import config
from lamella.errors import CompileError
from lamella.ir import FunctionGraph, TensorType, TensorVariable, Variable, interpret, lt
from lamella.typing_layer import schedule

x = TensorType("float64", (None,))("x")
rng = np.random.default_rng(5)


def large_graph() -> FunctionGraph:
    y: TensorVariable = x
    outputs: list[Variable[Any]] = []
    for i in range(1, 9):
        y = lt.exp(lt.sin(lt.add(lt.mul(y, float(i)), x)))
        outputs += [lt.sum(lt.mul(y, y)), lt.tanh(lt.add(x[:: (-1) ** i], y)), lt.max(y)]
    return FunctionGraph([x], outputs)


def wrapped_compiler(folder: Path, condition: str = "false") -> tuple[str, Path]:
    """Return a compiler that notes what it is called with, and fails under a condition on that."""
    log, wrapper = folder / "log", folder / "wrapper"
    wrapper.write_text(
        f'#!/bin/sh\necho "$@" >> {log}\nif {condition}; then echo no >&2; exit 1; fi\nexec {find_compiler().command[0]} "$@"\n'
    )
    wrapper.chmod(0o700)
    return str(wrapper), log


def halves_in(log: Path) -> list[str]:
    return sorted([word for word in log.read_text().split() if word.startswith("-DLM_HALF")])


def use_processors(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(n)), raising=False)


def test_halves_and_the_whole_are_the_same_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, values = large_graph(), [rng.normal(size=37)]
    expected = interpret(graph.inputs, graph.outputs, values)
    results: list[list[Any]] = []
    for n, halves in ((1, []), (2, ["-DLM_HALF=1", "-DLM_HALF=2"])):
        folder = tmp_path / str(n)
        folder.mkdir(mode=0o700)
        wrapper, log = wrapped_compiler(folder)
        use_processors(monkeypatch, n)
        with config.override(cache_dir=folder, compiler=wrapper, compiler_flags="", compilers=0):
            results.append(lower_to_c(schedule(graph)).executable()(values))
        assert halves_in(log) == halves
    for whole, in_halves, wanted in zip(*results, expected, strict=True):
        np.testing.assert_array_equal(whole, in_halves)
        np.testing.assert_allclose(whole, wanted, rtol=1e-7)


def test_the_failure_of_a_half_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_processors(monkeypatch, 2)
    wrapper, log = wrapped_compiler(tmp_path, 'case "$*" in *-DLM_HALF=1*) true;; *) false;; esac')
    with (
        config.override(cache_dir=tmp_path, compiler=wrapper, compiler_flags="", compilers=0),
        pytest.raises(CompileError, match=r"(?s)-DLM_HALF=1.*failed \(1\).*no"),
    ):
        lower_to_c(schedule(large_graph()))
    assert halves_in(log) == ["-DLM_HALF=1", "-DLM_HALF=2"]


def test_a_small_unit_stays_whole() -> None:
    assert "#if LM_HALF " in write_program(schedule(large_graph())).text
    assert "#if LM_HALF " not in write_program(schedule(FunctionGraph([x], [lt.exp(x)]))).text


def test_each_function_that_is_no_step_of_the_other_half_stands_once() -> None:
    text = write_program(schedule(large_graph())).text
    before, first, rest = text.split("#if LM_HALF != 2")[0], *text.split("#if LM_HALF != 2")[1].split("#endif", 1)
    for half in (first, rest):
        assert "LM_STEP int step" in half
    for name in [line.split("(")[0].split()[-1] for line in first.splitlines() if line.startswith("LM_ALONE")]:
        assert f"{name}(" not in before
        assert f"{name}," not in rest


def test_a_large_function_that_both_halves_call_is_compiled_in_one() -> None:
    matrices = [TensorType("float64", (None, None))(f"x{i}") for i in range(4)]
    graph = FunctionGraph(
        matrices, [f(m, axis=i % 2) for i, m in enumerate(matrices) for f in (lt.softmax, lt.logsumexp)]
    )
    text = write_program(schedule(graph)).text
    shared = re.findall(r"^LM_SHARED \w+ (\w+\d+)\(.*\);$", text, re.MULTILINE)
    assert any([name.startswith("total") for name in shared])
    for name in shared:
        assert len(re.findall(rf"^LM_SHARED \w+ {name}\(.*\)\n{{", text, re.MULTILINE)) == 1
        before, first, second = re.split(r"#if LM_HALF != [12]", text)
        assert f"{name}(" in first or f"{name}(" in second
        assert not re.search(rf"^LM_SHARED \w+ {name}\(.*\)\n{{", before, re.MULTILINE)
    values = [rng.normal(size=shape) for shape in ((3, 1), (15, 17), (16, 32), (500, 40))]
    expected = interpret(graph.inputs, graph.outputs, values)
    for got, wanted in zip(lower_to_c(schedule(graph)).executable()(values), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
