"""The pytest plugin of Lamella: fixtures, and readable messages where Variables and graphs are compared.

pytest imports it wherever Lamella is installed, so it is a module by itself: ``lamella`` is imported when a test asks for it.

Fixtures
--------
lamella_rng
    A ``numpy.random.Generator``, seeded by the name of the test: every run of a test sees the same numbers.
lamella_modes
    The predefined modes, by name.
lamella_mode
    The name of one of them; a test that takes it runs once in each.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import numpy as np

    from lamella.runtime import Mode


@pytest.fixture
def lamella_rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A random generator that depends on the name of the test only."""
    from lamella.testing.plugin import seeded_generator

    return seeded_generator(request.node.nodeid)


@pytest.fixture
def lamella_modes() -> Mapping[str, Mode]:
    """The modes that have a name."""
    from lamella.runtime import predefined_modes

    return predefined_modes()


@pytest.fixture(params=["FAST_COMPILE", "FAST_RUN"])
def lamella_mode(request: pytest.FixtureRequest) -> str:
    """The name of a mode: the test runs in each."""
    name: str = request.param
    return name


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Say how graphs differ, where a test compares them."""
    if "lamella" not in sys.modules:
        return None
    from lamella.testing.plugin import explain_comparison

    return explain_comparison(op, left, right)
