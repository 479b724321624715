"""`reify`: put in the place of logic variables what they stand for."""

from __future__ import annotations

from typing import Any, overload

from lamella.ir import Variable
from lamella.rewriting.engine.unification.expression import ConsPair, ExpressionTuple, Term, cons
from lamella.rewriting.engine.unification.logic_variable import Substitution, followed

__all__ = ["contents", "reify"]


def contents(term: Term) -> tuple[Term, ...] | None:
    """Return what is in a term, in which logic variables may stand; None for a term that has no such parts."""
    match term:
        case ExpressionTuple():
            return term.items
        case ConsPair():
            return (term.car, term.cdr)
        case tuple() if type(term) is tuple:
            return term
        case list():
            return tuple(term)
        case _:
            return None


@overload
def reify(term: ExpressionTuple, substitution: Substitution) -> ExpressionTuple: ...


@overload
def reify(term: Variable[Any], substitution: Substitution) -> Variable[Any]: ...


@overload
def reify(term: list[Term], substitution: Substitution) -> list[Term]: ...


@overload
def reify(term: Term, substitution: Substitution) -> Term: ...


def reify(term: Term, substitution: Substitution) -> Term:
    """Return a term with what logic variables stand for in their place; those that stand for nothing stay.

    Parameters
    ----------
    term
        Logic variables, expression tuples, tuples, lists; all else stays what it is.
    substitution
        What `unify` returned.

    Returns
    -------
    object
        The very same object where there is nothing to put in.

    Raises
    ------
    ValueError
        Something is to stand for a part of itself.
    """
    filled: dict[int, Term] = {}  # by address: all of it is alive in the term and the substitution
    opened: set[int] = set()
    stack = [followed(term, substitution)]
    top = stack[0]
    while stack:
        current = stack[-1]
        if id(current) in filled:
            stack.pop()
            continue
        items = contents(current)
        if items is None:
            filled[id(current)] = current
            continue
        inner = [followed(item, substitution) for item in items]
        missing = [item for item in inner if id(item) not in filled]
        if missing:
            if id(current) in opened:
                raise ValueError(f"{current!r} is to stand for a part of itself")
            opened.add(id(current))
            stack.extend(reversed(missing))
            continue
        filled[id(current)] = _with_contents(current, items, [filled[id(item)] for item in inner])
    return filled[id(top)]


def _with_contents(term: Term, old: tuple[Term, ...], new: list[Term]) -> Term:
    if all([a is b for a, b in zip(old, new, strict=True)]):
        return term
    match term:
        case ConsPair():
            return cons(*new)
        case tuple():
            return tuple(new)
        case list():
            return new
        case _:
            return ExpressionTuple(new)
