"""Cotangents on the way back through choices: what only the branch that was not taken contributes is not computed.

    z = ifelse(c, f(x), g(x))       the cotangent of x is ifelse(c, f'(x) * gz, g'(x) * gz), not the sum of two that are computed both

On its way back through a branch a cotangent is *guarded*: it is meant only where that branch is taken. Where contributions meet that are guarded
otherwise, or at a wanted Variable, the guards become choices, with zeros of the Variable's shape on the other side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, final, runtime_checkable

import attrs

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.null_types import NullType
from lamella.ir.graph.op import Op
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["ChoosesBranch", "Guard", "GuardedSums", "chooses_branch"]


@runtime_checkable
class ChoosesBranch(Protocol):
    """An Op that gives the values of one of two branches, and computes only these; its first input is the condition."""

    def branch(self, condition: bool) -> Sequence[int]:
        """Return the places of the inputs that are the values of a branch, in the order of the outputs."""

    def choose(self, condition: Variable[Any], then: Variable[Any], otherwise: Variable[Any]) -> Variable[Any]:
        """Return the choice between two single values."""


def chooses_branch(op: Op[Any, Any]) -> bool:
    """Whether an Op is a `ChoosesBranch`: what `isinstance` says of the protocol, faster."""
    return op.is_lazy and isinstance(op, ChoosesBranch)


@final
@attrs.frozen(eq=False)
class Guard:
    """Says that a branch is taken, and that its parent says so of another one; `depth` counts them."""

    parent: Guard | None
    condition: Variable[Any]
    taken: bool
    op: ChoosesBranch
    depth: int


Contribution = tuple[Guard | None, Variable[Any]]


@final
class GuardedSums:
    """The contributions to the cotangents of Variables, and their sums.

    Parameters
    ----------
    seeds
        Cotangents to begin with.
    total
        Returns the sum of cotangents of one Variable.
    """

    def __init__(
        self,
        seeds: Mapping[Variable[Any], Variable[Any]],
        total: Callable[[Sequence[Variable[Any]]], Variable[Any]],
    ) -> None:
        self._total = total
        self._terms: dict[Variable[Any], list[Contribution]] = {v: [(None, g)] for v, g in seeds.items()}
        self._sums: dict[Variable[Any], Contribution] = {}
        self._guards: dict[tuple[Guard | None, Variable[Any], bool], Guard] = {}

    def under(self, guard: Guard | None, node: Apply[Any], taken: bool) -> Guard:
        """Return the guard of a branch of a choice that is itself guarded."""
        condition, op = node.inputs[0], node.op
        assert isinstance(op, ChoosesBranch)
        depth = 1 if guard is None else guard.depth + 1
        return self._guards.setdefault((guard, condition, taken), Guard(guard, condition, taken, op, depth))

    def add(self, variable: Variable[Any], guard: Guard | None, cotangent: Variable[Any]) -> None:
        """Add a contribution to the cotangent of a Variable."""
        self._terms.setdefault(variable, []).append((guard, cotangent))

    def of(self, variable: Variable[Any]) -> Contribution | None:
        """Return the cotangent of a Variable and its guard; None where nothing contributes to it."""
        found = self._sums.get(variable)
        if found is None:
            terms = self._terms.get(variable)
            if not terms:
                return None
            found = self._sums[variable] = self._summed(variable, terms)
        return found

    def unguarded(self, variable: Variable[Any], guard: Guard | None = None) -> Variable[Any] | None:
        """Return the cotangent of a Variable as it is meant under a guard, which is an ancestor of its own."""
        found = self.of(variable)
        return None if found is None else self._released(variable, [found], guard)

    def of_outputs(self, node: Apply[Any]) -> tuple[Guard | None, list[Variable[Any] | None]]:
        """Return a guard, and the cotangents of a node's outputs under it."""
        found = [self.of(out) for out in node.outputs]
        guards = [part[0] for part in found if part is not None]
        if not guards:
            return None, [None for _ in found]
        common = _common(guards)
        return common, [self.unguarded(out, common) for out in node.outputs]

    def _summed(self, variable: Variable[Any], terms: Sequence[Contribution]) -> Contribution:
        null = [term for _, term in terms if isinstance(term.type, NullType)]
        if null:
            return None, null[0]
        common = _common([guard for guard, _ in terms])
        return common, self._released(variable, terms, common)

    def _released(self, variable: Variable[Any], terms: Sequence[Contribution], common: Guard | None) -> Variable[Any]:
        """Return the sum of contributions under a guard that is an ancestor of all of theirs: other guards become choices."""
        groups: dict[Guard | None, list[Variable[Any]]] = {}
        for guard, term in terms:
            groups.setdefault(guard, []).append(term)
        # The deepest first: what they become has the guard above, which may be there already.
        waiting: dict[int, list[Guard]] = {}
        for guard in groups:
            if guard is not None and guard is not common:
                waiting.setdefault(guard.depth, []).append(guard)
        lowest = 0 if common is None else common.depth
        for depth in range(max(waiting, default=lowest), lowest, -1):
            for guard in waiting.get(depth, ()):
                if guard in groups:
                    self._release(variable, guard, groups)
                    if guard.parent is not None and len(groups[guard.parent]) == 1:
                        waiting.setdefault(depth - 1, []).append(guard.parent)
        return self._total(groups[common])

    def _release(self, variable: Variable[Any], guard: Guard, groups: dict[Guard | None, list[Variable[Any]]]) -> None:
        """Make a choice of what has a guard and what has the opposite one; it has the guard above."""
        other = self._guards.get((guard.parent, guard.condition, not guard.taken))
        own = self._total(groups.pop(guard))
        opposite = self._total(groups.pop(other)) if other in groups else _zeros(variable, own)
        pair = (own, opposite) if guard.taken else (opposite, own)
        groups.setdefault(guard.parent, []).append(guard.op.choose(guard.condition, *pair))


def _zeros(variable: Variable[Any], cotangent: Variable[Any]) -> Variable[Any]:
    if not isinstance(variable, TensorVariable) or not isinstance(cotangent, TensorVariable):
        raise TypeError(
            f"there are no zeros of the type of {variable!r}, {variable.type}, to choose where a branch is not taken"
        )
    return lt.zeros_like(variable, cotangent.dtype)


def _common(guards: Sequence[Guard | None]) -> Guard | None:
    """Return the deepest guard that is an ancestor of all, or one of them."""
    common = guards[0]
    for guard in guards[1:]:
        other = guard
        while common is not other:
            if common is None or other is None:
                return None
            if common.depth >= other.depth:
                common = common.parent
            else:
                other = other.parent
    return common


def guardable(value: Variable[Any], cotangent: Variable[Any]) -> bool:
    """Whether the cotangent of a value of a branch can be guarded: both are floats."""
    return (
        isinstance(value, TensorVariable)
        and is_differentiable_dtype(value.dtype)
        and isinstance(cotangent, TensorVariable)
    )
