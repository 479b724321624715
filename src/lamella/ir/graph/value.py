"""Base of everything that compares by value and never changes: Types, Ops, parameters.

A class becomes a value in one of two ways: as an ``attrs.frozen`` class, whose fields are its value, or in
the tutorial's style, with an ``__init__`` that sets attributes and a tuple ``__props__`` that names them. Both are frozen
once ``__init__`` has returned.

Equality is strict: two values are equal if no computation can tell them apart. ``1``, ``1.0`` and ``True`` differ, ``0.0`` and ``-0.0``
differ, a NaN equals itself. And it is complete: every attribute that an instance carries takes part, so one that was
left out of ``__props__`` can never make two different Ops pass for equal.
"""

from __future__ import annotations

import struct
import weakref
from abc import ABCMeta
from collections.abc import Callable, Hashable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.interning import InternTable

__all__ = ["Value", "canonical", "strict_key"]

# What attrs writes into a class and `Value` does better: attrs compares with ``==`` and knows only its own fields.
_GENERATED = frozenset(
    {"__init__", "__eq__", "__ne__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__"}
)


class _FrozenAfterInit(ABCMeta):
    """Opens an instance for assignment while its ``__init__`` runs, and at no other time."""

    if not TYPE_CHECKING:  # a metaclass __call__ would hide the signatures of __init__ from type checkers
        # No virtual subclasses: they would be values that are not frozen. It also makes isinstance three times as fast.
        __instancecheck__ = type.__instancecheck__

        def __call__(cls, *args, **kwargs):
            if cls._known_layout is None:
                cls._make_layout()
            if not cls._opens:
                self = type.__call__(cls, *args, **kwargs)
                if isinstance(self, cls):
                    _set_canonical(self, _FRESH)
                return self
            self = cls.__new__(cls, *args, **kwargs)
            if not isinstance(self, cls):
                return self
            object.__setattr__(self, "_initialising", True)
            try:
                self.__init__(*args, **kwargs)
            finally:
                object.__delattr__(self, "_initialising")
            _set_canonical(self, _FRESH)
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
        Names of the attributes that are printed, and that `Type.clone` may change; None for ``attrs`` classes, which declare
        fields instead. Equality looks at all attributes, named here or not.
    not_identity
        Names of instance attributes that equality passes over (how to run, never what is computed), as it does the ``attrs``
        fields declared with ``eq=False`` and what a ``cached_property`` remembers.
    """

    __slots__ = ("__weakref__", "_canonical", "_initialising")

    __props__: ClassVar[tuple[str, ...] | None] = None
    not_identity: ClassVar[frozenset[str]] = frozenset()
    _opens: ClassVar[bool] = True
    _written: ClassVar[frozenset[str]] = _GENERATED
    _known_layout: ClassVar[_Layout | None] = None
    _canonical: Value | object | None

    @override
    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Check what the class says of its equality.

        Raises
        ------
        TypeError
            The class defines ``__eq__`` without ``__hash__``.
        """
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "__attrs_attrs__" in own:  # attrs makes a class with slots a second time, with its own methods in it
            return
        cls._written = frozenset(_GENERATED & own.keys())
        if "__eq__" in own and own.get("__hash__") is None:
            raise TypeError(f"{cls.__name__} defines __eq__ without __hash__: what is equal must hash alike")
        cls._known_layout = None  # every class has its own
        if "__init__" in own:
            cls._opens = True

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        """Take out of an ``attrs`` class what this class does: it is called when attrs has finished the class."""
        generated = (_GENERATED & vars(cls).keys()) - cls._written
        # A frozen class of attrs assigns past __setattr__ while it initialises.
        cls._opens = not {"__init__", "__delattr__"} <= generated
        for name in generated - {"__init__"}:
            delattr(cls, name)

    @classmethod
    def _make_layout(cls) -> _Layout:
        known = cls._known_layout
        if known is None:
            cls._undo_dataclass()
            known = cls._known_layout = _Layout.of(cls)
        return known

    @classmethod
    def _undo_dataclass(cls) -> None:
        # Like attrs, dataclasses write methods into a class, but tell nobody when they have done so.
        for base in cls.__mro__:
            if "__dataclass_fields__" in vars(base) and issubclass(base, Value):
                for name in (_GENERATED & vars(base).keys()) - base._written - {"__init__"}:
                    delattr(base, name)
                base._opens = True

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
        return _attributes(self, cls._make_layout().skipped)

    @override
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or not isinstance(other, Value):
            return NotImplemented
        return canonical(self) is canonical(other)

    @override
    def __hash__(self) -> int:
        return object.__hash__(canonical(self))

    @override
    def __getstate__(self) -> object:
        """Return what the instance carries, without what it could compute again."""
        return _attributes(self, type(self)._make_layout().remembered)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    @override
    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.properties().items())
        return f"{type(self).__name__}{{{shown}}}" if shown else type(self).__name__

    @override
    def __repr__(self) -> str:
        return str(self)


# Not yet looked for. It is put there when the object is made: to miss a slot is slow where attrs has written a __getattr__.
_FRESH: Any = object()
_set_canonical = vars(Value)["_canonical"].__set__
_values: InternTable[Value] = InternTable()


def canonical(value: Value) -> Value:
    """Return the one object that stands for all the values equal to this one; it lives as long as any of them.

    Raises
    ------
    TypeError
        An attribute is of a kind that cannot be compared.
    """
    known = getattr(value, "_canonical", _FRESH)
    if known is None:
        return value
    if known is not _FRESH:
        return known  # type: ignore[no-any-return]  # nothing else is ever put there
    key = _key(value)
    ref = _values.refs.get(key)
    found = None if ref is None else ref()
    kept = _values.keep(key, value) if found is None else found
    # The canonical object holds None, for with a reference to itself it would live until the garbage collector comes.
    _set_canonical(value, None if kept is value else kept)
    return kept


