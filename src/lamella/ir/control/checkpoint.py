"""`checkpoint`: gradients compute what they need of a part of a graph again, instead of keeping it.

A gradient reads values that were computed on the way forwards, so all of them are kept until it is their turn. Of a checkpointed part only the
inputs are kept; on the way back its values are computed a second time, from the inputs, as soon as the cotangents of its outputs are there. It
costs one more evaluation of the part, and saves its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, final, overload

import attrs
from typing_extensions import override

from lamella.ir.autodiff.backward import accumulate_cotangents
from lamella.ir.control.op_from_graph import OpFromGraph, Variables, seeds_of
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.traversal import explicit_graph_inputs, toposort
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["Checkpoint", "Recompute", "checkpoint"]


def _views(self: Recompute) -> Mapping[int, Sequence[int]]:
    return {i: (i,) for i in range(self.n_values)}


@final
@attrs.frozen(eq=False, repr=False)
class Recompute(Op[..., Any]):
    """Return the first inputs (views of them), when all inputs are there.

    What is computed from the results is computed apart from what is computed from the inputs: no rewrite sees through this Op.

    Parameters
    ----------
    n_values
        How many inputs are returned; the others are only waited for.
    """

    n_values: int
    view_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_views, takes_self=True)
    )

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if len(args) < self.n_values or kwargs:
            raise TypeError(f"{self} takes {self.n_values} values, and what is waited for")
        inputs = [x if isinstance(x, Variable) else as_tensor_variable(x) for x in args]
        return Apply(self, inputs, [x.type for x in inputs[: self.n_values]])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        for cell, value in zip(output_storage, inputs[: self.n_values], strict=True):
            cell[0] = value

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        return False

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return shapes[: self.n_values]

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        return [[i == o for o in range(self.n_values)] for i in range(node.nin)]

    @override
    def L_op(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Sequence[Variable[Any]]:
        return [*output_grads, *[DisconnectedType()() for _ in inputs[self.n_values :]]]

    @override
    def R_op(self, inputs: Variables, eval_points: Sequence[Variable[Any] | None]) -> Sequence[Variable[Any] | None]:
        return eval_points[: self.n_values]


@final
class Checkpoint(OpFromGraph):
    """Compute a graph of which gradients keep nothing but the inputs; see `checkpoint`."""

    @override
    def L_op(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Sequence[Variable[Any]]:
        waited_for = [g for g in output_grads if not isinstance(g.type, DisconnectedType)]
        again = Recompute(len(inputs)).make_node(*inputs, *waited_for).outputs
        ends = self.inlined(again)
        found = accumulate_cotangents(seeds_of(ends, output_grads), again, again)
        return [found[v] if v in found else DisconnectedType()() for v in again]


P = ParamSpec("P")
R = TypeVar("R")


@overload
def checkpoint(outputs: TensorVariable, inputs: Sequence[Variable[Any]] | None = None) -> TensorVariable: ...


@overload
def checkpoint(
    outputs: Sequence[TensorVariable], inputs: Sequence[Variable[Any]] | None = None
) -> list[TensorVariable]: ...


@overload
def checkpoint(outputs: Callable[P, R], inputs: None = None) -> Callable[P, R]: ...


def checkpoint(
    outputs: TensorVariable | Sequence[TensorVariable] | Callable[..., Any],
    inputs: Sequence[Variable[Any]] | None = None,
) -> Any:
    """Return the same values; gradients compute again what they need of how these were computed.

    The forward pass is what it was. A gradient of the result keeps none of the values between `inputs` and `outputs`: it computes them again, once
    it has the cotangents of the outputs. So a chain of n steps, checkpointed in pieces of about sqrt(n) steps, needs memory for about 2 sqrt(n)
    of its values. Gradients of gradients compute them again as well.

    Parameters
    ----------
    outputs
        A Variable, or several; or a function that returns such. Of a function, the arguments without a keyword are inputs, and what it takes from
        elsewhere counts as inputs too.
    inputs
        Where to begin again. By default the inputs of the graph, shared variables included.

    Returns
    -------
    TensorVariable, list of TensorVariable, or function
        What stands for `outputs`; for a function, a function of the same arguments.

    Raises
    ------
    MissingInputError
        The outputs need something that `inputs` do not give.

    References
    ----------
    A. Griewank and A. Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000); T. Chen et al., "Training deep nets with sublinear memory cost",
    2016.
    """
    if callable(outputs):
        return _checkpointed(outputs)
    several = not isinstance(outputs, Variable)
    ends = [outputs] if isinstance(outputs, Variable) else list(outputs)
    begin = list(explicit_graph_inputs(ends) if inputs is None else dict.fromkeys(inputs))
    made = Checkpoint(begin, ends).make_node(*begin).outputs
    return list(made) if several else made[0]


def _checkpointed(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        given = [x if isinstance(x, Variable) else as_tensor_variable(x) for x in args]
        parameters = [x.type() for x in given]
        returned = function(*parameters, **kwargs)
        ends = [returned] if isinstance(returned, Variable) else list(returned)
        captured = _captured(ends, parameters)
        made = Checkpoint([*parameters, *captured], ends).make_node(*given, *captured).outputs
        return made[0] if isinstance(returned, Variable) else type(returned)(made)

    return checkpointed


def _captured(ends: Sequence[Variable[Any]], parameters: Sequence[Variable[Any]]) -> list[Variable[Any]]:
    """Return the Variables that a graph takes from elsewhere: those that do not depend on its parameters, and that what does needs."""
    depends = set(parameters)
    needed: dict[Variable[Any], None] = {}
    for node in toposort(ends, parameters):
        if any([v in depends for v in node.inputs]):
            depends.update(node.outputs)
            needed.update(dict.fromkeys(node.inputs))
    needed.update(dict.fromkeys(ends))
    return [v for v in needed if v not in depends and not v.is_constant]
