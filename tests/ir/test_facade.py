"""The facade of `ir` hands on what the graph core and printing hand on."""

import importlib

import pytest

import lamella.ir


@pytest.mark.parametrize("part", ["graph", "printing"])
def test_the_facade_is_complete(part: str) -> None:
    inner = importlib.import_module(f"lamella.ir.{part}")
    handed_on = {
        name: thing
        for name, thing in vars(inner).items()
        if not name.startswith("_") and getattr(thing, "__name__", "") != f"lamella.ir.{part}.{name}"
    }
    assert len(handed_on) > 10
    for name, thing in handed_on.items():
        assert getattr(lamella.ir, name) is thing
