"""Liveness: how long the value of each Variable is needed, and to whom its memory belongs.

A Variable's memory is needed as long as the Variable itself or any Variable that may lie in the same memory is. A returned
array is the caller's own, so an output that may share memory with an input, a Constant, a shared variable or an earlier output
has to be copied before it is returned.

    step  node                      last_read_after   dies_after
    0     y = x.T
    1     t = exp(y)                y                             (y is a view of the input x: nothing to free)
    2     u = t[0]                  t                             (u views t)
    3     v = sum(u)                u                 t, u        (v is returned)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs

from lamella.ir import Apply, Variable
from lamella.typing_layer.aliasing import Aliases

__all__ = ["StoragePlan", "plan_storage"]

AnyVariable = Variable[Any]


@final
@attrs.frozen(eq=False, repr=False)
class StoragePlan:
    """How long values are needed, and whose memory is whose; made by `plan_storage`.

    Attributes
    ----------
    last_read_after
        For each step, the computed Variables that no later step reads and that are no output: a linker that counts
        references may drop them.
    dies_after
        For each step, the computed Variables whose memory is needed no more, because neither they nor any Variable that may
        share it are: a linker that owns the memory may reuse it. What may lie in the memory of an input, of a constant, or of
        something returned never stands here.
    kept
        Variables whose memory belongs to someone else: inputs (shared variables are inputs) and constants.
    escaping
        Computed Variables that may share memory with something returned without being copied first: the caller will own that
        memory, so it must be allocated anew for each call.
    recyclable
        Computed Variables whose memory is the function's own: it may serve again, once they have died or in the next call.
    output_aliases
        For each output, the inputs, constants and earlier outputs with which it may share memory.
    must_copy
        For each output, whether it has to be copied before it is returned: whether `output_aliases` names any.
    """

    last_read_after: tuple[tuple[AnyVariable, ...], ...]
    dies_after: tuple[tuple[AnyVariable, ...], ...]
    kept: frozenset[AnyVariable]
    escaping: frozenset[AnyVariable]
    recyclable: frozenset[AnyVariable]
    output_aliases: tuple[tuple[AnyVariable, ...], ...]
    must_copy: tuple[bool, ...]


def plan_storage(
    inputs: Sequence[AnyVariable], outputs: Sequence[AnyVariable], order: Sequence[Apply[Any]], aliases: Aliases
) -> StoragePlan:
    """Return the storage facts of a graph that runs in a given order.

    Parameters
    ----------
    inputs, outputs
        The ends of the graph.
    order
        Its nodes, in the order in which they run.
    aliases
        Who may share memory with whom.
    """
    end = len(order)
    last_read: dict[AnyVariable, int] = {}
    roots: dict[AnyVariable, None] = dict.fromkeys(inputs)
    for step, node in enumerate(order):
        for variable in node.inputs:
            last_read[variable] = step
            roots.setdefault(variable)
        for variable in node.outputs:
            last_read.setdefault(variable, step)
    for variable in outputs:
        last_read[variable] = end
        roots.setdefault(variable)
    made = {variable for node in order for variable in node.outputs}.difference(inputs)
    kept = frozenset([variable for variable in roots if variable not in made])

    output_aliases = _output_aliases(outputs, kept, aliases)
    must_copy = tuple([bool(found) for found in output_aliases])
    uncopied = [output for output, copied in zip(outputs, must_copy, strict=True) if not copied]
    escaping_roots = {root for output in uncopied for root in aliases.roots(output)}
    escaping = frozenset([v for v in made if not escaping_roots.isdisjoint(aliases.roots(v))])

    needed = dict(last_read)
    # Backwards, a Variable is met after everything that lies in its memory; forwards, after all in whose memory it lies.
    for node in reversed(order):
        for variable in node.outputs:
            for source in aliases.sources(variable):
                needed[source] = max(needed[source], needed[variable])
    last_read_after: list[list[AnyVariable]] = [[] for _ in order]
    dies_after: list[list[AnyVariable]] = [[] for _ in order]
    for node in order:
        for variable in node.outputs:
            if variable not in made:
                continue
            if last_read[variable] < end:
                last_read_after[last_read[variable]].append(variable)
            for source in aliases.sources(variable):
                needed[variable] = max(needed[variable], needed[source])
            if needed[variable] < end and variable not in escaping and kept.isdisjoint(aliases.roots(variable)):
                dies_after[needed[variable]].append(variable)
    return StoragePlan(
        tuple([tuple(step) for step in last_read_after]),
        tuple([tuple(step) for step in dies_after]),
        kept,
        escaping,
        frozenset([v for v in made - escaping if kept.isdisjoint(aliases.roots(v))]),
        output_aliases,
        must_copy,
    )


def _output_aliases(
    outputs: Sequence[AnyVariable], kept: frozenset[AnyVariable], aliases: Aliases
) -> tuple[tuple[AnyVariable, ...], ...]:
    returned_from: dict[AnyVariable, AnyVariable] = {}
    found: list[tuple[AnyVariable, ...]] = []
    for output in outputs:
        shared: dict[AnyVariable, None] = {}
        for root in aliases.roots(output):
            if root in kept:
                shared[root] = None
            elif root in returned_from:
                shared[returned_from[root]] = None
        for root in aliases.roots(output):
            returned_from.setdefault(root, output)
        found.append(tuple(shared))
    return tuple(found)
