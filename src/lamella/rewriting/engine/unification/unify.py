"""`unify`: find what logic variables must stand for to make two terms the same.

::

    unify(add(x, y), etuple(add, x, lv))                     {lv: y}
    unify(add(x, y), etuple(add, lv, lv))                    False, unless x is y
    unify(cons(op, args), add(x, y))                         {op: Add, args: e(x, y)}
    unify(etuple(etuple(Elemwise, lv, ()), x), exp(x))       {lv: Exp}

Graphs, Ops and Types are taken apart only where the other term says something of their parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import numpy as np

from lamella.ir import Constant, Op, Type, Variable
from lamella.rewriting.engine.literals import holds_number
from lamella.rewriting.engine.unification.expression import (
    ConsPair,
    ExpressionTuple,
    Term,
    nth,
    taken_apart,
)
from lamella.rewriting.engine.unification.logic_variable import LogicVariable, Substitution, followed, var
from lamella.rewriting.engine.unification.reify import contents

__all__ = ["unify"]

Pair = tuple[Term, Term]


def unify(u: Term, v: Term, substitution: Substitution | None = None) -> dict[LogicVariable, object] | Literal[False]:
    """Find what logic variables must stand for to make two terms the same.

    Two Variables are the same if they are computed by the same Ops from the same roots, whatever their names; constants, if no
    computation can tell them apart. A plain number is the same as a constant array all of whose elements are that number.

    Parameters
    ----------
    u, v
        The terms: Variables, expression tuples, Ops, Types, logic variables, tuples and lists of terms, other values.
    substitution
        What logic variables stand for already.

    Returns
    -------
    dict or False
        What they stand for, to be given to `reify`; False where nothing makes the terms the same.
    """
    state = _State(dict(substitution or {}))
    state.require(u, v)
    return state.bindings if state.solve() and _is_finite(state.bindings) else False


@final
class _State:
    """Pairs of terms that must be the same, and what logic variables stand for so far."""

    def __init__(self, bindings: dict[LogicVariable, object]) -> None:
        self.bindings = bindings
        self._pending: list[Pair] = []
        # A pair that has been looked at needs no second look: nothing is ever unbound. Kept, so that addresses stay taken.
        self._met: dict[tuple[int, int], Pair] = {}

    def require(self, u: Term, v: Term) -> None:
        self._pending.append((u, v))

    def _require_all(self, us: Sequence[Term], vs: Sequence[Term]) -> bool:
        if len(us) != len(vs):
            return False
        self._pending.extend(reversed(list(zip(us, vs, strict=True))))
        return True

    def solve(self) -> bool:
        while self._pending:
            u, v = self._pending.pop()
            u, v = followed(u, self.bindings), followed(v, self.bindings)
            if u is v:
                continue
            if isinstance(u, LogicVariable) or isinstance(v, LogicVariable):
                if not self._bind(u, v):
                    return False
                continue
            place = (id(u), id(v))
            if place in self._met:
                continue
            self._met[place] = (u, v)
            if not self._compare(u, v):
                return False
        return True

    def _bind(self, u: Term, v: Term) -> bool:
        if isinstance(u, LogicVariable) and isinstance(v, LogicVariable):
            self._join(u, v)
            return True
        unknown, term = (u, v) if isinstance(u, LogicVariable) else (v, u)
        assert isinstance(unknown, LogicVariable)
        if unknown.constraint is not None and not unknown.constraint(term):
            return False
        self.bindings[unknown] = term
        return True

    def _join(self, u: LogicVariable, v: LogicVariable) -> None:
        if u == v:
            return
        first, second = u.constraint, v.constraint
        if first is None or second is None:
            free, other = (u, v) if first is None else (v, u)
            self.bindings[free] = other
            return

        def both(term: object) -> bool:
            return first(term) and second(term)

        self.bindings[u] = self.bindings[v] = var(constraint=both)

    def _compare(self, u: Term, v: Term) -> bool:
        match u, v:
            case (Variable(), Variable()):
                return self._compare_variables(u, v)
            case ((Variable() | Op() | Type()) as whole, (ExpressionTuple() | ConsPair()) as parts) | (
                (ExpressionTuple() | ConsPair()) as parts,
                (Variable() | Op() | Type()) as whole,
            ):
                return self._compare_parts(whole, parts)
            case (ConsPair(), _):
                return self._compare_pair(u, v)
            case (_, ConsPair()):
                return self._compare_pair(v, u)
            case (Constant() as constant, (bool() | int() | float() | complex()) as number) | (
                (bool() | int() | float() | complex()) as number,
                Constant() as constant,
            ):
                return holds_number(constant, number)
            case _:
                return self._compare_contents(u, v)

    def _compare_contents(self, u: Term, v: Term) -> bool:
        items, others = contents(u), contents(v)
        if items is not None and others is not None:
            return type(u) is type(v) and self._require_all(items, others)
        return _same_value(u, v)

    def _compare_variables(self, u: Variable[Any], v: Variable[Any]) -> bool:
        if isinstance(u, Constant) and isinstance(v, Constant):
            key = u.type.constant_key(u.data)
            return u.type == v.type and key is not None and key == v.type.constant_key(v.data)
        if u.owner is None or v.owner is None or u.index != v.index:
            return False
        a, b = u.owner, v.owner
        if a is b or len(a.outputs) != len(b.outputs):
            return False
        return a.op == b.op and self._require_all(a.inputs, b.inputs)

    def _compare_parts(
        self, whole: Variable[Any] | Op[Any, Any] | Type[Any], parts: ExpressionTuple | ConsPair
    ) -> bool:
        apart = taken_apart(whole)
        if apart is None:
            return False
        if isinstance(whole, Variable) and apart.items[0] is nth:
            head = followed(_first(parts), self.bindings)
            if head is not nth and not isinstance(head, LogicVariable):
                # A pattern that takes no notice of the outputs means the one that a call of the Op gives.
                node = whole.owner
                if node is None or node.op.default_output != whole.index:
                    return False
                apart = ExpressionTuple((node.op, *node.inputs))
        self.require(apart, parts)
        return True

    def _compare_pair(self, pair: ConsPair, other: Term) -> bool:
        if isinstance(other, ConsPair):
            return self._require_all((pair.car, pair.cdr), (other.car, other.cdr))
        items = contents(other)
        if not items or not isinstance(other, ExpressionTuple | tuple | list):
            return False
        return self._require_all((pair.car, pair.cdr), (items[0], other[1:]))


def _first(parts: ExpressionTuple | ConsPair) -> Term:
    if isinstance(parts, ConsPair):
        return parts.car
    return parts.items[0] if parts.items else None


def _same_value(u: object, v: object) -> bool:
    if type(u) is not type(v):
        return False
    if isinstance(u, np.ndarray) and isinstance(v, np.ndarray):
        return u.dtype == v.dtype and u.shape == v.shape and u.tobytes() == v.tobytes()
    if isinstance(u, float) and isinstance(v, float):
        return repr(u) == repr(v)
    return bool(u == v)


def _is_finite(bindings: Substitution) -> bool:
    """Whether nothing is to stand for a part of itself."""
    done: set[int] = set()
    for start in bindings:
        # On the way down, a term is opened; when all that is in it is done, so is it.
        opened: set[int] = set()
        stack: list[Term] = [start]
        while stack:
            term = stack[-1]
            if id(term) in done:
                stack.pop()
                continue
            inner = [bindings[term]] if isinstance(term, LogicVariable) and term in bindings else contents(term) or ()
            waiting = [item for item in inner if id(item) not in done and _has_parts(item, bindings)]
            if not waiting:
                done.add(id(term))
                stack.pop()
            elif id(term) in opened:
                return False
            else:
                opened.add(id(term))
                stack.extend(waiting)
    return True


def _has_parts(term: Term, bindings: Substitution) -> bool:
    return term in bindings if isinstance(term, LogicVariable) else contents(term) is not None
