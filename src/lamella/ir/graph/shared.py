"""Shared variables: Variables that carry a value from call to call."""

from __future__ import annotations

import copy
import threading
from typing import Any, Self

from typing_extensions import TypeVar, override

from lamella.ir.graph.type import Type
from lamella.ir.graph.variable import Variable

__all__ = ["SharedVariable", "StorageCell"]

T_co = TypeVar("T_co", bound=Type[Any], covariant=True, default=Type[Any])


class StorageCell:
    """The one mutable place of a shared variable."""

    __slots__ = ("lock", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.lock = threading.RLock()

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (StorageCell, (self.value,))


class SharedVariable(Variable[T_co]):
    """A Variable whose value lives outside of the graph, in a cell that functions read and update.

    Attributes
    ----------
    cell
        Where the value is kept.
    """

    __slots__ = ("cell",)

    cell: StorageCell

    def __init__(self, type: T_co, cell: StorageCell, name: str | None = None) -> None:
        Variable.__init__(self, type, None, None, name)
        object.__setattr__(self, "cell", cell)

    @override
    def _renamed(self, name: str | None) -> Self:
        return type(self)(self.type, self.cell, name)

    @override
    def stored_value(self) -> Any:
        return self.cell.value

    @property
    @override
    def carries_value(self) -> bool:
        return True

    def get_value(self, borrow: bool = False) -> Any:
        """Return the value: a copy of its own, or under `borrow` the very object that functions use."""
        value = self.cell.value
        return value if borrow else self.type.copy_value(value)

    def set_value(self, value: object, borrow: bool = False) -> None:
        """Set the value.

        Parameters
        ----------
        value
            The new value; converted as the Type does.
        borrow
            Use the very object where its type allows, instead of a copy.

        Raises
        ------
        TypeError
            The value does not fit the Type.
        """
        fitting = self.type.filter(value)
        self.cell.value = fitting if borrow else self.type.copy_value(fitting)

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.type, self.cell, self.name))

    @override
    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return type(self)(self.type, copy.deepcopy(self.cell, memo), self.name)
