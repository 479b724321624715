"""Elementwise nodes that write their results over inputs that nothing needs any more.

    before                         after
    %0 = exp(%x)                   %0 = exp(%x)
    %1 = add(%0, %y)               %1 = add{inplace=[(0, 0)]}(%0, %y)

Which inputs may be overwritten is a question about the whole graph; `typing_layer` answers it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, Elemwise, FunctionGraph, ReducedElemwise, Variable
from lamella.rewriting.engine import GraphRewriter
from lamella.typing_layer import InplaceProposal, accept_inplace, apply_inplace, fast_inplace_check, find_aliases

__all__ = ["InplaceElementwise"]

_MOST_PAIRS_TRIED_TOGETHER: Final = 4


@final
@attrs.frozen
class InplaceElementwise(GraphRewriter):
    """``f(x, y) -> f{over x}(x, y)``, where x has the dtype and shape of a result and is read by nobody afterwards.

    Always valid where the analysis of destruction accepts it. Of a node with several results, as many as can be are written over inputs. It
    pays because no memory is allocated, and what is written is in cache.
    """

    name: str = "inplace_elemwise"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        nodes = [node for node in fgraph.order if isinstance(node.op, Elemwise | ReducedElemwise)]
        free = frozenset(fast_inplace_check(fgraph, list(dict.fromkeys([v for node in nodes for v in node.inputs]))))
        aliases = find_aliases(fgraph.order, fgraph.inputs)
        given, returned = frozenset(fgraph.inputs), frozenset(fgraph.outputs)
        lent = frozenset([v for v in free if not given.isdisjoint(aliases.roots(v))])
        proposals: list[InplaceProposal] = []
        for node in nodes:
            # What is returned in the memory of an input has to be copied: then nothing is gained.
            proposals += _proposals(node, free - lent if not returned.isdisjoint(node.outputs) else free)
        if not proposals:
            return fgraph
        rewritten, _ = apply_inplace(fgraph, accept_inplace(fgraph, proposals).accepted)
        return rewritten


def _proposals(node: Apply[Any], free: Collection[Variable[Any]]) -> Iterator[InplaceProposal]:
    op = node.op
    if not isinstance(op, Elemwise | ReducedElemwise) or op.inplace_pattern:
        return
    written = range(len(node.outputs)) if isinstance(op, Elemwise) else op.whole_results
    fitting = {i: [o for o in written if _fits(v, node.outputs[o])] for i, v in enumerate(node.inputs) if v in free}
    inputs = [i for i, outputs in fitting.items() if outputs]
    if len(inputs) <= _MOST_PAIRS_TRIED_TOGETHER:
        tried = [chosen for n in range(len(inputs), 0, -1) for chosen in combinations(inputs, n)]
    else:
        tried = [tuple(inputs), *[(i,) for i in inputs]]
    met: set[tuple[tuple[int, int], ...]] = set()
    for chosen in tried:
        pattern = _pairs(chosen, fitting)
        if pattern not in met:
            met.add(pattern)
            yield InplaceProposal(node, attrs.evolve(op, inplace_pattern=pattern))


def _pairs(inputs: Sequence[int], fitting: dict[int, list[int]]) -> tuple[tuple[int, int], ...]:
    """Return pairs of an output and an input, each in one of them at most."""
    taken: dict[int, int] = {}
    for i in inputs:
        output = next((o for o in fitting[i] if o not in taken), None)
        if output is not None:
            taken[output] = i
    return tuple(sorted(taken.items()))


def _fits(variable: Variable[Any], output: Variable[Any]) -> bool:
    """Whether an input has the dtype and the shape of an output."""
    kind, out = variable.type, output.type
    return bool(kind.dtype == out.dtype and kind.broadcastable == out.broadcastable and out.is_super(kind) is not None)
