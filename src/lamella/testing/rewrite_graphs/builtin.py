"""The generators for the rewrites of this package, family by family."""

from __future__ import annotations

from typing import Final

from lamella.testing.rewrite_graphs.algebra import ALGEBRA
from lamella.testing.rewrite_graphs.blas import BLAS
from lamella.testing.rewrite_graphs.combined_reductions import COMBINED_REDUCTIONS
from lamella.testing.rewrite_graphs.control import CONTROL
from lamella.testing.rewrite_graphs.exponentials import EXPONENTIALS
from lamella.testing.rewrite_graphs.fusion import FUSION
from lamella.testing.rewrite_graphs.generator import GraphsFor
from lamella.testing.rewrite_graphs.indexing import INDEXING
from lamella.testing.rewrite_graphs.inplace import INPLACE
from lamella.testing.rewrite_graphs.joining import JOINING
from lamella.testing.rewrite_graphs.lifting import LIFTING
from lamella.testing.rewrite_graphs.reductions import REDUCTIONS
from lamella.testing.rewrite_graphs.shapes import SHAPES
from lamella.testing.rewrite_graphs.simplification import SIMPLIFICATION
from lamella.testing.rewrite_graphs.stability import STABILITY
from lamella.testing.rewrite_graphs.structure import STRUCTURE
from lamella.testing.rewrite_graphs.written import WRITTEN

__all__ = ["BUILTIN"]

BUILTIN: Final[tuple[GraphsFor, ...]] = (
    *(*STRUCTURE, *ALGEBRA, *SIMPLIFICATION, *STABILITY, *EXPONENTIALS, *SHAPES, *INDEXING),
    *(*REDUCTIONS, *BLAS, *FUSION, *INPLACE, *CONTROL),
    *(*JOINING, *LIFTING, *WRITTEN, *COMBINED_REDUCTIONS),
)
"""All of them."""
