"""Base of everything that compares by value and never changes: Types, Ops, parameters.

A class becomes a value in one of two ways: as an ``attrs.frozen`` class, whose fields are its value, or in
the tutorial's style, with an ``__init__`` that sets attributes and a tuple ``__props__`` that names them. Both are frozen
once ``__init__`` has returned.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
from typing_extensions import override


class _FrozenAfterInit(ABCMeta):
    """Opens an instance for assignment while its ``__init__`` runs, and at no other time."""

    if not TYPE_CHECKING:  # a metaclass __call__ would hide the signatures of __init__ from type checkers

        def __call__(cls, *args, **kwargs):
            self = cls.__new__(cls, *args, **kwargs)
            if not isinstance(self, cls):
                return self
            object.__setattr__(self, "_initialising", True)
            try:
                self.__init__(*args, **kwargs)
            finally:
                object.__delattr__(self, "_initialising")
            return self


def _frozen(message: str) -> attrs.exceptions.FrozenInstanceError:
    error = attrs.exceptions.FrozenInstanceError()
    error.add_note(message)
    return error


class Value(metaclass=_FrozenAfterInit):
    """An immutable object that equals any other of its class with the same properties.

    Attributes
    ----------
    __props__
        Names of the attributes that are hashed and printed; None for ``attrs`` classes, which declare fields instead.
        Equality looks at *all* attributes an instance carries, so an attribute that was left out of ``__props__`` can
        never make two different objects pass for equal.
    not_identity
        Names of instance attributes that equality passes over (how to run, never what is computed).
    """

    __slots__ = ("__weakref__", "_hash", "_initialising")

    __props__: ClassVar[tuple[str, ...] | None] = None
    not_identity: ClassVar[frozenset[str]] = frozenset()
    _hash: int

    @override
    def __getstate__(self) -> object:
        """Leave the cached hash out of pickles: hashes of strings differ between processes."""
        return dict(getattr(self, "__dict__", {}))

    @override
    def __setattr__(self, name: str, value: object) -> None:
        if not getattr(self, "_initialising", False):
            raise _frozen(
                f"{type(self).__name__} objects are frozen once __init__ has returned: {name!r} cannot be set"
            )
        object.__setattr__(self, name, value)

    @override
    def __delattr__(self, name: str) -> None:
        raise _frozen(f"{type(self).__name__} objects are frozen: {name!r} cannot be deleted")

    def properties(self) -> dict[str, Any]:
        """The attributes that make up this value, by name, in the order of their declaration."""
        cls = type(self)
        if cls.__props__ is not None:
            return {name: getattr(self, name) for name in cls.__props__}
        if attrs.has(cls):
            return {field.name: getattr(self, field.name) for field in attrs.fields(cls) if field.eq}
        return self._identity()

    def _identity(self) -> dict[str, Any]:
        carried = getattr(self, "__dict__", {})
        return {name: value for name, value in carried.items() if name not in self.not_identity}

    @override
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Value):
            return NotImplemented
        if self.properties() != other.properties():
            return False
        return self._identity() == other._identity()

    @override
    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", self._computed_hash())
            return self._hash

    def _computed_hash(self) -> int:
        cls = type(self)
        return hash((cls, *(self.properties().values() if cls.__props__ is not None else sorted(self._identity()))))

    @override
    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.properties().items())
        return f"{type(self).__name__}{{{shown}}}" if shown else type(self).__name__

    @override
    def __repr__(self) -> str:
        return str(self)
