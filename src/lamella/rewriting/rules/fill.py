"""Arrays that repeat a value, where those who use them repeat it anyway.

    before                                  after
    %0 = Exp(%x)                            %0 = Exp(%x)
    %1 = Second(%0, %c0)                    %1 = Mul(%c0, %y)
    %2 = Mul(%1, %y)

Gradients of sums begin with such an array.
"""

from __future__ import annotations

from itertools import dropwhile
from typing import Any, Final

from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    Alloc,
    Apply,
    DimShuffle,
    Elemwise,
    FunctionGraph,
    IncSubtensor,
    IntegerEntry,
    Op,
    Reshape,
    Second,
    Subtensor,
    TensorVariable,
    Variable,
    as_tensor_variable,
    lt,
)
from lamella.rewriting.engine import OpPattern, node_rewriter
from lamella.rewriting.rules.fitting import fitted
from lamella.typing_layer import symbolic_shape

__all__ = [
    "FILLS",
    "alloc_of_fill",
    "alloc_of_own_shape",
    "alloc_of_unit_axes",
    "alloc_of_whole",
    "dimshuffle_of_fill",
    "elemwise_of_fill",
    "fill_with_whole",
    "fill_written",
    "moved_fill",
    "repeated",
    "second_to_alloc",
]

_SECOND: Final = OpPattern(Elemwise, scalar_op=Second, inplace_pattern=())

FILLS: Final = (_SECOND, Alloc)
"""What names the Ops that repeat a value; see `repeated`."""


def _repeats(op: Op[Any, Any]) -> bool:
    return (
        isinstance(op.scalar_op, Second) and not op.inplace_pattern
        if isinstance(op, Elemwise)
        else isinstance(op, Alloc)
    )


def repeated(variable: Variable[Any]) -> TensorVariable | None:
    """Return the value that a node repeats, if it does nothing else.

    What the type of the node knows of the lengths that are not repeated is known of the value: a length of 1 is to broadcast as it did.
    """
    node = variable.owner
    if node is None or not _repeats(node.op):
        return None
    value = as_tensor_variable(node.inputs[0 if isinstance(node.op, Alloc) else 1])
    lengths = variable.type.shape[variable.type.ndim - value.ndim :]
    if None not in value.type.shape:
        return value
    return lt.specify_shape(value, [a if b is None else None for a, b in zip(lengths, value.type.shape, strict=True)])


def _repeated_as(value: TensorVariable, fill: Variable[Any]) -> TensorVariable:
    """Return another value repeated as `fill` repeats its; along axes where this has length 1, the value may have another length."""
    node = fill.owner
    assert node is not None
    if not isinstance(node.op, Alloc):
        return lt.second(as_tensor_variable(node.inputs[0]), value)
    lengths = [as_tensor_variable(length) for length in node.inputs[1:]]
    for axis, (a, b) in enumerate(zip(fill.type.shape, value.type.shape, strict=True)):
        if a == 1 and b != 1:
            lengths[axis] = lt.shape_i(value, axis)
    return Alloc()(value, *lengths)


@node_rewriter([OpPattern(Elemwise, inplace_pattern=())], tracks_inputs=FILLS)
def elemwise_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``f(alloc(v, shape), y) -> f(v, y)``, and ``f(alloc(v, shape)) -> alloc(f(v), shape)``; the same for ``fill(x, v)``.

    Valid where y has the lengths that v is repeated to: the error that it has not is not raised, nor are those of computing x. It pays because
    the array is not made, or because f is computed for fewer elements.
    """
    for variable in node.inputs:
        if variable.owner is not None and _repeats(variable.owner.op):
            break
    else:
        return None
    if len(node.outputs) != 1:
        return None
    values = [repeated(variable) for variable in node.inputs]
    (out,) = node.outputs
    made: TensorVariable = node.op(
        *[
            variable if value is None else as_tensor_variable(value, ndim=out.type.ndim)
            for variable, value in zip(node.inputs, values, strict=True)
        ]
    )
    for variable, value in zip(node.inputs, values, strict=True):
        if made.type.broadcastable == out.type.broadcastable:
            return fitted(made, out)
        if value is not None:
            if _repeats(node.op) and not (variable.owner and isinstance(variable.owner.op, Alloc)):
                return None  # of two fills, each would be put inside of the other, and back
            made = _repeated_as(made, variable)
    return fitted(made, out) if made.type.broadcastable == out.type.broadcastable else None


@node_rewriter([_SECOND])
def fill_with_whole(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``fill(x, y) -> y``, for y that is not repeated.

    Valid where x and y have the same shape: the error that they have not is not raised, nor are those of computing x. It pays because nothing is
    copied.
    """
    y, (out,) = node.inputs[1], node.outputs
    if y.type.broadcastable != out.type.broadcastable:
        return None
    return fitted(as_tensor_variable(y), out)


