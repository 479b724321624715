"""What is found out about things that never change.

The things hold it: a table with weak references to them would never be rid of something that holds, in its turn, the thing that it is about.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, final

__all__ = ["Memory", "Remembered"]


class Remembered:
    """A thing that never changes; it holds what `Memory` remembers of it."""

    __slots__ = ("_found",)

    _found: dict[Memory[Any, Any], Any]


_set_found = vars(Remembered)["_found"].__set__

K = TypeVar("K", bound=Remembered)
T = TypeVar("T")
D = TypeVar("D")


@final
class Memory(Generic[K, T]):
    """What is remembered of things, which are told apart by identity: for as long as they live."""

    __slots__ = ()

    def find(self, thing: K, otherwise: D) -> T | D:
        """Return what is remembered of a thing, where there is something."""
        found = getattr(thing, "_found", None)
        return otherwise if found is None else found.get(self, otherwise)

    def remember(self, thing: K, value: T) -> None:
        """Remember something that follows from what a thing is, and from nothing else."""
        found = getattr(thing, "_found", None)
        if found is None:
            _set_found(thing, {self: value})  # of two threads one may lose what it has found
        else:
            found[self] = value
