"""Tables: aligned plain text, or rich's in a terminal."""

from __future__ import annotations

import sys

import pytest

from lamella.cli.tables import plain_table, print_table


def test_columns_are_as_wide_as_their_widest_line() -> None:
    rows = [("a", "one\ntwo three"), ("bbbb", "x")]
    assert plain_table(("k", "value"), rows) == "k     value\na     one\n      two three\nbbbb  x"


def test_rich_draws_in_a_terminal_what_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(("k",), [("[bold]no markup[/bold]",)])
    drawn = capsys.readouterr().out
    assert "[bold]no markup[/bold]" in drawn
    assert len(drawn.splitlines()) == 5


def test_without_rich_a_terminal_gets_plain_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    print_table(("k",), [("v",)])
    assert capsys.readouterr().out == "k\nv\n"
