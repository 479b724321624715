"""The whole C text of small functions, but for the support headers, beside this file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lamella.codegen import write_program
from lamella.ir import FunctionGraph, IndexedElemwise, Square, Sum, TensorType, Variable, lt
from lamella.typing_layer import schedule

FOLDER = Path(__file__).parent / "golden"


def graph(name: str) -> FunctionGraph:
    x = TensorType("float64", (None, None))("x")
    row = TensorType("float32", (1, None))("row")
    table, index = TensorType("float64", (None,))("table"), TensorType("int64", (None,))("index")
    total = Sum((0,)).normal_form("float64", 1)
    outputs: dict[str, list[Variable[Any]]] = {
        "elementwise": [lt.exp(lt.add(lt.mul(x, row), 0.5))],
        "reduction": [lt.sum(x, axis=1)],
        "softmax": [lt.softmax(x, axis=1)],
        "dot": [lt.dot(x, lt.transpose(x))],
        "argmax": [lt.argmax(x, axis=0)],
        "indexed": [
            *IndexedElemwise(Square(), (0,), (0, 0), (total, None), (None, 0)).make_node(table, index, table).outputs
        ],
    }
    return FunctionGraph([table, index] if name == "indexed" else [x, row], outputs[name])


@pytest.mark.parametrize("name", ["elementwise", "reduction", "softmax", "dot", "argmax", "indexed"])
def test_the_text_is_as_kept(name: str) -> None:
    text = write_program(schedule(graph(name))).text
    text = text[text.index(f"LM_DECLARE_ARRAY({1 if name == 'indexed' else 2});") :]
    path = FOLDER / f"{name}.c"
    if os.environ.get("LAMELLA_UPDATE_GOLDENS"):
        path.write_text(text)
    assert text == path.read_text(), f"LAMELLA_UPDATE_GOLDENS=1 pytest {Path(__file__).name} writes {path.name} anew"
