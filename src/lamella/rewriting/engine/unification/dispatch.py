"""What the packages behind miniKanren do with our graphs. Importing this module teaches them.

To ``cons`` an application is a pair of its Op and its inputs, and so are Ops and Types with their properties. ``unification`` then unifies
them part by part, and ``etuples`` writes them as expression tuples and applies Ops to make graphs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import cons.core
import etuples.core
import etuples.dispatch
import unification.core
import unification.variable
from kanren import run
from typing_extensions import override

from lamella.ir import Constant, Op, Type, Variable
from lamella.rewriting.engine.unification.expression import ExpressionTuple, evaluated, nth, output_of, taken_apart
from lamella.rewriting.engine.unification.logic_variable import LogicVariable
from lamella.rewriting.engine.unification.unify import unify

__all__ = ["answers", "value"]

Substitution = Mapping[Any, object]
Steps = Iterator[Any]
"""The packages run generators: what one yields is run in turn, and its result sent back."""


def answers(relation: Callable[[Any, Any], Callable[[Any], Iterator[Any]]], term: object) -> Iterator[object]:
    """Visit the terms to which `relation` relates `term`."""
    unknown = unification.variable.var()
    found: Iterator[object] = run(None, unknown, relation(term, unknown))
    return found


def value(term: object) -> object:
    """Return what an expression tuple evaluates to; any other term as it is."""
    return (
        output_of(evaluated(_ours(term))) if isinstance(term, etuples.core.ExpressionTuple | ExpressionTuple) else term
    )


class OpExpressionTuple(etuples.core.ExpressionTuple):  # type: ignore[misc]  # the package has no types
    """An application of an Op: evaluated by `make_node`, whatever the signature of a call is."""

    _evaled_obj: object

    @override
    def _eval_step(self) -> Steps:
        if self._evaled_obj is self.null:
            self._evaled_obj = value(self)
        yield self._evaled_obj


def _ours(top: Any) -> ExpressionTuple:
    """Return an expression tuple of the package, with all inside it, as one of our own, which evaluates by itself."""
    kinds = etuples.core.ExpressionTuple | ExpressionTuple
    made: dict[int, ExpressionTuple] = {}
    stack: list[Any] = [top]
    while stack:
        current = stack[-1]
        if id(current) in made:
            stack.pop()
            continue
        known = getattr(current, "_evaled_obj", etuples.core.ExpressionTuple.null)
        if known is not etuples.core.ExpressionTuple.null:
            made[id(current)] = ExpressionTuple(current, known=known)
            continue
        missing = [item for item in current if isinstance(item, kinds) and id(item) not in made]
        if missing:
            stack.extend(missing)
            continue
        items = [made[id(item)] if isinstance(item, kinds) else item for item in current]
        made[id(current)] = ExpressionTuple(items)
    return made[id(top)]


def _theirs(term: ExpressionTuple) -> Any:
    """Return an expression tuple of our own as one of the package's; those inside it stay."""
    return etuples.core.etuple(*term.items)


# cons: the first part and the rest


def _parts(term: Variable[Any] | Op[Any, Any] | Type[Any]) -> ExpressionTuple:
    apart = taken_apart(term)
    if apart is None:
        raise cons.core.ConsError(f"{term!r} has no parts")
    return apart


def _first(term: Variable[Any] | Op[Any, Any] | Type[Any]) -> object:
    return _parts(term).items[0]


def _rest(term: Variable[Any] | Op[Any, Any] | Type[Any]) -> object:
    return _whole(term)[1:]


def _whole(term: Variable[Any] | Op[Any, Any] | Type[Any]) -> Any:
    apart = _parts(term)
    if apart.items[0] is nth:
        place, application = apart.items[1:]
        assert isinstance(application, ExpressionTuple)
        return etuples.core.etuple(nth, place, _theirs(application), evaled_obj=term)
    return etuples.core.etuple(*apart.items, evaled_obj=term)


# unification: part by part


def _unify_variables(u: Variable[Any], v: Variable[Any], s: Substitution) -> Steps:
    yield s if unify(u, v) is not False else False  # there is no logic variable in either


def _unify_parts(u: Any, v: Any, s: Substitution) -> Steps:
    try:
        whole = _whole(u)
    except cons.core.ConsError:
        yield False
    else:
        yield unification.core._unify(whole, v, s)


def _unify_parts_turned(u: Any, v: Any, s: Substitution) -> Steps:
    return _unify_parts(v, u, s)


def _unify_ours(u: ExpressionTuple, v: Any, s: Substitution) -> Steps:
    yield unification.core._unify(_theirs(u), v, s)


def _unify_ours_turned(u: Any, v: ExpressionTuple, s: Substitution) -> Steps:
    yield unification.core._unify(u, _theirs(v), s)


def _reify_ours(term: ExpressionTuple, s: Substitution) -> Steps:
    yield unification.core._reify(_theirs(term), s)


def _unify_constants(u: Constant[Any], v: Constant[Any], s: Substitution) -> Steps:
    return _unify_variables(u, v, s)


def _teach() -> None:
    theirs, add = etuples.core.ExpressionTuple, unification.core._unify.add
    for kind in (Variable, Op, Type):
        cons.core._car.add((kind,), _first)
        cons.core._cdr.add((kind,), _rest)
        for other in (theirs, ExpressionTuple):
            add((kind, other, Mapping), _unify_parts)
            add((other, kind, Mapping), _unify_parts_turned)
    add((Variable, Variable, Mapping), _unify_variables)
    add((ExpressionTuple, ExpressionTuple, Mapping), _unify_ours)
    for other in (theirs, tuple):
        add((ExpressionTuple, other, Mapping), _unify_ours)
        add((other, ExpressionTuple, Mapping), _unify_ours_turned)
    unification.core._reify.add((ExpressionTuple, Mapping), _reify_ours)
    unification.variable.Var.register(LogicVariable)
    etuples.core.etuple.register(Op, [object])(_etuple_of_op)
    etuples.dispatch.etuplize_fn.register(Op)(lambda op: _etuple_of_op)


def _etuple_of_op(*items: object, **known: object) -> OpExpressionTuple:
    return OpExpressionTuple(items, **known)


_teach()
