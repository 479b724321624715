"""Pickling of rewriters that a decorator has put in the place of their function: by the name under which they are found."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["found_by_name"]


def found_by_name(rewriter: object, function: Callable[..., object]) -> tuple[Any, ...] | None:
    """Return how to find a rewriter where its function was defined, as ``__reduce__`` says it; None where it is not there."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None or "<" in name or _find(module, name) is not rewriter:
        return None
    return (_find, (module, name))


def _find(module: str, name: str) -> object:
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found
