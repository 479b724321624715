"""`Unbroadcast` where it is needed no more.

It stands where a tensor turned out to have length 1 along an axis, and was used by an Op that must not broadcast it, because that was not known
when the Op was applied. Ops that broadcast nothing do not need it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lamella.ir import (
    Apply,
    BatchedDot,
    CAReduce,
    DimShuffle,
    Dot,
    Elemwise,
    FunctionGraph,
    Join,
    Reshape,
    Shape,
    Shape_i,
    Softmax,
    SpecifyShape,
    Subtensor,
    TensorVariable,
    Unbroadcast,
    Variable,
    lt,
)
from lamella.rewriting.engine import OpPattern, node_rewriter

__all__ = ["elemwise_of_unbroadcast", "op_of_unbroadcast", "unbroadcast_of_unbroadcast"]

_BROADCASTING_NOTHING: Final = (
    *(
        BatchedDot,
        CAReduce,
        DimShuffle,
        Dot,
        Join,
        Reshape,
        Shape,
        Shape_i,
        Softmax,
        SpecifyShape,
        Subtensor,
        Unbroadcast,
    ),
)


def _source(variable: Variable[Any]) -> Variable[Any]:
    node = variable.owner
    return node.inputs[0] if node is not None and isinstance(node.op, Unbroadcast) else variable


@node_rewriter(_BROADCASTING_NOTHING, tracks_inputs=[Unbroadcast])
def op_of_unbroadcast(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``f(unbroadcast(x)) -> f(x)``, for an f that broadcasts nothing.

    Always valid: a node keeps its meaning when more is known about its inputs. It pays because more is known about the result.
    """
    for variable in node.inputs:
        if _source(variable) is not variable:
            return node.clone_with_new_inputs([_source(v) for v in node.inputs]).outputs
    return None


@node_rewriter([Unbroadcast])
def unbroadcast_of_unbroadcast(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``unbroadcast(unbroadcast(x, a), b) -> unbroadcast(x, a and b)``

    Always valid. It pays because one view is made.
    """
    match node.op, node.inputs[0].owner:
        case Unbroadcast(outer), Apply(Unbroadcast(inner), (x,)):
            return [lt.unbroadcast(x, (*outer, *inner))]
        case _:
            return None


@node_rewriter([OpPattern(Elemwise, inplace_pattern=())], tracks_inputs=[Unbroadcast])
def elemwise_of_unbroadcast(fgraph: FunctionGraph, node: Apply[Any]) -> Sequence[Variable[Any]] | None:
    """``f(unbroadcast(x), y) -> f(x, y)``, for x and y of length 1.

    Always valid: nothing is broadcast where all lengths are 1. It pays because the length of the result is known.
    """
    for variable in node.inputs:
        if variable.owner is not None and isinstance(variable.owner.op, Unbroadcast):
            break
    else:
        return None
    sources = [_source(variable) for variable in node.inputs]
    needless = {
        axis for axis, found in enumerate(zip(*[v.type.shape for v in sources], strict=True)) if set(found) == {1}
    }
    if not needless:
        return None
    inputs = [
        lt.unbroadcast(source, [a for a, length in enumerate(v.type.shape) if length is None and a not in needless])
        for v, source in zip(node.inputs, sources, strict=True)
    ]
    return None if inputs == list(node.inputs) else node.op.make_node(*inputs).outputs
