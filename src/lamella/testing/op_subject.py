"""An Op applied to values: what the checks of its contract look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir import Apply, Op, Type, Variable, interpret, perform_node
from lamella.testing.memory_layouts import MEMORY_LAYOUTS, in_layout
from lamella.testing.op_values import symbolic_inputs

__all__ = ["OpContractError", "Subject"]

Array = npt.NDArray[Any]


@final
@attrs.frozen(eq=False)
class OpContractError(AssertionError):
    """An Op does not do what it promises.

    Attributes
    ----------
    op
        The Op, as it is printed.
    promise
        Which promise it breaks; see `verify_op` for their names.
    problem
        What is wrong, and what to do about it.
    """

    op: str
    promise: str
    problem: str

    @override
    def __str__(self) -> str:
        return f"{self.op} breaks its promise of {self.promise}: {self.problem}"


@final
@attrs.frozen(eq=False)
class Subject:
    """An Op, applied to arguments with known values.

    Attributes
    ----------
    op
        The Op.
    arguments, values
        Variables that the Op is applied to, and what they stand for.
    node
        The application.
    """

    op: Op[Any, Any]
    arguments: list[Variable[Any]]
    values: list[Any]
    node: Apply[Any]

    @classmethod
    def of(cls, op: Op[Any, Any], given: Sequence[Any]) -> Subject:
        """Apply an Op to values, or to pairs of a Type and a value."""
        arguments: list[Variable[Any]] = []
        values: list[Any] = []
        for i, value in enumerate(given):
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Type):
                arguments.append(value[0].make_variable(f"x{i}"))
                values.append(value[0].filter(value[1]))
            else:
                arguments.append(symbolic_inputs([value])[0].named(f"x{i}"))
                values.append(np.asarray(value))
        return cls(op, arguments, values, _apply(op, arguments))

    def with_values(self, values: Sequence[Any]) -> Subject | None:
        """Return the Op applied to other values; None where it refuses to be."""
        given = [x if isinstance(x, np.ndarray) else (v.type, x) for v, x in zip(self.arguments, values, strict=True)]
        try:
            return Subject.of(self.op, given)
        except (TypeError, ValueError, IndexError):
            return None

    def on(self, arguments: Sequence[Variable[Any]]) -> Apply[Any]:
        """Return the Op applied to other arguments."""
        return _apply(self.op, arguments)

    def inputs_of_node(self, values: Sequence[Any]) -> list[Any]:
        """Return what the inputs of the node are for values of the arguments: `make_node` may have converted these."""
        return interpret(self.arguments, self.node.inputs, values)

    def perform(self, values: Sequence[Any]) -> list[Any]:
        """Compute the outputs for values of the arguments."""
        with np.errstate(all="ignore"):
            return perform_node(self.node, self.inputs_of_node(values))

    def layouts(self) -> Iterator[tuple[str, list[Any]]]:
        """Give the values in all layouts of memory, alike for all arguments and mixed."""
        for layout in MEMORY_LAYOUTS:
            yield layout, [in_layout(x, layout) if isinstance(x, np.ndarray) else x for x in self.values]
        if sum(isinstance(x, np.ndarray) for x in self.values) > 1:
            mixed = [MEMORY_LAYOUTS[(2 * i + 1) % (len(MEMORY_LAYOUTS) - 1)] for i in range(len(self.values))]
            yield (
                "mixed",
                [
                    in_layout(x, layout) if isinstance(x, np.ndarray) else x
                    for x, layout in zip(self.values, mixed, strict=True)
                ],
            )

    @property
    def destroyed(self) -> frozenset[int]:
        """The inputs of the node that are declared to be overwritten."""
        return frozenset([i for inputs in self.op.destroy_map.values() for i in inputs])

    def broken(self, promise: str, problem: str) -> OpContractError:
        """Return the error that says so."""
        return OpContractError(str(self.op), promise, problem)


def _apply(op: Op[Any, Any], arguments: Sequence[Variable[Any]]) -> Apply[Any]:
    make: Any = op.make_node
    node: Apply[Any] = make(*arguments)
    return node