@node_rewriter([_SECOND])
def second_to_alloc(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``fill(x, v) -> alloc(v, shape of x)``

    Valid as shapes are found without computing x: errors that this would raise are not raised. It pays because x need not be computed.
    """
    (out,) = node.outputs
    return fitted(Alloc()(node.inputs[1], *symbolic_shape(out)), out)


@node_rewriter([Alloc])
def alloc_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alloc(alloc(v, m), n, m) -> alloc(v, n, m)``, and ``alloc(fill(x, v), n, m) -> alloc(v, n, m)``

    Always valid, but that the array made first may not fit. It pays because one array is made.
    """
    value, *lengths = node.inputs
    inner = repeated(value)
    return None if inner is None else fitted(Alloc()(inner, *[as_tensor_variable(n) for n in lengths]), node.outputs[0])


@node_rewriter([Alloc])
def alloc_of_own_shape(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alloc(x, *shape(x)) -> x``

    Always valid. It pays because nothing is copied.
    """
    x, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    (out,) = node.outputs
    if x.type.broadcastable != out.type.broadcastable:
        return None
    return fitted(x, out) if all([a is b for a, b in zip(symbolic_shape(x), lengths, strict=True)]) else None


@node_rewriter([Alloc])
def alloc_of_whole(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alloc(x, n, m) -> specify_shape(x, (n, m))``, for x that is not repeated.

    Always valid, but that a shape that does not fit is another error: a `ShapeMismatchError` for a `BroadcastError`. It pays because nothing is copied.
    """
    x, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    (out,) = node.outputs
    return fitted(lt.specify_shape(x, lengths), out) if x.type.broadcastable == out.type.broadcastable else None


@node_rewriter([Alloc])
def alloc_of_unit_axes(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``alloc(dimshuffle(v, "x", 0), n, m) -> alloc(v, n, m)``

    Always valid: axes of length 1 on the left are repeated as those are that are not there. It pays because equal arrays are seen to be equal.
    """
    value, *lengths = [as_tensor_variable(variable) for variable in node.inputs]
    kept = list(dropwhile(lambda axis: value.type.shape[axis] == 1, range(value.ndim)))
    return None if len(kept) == value.ndim else fitted(Alloc()(lt.dimshuffle(value, kept), *lengths), node.outputs[0])


@node_rewriter([DimShuffle], tracks_inputs=FILLS)
def dimshuffle_of_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``dimshuffle(alloc(v, n, m), 1, 0) -> alloc(dimshuffle(v, 1, 0), m, n)``; the same for ``fill(x, v)``.

    Valid where axes that are dropped are known to have length 1, but that the error of lengths that do not fit may be a `ShapeMismatchError`. It
    pays because those who use the result repeat v by themselves.
    """
    (fill,) = node.inputs
    value = repeated(fill)
    match node.op, fill.owner:
        case DimShuffle() as op, Apply() as filling if value is not None:
            pass
        case _:
            return None
    if any([fill.type.shape[axis] != 1 for axis in op.dropped]):
        return None
    moved = op(as_tensor_variable(value, ndim=fill.type.ndim))
    if not isinstance(filling.op, Alloc):
        return fitted(lt.second(op(as_tensor_variable(filling.inputs[0])), moved), node.outputs[0])
    lengths = [as_tensor_variable(length) for length in filling.inputs[1:]]
    return fitted(Alloc()(moved, *[1 if axis == "x" else lengths[axis] for axis in op.new_order]), node.outputs[0])


@node_rewriter([Reshape, Subtensor])
def moved_fill(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``reshape(alloc(v, n, m), s) -> alloc(v, *s)``, and ``alloc(v, n)[i:j] -> alloc(v, length of that)``, for one number v; the same for ``fill(x, v)``.

    Valid where s fits; integers in an index, which may be out of bounds, are left alone. It pays because those who use the result repeat v by
    themselves.
    """
    value = repeated(node.inputs[0])
    if value is None or value.type.shape != (1,) * value.ndim:
        return None
    if isinstance(node.op, Subtensor) and any([isinstance(entry, IntegerEntry) for entry in node.op.idx_list]):
        return None
    (out,) = node.outputs
    return fitted(Alloc()(lt.dimshuffle(value, []), *symbolic_shape(out)), out)


@node_rewriter([IncSubtensor, AdvancedIncSubtensor, AdvancedIncSubtensor1])
def fill_written(fgraph: FunctionGraph, node: Apply[Any]) -> list[TensorVariable] | None:
    """``x[i].set(alloc(v, n)) -> x[i].set(v)``, and the same for ``inc`` and for ``fill(y, v)``.

    Always valid, but that the array made first may not fit. It pays because it is not made.
    """
    x, fill, *index = node.inputs
    value = repeated(fill)
    return None if value is None else fitted(node.op(x, value, *index), node.outputs[0])
