"""The rewrites of this package, group by group: the only way by which they reach `optdb`.

A rewrite that may be applied by default has the tag ``fast_run``, and ``fast_compile`` where it is cheap and makes graphs smaller. One
that assumes that there are no NaN or infinities has ``nan_unsafe`` and not ``fast_run``; one that may drop the error of a wrong shape has
``shape_unsafe``; one that changes the order of floating-point sums has ``reassociates``.
"""

from __future__ import annotations

from typing import final

import attrs

from lamella.rewriting.engine import GraphRewriter, NodeRewriter
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.inplace import InplaceElementwise

__all__ = [
    "BLAS",
    "CANONICALIZE",
    "FUSION",
    "INPLACE",
    "SPECIALIZE",
    "STABILIZE",
    "UNCANONICALIZE",
    "USELESS",
    "Builtin",
    "PlacedBuiltin",
]


@final
@attrs.frozen(init=False)
class Builtin:
    """A node rewriter and its tags."""

    rewriter: NodeRewriter
    tags: tuple[str, ...]

    def __init__(self, rewriter: NodeRewriter, *tags: str) -> None:
        self.__attrs_init__(rewriter, tags)


@final
@attrs.frozen(init=False)
class PlacedBuiltin:
    """A graph rewriter, its position in `optdb` and its tags."""

    rewriter: GraphRewriter
    position: float
    tags: tuple[str, ...]

    def __init__(self, rewriter: GraphRewriter, position: float, *tags: str) -> None:
        self.__attrs_init__(rewriter, position, tags)


USELESS: tuple[Builtin, ...] = ()
"""Operations that do nothing."""

CANONICALIZE: tuple[Builtin, ...] = ()
"""To a standard form."""

STABILIZE: tuple[Builtin, ...] = ()
"""To forms that lose no accuracy and do not overflow."""

SPECIALIZE: tuple[Builtin, ...] = ()
"""To special operations that do the same, faster."""

UNCANONICALIZE: tuple[Builtin, ...] = ()
"""To faster forms that are not the standard ones."""

BLAS: tuple[PlacedBuiltin, ...] = ()
"""To calls of BLAS routines; positions from 1.7 to below 2."""

FUSION: tuple[PlacedBuiltin, ...] = (PlacedBuiltin(ElementwiseFusion(), 48.5, "fast_run", "fusion"),)
"""Elementwise operations into one; positions from 48 to below 49."""

INPLACE: tuple[PlacedBuiltin, ...] = (PlacedBuiltin(InplaceElementwise(), 75, "fast_run", "inplace"),)
"""To operations that overwrite inputs; positions from 50."""
