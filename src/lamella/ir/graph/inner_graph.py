"""Ops that contain a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from lamella.ir.graph.fgraph import FunctionGraph

__all__ = ["HasInnerGraph"]


@runtime_checkable
class HasInnerGraph(Protocol):
    """What an Op that computes a graph of its own has: walks by name and printing look into it."""

    @property
    def fgraph(self) -> FunctionGraph:
        """The inner graph."""
