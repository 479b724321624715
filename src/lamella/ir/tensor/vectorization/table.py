"""How an Op is applied to whole batches: a rule for each class of Ops that has a better way than a loop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, final

from typing_extensions import TypeVar

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.op import Op
from lamella.ir.graph.variable import Variable

__all__ = ["VectorizeRule", "VectorizeTable", "vectorize_node"]

OpT = TypeVar("OpT", bound=Op[Any, Any])
OpT_contra = TypeVar("OpT_contra", bound=Op[Any, Any], contravariant=True)


class VectorizeRule(Protocol[OpT_contra]):
    """Applies the Op of a node to inputs of which some have batch axes before their own."""

    def __call__(
        self, op: OpT_contra, node: Apply[Any], inputs: Sequence[Variable[Any]], /
    ) -> Sequence[Variable[Any]] | None:
        """Return what stands for the node's outputs, batch axes first; None where the rule does not cover this case."""


@final
class VectorizeTable:
    """Rules by class of Op; a subclass has the rule of its nearest base that has one.

    An Op without a rule, or whose rule returns None, is applied in a loop over the batch (see `Blockwise`).
    """

    def __init__(self) -> None:
        self._rules: dict[type, Callable[..., Sequence[Variable[Any]] | None]] = {}
        self._guard = threading.Lock()

    def register(self, op_class: type[OpT]) -> Callable[[VectorizeRule[OpT]], VectorizeRule[OpT]]:
        """Return a decorator that makes a function the rule of a class of Ops."""

        def decorate(rule: VectorizeRule[OpT]) -> VectorizeRule[OpT]:
            with self._guard:
                # Readers see the old table or the new one.
                self._rules = {**self._rules, op_class: rule}
            return rule

        return decorate

    def has_rule(self, op: Op[Any, Any]) -> bool:
        """Whether an Op has a rule of its own class or a base of it, other than the loop that all have."""
        return any([base in self._rules and base is not Op for base in type(op).__mro__])

    def __call__(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> list[Variable[Any]]:
        """Apply the Op of a node to batches.

        Parameters
        ----------
        node
            The node.
        inputs
            What stands for its inputs: each of the same dtype, with batch axes before its own axes, or with none. Batch axes broadcast
            with one another as operands do, aligned at the last one.

        Returns
        -------
        list of Variable
            What stands for its outputs.

        Raises
        ------
        TypeError
            An input that has batch axes is of a Type that has no batches.
        """
        rules = self._rules
        for base in type(node.op).__mro__:
            rule = rules.get(base)
            if rule is not None:
                found = rule(node.op, node, inputs)
                if found is not None:
                    return list(found)
        raise TypeError(f"{node.op} cannot be applied to batches: there is no rule for it")


vectorize_node: Final = VectorizeTable()
"""The rules: ``@vectorize_node.register(MyOp)``; called with a node and inputs, it applies them."""
