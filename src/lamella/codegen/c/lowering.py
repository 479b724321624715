"""The table of lowerings: how each Op becomes C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

from typing_extensions import TypeVar

from lamella.codegen.c.lowering_table import LoweringTable
from lamella.codegen.c.step import Step
from lamella.ir import Op

__all__ = ["CLoweringTable", "Lowering", "c_lowering"]

OpT = TypeVar("OpT", bound=Op[Any, Any])
OpT_contra = TypeVar("OpT_contra", bound=Op[Any, Any], contravariant=True)


class Lowering(Protocol[OpT_contra]):
    """Writes the statements of a step. May raise `LoweringError`: then the reference interpreter computes the step."""

    def __call__(self, op: OpT_contra, step: Step, /) -> None:
        """Write the statements."""


@final
class CLoweringTable:
    """How each Op becomes C.

    A function registered for a class of Ops is given the Op and the `Step` to write. An Op without a function, or for whose
    types the function raises `LoweringError`, is computed by its `perform`, called from C. What a function writes depends on the Op, on the
    types and the constants among the inputs and outputs, and on what it asks of the step: it is not called again for a node of which
    these are the same.
    """

    def __init__(self) -> None:
        self._table: LoweringTable[Callable[..., None]] = LoweringTable("lowering to C")

    def register(self, *classes: type[OpT]) -> Callable[[Lowering[OpT]], Lowering[OpT]]:
        """Return a decorator that makes a function lower Ops of some classes."""

        def decorate(function: Lowering[OpT]) -> Lowering[OpT]:
            self._table.put(classes, function)
            return function

        return decorate

    @property
    def classes(self) -> frozenset[type]:
        """The classes of Ops that have a function; so have their subclasses."""
        return self._table.classes

    def lower(self, step: Step) -> None:
        """Write the statements of a step.

        Raises
        ------
        LoweringError
            There is no function for its Op, or the function does not know its types.
        """
        self._table.get(step.node.op)(step.node.op, step)


c_lowering = CLoweringTable()
"""The lowerings to C: ``@c_lowering.register(MyOp)``."""
