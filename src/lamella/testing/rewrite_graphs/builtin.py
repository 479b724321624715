"""The generators for the rewrites of this package, family by family."""

from __future__ import annotations

from typing import Final

from lamella.testing.rewrite_graphs.algebra import ALGEBRA
from lamella.testing.rewrite_graphs.generator import GraphsFor

__all__ = ["BUILTIN"]

BUILTIN: Final[tuple[GraphsFor, ...]] = (*ALGEBRA,)
"""All of them."""
