"""`GraphsFor`: the generators of graphs on which a rewrite fires."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs

from lamella.ir import Variable
from lamella.testing.rewrite_graphs.draw import Draw

__all__ = ["GraphMaker", "GraphsFor", "Made"]

Made = Variable[Any] | Sequence[Variable[Any]]
"""What a generator gives: the output of a graph, or several."""

GraphMaker = Callable[[Draw], Made]
"""A generator: draws the arguments of a graph, and returns its outputs."""


@final
@attrs.frozen(init=False)
class GraphsFor:
    """The generators of graphs on which a rewrite fires: one for each form of its law.

    Parameters
    ----------
    rewrite
        The name of the rewrite.
    *makers
        The generators. The rewrite must fire on graphs of each of them.
    """

    rewrite: str
    makers: tuple[GraphMaker, ...]

    def __init__(self, rewrite: str, *makers: GraphMaker) -> None:
        if not makers:
            raise ValueError(f"no generator of graphs is given for {rewrite!r}")
        self.__attrs_init__(rewrite, makers)
