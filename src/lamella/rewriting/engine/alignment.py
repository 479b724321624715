"""What a graph rewriter replaced, found by comparing the graph before with the graph after.

A rewriter that consists of others has them tell. Of one that only returns another graph, this is found out: from the outputs down, a
node that was applied anew to other inputs is told from one that something else stands for::

    before    add(z, mul(true_div(mul(y, x), y), w))
    after     add(z, mul(x, w))
    so        add and mul were applied anew, and x stands for true_div(mul(y, x), y)
"""

from __future__ import annotations

from typing import Any

from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting.engine.observer import Observer

__all__ = ["report_changes"]

Variables = tuple[Variable[Any], ...]


def report_changes(name: str, old: FunctionGraph, new: object, observer: Observer) -> None:
    """Tell `observer` what the rewriter of this name replaced, what lies nearest to the inputs first."""
    if not isinstance(new, FunctionGraph) or len(new.outputs) != len(old.outputs):
        return  # an error, which is told elsewhere
    found: list[tuple[int, str | None, Variables, Variables]] = []
    places = {node: place for place, node in enumerate(new.order)}
    pending = list(zip(old.outputs, new.outputs, strict=True))
    met: set[tuple[object, object]] = set()
    while pending:
        a, b = pending.pop()
        before, after = a.owner, b.owner
        if a is b or (a, b) in met:
            continue
        met.add((a, b))
        place = places.get(after, -1) if after is not None else -1
        if before is not None and after is not None and a.index == b.index and _is_rebuilt(before, after, places):
            if (before, after) not in met:
                met.add((before, after))
                rewriter = None if before.op == after.op else name
                found.append((place, rewriter, before.outputs, after.outputs))
                pending.extend(zip(before.inputs, after.inputs, strict=True))
        else:
            found.append((place, name, (a,), (b,)))
    for _, rewriter, befores, afters in sorted(found, key=lambda step: step[0]):
        observer.replaced(rewriter, befores, afters)


def _is_rebuilt(before: Apply[Any], after: Apply[Any], present: dict[Apply[Any], int]) -> bool:
    """Whether a node is another, applied to what stands for its inputs, or such a node that works in place."""
    if len(before.inputs) != len(after.inputs) or len(before.outputs) != len(after.outputs):
        return False
    in_place = type(before.op) is type(after.op) and bool(after.op.destroy_map) and not before.op.destroy_map
    if before.op != after.op and not in_place:
        return False
    return all([a is b or _replaced(a, b, present) for a, b in zip(before.inputs, after.inputs, strict=True)])


def _replaced(a: Variable[Any], b: Variable[Any], present: dict[Apply[Any], int]) -> bool:
    """Whether `b` may stand for `a`, which is then gone."""
    return a.owner is not None and a.owner not in present and a.type.is_super(b.type) is not None
