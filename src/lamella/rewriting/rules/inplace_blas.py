"""Products that are added to an array whose memory nothing needs any more.

    before                                   after
    %0 = Dot(%x, %y)                         %0 = Dot(%x, %y)
    %1 = Gemm(%0, 1.0, %v, %w, 1.0)          %1 = Gemm{inplace}(%0, 1.0, %v, %w, 1.0)  # destroys %0

Which arrays may be overwritten is a question about the whole graph; `typing_layer` answers it.
"""

from __future__ import annotations

from typing import final

import attrs
from typing_extensions import override

from lamella.ir import AccumulatedProduct, FunctionGraph
from lamella.rewriting.engine import GraphRewriter
from lamella.typing_layer import InplaceProposal, accept_inplace, apply_inplace

__all__ = ["InplaceBlas"]


@final
@attrs.frozen
class InplaceBlas(GraphRewriter):
    """``gemm(z, alpha, x, y, beta) -> gemm(z, alpha, x, y, beta){over z}``, where z is read by nobody afterwards.

    Always valid where the analysis of destruction accepts it. It pays because z is not copied: the BLAS adds to what is there.
    """

    name: str = "inplace_blas"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        proposals = [
            InplaceProposal(node, node.op.with_inplace())
            for node in fgraph.order
            if isinstance(node.op, AccumulatedProduct) and not node.op.inplace
        ]
        if not proposals:
            return fgraph
        rewritten, _ = apply_inplace(fgraph, accept_inplace(fgraph, proposals).accepted)
        return rewritten
