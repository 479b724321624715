"""Writing to a part of an array whose memory nothing needs any more.

    before                                   after
    %0 = Alloc(%c0, %n)                      %0 = Alloc(%c0, %n)
    %1 = IncSubtensor{2:}(%0, %y)            %1 = IncSubtensor{2:, inplace}(%0, %y)

Which inputs may be overwritten is a question about the whole graph; `typing_layer` answers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import AdvancedIncSubtensor, AdvancedIncSubtensor1, Apply, FunctionGraph, IncSubtensor, IndexedElemwise
from lamella.rewriting.engine import GraphRewriter
from lamella.typing_layer import InplaceProposal, accept_inplace, apply_inplace

__all__ = ["InplaceIncSubtensor"]

_MOST_TRIED_TOGETHER: Final = 4


@final
@attrs.frozen
class InplaceIncSubtensor(GraphRewriter):
    """``x[i].set(v) -> x[i].set(v){over x}``, and the same for ``inc``, where x is read by nobody afterwards.

    What an `IndexedElemwise` adds to is overwritten likewise, as much of it as can be.

    Always valid where the analysis of destruction accepts it. It pays because x is not copied.
    """

    name: str = "inplace_subtensor"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        proposals = [proposal for node in fgraph.order for proposal in _proposals(node)]
        if not proposals:
            return fgraph
        rewritten, _ = apply_inplace(fgraph, accept_inplace(fgraph, proposals).accepted)
        return rewritten


def _proposals(node: Apply[Any]) -> Iterator[InplaceProposal]:
    op = node.op
    if isinstance(op, IncSubtensor | AdvancedIncSubtensor | AdvancedIncSubtensor1) and not op.inplace:
        yield InplaceProposal(node, attrs.evolve(op, inplace=True))
    elif isinstance(op, IndexedElemwise) and not op.inplace_pattern:
        pairs = [(i, op.base_input(i)) for i, at in enumerate(op.scatters) if at is not None]
        counts = range(len(pairs), 0, -1) if len(pairs) <= _MOST_TRIED_TOGETHER else (len(pairs), 1)
        for chosen in [chosen for n in counts for chosen in combinations(pairs, n)]:
            yield InplaceProposal(node, attrs.evolve(op, inplace_pattern=chosen))
