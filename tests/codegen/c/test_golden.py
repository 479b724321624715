"""The whole C text of two small functions, but for the support headers, beside this file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lamella.codegen import write_program
from lamella.ir import FunctionGraph, TensorType, Variable, lt
from lamella.typing_layer import schedule

FOLDER = Path(__file__).parent / "golden"


def graph(name: str) -> FunctionGraph:
    x = TensorType("float64", (None, None))("x")
    row = TensorType("float32", (1, None))("row")
    outputs: dict[str, list[Variable[Any]]] = {
        "elementwise": [lt.exp(lt.add(lt.mul(x, row), 0.5))],
        "reduction": [lt.sum(x, axis=1)],
        "softmax": [lt.softmax(x, axis=1)],
        "dot": [lt.dot(x, lt.transpose(x))],
        "argmax": [lt.argmax(x, axis=0)],
    }
    return FunctionGraph([x, row], outputs[name])


@pytest.mark.parametrize("name", ["elementwise", "reduction", "softmax", "dot", "argmax"])
def test_the_text_is_as_kept(name: str) -> None:
    text = write_program(schedule(graph(name))).text
    text = text[text.index("LM_DECLARE_ARRAY(2);") :]
    path = FOLDER / f"{name}.c"
    if os.environ.get("LAMELLA_UPDATE_GOLDENS"):
        path.write_text(text)
    assert text == path.read_text(), f"LAMELLA_UPDATE_GOLDENS=1 pytest {Path(__file__).name} writes {path.name} anew"