def _key(value: Value) -> Hashable:
    cls = type(value)
    layout = cls._known_layout or cls._make_layout()
    if layout.own_equality:
        # The table may not hold the object itself, or it would live for ever.
        return (cls, weakref.ref(value))
    if layout.compared is not None:
        attributes = layout.compared(value)
        if _PLAIN.issuperset(map(type, attributes)):
            return (cls, *attributes)
        names: tuple[str, ...] = layout.names
    else:
        found = _attributes(value, layout.skipped)
        names, attributes = tuple(found), tuple(found.values())
    parts: list[Hashable] = [cls]
    for name, attribute in zip(names, attributes, strict=True):
        kind = type(attribute)
        if kind in _PLAIN or (kind is tuple and _PLAIN.issuperset(map(type, attribute))):
            parts.append(attribute)
        else:
            parts.append(_strict_attribute(cls, name, attribute))
    if layout.compared is None:
        parts.append(names)
    return tuple(parts)


def _strict_attribute(cls: type[Value], name: str, attribute: object) -> Hashable:
    declared = cls.__props__ or cls._make_layout().names
    if isinstance(attribute, _MUTABLE) and name in declared:
        raise TypeError(
            f"{cls.__name__}: the property {name!r} is a {type(attribute).__name__}, which may change; make it a tuple"
        )
    try:
        return strict_key(attribute)
    except TypeError as error:
        error.add_note(f"in the attribute {name!r} of {cls.__name__}, which is part of its identity")
        raise


_MUTABLE = (list, dict, set, bytearray, np.ndarray)
_PLAIN = frozenset({str, int, bytes, type(None)})


def strict_key(value: object) -> Hashable:
    """Return what is equal for two attributes if and only if no computation can tell them apart."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, Value):
        return (Value, id(canonical(value)))  # alive as long as the value that has this attribute
    if kind is tuple and isinstance(value, tuple) and _PLAIN.issuperset(map(type, value)):
        return value  # all others begin with a class, so that nothing passes for another
    if isinstance(value, tuple | list):
        return (kind, *[strict_key(item) for item in value])
    if isinstance(value, frozenset | set):
        return (kind, frozenset([strict_key(item) for item in value]))
    if isinstance(value, dict):
        return (kind, frozenset([(strict_key(key), strict_key(item)) for key, item in value.items()]))
    if isinstance(value, float) and kind is float:
        return (kind, struct.pack("d", value))
    if isinstance(value, complex) and kind is complex:
        return (kind, struct.pack("dd", value.real, value.imag))
    if isinstance(value, np.generic | np.ndarray) and not value.dtype.hasobject:
        return (kind, value.dtype, value.shape, value.tobytes())
    if isinstance(value, np.ndarray):
        return (kind, value.dtype, value.shape, strict_key(value.tolist()))
    hash(value)
    return (kind, value)


@final
@attrs.frozen
class _Layout:
    """Where the instances of a class keep their attributes.

    Attributes
    ----------
    slots
        Names of the slots.
    skipped
        Names of attributes, in slots or not, that equality passes over.
    remembered
        Names under which a ``cached_property`` leaves its value in the instance's dictionary.
    names, compared
        Of an ``attrs`` class with slots: the fields that equality looks at, and what reads them; None for other classes.
    own_equality
        Whether the class defines ``__eq__`` itself.
    """

    slots: tuple[str, ...]
    skipped: frozenset[str]
    remembered: frozenset[str]
    names: tuple[str, ...]
    compared: Callable[[Value], tuple[Any, ...]] | None
    own_equality: bool

    @classmethod
    def of(cls, owner: type[Value]) -> _Layout:
        fields = attrs.fields(owner) if attrs.has(owner) else ()
        bases = owner.__mro__[: owner.__mro__.index(Value)]
        slots: list[str] = []
        remembered: set[str] = set()
        for base in reversed(bases):
            own = vars(base)
            named = own.get("__slots__", ())
            named = (named,) if isinstance(named, str) else tuple(named)
            if "__attrs_attrs__" in own:  # its other slots are for its cached properties
                named = tuple([field.name for field in own["__attrs_attrs__"] if field.name in named])
            slots.extend([_mangled(base, name) for name in named if name not in ("__dict__", "__weakref__")])
            remembered.update([name for name, member in own.items() if isinstance(member, cached_property)])
        uncompared = {field.name for field in fields if not field.eq}
        names = tuple([field.name for field in fields if field.eq])
        skipped = frozenset(uncompared | owner.not_identity | remembered)
        fixed = all("__slots__" in vars(base) for base in bases) and {*names} == {*slots} - skipped
        return cls(
            tuple(dict.fromkeys(slots)),
            skipped,
            frozenset(remembered),
            names,
            _reader(names) if fixed else None,
            owner.__eq__ is not Value.__eq__,
        )


def _reader(names: tuple[str, ...]) -> Callable[[Value], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _mangled(cls: type, name: str) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


_UNSET = object()


def _attributes(value: Value, without: frozenset[str]) -> dict[str, Any]:
    cls = type(value)
    found = {name: getattr(value, name, _UNSET) for name in cls._make_layout().slots if name not in without}
    held = getattr(value, "__dict__", {})
    found.update({name: held[name] for name in sorted(held) if name not in without})
    return {name: attribute for name, attribute in found.items() if attribute is not _UNSET}
