"""`Print`: an identity that shows its value when it is computed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final

from attrs import field, frozen
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["Print", "print_attributes"]

VariableT = TypeVar("VariableT", bound=Variable[Any])


def print_attributes(op: Print, value: Any) -> None:
    """Print a line for each attribute of a value that `Print.attrs` names; a method is called without arguments."""
    for name in op.attrs:
        found = getattr(value, name)
        shown = found() if callable(found) else found
        print(f"{op.message} {name} = {shown}", file=sys.stdout)


def _names(names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"the names of attributes are a sequence of strings; write ({names!r},)")
    return tuple(names)


@final
@frozen(repr=False)
class Print(Op[..., Any]):
    """Return the input; show it each time it is computed.

    It takes part in the graph: what it shows is shown when something that is computed from its *result* is. Applied twice to the same Variable
    it is one node, and shows its value once a call. Gradients and tangents pass through it.

    Parameters
    ----------
    message
        What to print before the value.
    attrs
        Names of the attributes to print: ``("__str__",)`` for the value itself, or for example ``("shape", "dtype", "min")``. Methods are
        called.
    global_fn
        What shows a value: called with this Op and the value. By default `print_attributes`.
    """

    message: str = ""
    attrs: tuple[str, ...] = field(default=("__str__",), converter=_names)
    global_fn: Callable[[Print, Any], object] = field(default=print_attributes)

    view_map = {0: [0]}

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if len(args) != 1 or kwargs:
            raise TypeError(f"{self} takes one input, not {len(args) + len(kwargs)}")
        x = args[0] if isinstance(args[0], Variable) else as_tensor_variable(args[0])
        return Apply(self, [x], [x.type])

    @override
    def __call__(self, x: VariableT, /) -> VariableT:
        """Return `x`, to be shown when it is computed."""
        result: VariableT = super().__call__(x)
        return result

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]
        self.global_fn(self, inputs[0])

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        return False

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> Sequence[Variable[Any]]:
        return [output_grads[0]]

    @override
    def R_op(
        self, inputs: Sequence[Variable[Any]], eval_points: Sequence[Variable[Any] | None]
    ) -> Sequence[Variable[Any] | None]:
        return [eval_points[0]]

    @override
    def __str__(self) -> str:
        return f"Print{{{self.message}}}"
