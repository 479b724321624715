"""In-place rewriting: which of many proposals to work in place can hold together.

Before: ``y = exp(x); z = y * 2; s = sum(y)``; proposals: ``mul`` over its input 0, ``exp`` over its input 0. After: ``mul`` overwrites
``y`` (and runs after ``sum``); ``exp`` does not overwrite ``x``, a protected input.

A node with several ways of working in place is proposed once for each, best first. Each proposal is judged by itself, together with
what has been accepted before, so a wrong one costs nothing but itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final, final

import attrs

from lamella.ir import Apply, FunctionGraph, Op, Variable
from lamella.typing_layer.destruction import (
    CONTENTS,
    destroyed_inputs,
    destruction_order,
    find_readers,
    forbidden,
    ordering_constraints,
    output_contents,
    own_conflicts,
    protected_contents,
)
from lamella.typing_layer.dynamic_order import DynamicOrder
from lamella.typing_layer.ordering import data_edges

__all__ = ["InplaceDecision", "InplaceProposal", "accept_inplace", "apply_inplace", "fast_inplace_check"]

AnyNode = Apply[Any]
AnyVariable = Variable[Any]

_TOO_LONG: Final = "whether {}, which reads `{}`, can run before {} would take too long to find out"


@final
@attrs.frozen
class InplaceProposal:
    """The proposal to apply, in place of a node's Op, one that means the same and overwrites inputs.

    Attributes
    ----------
    node
        The node.
    op
        The Op to apply to the node's inputs; its ``destroy_map`` says what it overwrites.
    """

    node: AnyNode
    op: Op[Any, Any]


Reason = Callable[[], str]
"""Says why a proposal is refused. Most are never asked: to write down what a node is takes longer than to judge it."""


@final
@attrs.frozen
class InplaceDecision:
    """What was accepted of some proposals, and why the others were not.

    Attributes
    ----------
    accepted
        The accepted proposals, in the order in which they were made; one per node at most. All hold together.
    """

    accepted: tuple[InplaceProposal, ...]
    _reasons: tuple[tuple[InplaceProposal, Reason], ...]

    @cached_property
    def refused(self) -> tuple[tuple[InplaceProposal, str], ...]:
        """The other proposals, each with the reason."""
        return tuple([(proposal, reason()) for proposal, reason in self._reasons])


@final
class _Analysis:
    """The state of one run of `accept_inplace`."""

    def __init__(self, fgraph: FunctionGraph, effort: int) -> None:
        self.order = destruction_order(fgraph)
        self.number = {node: i for i, node in enumerate(self.order)}
        needs = data_edges(self.order, fgraph.inputs)
        for node, others in ordering_constraints(fgraph).items():
            needs[node] = [*needs[node], *others]
        numbered = [[self.number[other] for other in needs[node]] for node in self.order]
        self.dynamic = DynamicOrder(numbered, range(len(self.order)), effort)
        self.contents = CONTENTS.of(fgraph)
        self.readers = find_readers(fgraph, self.contents)
        for readers in self.readers.values():
            readers.reverse()  # the last reader, most likely to depend on the others, is tried first
        self.protected = protected_contents(fgraph.features, self.contents)
        self.accepted: dict[AnyNode, InplaceProposal] = {}
        self.destroyed_by: dict[AnyVariable, AnyNode] = {
            content: node
            for node in self.order
            for place in destroyed_inputs(node.op)
            for content in self.contents.of(node.inputs[place])
        }

    def judge(self, proposal: InplaceProposal) -> Reason | None:
        """Accept a proposal and return None; or return why it is refused, with nothing changed."""
        node, op = proposal.node, proposal.op
        if node not in self.number:
            return lambda: f"{node} is no node of the graph"
        if node in self.accepted:
            return lambda: "another proposal for this node was accepted"
        places = destroyed_inputs(op)
        if any(not 0 <= place < len(node.inputs) for place in places):
            return lambda: f"the destroy_map of {op} names an input that {node} does not have"
        shown = [self.contents.of(output) for output in node.outputs]
        if output_contents(op, node, self.contents.shown) != shown:
            return lambda: f"{op} views other inputs than {node.op} does"
        contents: dict[AnyVariable, None] = {}
        for place in places:
            conflicts = own_conflicts(op, node, place, self.contents)
            if conflicts:
                return lambda: conflicts[0]
            contents.update(dict.fromkeys(self.contents.of(node.inputs[place])))
        for content in contents:
            what = forbidden(content, self.protected)
            if what is not None:
                return partial("`{}` is {}".format, content, what)
            other = self.destroyed_by.get(content, node)
            if other is not node:
                return partial("{} overwrites `{}` already".format, other, content)
        reason = self._run_last(node, contents)
        if reason is None:
            self.accepted[node] = proposal
            self.destroyed_by.update(dict.fromkeys(contents, node))
        return reason

    def _run_last(self, node: AnyNode, contents: Iterable[AnyVariable]) -> Reason | None:
        """Demand that a node run after all other readers of some contents."""
        late = self.number[node]
        demanded: list[int] = []
        refusal: Reason | None = None
        for content in contents:
            readers = self.readers.get(content, [])
            for i, (reader, variable) in enumerate(readers):
                if reader is node:
                    continue
                if reader is None:
                    refusal = partial("the output `{}` of the graph shows `{}`".format, variable, content)
                elif not self.dynamic.spend(1) or not self.dynamic.add(self.number[reader], late):
                    why = _TOO_LONG if self.dynamic.exhausted else "{} reads `{}` and cannot run before {}"
                    refusal = partial(why.format, reader, variable, node)
                else:
                    demanded.append(self.number[reader])
                    continue
                # What stood in the way once is asked first the next time.
                readers.insert(0, readers.pop(i))
                break
            if refusal is not None:
                break
        if refusal is not None:
            for early in demanded:
                self.dynamic.remove(early, late)
        return refusal


def accept_inplace(fgraph: FunctionGraph, proposals: Iterable[InplaceProposal], effort: int = 64) -> InplaceDecision:
    """Decide which proposals can be carried out together.

    Proposals are judged in the order given, each together with the graph's own in-place nodes and with what was accepted
    before. The cost is linear in the size of the graph and the number of proposals, but for reorderings, whose total is bounded.

    Parameters
    ----------
    fgraph
        The graph. Inputs that a `Supervisor` among its features protects are never overwritten, nor are constants or outputs.
    proposals
        Ways for nodes to work in place. Of several for one node, the first that is acceptable is accepted.
    effort
        How many steps to spend for each node and each edge of the graph, in all; what would take more is refused.

    Raises
    ------
    InconsistencyError
        The graph itself cannot be run in any order.
    """
    analysis = _Analysis(fgraph, effort)
    refused: list[tuple[InplaceProposal, Reason]] = []
    for proposal in proposals:
        reason = analysis.judge(proposal)
        if reason is not None:
            refused.append((proposal, reason))
    return InplaceDecision(tuple(analysis.accepted.values()), tuple(refused))


def apply_inplace(
    fgraph: FunctionGraph, accepted: Sequence[InplaceProposal]
) -> tuple[FunctionGraph, Mapping[AnyVariable, AnyVariable]]:
    """Carry out accepted proposals.

    Parameters
    ----------
    fgraph
        The graph.
    accepted
        Proposals that `accept_inplace` accepted.

    Returns
    -------
    FunctionGraph
        The new graph, with the same features.
    Mapping
        For each Variable that had to be computed anew, the one that stands for it now.

    Raises
    ------
    InconsistencyError
        A feature of the graph refuses the new one.
    """
    ops = {proposal.node: proposal.op for proposal in accepted}
    replaced: dict[AnyVariable, AnyVariable] = {}
    given = frozenset(fgraph.inputs)
    for node in fgraph.data_order:
        op = ops.get(node, node.op)
        inputs = tuple([replaced.get(variable, variable) for variable in node.inputs])
        if op is node.op and inputs == node.inputs:
            continue
        types = tuple([output.type for output in node.outputs])
        names = tuple([output.name for output in node.outputs])
        made = Apply.with_names(op, inputs, types, names, node.built_at)
        replaced.update({old: new for old, new in zip(node.outputs, made.outputs, strict=True) if old not in given})
    return fgraph.with_outputs([replaced.get(output, output) for output in fgraph.outputs]), replaced


def fast_inplace_check(fgraph: FunctionGraph, inputs: Sequence[AnyVariable]) -> list[AnyVariable]:
    """Return those of some Variables that a node might overwrite: a cheap test that `accept_inplace` need not confirm.

    Left out are Variables that show the contents of a constant, of a protected input or of an output of the graph, and what is
    overwritten already.

    Parameters
    ----------
    fgraph
        The graph.
    inputs
        Variables of the graph.
    """
    contents = CONTENTS.of(fgraph)
    taken = set(protected_contents(fgraph.features, contents))
    for output in fgraph.outputs:
        taken.update(contents.of(output))
    for node in fgraph.data_order:
        for place in destroyed_inputs(node.op):
            taken.update(contents.of(node.inputs[place]))
    return [v for v in inputs if not any(c.is_constant or c in taken for c in contents.of(v))]
