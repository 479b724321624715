"""Types without values, which say why there is no gradient."""

from __future__ import annotations

from typing import Any, NoReturn, final

import attrs
from typing_extensions import override

from lamella.ir.graph.core import Type

__all__ = ["DisconnectedType", "NullType"]


@final
@attrs.frozen(repr=False)
class NullType(Type[NoReturn]):
    """The type of a gradient that is not defined, or not implemented; `why` says which and where."""

    why: str = attrs.field(default="no reason given", eq=False)

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        raise TypeError(f"there is no value of NullType: {self.why}")


@final
@attrs.frozen(repr=False)
class DisconnectedType(Type[NoReturn]):
    """The type of the cotangent of a Variable that the cost does not depend on."""

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        raise TypeError("there is no value of DisconnectedType: the cost does not depend on this variable")
