"""Choices that are known while the graph is rewritten."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir import Alloc, Apply, Elemwise, FunctionGraph, Switch, TensorVariable, as_tensor_variable, lt
from lamella.rewriting.engine import OpPattern, node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import symbolic_shape, uniform_value

__all__ = ["switch_of_known", "switch_of_same"]

_SWITCH: Final = OpPattern(Elemwise, scalar_op=Switch, inplace_pattern=())


@node_rewriter([_SWITCH])
def switch_of_known(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(True, x, y) -> x``, and ``switch(False, x, y) -> y``

    Valid where the result is as large as the chosen operand; else it is repeated, and cast to the dtype of the result. The error that shapes do not
    fit is not raised, nor are those of computing the other operand. It pays because that need not be computed.
    """
    condition, x, y = node.inputs
    known = uniform_value(as_tensor_variable(condition))
    return None if known is None else _chosen(x if known else y, node)


@node_rewriter([_SWITCH])
def switch_of_same(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``switch(c, x, x) -> x``

    Valid where the result is as large as x; else x is repeated. The error that shapes do not fit is not raised, nor are those of computing c. It
    pays because c need not be computed.
    """
    _, x, y = node.inputs
    return _chosen(x, node) if x is y else None


def _chosen(operand: Any, node: Apply[Any]) -> list[TensorVariable] | None:
    (out,) = node.outputs
    chosen = lt.cast(as_tensor_variable(operand), out.type.dtype)
    if chosen.type.broadcastable != out.type.broadcastable:
        chosen = Alloc()(chosen, *symbolic_shape(out))
    return fitted(chosen, out)
