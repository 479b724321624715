"""Weak intern tables: of equal things one is kept, for as long as somebody holds it.

A table maps keys to weak references. Finding is one dictionary operation. There is no lock, so nothing can wait in the callback of a
dying reference, which may run at any moment inside any lock of any thread: each step is one atomic operation on a dictionary.
"""

from __future__ import annotations

import weakref
from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # what WeakValueDictionary uses; typeshed has no entry
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["InternTable", "KeptRef"]

T = TypeVar("T")


class KeptRef(weakref.ref[T]):
    """A weak reference that knows its key in the table."""

    __slots__ = ("key",)

    key: Hashable


class InternTable(Generic[T]):
    """A weak dictionary of the things that exist, by what makes them equal.

    Attributes
    ----------
    refs
        The references by key. Hot code reads them directly: ``ref = table.refs.get(key)``, and ``ref()`` is the thing, or
        None where it is being collected.
    """

    __slots__ = ("_forget", "refs")

    def __init__(self) -> None:
        refs: dict[Hashable, KeptRef[T]] = {}
        remove = _remove_dead_weakref  # held here, for the names of a module go before the last nodes do

        def forget(ref: KeptRef[T]) -> None:
            remove(refs, ref.key)

        self.refs = refs
        self._forget: Callable[[weakref.ref[T]], None] = forget  # type: ignore[assignment]  # it is given the KeptRef made below

    def find(self, key: Hashable) -> T | None:
        """Return the thing of this key, where there is one."""
        ref = self.refs.get(key)
        return None if ref is None else ref()

    def keep(self, key: Hashable, made: T) -> T:
        """Return the thing of this key: the one that exists, else `made`, which is kept."""
        ref = KeptRef(made, self._forget)
        ref.key = key
        while True:
            held = self.refs.setdefault(key, ref)
            if held is ref:
                return made
            existing = held()
            if existing is not None:
                return existing
            _remove_dead_weakref(self.refs, key)

    def __len__(self) -> int:
        return len(self.refs)
