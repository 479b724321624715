"""Which graphs each rewrite fires on: those that users register, and the built-in ones."""

from __future__ import annotations

import threading
from typing import Final

from lamella.testing.rewrite_graphs.builtin import BUILTIN
from lamella.testing.rewrite_graphs.generator import GraphMaker, GraphsFor

__all__ = ["graphs_for", "register_graphs"]

_lock: Final = threading.Lock()
_known: Final[dict[str, GraphsFor]] = {graphs.rewrite: graphs for graphs in BUILTIN}


def register_graphs(rewrite: str, *makers: GraphMaker) -> None:
    """Say on which graphs a rewrite of one's own fires, for `verify_rewrite`. What was said of the name before is forgotten.

    Parameters
    ----------
    rewrite
        The name under which it is registered in `optdb`.
    *makers
        Functions that draw the arguments of a graph and return its outputs: one for each form of the law.

    Examples
    --------
    >>> import lamella.tensor as lt
    >>> register_graphs("exp_of_log", lambda draw: lt.exp(lt.log(draw.floats())))
    """
    graphs = GraphsFor(rewrite, *makers)
    with _lock:
        _known[rewrite] = graphs


def graphs_for(rewrite: str) -> GraphsFor | None:
    """Return the generators for a rewrite: those that were registered last; None where there are none."""
    with _lock:
        return _known.get(rewrite)
