"""`Variable`, which stands for a value of its Type, and `Constant`, whose value is known. They never change, and compare by identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Self, overload

import attrs
from typing_extensions import TypeVar, override

from lamella.ir.graph.interning import InternTable
from lamella.ir.graph.interpreter import NO_VALUE, evaluate
from lamella.ir.graph.memory import Remembered
from lamella.ir.graph.serialize import flatten, restore_variable
from lamella.ir.graph.value import canonical

if TYPE_CHECKING:
    from lamella.ir.graph.apply import Apply
    from lamella.ir.graph.type import Type

K = TypeVar("K", bound="Variable[Any]")
T_co = TypeVar("T_co", bound="Type[Any]", covariant=True, default="Type[Any]")


@attrs.frozen(eq=False, repr=False, weakref_slot=True)
class Variable(Remembered, Generic[T_co]):
    """A symbolic value.

    Attributes
    ----------
    type
        The Type of the values it stands for.
    owner
        The node that computes it; None for inputs and constants.
    index
        Its place among the outputs of `owner`.
    name
        A name for people; it means nothing.
    """

    type: T_co
    owner: Apply[Any] | None = None
    index: int | None = None
    name: str | None = None

    def named(self, name: str | None) -> Self:
        """Return this Variable under another name: a node of its own, computing the same value."""
        if self.owner is None:
            return self._renamed(name)
        node, index = self.owner, self.index
        names = tuple([name if i == index else out.name for i, out in enumerate(node.outputs)])
        renamed = type(node).with_names(node.op, node.inputs, tuple([out.type for out in node.outputs]), names)
        return renamed.outputs[index or 0]  # type: ignore[return-value]  # the Type makes the same class of Variable again

    def _renamed(self, name: str | None) -> Self:
        return self.type.make_variable(name)  # type: ignore[return-value]  # the Type makes the same class of Variable again

    # The key of a Mapping is invariant, so a dictionary of one class of Variable needs a signature of its own.
    @overload
    def eval(self, inputs_to_values: Mapping[Variable[Any] | str, object] | None = None) -> Any: ...

    @overload
    def eval(self, inputs_to_values: Mapping[K, object] | Mapping[str, object]) -> Any: ...

    def eval(self, inputs_to_values: Mapping[Any, object] | None = None) -> Any:
        """Compute the value with the reference interpreter.

        Parameters
        ----------
        inputs_to_values
            Values of the graph's inputs, by Variable or by name.

        Raises
        ------
        MissingInputError
            An input has no value.
        """
        return evaluate([self], inputs_to_values or {})[0]

    def stored_value(self) -> Any:
        """Return the value this Variable carries with it (a Constant, a shared variable), or `NO_VALUE`."""
        return NO_VALUE

    @property
    def carries_value(self) -> bool:
        """Whether `stored_value` gives a value: true of constants and shared variables."""
        return False

    @property
    def is_constant(self) -> bool:
        """Whether the value is known while the graph is built."""
        return False

    @override
    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return f"<{self.type}>"
        return f"{self.owner.op}.{self.index}"

    @override
    def __repr__(self) -> str:
        return str(self)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        if self.owner is None:
            return (type(self), (self.type, None, None, self.name))
        return (restore_variable, (type(self.owner), flatten([self])))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class Constant(Variable[T_co]):
    """A Variable with a known value; equal values of one Type (and one name) are the same Constant.

    Attributes
    ----------
    data
        The value: a private copy, read-only where values of the Type can be.
    """

    __slots__ = ("data",)

    data: Any

    def __new__(cls, type: Type[Any], data: Any, name: str | None = None) -> Self:
        """Return the Constant of this value, made now if there is none."""
        value = type.filter(data)
        key = type.constant_key(value)
        if key is None:
            return cls._make(type, value, name)
        place = (cls, id(canonical(type)), key, name)
        known = _constants.find(place)
        if known is None:
            known = _constants.keep(place, cls._make(type, value, name))
        return known  # type: ignore[return-value]  # the place holds the class

    @classmethod
    def _make(cls, type: Type[Any], value: Any, name: str | None) -> Self:
        self = object.__new__(cls)
        Variable.__init__(self, type, None, None, name)
        _set(self, "data", type.freeze(value))
        return self

    def __init__(self, type: T_co, data: Any, name: str | None = None) -> None:
        """Do nothing: ``__new__`` returns the interned Constant."""

    @override
    def _renamed(self, name: str | None) -> Self:
        return type(self)(self.type, self.data, name)

    @override
    def stored_value(self) -> Any:
        return self.data

    @property
    @override
    def carries_value(self) -> bool:
        return True

    @property
    @override
    def is_constant(self) -> bool:
        return True

    @override
    def __str__(self) -> str:
        return self.name if self.name is not None else f"{self.type}{{{self.data}}}"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.type, self.data, self.name))


_set = object.__setattr__
_constants: InternTable[Constant[Any]] = InternTable()
