"""`CompileProfile`: what compiling a function cost, as data and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import attrs
from typing_extensions import override

if TYPE_CHECKING:  # a function from the cache is made without it
    from lamella.rewriting import RewriterProfile

__all__ = ["CompileProfile"]


@final
@attrs.frozen
class CompileProfile:
    """What compiling a function cost.

    Attributes
    ----------
    seconds
        The time that `function` took in all.
    rewriting_seconds, scheduling_seconds, linking_seconds
        The time it took to rewrite the graph; to order it and decide on its storage; to make machine code, or to find it in the cache.
    nodes_before, nodes_after
        How many nodes the graph had as it was written, and as it was compiled.
    recalled
        Whether the whole function was taken from the cache, so that there was nothing to rewrite, to order or to link but machine code.
    rewriting
        What each rewriter did; None unless ``config.profile_rewrites`` was set.
    """

    seconds: float
    rewriting_seconds: float
    scheduling_seconds: float
    linking_seconds: float
    nodes_before: int
    nodes_after: int
    recalled: bool = False
    rewriting: RewriterProfile | None = None

    @override
    def __str__(self) -> str:
        lines = [
            "Compile profile",
            "---------------",
            f"{self.seconds:.6f}s - in all, {self.nodes_before}/{self.nodes_after} nodes before/after"
            + (", taken from the cache" if self.recalled else ""),
            f"  {self.rewriting_seconds:.6f}s - rewriting",
            f"  {self.scheduling_seconds:.6f}s - scheduling",
            f"  {self.linking_seconds:.6f}s - linking",
        ]
        return "\n".join(lines if self.rewriting is None else [*lines, "", str(self.rewriting)])
