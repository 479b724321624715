"""Logic variables: what stands for an unknown part in a pattern."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Final, final

import attrs
from typing_extensions import override

__all__ = ["LogicVariable", "Substitution", "followed", "isvar", "lvars", "var"]

Constraint = Callable[[object], bool]
"""Says of what a logic variable would stand for whether it will do."""


@final
@attrs.frozen(repr=False)
class LogicVariable:
    """Stands for an unknown: an Op, a Variable, a property, the rest of a list of arguments.

    Attributes
    ----------
    token
        What tells it from others: two of the same token, and constraint, are the same.
    constraint
        Says what it may stand for; anything by default. It is asked when the logic variable is bound to something that is no logic variable.
    """

    token: str
    constraint: Constraint | None = None

    @override
    def __repr__(self) -> str:
        return f"~{self.token}" if self.constraint is None else f"~{self.token}[{_name(self.constraint)}]"


def _name(function: Constraint) -> str:
    return getattr(function, "__name__", None) or type(function).__name__


Substitution = Mapping[LogicVariable, object]
"""What logic variables stand for; that may be, or contain, other logic variables."""

_numbers: Final = itertools.count(1)  # tokens only tell logic variables apart: nothing is read from them


def var(token: str | None = None, constraint: Constraint | None = None) -> LogicVariable:
    """Return a logic variable: the one of this token, or a fresh one.

    Parameters
    ----------
    token
        A name; by default one that was not used before.
    constraint
        Says what it may stand for.
    """
    return LogicVariable(f"_{next(_numbers)}" if token is None else token, constraint)


def lvars(count: int) -> list[LogicVariable]:
    """Return fresh logic variables."""
    return [var() for _ in range(count)]


def isvar(term: object) -> bool:
    """Whether something is a logic variable."""
    return isinstance(term, LogicVariable)


def followed(term: object, bindings: Substitution) -> object:
    """Return what a term stands for: a term that is no logic variable, or a logic variable that is not bound.

    Raises
    ------
    ValueError
        The bindings go round in a circle.
    """
    met: set[LogicVariable] = set()
    while isinstance(term, LogicVariable) and term in bindings:
        if term in met:
            raise ValueError(f"the bindings of {term} lead back to it")
        met.add(term)
        term = bindings[term]
    return term
