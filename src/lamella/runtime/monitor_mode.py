"""`MonitorMode`: look at every node before and after it runs."""

from __future__ import annotations

from typing import Any, Protocol, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, dprint
from lamella.rewriting import GraphRewriter, RewriteDatabase, RewriteDatabaseQuery, optdb
from lamella.runtime.linking import Executable, PerNodeLinker
from lamella.runtime.mode import FAST_RUN_QUERY, Mode
from lamella.runtime.vm_linker import VMLinker
from lamella.runtime.wrap_linker import NodeThunk, WrapLinker
from lamella.typing_layer import ScheduledGraph

__all__ = ["Monitor", "MonitorMode", "detect_nan"]


class Monitor(Protocol):
    """Looks at a node."""

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply[Any], fn: NodeThunk, /) -> None:
        """Look at a node.

        Parameters
        ----------
        fgraph
            The compiled graph.
        i
            The place of the node in the order in which nodes run.
        node
            The node.
        fn
            What computes it: its inputs are in the cells ``fn.inputs``, its outputs, once it has run, in ``fn.outputs``.
        """


@final
@attrs.frozen
class MonitorMode(Mode):
    """A mode that calls functions before and after each node runs.

    Attributes
    ----------
    pre_func, post_func
        Called before and after a node has run; None for nothing.
    linker
        What runs the nodes.
    query, database
        Which rewrites are applied; those of ``FAST_RUN`` by default.

    Examples
    --------
    Stop at the first NaN::

        lm.function([x], y, mode=lm.MonitorMode(post_func=lm.detect_nan))
    """

    pre_func: Monitor | None = None
    post_func: Monitor | None = None
    linker: PerNodeLinker = attrs.field(factory=VMLinker)
    query: RewriteDatabaseQuery = FAST_RUN_QUERY
    database: RewriteDatabase[Any, GraphRewriter] = attrs.field(default=optdb, repr=False)

    @override
    def link(self, scheduled: ScheduledGraph, original: FunctionGraph) -> Executable:
        return WrapLinker([self.linker], _Watched(self.pre_func, self.post_func)).link(scheduled)


@final
@attrs.frozen
class _Watched:
    pre_func: Monitor | None
    post_func: Monitor | None

    def __call__(self, fgraph: FunctionGraph, i: int, node: Apply[Any], /, *thunks: NodeThunk) -> None:
        (thunk,) = thunks
        if self.pre_func is not None:
            self.pre_func(fgraph, i, node, thunk)
        thunk()
        if self.post_func is not None:
            self.post_func(fgraph, i, node, thunk)


def detect_nan(fgraph: FunctionGraph, i: int, node: Apply[Any], fn: NodeThunk) -> None:
    """Print a node one of whose outputs holds a NaN, with its inputs and outputs: a `Monitor`, for ``post_func``."""
    for (value,) in fn.outputs:
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc" and np.isnan(value).any():
            print("*** NaN detected ***")
            dprint(node.outputs)
            print(f"Inputs : {[cell[0] for cell in fn.inputs]}")
            print(f"Outputs: {[cell[0] for cell in fn.outputs]}")
            return
