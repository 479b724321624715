"""`In` and `Out`: how a function takes an input and hands back an output."""

from __future__ import annotations

from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import Variable

__all__ = ["REQUIRED", "In", "Out"]


@final
@attrs.frozen
class _Required:
    """Says of an input that each call must give it a value."""

    @override
    def __reduce__(self) -> str:
        return "REQUIRED"  # there is one, known by its identity


REQUIRED: Final = _Required()
"""The default value of an input that has none."""


@final
@attrs.frozen
class In:
    """An input of a function.

    Attributes
    ----------
    variable
        The Variable.
    name
        The keyword it is given by; the name of the Variable by default.
    value
        A default value; the function keeps a copy, unless it may borrow.
    mutable
        Lets the function overwrite the array that a call gives.
    borrow
        Lets the function keep a reference to the array that a call gives, in a shared variable that it updates; without it the
        function keeps a copy.
    strict
        Refuses values that are not of the Variable's Type as they are.
    allow_downcast
        Allows conversions that lose precision; None allows them for Python floats.
    """

    variable: Variable[Any]
    name: str | None = None
    value: Any = REQUIRED
    mutable: bool = False
    borrow: bool = False
    strict: bool = False
    allow_downcast: bool | None = None

    @property
    def keyword(self) -> str | None:
        """The name under which calls give it."""
        return self.name if self.name is not None else self.variable.name


@final
@attrs.frozen
class Out:
    """An output of a function.

    Attributes
    ----------
    variable
        The Variable.
    borrow
        Lets the function return memory that also belongs to an input, a constant or another output, instead of a copy.
    """

    variable: Variable[Any]
    borrow: bool = False
