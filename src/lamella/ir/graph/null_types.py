"""Types without values, which say why there is no gradient."""

from __future__ import annotations

from typing import Any, NoReturn, final

import attrs
from typing_extensions import override

from lamella.ir.graph.op import Op
from lamella.ir.graph.type import Type
from lamella.ir.graph.variable import Variable

__all__ = ["DisconnectedType", "NullType", "grad_not_implemented", "grad_undefined"]


@final
@attrs.frozen(eq=False, repr=False)
class NullType(Type[NoReturn]):
    """The type of a gradient that is not defined, or not implemented; `why` says which and where."""

    why: str = attrs.field(default="no reason given", eq=False)

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        raise TypeError(f"there is no value of NullType: {self.why}")


@final
class DisconnectedType(Type[NoReturn]):
    """The type of the cotangent of a Variable that the cost does not depend on."""

    __slots__ = ()

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> NoReturn:
        raise TypeError("there is no value of DisconnectedType: the cost does not depend on this variable")


def grad_undefined(op: Op[Any, Any], x_pos: int, x: Variable[Any], comment: str = "") -> Variable[NullType]:
    """Return what an Op's `L_op` gives for an input with respect to which its gradient is not defined.

    Parameters
    ----------
    op
        The Op.
    x_pos, x
        The place of the input, and the input.
    comment
        Why.
    """
    why = f"the gradient of {op} with respect to its input {x_pos} ({x!r}) is not defined"
    return NullType(f"{why}: {comment}" if comment else why)()


def grad_not_implemented(op: Op[Any, Any], x_pos: int, x: Variable[Any], comment: str = "") -> Variable[NullType]:
    """Return what an Op's `L_op` gives for an input with respect to which its gradient exists, but is not implemented.

    Parameters
    ----------
    op
        The Op.
    x_pos, x
        The place of the input, and the input.
    comment
        What is missing.
    """
    why = f"the gradient of {op} with respect to its input {x_pos} ({x!r}) is not implemented"
    return NullType(f"{why}: {comment}" if comment else why)()
