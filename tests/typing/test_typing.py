"""mypy reads what is to be accepted and what is to be refused; both files say themselves what they expect."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from examples import textbook_op
from mypy import api

ROOT = Path(__file__).parents[2]
FILES = ("tests/typing/accepts.py", "tests/typing/rejects.py", "examples/textbook_op.py")


def test_what_is_accepted_and_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    report, problems, status = api.run(["--strict", "--config-file", "mypy.ini", *FILES])
    assert (status, problems) == (0, ""), report + problems


def test_what_is_accepted_runs() -> None:
    accepted = importlib.import_module("tests.typing.accepts")
    assert accepted.f(np.ones(3))[0] == 6


def test_a_textbook_op_needs_no_cast_and_no_ignore() -> None:
    text = (ROOT / FILES[2]).read_text()
    assert not re.search(r"cast|type: ignore|Any\b.*= ", text)
    cost, gradient = textbook_op.cost_and_gradient(np.array([1.0, 2.0]))
    assert cost == 20
    assert gradient.tolist() == [8, 16]


def test_every_refused_line_says_by_which_code() -> None:
    lines = [line for line in (ROOT / FILES[1]).read_text().splitlines() if "type: ignore" in line]
    assert len(lines) > 80
    assert all(re.search(r"# type: ignore\[[a-z, -]+\]", line) for line in lines)
