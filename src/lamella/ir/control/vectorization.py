"""Batches of choices, checks, inner graphs, and Ops that control gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lamella.ir.tensor.functions as lt
from lamella.ir.autodiff.gradient_control import GradientControl
from lamella.ir.control.check_and_raise import CheckAndRaise
from lamella.ir.control.checkpoint import Recompute
from lamella.ir.control.ifelse import IfElse
from lamella.ir.control.inner_shapes import infer_inner_shapes
from lamella.ir.control.op_from_graph import OpFromGraph
from lamella.ir.control.print_op import Print
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.traversal import graph_inputs
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.variable import TensorVariable
from lamella.ir.tensor.vectorization.batches import Batch
from lamella.ir.tensor.vectorization.graph import vectorize_graph
from lamella.ir.tensor.vectorization.table import vectorize_node

__all__ = ["check", "choice", "inner_graph", "of_the_whole_batch", "recompute"]

Outputs = Sequence[Variable[Any]]


def of_the_whole_batch(op: GradientControl | Print, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """The same of the whole batch."""
    return op.make_node(*[as_tensor_variable(x) for x in inputs]).outputs


@vectorize_node.register(CheckAndRaise)
def check(op: CheckAndRaise, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """Conditions that hold for all elements of a batch."""
    value, *conditions = inputs
    return op.make_node(value, *conditions).outputs


@vectorize_node.register(Recompute)
def recompute(op: Recompute, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs:
    """The same of whole batches."""
    return op.make_node(*inputs).outputs


@vectorize_node.register(IfElse)
def choice(op: IfElse, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """Chosen as a whole where the condition has no batch axes; else both branches are computed, and chosen element by element."""
    if not all([isinstance(v, TensorVariable) for v in node.inputs]):
        return None
    condition = as_tensor_variable(inputs[0])
    values = [as_tensor_variable(x) for x in inputs[1:]]
    found: list[Variable[Any]] = []
    for i, out in enumerate(node.outputs):
        places = (1 + i, 1 + op.n_outs + i)
        if not condition.ndim:
            values[i], values[op.n_outs + i] = _whole_values(Batch(node, inputs, places))
            continue
        core = out.type.ndim
        pair = [_as_unknown(values[place - 1], node, place) for place in places]
        chosen = condition.dimshuffle([*range(condition.ndim), *["x"] * core])
        found.append(lt.switch(chosen, *pair))
    return found if condition.ndim else op.make_node(condition, *values).outputs


def _whole_values(together: Batch) -> list[TensorVariable]:
    """Return the values of two branches with all batch axes: the lengths of these are found without computing the other branch."""
    lengths: list[TensorVariable] = []
    for axis, static in enumerate(together.static):
        if static is not None:
            lengths.append(constant(static, dtype="int64"))
        else:
            lengths.append(_length(next(x for x in together.inputs if x.type.shape[axis] != 1), axis))
    whole: list[TensorVariable] = []
    for x in together.inputs:
        repeated = any([n == 1 != m for n, m in zip(x.type.shape, together.static, strict=False)])
        own = [lt.shape_i(x, axis) for axis in range(together.ndim, x.ndim)]
        whole.append(lt.alloc(x, *lengths, *own) if repeated else x)
    return whole


def _length(x: TensorVariable, axis: int) -> TensorVariable:
    roots = [v for v in graph_inputs([x]) if not v.is_constant]
    shapes = [lt.shape_tuple(v) if isinstance(v, TensorVariable) else () for v in roots]
    (lengths,) = infer_inner_shapes(FunctionGraph(roots, [x]), roots, shapes)
    return as_tensor_variable(lengths[axis])


def _as_unknown(value: TensorVariable, node: Apply[Any], place: int) -> TensorVariable:
    """Return a value of a branch whose own axes do not broadcast against those of the other branch."""
    core = node.inputs[place].type.ndim
    out = node.outputs[(place - 1) % len(node.outputs)].type.shape
    first = value.ndim - core
    return lt.unbroadcast(value, [first + axis for axis, length in enumerate(out) if length is None])


@vectorize_node.register(OpFromGraph)
def inner_graph(op: OpFromGraph, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Outputs | None:
    """An Op that computes the inner graph of batches; where its gradient is overridden, it is applied in a loop."""
    if op.lop_overrides is not None or op.rop_overrides is not None or op.given_pattern is not None:
        return None
    stand_ins = [new.type() for new in inputs]
    outputs = vectorize_graph(op.fgraph.outputs, dict(zip(op.fgraph.inputs, stand_ins, strict=True)))
    made = type(op)(stand_ins, outputs, inline=op.is_inline, name=op.name)
    return made.make_node(*inputs).outputs


vectorize_node.register(GradientControl)(of_the_whole_batch)
vectorize_node.register(Print)(of_the_whole_batch)
