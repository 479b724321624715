"""`Subtensor`: basic indexing, by slices, integers and new axes: a view."""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import INTEGER_DTYPES, is_differentiable_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.index_entries import (
    LARGEST,
    BasicEntry,
    Bound,
    FromInput,
    IndexEntry,
    IntegerEntry,
    SliceEntry,
    check_entries,
    consumed_axes,
    describe_entries,
    numpy_index,
    result_lengths,
)
from lamella.ir.tensor.known_integers import known_integer
from lamella.ir.tensor.slice_length import Length, known_or_symbolic, length_variable, slice_length, static_slice_length
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

if TYPE_CHECKING:  # generic for type checkers only
    SliceIndex = slice[Any, Any, Any]
else:
    SliceIndex = slice

__all__ = [
    "Index",
    "Subtensor",
    "as_index_scalar",
    "check_integers",
    "check_number_of_axes",
    "inferred_slice_length",
    "static_entry_slice_length",
]

NestedIndices = Sequence["int | bool | TensorVariable | NestedIndices"]
"""Integers (or booleans) in nested sequences, which make an index array."""

Index = TensorVariable | npt.NDArray[Any] | np.generic | int | bool | SliceIndex | EllipsisType | NestedIndices | None
"""What stands for an axis (or several) in ``x[...]``, as NumPy has it; bounds of slices may be symbolic."""


def as_index_scalar(value: TensorLike) -> TensorVariable:
    """Return an integer of 0 dimensions as an int64 Variable, for an index or the bound of a slice.

    Raises
    ------
    IndexError
        It is no integer of 0 dimensions.
    """
    variable = as_tensor_variable(value)
    if variable.ndim or variable.dtype not in INTEGER_DTYPES:
        raise IndexError(f"an integer of 0 dimensions is expected as an index, not {variable!r} of {variable.type}")
    if (
        variable.dtype == "uint64"
    ):  # what is beyond int64 is beyond the end of every axis; a cast would make it negative
        variable = lt.minimum(variable, np.uint64(LARGEST))
    return variable if variable.dtype == "int64" else lt.cast(variable, "int64")


def check_number_of_axes(entries: Sequence[IndexEntry], ndim: int) -> None:
    """Raise an IndexError where an index is for more axes than there are."""
    indexed = consumed_axes(entries)
    if indexed > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {indexed} were indexed")


def check_integers(entries: Sequence[IndexEntry], index: Sequence[TensorVariable], shape: StaticShape) -> None:
    """Raise an IndexError where a constant integer is out of the bounds of a known length."""
    axis = 0
    for entry in entries:
        if isinstance(entry, IntegerEntry):
            integer, length = _known_bound(entry.index, index), shape[axis]
            if isinstance(integer, int) and length is not None and not -length <= integer < length:
                raise IndexError(f"index {integer} is out of bounds for axis {axis} with size {length}")
        axis += consumed_axes([entry])


def _known_bound(bound: Bound, index: Sequence[TensorVariable]) -> Length | None:
    return known_or_symbolic(index[bound.position]) if isinstance(bound, FromInput) else bound


def static_entry_slice_length(length: int | None, entry: SliceEntry, index: Sequence[TensorVariable]) -> int | None:
    """Return the length that a slice entry selects of a length, where it is known, given the node's index inputs."""
    if length == 0:
        return 0
    bounds: list[Length | None] = []
    for bound in (entry.start, entry.stop, entry.step):
        value = _known_bound(bound, index)
        found = known_integer(value) if isinstance(value, TensorVariable) else None
        bounds.append(value if found is None else found)
    start, stop, step = bounds
    if isinstance(step, int) and step == 0:
        return None  # raises at run time
    return static_slice_length(length, start, stop, step)


def inferred_slice_length(length: Length, entry: SliceEntry, index: Sequence[TensorVariable]) -> Length:
    """Return the length that a slice entry selects of a length, as an expression of the node's index inputs."""
    start, stop, step = [_known_bound(bound, index) for bound in (entry.start, entry.stop, entry.step)]
    return slice_length(length, start, stop, step)


@final
@attrs.frozen(eq=False, repr=False)
class Subtensor(Op[..., TensorVariable]):
    """Select elements by slices, integers and new axes; the result is a view.

    The inputs of a node are the array and the integers of 0 dimensions that entries refer to by `FromInput`.

    Parameters
    ----------
    idx_list
        What is done to each axis, from the first; later axes are kept.

    Raises
    ------
    ValueError
        The entries do not refer to index inputs in order.
    """

    idx_list: tuple[BasicEntry, ...]

    view_map = {0: [0]}

    def __attrs_post_init__(self) -> None:
        check_entries(self.idx_list)

    @override
    def make_node(self, x: TensorLike, *index: TensorLike) -> Apply[TensorVariable]:
        array = as_tensor_variable(x)
        integers = [as_index_scalar(i) for i in index]
        check_number_of_axes(self.idx_list, array.ndim)
        check_integers(self.idx_list, integers, array.type.shape)
        return self.unchecked_node(array, integers)

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # A length that becomes known must not turn an index out of bounds, in a branch never taken, into a failure to compile.
        array, *integers = [v for v in inputs if isinstance(v, TensorVariable)]
        return self.unchecked_node(array, integers)

    def unchecked_node(self, x: TensorVariable, index: Sequence[TensorVariable]) -> Apply[TensorVariable]:
        """Make the node of inputs that are known to fit."""
        expected = check_entries(self.idx_list)
        if len(index) != expected:
            raise TypeError(f"{self} takes {expected} index inputs, not {len(index)}")
        shape = result_lengths(
            self.idx_list, x.type.shape, lambda length, entry: static_entry_slice_length(length, entry, index), 1
        )
        return Apply(self, [x, *index], [TensorType(x.dtype, shape)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, *index = inputs
        # With an ellipsis NumPy makes a view, where it made a scalar without.
        output_storage[0][0] = x[(*numpy_index(self.idx_list, index), ...)]

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return the first input: the others say which of its elements are taken."""
        return (0,)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        index = [v for v in node.inputs[1:] if isinstance(v, TensorVariable)]
        lengths = result_lengths(
            self.idx_list,
            [known_or_symbolic(length) for length in shapes[0]],
            lambda length, entry: inferred_slice_length(length, entry, index),
            1,
        )
        known = node.outputs[0].type.shape
        return [tuple([length_variable(b if a is None else a) for a, b in zip(known, lengths, strict=True)])]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], *[[False]] * (node.nin - 1)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x, *index), (gz,) = inputs, output_grads
        disconnected: list[Variable[Any]] = [DisconnectedType()() for _ in index]
        if not is_differentiable_dtype(x.dtype):
            return [zero_cotangent(x), *disconnected]
        return [lt.inc_subtensor(self(lt.zeros_like(x), *index), gz), *disconnected]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self(tangent, *inputs[1:])]

    @override
    def __str__(self) -> str:
        return f"Subtensor{{{describe_entries(self.idx_list)}}}"
