"""How the application of an Op is written in mathematical notation: a template per Op, and how tightly it binds.

A new Op gets a notation by registering a function for its class::

    @notation.register(MyOp)
    def _(op: MyOp, node: Apply[Any]) -> Notation:
        return Notation.infix("⊗", Precedence.PRODUCT, node)

What has none is written as a call, ``MyOp(x, y)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import singledispatch
from typing import Any, final

import attrs

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.op import Op
from lamella.ir.printing.subjects import op_text

__all__ = ["Notation", "Operand", "Precedence", "Writer", "listed", "notation"]


class Precedence(IntEnum):
    """How tightly a notation binds its operands: Python's order."""

    ANY = 0
    COMPARISON = 1
    OR = 2
    XOR = 3
    AND = 4
    SHIFT = 5
    SUM = 6
    PRODUCT = 7
    SIGN = 8
    POWER = 9
    ATOM = 10


Writer = Callable[[Any, Apply[Any]], "Notation"]
"""What writes the applications of Ops of a class: called with the Op and the node."""


@final
@attrs.frozen
class Operand:
    """A place for the text of an input.

    Attributes
    ----------
    place
        Which input of the node.
    binding
        The input's text is enclosed in parentheses where it binds less tightly than this.
    """

    place: int
    binding: int = Precedence.ANY


@final
@attrs.frozen
class Notation:
    """A template.

    Attributes
    ----------
    parts
        Texts and operands, in order.
    precedence
        How tightly the whole binds; None where it is its only operand, and binds as that does.
    """

    parts: tuple[str | Operand, ...]
    precedence: int | None = Precedence.ATOM

    @classmethod
    def infix(cls, operator: str, precedence: Precedence, node: Apply[Any], right_to_left: bool = False) -> Notation:
        """Write an operator between the inputs.

        Parameters
        ----------
        operator
            The operator.
        precedence
            How tightly it binds.
        node
            The application.
        right_to_left
            Whether ``a op b op c`` means ``a op (b op c)``.
        """
        parts: list[str | Operand] = []
        for i in range(len(node.inputs)):
            first = i == len(node.inputs) - 1 if right_to_left else i == 0
            if i:
                parts.append(f" {operator} ")
            parts.append(Operand(i, precedence if first else precedence + 1))
        return cls(tuple(parts), precedence)

    @classmethod
    def prefix(cls, operator: str, precedence: Precedence = Precedence.SIGN) -> Notation:
        """Write an operator before the only input."""
        return cls((operator, Operand(0, precedence)), precedence)

    @classmethod
    def postfix(cls, text: str) -> Notation:
        """Write an attribute or an index behind the only input."""
        return cls((Operand(0, Precedence.ATOM), text))

    @classmethod
    def call(cls, name: str, node: Apply[Any], *more: str) -> Notation:
        """Write a function call, with further arguments behind the inputs."""
        inputs = [Operand(i) for i in range(len(node.inputs))]
        return cls((f"{name}(", *listed([*inputs, *more]), ")"))

    @classmethod
    def same(cls, place: int = 0) -> Notation:
        """Write an input alone: for Ops that change how a value is held, not what it is."""
        return cls((Operand(place),), None)


def listed(parts: Sequence[str | Operand]) -> list[str | Operand]:
    """Return parts with commas between them."""
    return [piece for i, part in enumerate(parts) for piece in ((", ", part) if i else (part,))]


@singledispatch
def notation(op: Op[Any, Any], node: Apply[Any]) -> Notation:
    """Return how an application is written. Register a function for a class of Ops to say it."""
    return Notation.call(op_text(op), node)
