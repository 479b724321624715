"""The graphs of a `PatternNodeRewriter`, which says itself what it looks for."""

from __future__ import annotations

from typing import Any

from lamella.ir import Variable
from lamella.rewriting import PatternNodeRewriter, Rewriter
from lamella.testing.rewrite_graphs.draw import Draw
from lamella.testing.rewrite_graphs.generator import GraphMaker

__all__ = ["graphs_of_pattern"]


def graphs_of_pattern(rewriter: Rewriter) -> GraphMaker | None:
    """Return a generator of what a pattern looks for, with arguments of one dtype and shape for its names.

    None for other rewriters, and where the pattern leaves open which Op it means.
    """
    if not isinstance(rewriter, PatternNodeRewriter) or _left_side(rewriter, Draw(lambda low, high: low)) is None:
        return None

    def left_side(draw: Draw) -> Variable[Any]:
        built = _left_side(rewriter, draw)
        assert built is not None
        return built

    return left_side


def _left_side(pattern: PatternNodeRewriter, draw: Draw) -> Variable[Any] | None:
    dtype = draw.choose("float64", "float32", "int64")
    # What takes no vectors, or no others, may take square matrices.
    length = draw.length()
    shape = draw.choose((), (length,), (length, length))
    for lengths in (shape, (length, length)):
        variables = {name: draw.tensor(dtype, lengths) for name in sorted(pattern.names)}
        try:
            return pattern.left_side(variables)
        except (TypeError, ValueError):
            draw.arguments.clear()
    return None
