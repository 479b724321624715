"""Running nodes on demand: what no output needs, because a lazy Op does without it, is not computed.

A node runs when something that runs needs it. What nodes overwrite stays right: a node that overwrites a value waits for those that come before it
in the given order, read that value, and run in any case; where one may still read it of which that is not known yet, it overwrites a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, final

import attrs

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply
    from lamella.ir.graph.variable import Variable

__all__ = ["OnDemand", "ValueOf", "readers_before"]


class ValueOf(Protocol):
    """Finds the value of a Variable that has one: computed, given, or carried by the Variable."""

    def __call__(self, variable: Variable[Any], needed_by: object, /) -> Any:
        """Return the value; raise `MissingInputError` where there is none."""


@final
@attrs.frozen(eq=False, repr=False)
class OnDemand:
    """Nodes, prepared to be run on demand as often as one likes; made by `of`."""

    outputs: tuple[Variable[Any], ...]
    _producers: dict[Variable[Any], Apply[Any]]
    _uses: dict[Variable[Any], int]
    _before: dict[Apply[Any], tuple[Apply[Any], ...]]
    _certain: frozenset[Apply[Any]]

    @classmethod
    def of(
        cls, order: Sequence[Apply[Any]], inputs: Collection[Variable[Any]], outputs: Sequence[Variable[Any]]
    ) -> OnDemand:
        """Prepare a graph.

        Parameters
        ----------
        order
            Its nodes, in an order that is right where all of them run.
        inputs, outputs
            Its ends.
        """
        given = frozenset(inputs)
        producers = {v: node for node in order for v in node.outputs if v not in given}
        uses: dict[Variable[Any], int] = {}
        for node in order:
            for variable in node.inputs:
                uses[variable] = uses.get(variable, 0) + 1
        for variable in (*given, *outputs):
            uses[variable] = uses.get(variable, 0) + 1
        return cls(tuple(outputs), producers, uses, readers_before(order), _certain(order, producers, outputs))

    def run(
        self,
        values: MutableMapping[Variable[Any], Any],
        value_of: ValueOf,
        perform: Callable[[Apply[Any], Sequence[Any]], Sequence[Any]],
    ) -> None:
        """Compute what the outputs need.

        Parameters
        ----------
        values
            Values by Variable: those of the inputs to begin with, those of the outputs too in the end. Others come and go.
        value_of
            Finds a value, in `values` or elsewhere.
        perform
            Computes the outputs of a node from the values of its inputs, None for one that a lazy Op did not ask for.
        """
        run = _Run(self._producers, dict(self._uses), self._before, self._certain, values, value_of)
        run.stack.extend([self._producers[v] for v in reversed(self.outputs) if v in self._producers])
        while run.stack:
            node = run.stack.pop()
            if node in run.finished or not run.is_ready(node):
                continue
            needed = run.needed(node)
            inputs = [value_of(v, node.op) if i in needed else None for i, v in enumerate(node.inputs)]
            if run.is_read_later(node):
                for i in {i for places in node.op.destroy_map.values() for i in places}:
                    inputs[i] = node.inputs[i].type.copy_value(inputs[i])
            run.finish(node, perform(node, inputs))


@final
class _Run:
    """One run: what has been computed, what is still to be read, what waits."""

    def __init__(
        self,
        producers: dict[Variable[Any], Apply[Any]],
        uses: dict[Variable[Any], int],
        before: dict[Apply[Any], tuple[Apply[Any], ...]],
        certain: frozenset[Apply[Any]],
        values: MutableMapping[Variable[Any], Any],
        value_of: ValueOf,
    ) -> None:
        self._producers = producers
        self._uses = uses
        self._before = before
        self._certain = certain
        self._values = values
        self._value_of = value_of
        self._decided: dict[Apply[Any], frozenset[int]] = {}
        self.finished: set[Apply[Any]] = set()
        self.stack: list[Apply[Any]] = []

    def needed(self, node: Apply[Any]) -> Collection[int]:
        """Return the places of the inputs that a node reads."""
        return self._decided.get(node, range(node.nin))

    def is_ready(self, node: Apply[Any]) -> bool:
        """Whether a node can run; if not, it waits on the stack below what it waits for."""
        if node.op.is_lazy and node not in self._decided:
            deciding = frozenset(node.op.required_inputs(node, {}))
            if not self._wait_for(node, self._producing(node, deciding)):
                return False
            known = {i: self._value_of(node.inputs[i], node.op) for i in deciding}
            self._decided[node] = deciding.union(node.op.required_inputs(node, known))
            self._release([v for i, v in enumerate(node.inputs) if i not in self._decided[node]])
        readers = [reader for reader in self._before.get(node, ()) if reader in self._certain]
        return self._wait_for(node, [*readers, *self._producing(node, self.needed(node))])

    def is_read_later(self, node: Apply[Any]) -> bool:
        """Whether something that a node overwrites may still be read."""
        return any([reader not in self.finished for reader in self._before.get(node, ())])

    def _producing(self, node: Apply[Any], places: Collection[int]) -> list[Apply[Any]]:
        return [self._producers[node.inputs[i]] for i in sorted(places) if node.inputs[i] in self._producers]

    def _wait_for(self, node: Apply[Any], others: Sequence[Apply[Any]]) -> bool:
        pending = [other for other in others if other not in self.finished]
        if pending:
            self.stack.append(node)
            self.stack.extend(reversed(pending))
        return not pending

    def finish(self, node: Apply[Any], results: Sequence[Any]) -> None:
        """Keep the results of a node that somebody reads, and forget what it was the last to read."""
        self.finished.add(node)
        for variable, value in zip(node.outputs, results, strict=True):
            if self._producers.get(variable) is node and self._uses.get(variable, 0):
                self._values[variable] = value
        self._release([node.inputs[i] for i in self.needed(node)])

    def _release(self, variables: Sequence[Variable[Any]]) -> None:
        """Note that Variables are read once less; nodes that nobody needs any more are finished without having run."""
        released = list(variables)
        while released:
            variable = released.pop()
            self._uses[variable] -= 1
            if self._uses[variable]:
                continue
            self._values.pop(variable, None)
            producer = self._producers.get(variable)
            if producer is None or producer in self.finished or any([self._uses.get(v, 0) for v in producer.outputs]):
                continue
            self.finished.add(producer)
            released.extend([producer.inputs[i] for i in self.needed(producer)])


def _certain(
    order: Sequence[Apply[Any]], producers: dict[Variable[Any], Apply[Any]], outputs: Sequence[Variable[Any]]
) -> frozenset[Apply[Any]]:
    """Return the nodes that run whatever lazy Ops ask for."""
    found = {producers[v] for v in outputs if v in producers}
    for node in reversed(order):
        if node in found:
            places = node.op.required_inputs(node, {}) if node.op.is_lazy else range(node.nin)
            found.update([producers[node.inputs[i]] for i in places if node.inputs[i] in producers])
    return frozenset(found)


def readers_before(order: Sequence[Apply[Any]]) -> dict[Apply[Any], tuple[Apply[Any], ...]]:
    """Return, for each node that overwrites inputs, the nodes before it in the order that read what it overwrites."""
    if not any([node.op.destroy_map for node in order]):
        return {}
    roots: dict[Variable[Any], frozenset[Variable[Any]]] = {}
    readers: dict[Variable[Any], list[Apply[Any]]] = {}
    found: dict[Apply[Any], tuple[Apply[Any], ...]] = {}
    for node in order:
        op = node.op
        overwritten = {
            root for places in op.destroy_map.values() for i in places for root in _roots(roots, node.inputs[i])
        }
        if overwritten:
            found[node] = tuple(dict.fromkeys([reader for root in overwritten for reader in readers.get(root, ())]))
        for variable in node.inputs:
            for root in _roots(roots, variable):
                readers.setdefault(root, []).append(node)
        for o, variable in enumerate(node.outputs):
            places = [*op.view_map.get(o, ()), *op.destroy_map.get(o, ())]
            if places:
                roots[variable] = frozenset().union(*[_roots(roots, node.inputs[i]) for i in places])
    return found


def _roots(roots: dict[Variable[Any], frozenset[Variable[Any]]], variable: Variable[Any]) -> frozenset[Variable[Any]]:
    return roots.get(variable) or frozenset([variable])
