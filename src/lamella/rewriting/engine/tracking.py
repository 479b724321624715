"""Which nodes a rewriter wants to see: keys that name Ops, and the table that finds the rewriters of an Op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, final, runtime_checkable

import attrs
from typing_extensions import override

from lamella.ir import Op

__all__ = ["DispatchTable", "OpKey", "OpMatcher", "OpPattern", "matches_op"]

E = TypeVar("E")


@runtime_checkable
class OpMatcher(Protocol):
    """A key that decides by itself which Ops it names; it is a value."""

    def matches(self, op: Op[Any, Any]) -> bool:
        """Whether the key names `op`."""


OpKey = Op[Any, Any] | type[Op[Any, Any]] | OpMatcher
"""What names Ops: an Op (and all that equal it), an Op class (and its subclasses), or an `OpMatcher`."""

Properties = tuple[tuple[str, object], ...]
"""Names of attributes, and the value or key that each must fit."""


def matches_op(key: OpKey, op: Op[Any, Any]) -> bool:
    """Whether a key names an Op."""
    if isinstance(key, Op):
        return key is op or key == op
    if isinstance(key, type):
        return isinstance(op, key)
    return key.matches(op)


@final
@attrs.frozen(init=False, repr=False)
class OpPattern:
    """Names the Ops of a class with given properties, whatever their other properties are.

    ``OpPattern(Elemwise, scalar_op=add)`` names elementwise addition, in place or not;
    ``OpPattern(Elemwise, scalar_op=Add)`` and ``OpPattern(Elemwise, scalar_op=OpPattern(Cast, dtype="float32"))`` say of the
    property only what it must be like.

    Parameters
    ----------
    op_type
        The Op class; subclasses are named too.
    **properties
        Attributes of the Op, and the values or keys that they must fit.
    """

    op_type: type[Op[Any, Any]]
    properties: Properties

    def __init__(self, op_type: type[Op[Any, Any]], **properties: object) -> None:
        self.__attrs_init__(op_type, tuple(sorted(properties.items())))

    def matches(self, op: Op[Any, Any]) -> bool:
        """Whether the pattern names `op`."""
        return isinstance(op, self.op_type) and _has(op, self.properties)

    def by_class(self) -> tuple[str, type[Any], Properties] | None:
        """Return a property of which the pattern says the class, that class, and the other properties, which can be a key; else None."""
        for place, (name, expected) in enumerate(self.properties):
            if isinstance(expected, type):
                others = self.properties[:place] + self.properties[place + 1 :]
                try:
                    hash(others)
                except TypeError:
                    return None
                return name, expected, others
        return None

    @override
    def __repr__(self) -> str:
        shown = "".join([f", {name}={value!r}" for name, value in self.properties])
        return f"OpPattern({self.op_type.__name__}{shown})"


_ABSENT = object()


def _has(op: Op[Any, Any], properties: Properties) -> bool:
    for name, expected in properties:
        found = getattr(op, name, _ABSENT)
        if expected is not found and not _fits(expected, found):
            return False
    return True


def _fits(expected: object, found: object) -> bool:
    if isinstance(expected, type):
        return isinstance(found, expected)
    if isinstance(found, Op) and isinstance(expected, OpMatcher):  # in this order: the latter takes long
        return expected.matches(found)
    return expected is found or bool(expected == found)


class DispatchTable(Generic[E]):
    """Finds, for an Op, the entries whose keys name it, in the order in which they were given.

    Parameters
    ----------
    entries
        Pairs of keys and an entry; None for an entry that is found for every Op.
    """

    __slots__ = ("_classes", "_everywhere", "_matchers", "_ops", "_patterns")

    def __init__(self, entries: Iterable[tuple[Sequence[OpKey] | None, E]]) -> None:
        ops: dict[Op[Any, Any], list[tuple[int, E]]] = {}
        classes: dict[type, list[tuple[int, E]]] = {}
        matchers: list[tuple[OpMatcher, int, E]] = []
        patterns: dict[tuple[type, str], dict[type, dict[Properties, list[tuple[int, E]]]]] = {}
        everywhere: list[tuple[int, E]] = []
        for place, (keys, entry) in enumerate(entries):
            if keys is None:
                everywhere.append((place, entry))
                continue
            for key in keys:
                if isinstance(key, Op):
                    ops.setdefault(key, []).append((place, entry))
                elif isinstance(key, type):
                    classes.setdefault(key, []).append((place, entry))
                elif isinstance(key, OpPattern) and (known := key.by_class()) is not None:
                    name, expected, others = known
                    of_property = patterns.setdefault((key.op_type, name), {})
                    of_property.setdefault(expected, {}).setdefault(others, []).append((place, entry))
                else:
                    matchers.append((key, place, entry))
        self._ops: Mapping[Op[Any, Any], Sequence[tuple[int, E]]] = ops
        self._classes: Mapping[type, Sequence[tuple[int, E]]] = classes
        self._matchers: Sequence[tuple[OpMatcher, int, E]] = matchers
        # Of most patterns the class of a property tells that they do not match: they are found by it. The other properties are mostly the same.
        self._patterns: Mapping[tuple[type, str], Mapping[type, Mapping[Properties, Sequence[tuple[int, E]]]]] = (
            patterns
        )
        self._everywhere: Sequence[tuple[int, E]] = everywhere

    def find(self, op: Op[Any, Any]) -> tuple[E, ...]:
        """Return the entries for `op`."""
        found = dict(self._everywhere)
        found.update(self._ops.get(op, ()))
        for cls in type(op).__mro__:
            found.update(self._classes.get(cls, ()))
        found.update({place: entry for matcher, place, entry in self._matchers if matcher.matches(op)})
        for (op_type, name), of_property in self._patterns.items():
            if isinstance(op, op_type):
                for cls in type(getattr(op, name, _ABSENT)).__mro__:
                    for others, entries in of_property.get(cls, {}).items():
                        if _has(op, others):
                            found.update(entries)
        return tuple([found[place] for place in sorted(found)])
