"""A table from classes of Ops to functions, as each target has them: where it says how an Op becomes code."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic

from typing_extensions import TypeVar

from lamella.codegen.c.ownership import own_ops
from lamella.errors import LoweringError

__all__ = ["LoweringTable"]

F = TypeVar("F", bound=Callable[..., object])


class LoweringTable(Generic[F]):
    """Functions by class of Op; a subclass of an Op has the function of its nearest base that has one.

    Parameters
    ----------
    title
        What the functions give, for messages.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._functions: dict[type, F] = {}
        self._guard = threading.Lock()

    def put(self, classes: Iterable[type], function: F) -> None:
        """Make a function that of some classes; it replaces what they had."""
        classes = tuple(classes)
        own_ops.see(classes, function.__module__)
        with self._guard:
            # Readers see the old table or the new one.
            self._functions = {**self._functions, **dict.fromkeys(classes, function)}

    @property
    def classes(self) -> frozenset[type]:
        """The classes that have a function of their own."""
        return frozenset(self._functions)

    def get(self, op: object) -> F:
        """Return the function of an Op's class.

        Raises
        ------
        LoweringError
            There is none.
        """
        functions = self._functions
        for base in type(op).__mro__:
            found = functions.get(base)
            if found is not None:
                return found
        raise LoweringError(f"{type(op).__name__} has no {self._title}")
