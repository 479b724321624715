"""`Type`: a set of values, and what one may do with them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Generic, Self

import attrs
from typing_extensions import TypeVar

from lamella.ir.graph.value import Value, strict_key
from lamella.ir.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply

V = TypeVar("V")


class Type(Value, ABC, Generic[V]):
    """A set of values, and what one may do with them; generic in the Python type of the values.

    Subclasses are values: ``attrs.frozen`` classes, or classes with ``__props__``. The only method a subclass must
    write is `filter`.
    """

    __slots__ = ()

    @abstractmethod
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> V:
        """Return `value` as a value of this Type.

        Parameters
        ----------
        value
            Any Python object.
        strict
            Accept only what is a value of this Type already, and return that very object.
        allow_downcast
            Allow conversions that may lose precision; None allows them for Python floats only.

        Raises
        ------
        TypeError
            The object cannot be, or under `strict` is not, a value of this Type.
        """

    def filter_inplace(self, value: Any, storage: V, strict: bool = False, allow_downcast: bool | None = None) -> V:
        """Like `filter`, but may reuse `storage`, a value of this Type that is no longer needed."""
        return self.filter(value, strict=strict, allow_downcast=allow_downcast)

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable[Any]:
        """Return `other` as a Variable whose type this Type includes.

        Parameters
        ----------
        other
            A Variable, or a value that `filter` accepts (which becomes a Constant).
        allow_convert
            Allow a conversion by `convert_variable` where the types differ.

        Raises
        ------
        TypeError
            There is no such Variable.
        """
        variable = other if isinstance(other, Variable) else self.make_constant(self.filter(other))
        if self.is_super(variable.type) is not None:
            return variable
        converted = self.convert_variable(variable) if allow_convert else None
        if converted is None or self.is_super(converted.type) is None:
            raise TypeError(f"{variable!r} has the type {variable.type}, which is no {self}")
        return converted

    def convert_variable(self, variable: Variable[Any]) -> Variable[Any] | None:
        """Return a Variable of this Type that holds the values of `variable`, or None where there is no such thing."""
        return None

    def is_valid_value(self, value: Any, strict: bool = True) -> bool:
        """Whether `filter` accepts `value`."""
        try:
            self.filter(value, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values of this Type are exactly equal."""
        return bool(a == b)

    def values_eq_approx(self, a: Any, b: Any) -> bool:
        """Whether two values of this Type are equal up to rounding."""
        return self.values_eq(a, b)

    def make_variable(self, name: str | None = None) -> Variable[Self]:
        """Make a Variable of this Type that no node computes."""
        return Variable(self, None, None, name)

    def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> Variable[Self]:
        """Make the Variable for output `index` of `owner`. Only `Apply` calls this; a Type with Variables of its own class overrides it."""
        return Variable(self, owner, index, name)

    def make_constant(self, value: Any, name: str | None = None) -> Constant[Self]:
        """Make a Constant; equal values of one Type give the same Constant."""
        return Constant(self, value, name)

    def __call__(self, name: str | None = None) -> Variable[Self]:
        """Make a Variable of this Type that no node computes."""
        return self.make_variable(name)

    def clone(self, **changes: Any) -> Self:
        """Return this Type with some of its properties changed."""
        cls = type(self)
        current = self.properties()
        if attrs.has(cls):  # fields that equality passes over are kept too
            current = {field.alias: getattr(self, field.name) for field in attrs.fields(cls) if field.init}
        return cls(**(current | changes))

    def in_same_class(self, other: Type[Any]) -> bool | None:
        """Whether two Types differ in facts about their values at most, not in kind."""
        return self == other

    def is_super(self, other: Type[Any]) -> Type[Any] | None:
        """Return `self` where every value of `other` is a value of this Type, else None."""
        return self if self == other else None

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether a change of one value could change the other."""
        return a is b

    def freeze(self, value: V) -> V:
        """Return a private copy of `value` for a Constant, read-only where values can be."""
        return value

    def copy_value(self, value: V) -> V:
        """Return an equal value that shares nothing with `value` that may change."""
        return copy.deepcopy(value)

    def constant_key(self, value: V) -> Hashable | None:
        """Return a key that two values share only if no computation can tell them apart; None where there is none."""
        simple = isinstance(value, bool | int | float | complex | str | bytes | None)
        return (type(value), strict_key(value)) if simple else None

    def get_shape_info(self, value: V) -> object:
        """Return what `get_size` needs to know about a value."""
        return None

    def get_size(self, shape_info: object) -> int:
        """Return the number of bytes of a value, from what `get_shape_info` said."""
        return 0
