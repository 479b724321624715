"""A cache of their own for the tests that compile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lamella.config import config


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile into a temporary folder, not into the user's cache."""
    with config.override(cache_dir=tmp_path_factory.mktemp("cache")):
        yield
