"""Aliasing: which Variables of a graph may share memory at run time.

An output may share memory with the inputs that its Op's ``view_map`` names (a view), or ``destroy_map`` names (a result written
over an input). Both are permissions, not promises: such an output may also have memory of its own. Several inputs may be named.

    y = x.T; z = add_in_place(y, 1)      roots: x -> (x,), y -> (x,), z -> (x,)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, final

import attrs

from lamella.ir import Apply, Variable, walk

__all__ = ["Aliases", "find_aliases"]

AnyVariable = Variable[Any]


@final
@attrs.frozen(eq=False, repr=False)
class Aliases:
    """Who may share memory with whom; made by `find_aliases`."""

    _sources: Mapping[AnyVariable, tuple[AnyVariable, ...]]
    _takers: Mapping[AnyVariable, tuple[AnyVariable, ...]]
    _roots: Mapping[AnyVariable, tuple[AnyVariable, ...]]

    def sources(self, variable: AnyVariable) -> tuple[AnyVariable, ...]:
        """Return the inputs of its node that a Variable views or is written over; none where its memory is its own."""
        return self._sources.get(variable, ())

    def is_fresh(self, variable: AnyVariable) -> bool:
        """Whether a Variable has memory of its own for certain."""
        return variable not in self._sources

    def roots(self, variable: AnyVariable) -> tuple[AnyVariable, ...]:
        """Return the Variables, themselves fresh, in whose memory a Variable may lie; itself alone where it is fresh."""
        return self._roots.get(variable, (variable,))

    def may_alias(self, a: AnyVariable, b: AnyVariable) -> bool:
        """Whether two Variables may share memory, at the same time or one after the other."""
        return not set(self.roots(a)).isdisjoint(self.roots(b))

    def overwritten(self, nodes: Iterable[Apply[Any]]) -> set[AnyVariable]:
        """Return the Variables, themselves fresh, in whose memory nodes may write."""
        return {
            root
            for node in nodes
            for places in node.op.destroy_map.values()
            for place in places
            for root in self.roots(node.inputs[place])
        }

    def takers(self, variable: AnyVariable) -> tuple[AnyVariable, ...]:
        """Return the Variables that view a Variable, or are written over it, at first hand."""
        return self._takers.get(variable, ())

    def viewers(self, variable: AnyVariable) -> tuple[AnyVariable, ...]:
        """Return all Variables that may lie in the memory of a Variable because they are computed from it, itself excluded."""
        return tuple([v for v in walk([variable], self._takers.get) if v is not variable])


def sources_of_output(node: Apply[Any], index: int) -> tuple[AnyVariable, ...]:
    """Return the inputs of a node with which one of its outputs may share memory, each once."""
    op = node.op
    places = (*op.view_map.get(index, ()), *op.destroy_map.get(index, ()))
    return tuple(dict.fromkeys([node.inputs[place] for place in places]))


def find_aliases(order: Iterable[Apply[Any]], inputs: Collection[AnyVariable] = ()) -> Aliases:
    """Return the aliasing facts of a graph.

    Parameters
    ----------
    order
        Its nodes, each after those that it needs.
    inputs
        Its inputs, which are not looked behind.
    """
    given = frozenset(inputs)
    sources: dict[AnyVariable, tuple[AnyVariable, ...]] = {}
    takers: dict[AnyVariable, list[AnyVariable]] = {}
    roots: dict[AnyVariable, tuple[AnyVariable, ...]] = {}
    for node in order:
        if not node.op.view_map and not node.op.destroy_map:
            continue
        for index, output in enumerate(node.outputs):
            found = sources_of_output(node, index)
            if not found or output in given:
                continue
            sources[output] = found
            for source in found:
                takers.setdefault(source, []).append(output)
            roots[output] = merged([roots.get(source, (source,)) for source in found])
    return Aliases(sources, {source: tuple(outputs) for source, outputs in takers.items()}, roots)


def merged(parts: Iterable[tuple[AnyVariable, ...]]) -> tuple[AnyVariable, ...]:
    """Return what the parts hold, each once, in order; the very first part where it holds everything."""
    first, *others = parts
    if all(part is first or set(part) <= set(first) for part in others):
        return first
    return tuple(dict.fromkeys([variable for part in (first, *others) for variable in part]))
