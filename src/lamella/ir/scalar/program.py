"""A scalar graph as a program: a list of steps that builds or computes the same expressions on other operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final

import attrs

from lamella.errors import MissingInputError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable

__all__ = ["ScalarProgram"]

V = TypeVar("V")


@final
@attrs.frozen
class ScalarProgram:
    """Steps over numbered slots: inputs come first, then constants, then what the steps compute.

    Attributes
    ----------
    constants
        The constants.
    steps
        For each step its Op and the slots of its operands.
    results
        For each result its slot; for what is no scalar (a Variable of a Type without values), that Variable.
    """

    constants: tuple[ScalarConstant, ...]
    steps: tuple[tuple[ScalarOp[Any], tuple[int, ...]], ...]
    results: tuple[int | Variable[Any], ...]

    @classmethod
    def of(cls, inputs: Sequence[ScalarVariable], results: Sequence[Variable[Any]]) -> ScalarProgram:
        """Write down how `results` are computed from `inputs`.

        Raises
        ------
        MissingInputError
            The results depend on a Variable that is no input.
        TypeError
            Something on the way is no scalar Op.
        """
        order = toposort([r for r in results if isinstance(r, ScalarVariable)], inputs)
        slots: dict[Variable[Any], int] = {v: i for i, v in enumerate(inputs)}
        constants: list[ScalarConstant] = []
        for variable in [v for node in order for v in node.inputs] + list(results):
            if isinstance(variable, ScalarConstant) and variable not in slots:
                slots[variable] = len(inputs) + len(constants)
                constants.append(variable)
        steps: list[tuple[ScalarOp[Any], tuple[int, ...]]] = []
        count = len(inputs) + len(constants)
        for node in order:
            steps.append((_scalar_op(node), tuple([_slot(slots, v, node) for v in node.inputs])))
            slots.update({out: count + i for i, out in enumerate(node.outputs)})
            count += len(node.outputs)
        return cls(
            tuple(constants),
            tuple(steps),
            tuple([_slot(slots, r, "the result") if isinstance(r, ScalarVariable) else r for r in results]),
        )

    def run(
        self,
        inputs: Sequence[V],
        constant: Callable[[ScalarConstant], V],
        apply: Callable[[ScalarOp[Any], list[V]], Sequence[V]],
    ) -> list[V | Variable[Any]]:
        """Go through the steps.

        Parameters
        ----------
        inputs
            What stands for the inputs: values, or Variables of any kind.
        constant
            Makes of a constant what stands for it.
        apply
            Applies an Op to what stands for its operands; returns one thing for each of its results.
        """
        values: list[V] = [*inputs, *[constant(c) for c in self.constants]]
        for op, operands in self.steps:
            values.extend(apply(op, [values[slot] for slot in operands]))
        return [values[r] if isinstance(r, int) else r for r in self.results]


def _scalar_op(node: Apply[Any]) -> ScalarOp[Any]:
    if not isinstance(node.op, ScalarOp):
        raise TypeError(f"a scalar graph is made of scalar Ops; {node.op} of type {type(node.op).__name__} is none")
    return node.op


def _slot(slots: dict[Variable[Any], int], variable: Variable[Any], needed_by: object) -> int:
    if variable not in slots:
        raise MissingInputError(f"{variable!r} of type {variable.type} is needed by {needed_by}, but is no input")
    return slots[variable]
