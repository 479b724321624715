"""Constant folding: what is computed from constants only is computed while the graph is rewritten.

before                              after
%c0: float64[] = constant 2.0       %c0: float64[] = constant 7.38905609893065
%0 = Exp(%c0)                       %0 = Mul(%x, %c0)
%1 = Mul(%x, %0)
"""

from __future__ import annotations

from typing import Any, Final

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import Apply, Constant, FunctionGraph, Nonzero, TensorType, Variable, perform_node
from lamella.rewriting.engine import node_rewriter
from lamella.typing_layer import static_shape

__all__ = ["MOST_BYTES", "constant_folding"]

MOST_BYTES: Final = 1 << 24
"""A constant larger than this is made only of constants at least twice as large, so that memory does not grow."""


@node_rewriter(None, reads_graph=False)
def constant_folding(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    """``f(c, d, ...) -> the constant that it is``, for constants c, d, ...

    Valid for every Op that does not refuse by `Op.do_constant_folding`. Where computing raises an error the node stays, to raise it when
    the graph runs: it may be in a branch that is never taken. A node whose result is large, or of a size that is not known beforehand, stays too.
    It pays because nothing is computed when the graph runs, and because what is known allows other rewrites.
    """
    for variable in node.inputs:
        if not isinstance(variable, Constant):
            return None
    if node.op.destroy_map or not node.op.do_constant_folding(fgraph, node) or not _stays_small(node):
        return None
    try:
        with np.errstate(all="ignore"):
            values = perform_node(node, [variable.stored_value() for variable in node.inputs])
        return [_constant(output, value) for output, value in zip(node.outputs, values, strict=True)]
    except Exception:  # noqa: BLE001 -- whatever an Op raises, it raises again when the graph runs, with all that can be said
        return None


def _stays_small(node: Apply[Any]) -> bool:
    made = 0
    for i, output in enumerate(node.outputs):
        size = _size(output)
        if size is not None:
            made += size
        elif i not in node.op.view_map and not isinstance(node.op, Nonzero):
            return False
    if made <= MOST_BYTES:
        return True
    return 2 * made <= sum([value.nbytes for v in node.inputs if isinstance(value := v.stored_value(), np.ndarray)])


def _size(output: Variable[Any]) -> int | None:
    """Return the number of bytes of a result; None where it is not known."""
    kind = output.type
    if not isinstance(kind, TensorType):
        return 0
    elements = 1
    for length in kind.shape if None not in kind.shape else static_shape(output):
        if length is None:
            return None
        elements *= length
    return elements * kind.numpy_dtype.itemsize


def _constant(output: Variable[Any], value: Any) -> Constant[Any]:
    kind = output.type
    return (_with_known_lengths(kind, value) if isinstance(kind, TensorType) else kind).make_constant(value)


def _with_known_lengths(kind: TensorType, value: npt.NDArray[Any]) -> TensorType:
    """Return the type of a constant that replaces a result of type `kind`.

    A length of 1 that was not known stays unknown: with it the constant would broadcast, which what it replaces does not.
    """
    if None not in kind.shape:
        return kind
    known = [a if a is not None or b == 1 else b for a, b in zip(kind.shape, value.shape, strict=True)]
    return attrs.evolve(kind, shape=known)
