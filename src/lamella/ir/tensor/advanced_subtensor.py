"""Advanced indexing, by integer arrays: `AdvancedSubtensor1` for a vector along one axis, `AdvancedSubtensor` for all else.

Boolean masks do not get here: they are indices of their true elements by then (see `nonzero`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

import attrs
from typing_extensions import ParamSpec, override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import BOOL_DTYPES, is_differentiable_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.index_arrays import (
    as_index_array,
    broadcast_index_shape,
    check_constant_bounds,
    check_index_broadcast,
    inferred_index_shape,
)
from lamella.ir.tensor.index_entries import (
    FULL_SLICE,
    ArrayEntry,
    FlagEntry,
    IndexEntry,
    IntegerEntry,
    check_entries,
    describe_entries,
    numpy_index,
    result_lengths,
)
from lamella.ir.tensor.slice_length import known_or_symbolic, length_variable
from lamella.ir.tensor.subtensor import (
    as_index_scalar,
    check_number_of_axes,
    inferred_slice_length,
    static_entry_slice_length,
)
from lamella.ir.tensor.subtensor_value import kept_unbroadcast
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["AdvancedSubtensor", "AdvancedSubtensor1", "along_axis", "as_index_vector", "check_advanced_entries"]

P = ParamSpec("P")


def along_axis(axis: int) -> tuple[IndexEntry, ...]:
    """Return the index of an array along one axis."""
    return (*[FULL_SLICE] * axis, ArrayEntry(0))


def check_advanced_entries(entries: Sequence[IndexEntry]) -> int:
    """Check the entries of an advanced index, and return how many index inputs there are.

    Raises
    ------
    ValueError
        There is no array among them, or an integer, which is an array of 0 dimensions next to arrays; or they do not refer to index
        inputs in order.
    """
    if not any([isinstance(entry, ArrayEntry | FlagEntry) for entry in entries]):
        raise ValueError("an advanced index has an array; use Subtensor for basic ones")
    if any([isinstance(entry, IntegerEntry) for entry in entries]):
        raise ValueError("next to index arrays, an integer is an ArrayEntry whose input has 0 dimensions")
    return check_entries(entries)


class _AdvancedIndexing(Op[P, TensorVariable]):
    """What both Ops do, by the entries of their index."""

    __slots__ = ()

    @property
    @abstractmethod
    def idx_list(self) -> tuple[IndexEntry, ...]:
        """The index."""

    def checked_node(self, x: TensorLike, index: Sequence[TensorLike]) -> Apply[TensorVariable]:
        """Make the node of these inputs; raise an IndexError where constants among them can never be right."""
        array = as_tensor_variable(x)
        expected = check_entries(self.idx_list)
        if len(index) != expected:
            raise TypeError(f"{self} takes {expected} index inputs, not {len(index)}")
        integers = _converted(self.idx_list, index)
        check_number_of_axes(self.idx_list, array.ndim)
        check_constant_bounds(self.idx_list, array.type.shape, integers)
        return self.unchecked_node(array, integers)

    def select(self, x: TensorVariable, index: Sequence[TensorLike]) -> TensorVariable:
        """Return the elements of another array at the same index."""
        return as_tensor_variable(self.checked_node(x, index).outputs[0])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # A length that becomes known must not turn an index out of bounds, in a branch never taken, into a failure to compile.
        array, *index = [v for v in inputs if isinstance(v, TensorVariable)]
        return self.unchecked_node(array, kept_unbroadcast(index, node.inputs[1:]))

    def unchecked_node(self, x: TensorVariable, index: Sequence[TensorVariable]) -> Apply[TensorVariable]:
        """Make the node of inputs that are known to fit."""
        shape = result_lengths(
            self.idx_list,
            x.type.shape,
            lambda length, entry: static_entry_slice_length(length, entry, index),
            1,
            broadcast_index_shape(self.idx_list, index),
        )
        return Apply(self, [x, *index], [TensorType(x.dtype, shape)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, *index = inputs
        check_index_broadcast(node, 1, self.idx_list, index)
        output_storage[0][0] = x[numpy_index(self.idx_list, index)]

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
            inferred_index_shape(self.idx_list, index, shapes[1:]),
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
        return [lt.inc_subtensor(self.select(lt.zeros_like(x), index), gz), *disconnected]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self.select(tangent, inputs[1:])]

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{{describe_entries(self.idx_list)}}}"


def _converted(entries: Sequence[IndexEntry], index: Sequence[TensorLike]) -> list[TensorVariable]:
    """Convert index inputs to what the entries that refer to them take."""
    arrays = {entry.position for entry in entries if isinstance(entry, ArrayEntry)}
    flags = {entry.position for entry in entries if isinstance(entry, FlagEntry)}
    converted: list[TensorVariable] = []
    for position, value in enumerate(index):
        if position in arrays:
            converted.append(as_index_array(value))
        elif position in flags:
            flag = as_tensor_variable(value)
            if flag.ndim or flag.dtype not in BOOL_DTYPES:
                raise IndexError(
                    f"a boolean of 0 dimensions is expected as index {position}, not {flag!r} of {flag.type}"
                )
            converted.append(flag)
        else:
            converted.append(as_index_scalar(value))
    return converted


@final
@attrs.frozen(eq=False, repr=False)
class AdvancedSubtensor(_AdvancedIndexing[...]):
    """Select elements by integer arrays, together with slices and new axes, by NumPy's rules; the result is a copy.

    The inputs of a node are the array, and the index arrays, flags and bounds of slices that entries refer to, in order. Index
    arrays broadcast with each other, along axes where their lengths are known to be 1.

    Parameters
    ----------
    idx_list
        What is done to each axis, from the first; later axes are kept.

    Raises
    ------
    ValueError
        There is no array among the entries, or an integer; or they do not refer to index inputs in order.
    """

    idx_list: tuple[IndexEntry, ...]

    def __attrs_post_init__(self) -> None:
        check_advanced_entries(self.idx_list)

    @override
    def make_node(self, x: TensorLike, *index: TensorLike) -> Apply[TensorVariable]:
        return self.checked_node(x, index)


@final
@attrs.frozen(eq=False, repr=False)
class AdvancedSubtensor1(_AdvancedIndexing[[TensorLike, TensorLike]]):
    """Select elements along one axis by a vector of integers; the result is a copy.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    """

    axis: int = 0

    @property
    @override
    def idx_list(self) -> tuple[IndexEntry, ...]:
        return along_axis(self.axis)

    @override
    def make_node(self, x: TensorLike, index: TensorLike) -> Apply[TensorVariable]:
        return self.checked_node(x, [as_index_vector(index)])


def as_index_vector(index: TensorLike) -> TensorVariable:
    """Return a vector of integers as an int64 Variable.

    Raises
    ------
    IndexError
        It is no vector of integers.
    """
    vector = as_index_array(index)
    if vector.ndim != 1:
        raise IndexError(f"a vector of integers is expected as an index, not {vector!r} of {vector.type}")
    return vector
