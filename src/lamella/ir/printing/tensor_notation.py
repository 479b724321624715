"""Mathematical notation of the tensor Ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from lamella.ir.graph.apply import Apply
from lamella.ir.printing.notation import Notation, Operand, Precedence, Writer, listed, notation
from lamella.ir.tensor.advanced_inc_subtensor import AdvancedIncSubtensor, AdvancedIncSubtensor1
from lamella.ir.tensor.advanced_subtensor import AdvancedSubtensor, AdvancedSubtensor1
from lamella.ir.tensor.alloc import Alloc
from lamella.ir.tensor.argmax import Argmax, Argmin
from lamella.ir.tensor.cumulative import CumOp
from lamella.ir.tensor.dimshuffle import DimShuffle
from lamella.ir.tensor.dot import BatchedDot, Dot
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.inc_subtensor import IncSubtensor
from lamella.ir.tensor.index_entries import (
    ArrayEntry,
    Bound,
    EmptyEllipsisEntry,
    FlagEntry,
    FromInput,
    IndexEntry,
    IntegerEntry,
    NewAxisEntry,
    SliceEntry,
)
from lamella.ir.tensor.joining import Join
from lamella.ir.tensor.make_vector import MakeVector
from lamella.ir.tensor.reduction import CAReduce
from lamella.ir.tensor.reshape import Reshape
from lamella.ir.tensor.scalar_conversion import ScalarFromTensor, TensorFromScalar
from lamella.ir.tensor.shape import Shape, Shape_i
from lamella.ir.tensor.softmax import LogSoftmax, LogSumExp, Softmax
from lamella.ir.tensor.specify_shape import SpecifyShape, Unbroadcast
from lamella.ir.tensor.subtensor import Subtensor

__all__ = ["TENSOR_NOTATIONS"]


def _elemwise(op: Elemwise[Any], node: Apply[Any]) -> Notation:
    return notation(op.scalar_op, node)


def _dim_shuffle(op: DimShuffle, node: Apply[Any]) -> Notation:
    kept = [axis for axis in op.new_order if axis != "x"]
    leading = ["x"] * (len(op.new_order) - len(kept))
    if kept == list(range(op.input_ndim)) and [*leading, *kept] == list(op.new_order):
        return Notation.same()  # axes that broadcasting would add
    if list(op.new_order) == [1, 0]:
        return Notation.postfix(".T")
    if kept == list(range(op.input_ndim)):
        return Notation.postfix(f"[{', '.join(['None' if axis == 'x' else ':' for axis in op.new_order])}]")
    if len(kept) == op.input_ndim == len(op.new_order):
        return Notation.call("transpose", node, f"axes=({', '.join(map(str, kept))})")
    if kept == sorted(kept) and len(kept) == len(op.new_order):
        return Notation.call("squeeze", node, f"axis={_axes_text(op.dropped)}")
    return Notation.call("dimshuffle", node, f"({', '.join(map(str, op.new_order))})")


def _axes_text(axes: Sequence[int] | int | None) -> str:
    if isinstance(axes, Sequence):
        return str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"
    return str(axes)


def _along(name: str, axes: Sequence[int] | int | None, node: Apply[Any]) -> Notation:
    """Write a function over axes; these are not told where they are all there are."""
    ndim = node.inputs[0].type.ndim
    all_axes = axes is None or (isinstance(axes, Sequence) and len(axes) == ndim)
    return Notation.call(name, node) if all_axes else Notation.call(name, node, f"axis={_axes_text(axes)}")


def _over_axes(op: CAReduce | Argmax | Argmin | Softmax | LogSumExp, node: Apply[Any]) -> Notation:
    return _along(type(op).__name__.lower(), op.axis, node)


def _log_softmax(op: LogSoftmax, node: Apply[Any]) -> Notation:
    return _along("log_softmax", op.axis, node)


def _cum_op(op: CumOp, node: Apply[Any]) -> Notation:
    return Notation.call("cumsum" if op.mode == "add" else "cumprod", node, f"axis={op.axis}")


def _dot(op: Dot | BatchedDot, node: Apply[Any]) -> Notation:
    return Notation.infix("@", Precedence.PRODUCT, node)


def _shape(op: Shape, node: Apply[Any]) -> Notation:
    return Notation.postfix(".shape")


def _shape_i(op: Shape_i, node: Apply[Any]) -> Notation:
    return Notation.postfix(f".shape[{op.axis}]")


def _reshape(op: Reshape, node: Apply[Any]) -> Notation:
    return Notation.call("reshape", node)


def _alloc(op: Alloc, node: Apply[Any]) -> Notation:
    return Notation.call("alloc", node)


def _specify_shape(op: SpecifyShape, node: Apply[Any]) -> Notation:
    parts: list[str | Operand] = ["specify_shape(", Operand(0), ", ("]
    places = {axis: i + 1 for i, axis in enumerate(op.axes)}
    for axis in range(node.inputs[0].type.ndim):
        parts.extend([", "] if axis else [])
        parts.append(Operand(places[axis]) if axis in places else "None")
    return Notation((*parts, "))"))


def _transparent(op: Unbroadcast | TensorFromScalar | ScalarFromTensor, node: Apply[Any]) -> Notation:
    return Notation.same()


def _make_vector(op: MakeVector, node: Apply[Any]) -> Notation:
    return Notation(("[", *listed([Operand(i) for i in range(len(node.inputs))]), "]"))


def _join(op: Join, node: Apply[Any]) -> Notation:
    return Notation((f"join({op.axis}, ", *listed([Operand(i) for i in range(len(node.inputs))]), ")"))


def _index(entries: Sequence[IndexEntry], first: int) -> list[str | Operand]:
    """Write an index, whose inputs are those of the node from `first` on."""
    parts: list[str | Operand] = []

    def bound(value: Bound) -> None:
        if value is not None:
            parts.append(Operand(first + value.position) if isinstance(value, FromInput) else str(value))

    for i, entry in enumerate(entries):
        if i:
            parts.append(", ")
        match entry:
            case IntegerEntry(integer):
                bound(integer)
            case SliceEntry(start, stop, step):
                bound(start)
                parts.append(":")
                bound(stop)
                if step is not None:
                    parts.append(":")
                    bound(step)
            case NewAxisEntry():
                parts.append("None")
            case ArrayEntry(position) | FlagEntry(position):
                parts.append(Operand(first + position))
            case EmptyEllipsisEntry():
                parts.append("...")
            case _:
                assert_never(entry)
    return parts


def _subtensor(op: Subtensor | AdvancedSubtensor | AdvancedSubtensor1, node: Apply[Any]) -> Notation:
    return Notation((Operand(0, Precedence.ATOM), "[", *_index(op.idx_list, 1), "]"))


def _inc_subtensor(op: IncSubtensor | AdvancedIncSubtensor | AdvancedIncSubtensor1, node: Apply[Any]) -> Notation:
    method = "set" if op.set_instead_of_inc else "inc"
    return Notation((Operand(0, Precedence.ATOM), "[", *_index(op.idx_list, 2), f"].{method}(", Operand(1), ")"))


TENSOR_NOTATIONS: Mapping[type, Writer] = {
    AdvancedIncSubtensor: _inc_subtensor,
    AdvancedIncSubtensor1: _inc_subtensor,
    AdvancedSubtensor: _subtensor,
    AdvancedSubtensor1: _subtensor,
    Alloc: _alloc,
    Argmax: _over_axes,
    Argmin: _over_axes,
    BatchedDot: _dot,
    CAReduce: _over_axes,
    CumOp: _cum_op,
    DimShuffle: _dim_shuffle,
    Dot: _dot,
    Elemwise: _elemwise,
    IncSubtensor: _inc_subtensor,
    Join: _join,
    LogSoftmax: _log_softmax,
    LogSumExp: _over_axes,
    MakeVector: _make_vector,
    Reshape: _reshape,
    ScalarFromTensor: _transparent,
    Shape: _shape,
    Shape_i: _shape_i,
    Softmax: _over_axes,
    SpecifyShape: _specify_shape,
    Subtensor: _subtensor,
    TensorFromScalar: _transparent,
    Unbroadcast: _transparent,
}
"""How the tensor Ops are written, by class."""
