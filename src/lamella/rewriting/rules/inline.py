"""Graphs within graphs, put in the place of the Ops that compute them.

before                                  after
%0 = OpFromGraph{square}(%x)            %0 = mul(%x, %x)
%1 = exp(%0)                            %1 = exp(%0)
"""

from __future__ import annotations

from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, FunctionGraph, OpFromGraph, Variable
from lamella.rewriting.engine import GraphRewriter, Observer, in2out, node_rewriter

__all__ = ["InlineGraphs", "inner_graph_inlined"]


@node_rewriter([OpFromGraph])
def inner_graph_inlined(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``OpFromGraph(x -> f(x))(y) -> f(y)``

    Always valid; not made where ``inline=False`` forbids it. It pays because the rest of the rewrites see the inner graph.
    """
    op = node.op
    return op.inlined(node.inputs) if isinstance(op, OpFromGraph) and op.is_inline else None


@final
@attrs.frozen
class InlineGraphs(GraphRewriter):
    """``OpFromGraph(x -> f(x))(y) -> f(y)``, everywhere, and in what was put in place as well.

    Always valid; not made where ``inline=False`` forbids it. It pays because the rest of the rewrites see the inner graphs, and because these become
    part of the compiled function.

    Parameters
    ----------
    name
        A name.
    """

    name: str = "inline_op_from_graph"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        # Most graphs have none of these nodes, and a walk costs more than this look.
        if not any([isinstance(node.op, OpFromGraph) for node in fgraph.order]):
            return fgraph
        return in2out(inner_graph_inlined, name=self.name).apply_observed(fgraph, observer)
