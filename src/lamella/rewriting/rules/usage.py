"""Who uses what a rule would compute otherwise: a rule that moves work pays only where nothing else needs the work done as it was."""

from __future__ import annotations

from typing import Any

from lamella.ir import FunctionGraph, Variable

__all__ = ["used_once"]


def used_once(fgraph: FunctionGraph, variable: Variable[Any]) -> bool:
    """Whether one node uses a Variable, at one place, as far as the graph that a pass began with tells."""
    return len(fgraph.get_clients(variable)) <= 1
