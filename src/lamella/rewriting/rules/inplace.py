"""Elementwise nodes that write their result over an input that nothing needs any more.

    before                         after
    %0 = exp(%x)                   %0 = exp(%x)
    %1 = add(%0, %y)               %1 = add{inplace=[(0, 0)]}(%0, %y)

Which inputs may be overwritten is a question about the whole graph; `typing_layer` answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, Elemwise, FunctionGraph
from lamella.rewriting.engine import GraphRewriter
from lamella.typing_layer import InplaceProposal, accept_inplace, apply_inplace

__all__ = ["InplaceElementwise"]


@final
@attrs.frozen
class InplaceElementwise(GraphRewriter):
    """``f(x, y) -> f{over x}(x, y)``, where x has the dtype and shape of the result and is read by nobody afterwards.

    Always valid where the analysis of destruction accepts it. It pays because no memory is allocated, and what is written is in cache.
    """

    name: str = "inplace_elemwise"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        proposals = [proposal for node in fgraph.order for proposal in _proposals(node)]
        rewritten, _ = apply_inplace(fgraph, accept_inplace(fgraph, proposals).accepted)
        return rewritten


def _proposals(node: Apply[Any]) -> Iterator[InplaceProposal]:
    op = node.op
    if not isinstance(op, Elemwise) or op.inplace_pattern or len(node.outputs) != 1:
        return
    out = node.outputs[0].type
    for i, variable in enumerate(node.inputs):
        computed = variable.owner is not None
        fits = variable.type.dtype == out.dtype and variable.type.broadcastable == out.broadcastable
        if fits and out.is_super(variable.type) is not None and (computed or not variable.is_constant):
            yield InplaceProposal(node, Elemwise(op.scalar_op, ((0, i),)))
