"""`Observer`: who is told what rewriters do, while they do it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lamella.ir import Apply, FunctionGraph, Variable

if TYPE_CHECKING:
    from lamella.rewriting.engine.rewriter import GraphRewriter, NodeRewriter, TransformResult

__all__ = ["Observer", "Transform"]

Transform = Callable[[FunctionGraph, Apply[Any]], "TransformResult"]
"""What a node rewriter does to one node."""


class Observer:
    """Is told of every rewriter that begins and ends, and of every replacement. This one ignores it all."""

    __slots__ = ()

    def entered(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        """A graph rewriter begins."""

    def left(self, rewriter: GraphRewriter, fgraph: FunctionGraph) -> None:
        """The graph rewriter that began last has made this graph."""

    def pass_began(self, fgraph: FunctionGraph) -> None:
        """The graph rewriter that began last makes a pass of node rewriters over this graph."""

    def pass_ended(self, fgraph: FunctionGraph) -> None:
        """The pass has made this graph."""

    def replaced(
        self, rewriter: str | None, before: Sequence[Variable[Any]], after: Sequence[Variable[Any] | None]
    ) -> None:
        """Variables are replaced by others.

        Parameters
        ----------
        rewriter
            The name of the rewriter; None where a node is applied anew because its inputs were replaced.
        before, after
            The Variables, and what stands for each of them now (None for what is used no longer).
        """

    def transform_of(self, rewriter: NodeRewriter, transform: Transform) -> Transform:
        """Return what a walk shall call to run `transform` of a node rewriter: a wrapper, to time it, or itself."""
        return transform
