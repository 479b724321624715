"""Arrays with elements that an advanced index selects set, or increased."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import ParamSpec, override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.advanced_subtensor import (
    AdvancedSubtensor,
    AdvancedSubtensor1,
    along_axis,
    as_index_vector,
    check_advanced_entries,
)
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.inc_subtensor import inplace_map, pushed_forward
from lamella.ir.tensor.index_arrays import check_index_bounds, check_index_broadcast
from lamella.ir.tensor.index_entries import (
    ArrayEntry,
    FlagEntry,
    IndexEntry,
    consumed_axes,
    describe_entries,
    indexed_axis,
    numpy_index,
    result_lengths,
)
from lamella.ir.tensor.nonzero import Nonzero
from lamella.ir.tensor.subtensor_value import (
    as_written_value,
    check_written_value,
    fitted_value,
    kept_unbroadcast,
    summed_to_value,
)
from lamella.ir.tensor.variable import TensorConstant, TensorLike, TensorVariable

__all__ = ["AdvancedIncSubtensor", "AdvancedIncSubtensor1", "is_free_of_repetitions"]

P = ParamSpec("P")


class _AdvancedWriting(Op[P, TensorVariable]):
    """What both Ops do, by the entries of their index."""

    __slots__ = ()

    @property
    @abstractmethod
    def inplace(self) -> bool:
        """Whether the memory of the array is written to."""

    @property
    @abstractmethod
    def set_instead_of_inc(self) -> bool:
        """Whether elements are set instead of added to."""

    @property
    @abstractmethod
    def idx_list(self) -> tuple[IndexEntry, ...]:
        """The index."""

    @property
    @abstractmethod
    def selection(self) -> AdvancedSubtensor | AdvancedSubtensor1:
        """The Op that selects the elements which are written."""

    def checked_node(self, x: TensorLike, value: TensorLike, index: Sequence[TensorLike]) -> Apply[TensorVariable]:
        """Make the node of these inputs; raise an error where they can never fit."""
        array = as_tensor_variable(x)
        selected = self.selection.checked_node(array, index)
        return self._node(selected, as_written_value(array, value, not self.set_instead_of_inc))

    def unchecked_node(
        self, x: TensorVariable, value: TensorVariable, index: Sequence[TensorVariable]
    ) -> Apply[TensorVariable]:
        """Make the node of inputs that are known to fit."""
        return self._node(self.selection.unchecked_node(x, index), value)

    def _node(self, selected: Apply[Any], value: TensorVariable) -> Apply[TensorVariable]:
        array, *index = selected.inputs
        fitted = fitted_value(value, selected.outputs[0].type.shape)
        return Apply(self, [array, fitted, *index], [array.type])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        value, *index = kept_unbroadcast(inputs[1:], node.inputs[1:])
        array = as_tensor_variable(inputs[0])
        return self._node(self.selection.unchecked_node(array, index), value)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, value, *index = inputs
        indexed = check_index_broadcast(node, 2, self.idx_list, index)
        if 0 not in indexed:
            check_index_bounds(self.idx_list, x.shape, index)
        shape = result_lengths(
            self.idx_list,
            x.shape,
            lambda length, entry: len(range(length)[numpy_index([entry], index)[0]]),
            1,
            indexed,
        )
        check_written_value(node, value, shape)
        if self.inplace:
            result = x
            value, *index = [np.array(v, copy=True) if np.may_share_memory(v, x) else v for v in (value, *index)]
        else:
            result = np.array(x, copy=True)
        arrays = {entry.position for entry in self.idx_list if isinstance(entry, ArrayEntry)}
        place = numpy_index(
            self.idx_list, [_in_order(v, indexed) if position in arrays else v for position, v in enumerate(index)]
        )
        with np.errstate(all="ignore"):
            if self.set_instead_of_inc:
                result[place] = value
            else:
                np.add.at(result, place, value)
        output_storage[0][0] = result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], [True], *[[False]] * (node.nin - 2)]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x, value, *index), (gz,) = inputs, output_grads
        disconnected: list[Variable[Any]] = [DisconnectedType()() for _ in index]
        if not is_differentiable_dtype(x.dtype):
            return [zero_cotangent(x), zero_cotangent(value), *disconnected]
        part = self.selection.select(gz, index)
        if not self.set_instead_of_inc:
            return [gz, summed_to_value(part, value), *disconnected]
        gvalue = part if is_free_of_repetitions(self.idx_list, index) else self._without_overwritten(x, index, part)
        return [lt.set_subtensor(part, 0), summed_to_value(gvalue, value), *disconnected]

    def _without_overwritten(
        self, x: TensorVariable, index: Sequence[TensorVariable], cotangent: TensorVariable
    ) -> TensorVariable:
        """Put zeros where the value was overwritten: of elements written to one place, the last stays.

        The elements of the index are numbered, and the numbers written and read back: those that come back as they were stayed.
        """
        key = tuple([index[entry.position] for entry in self.idx_list if isinstance(entry, ArrayEntry | FlagEntry)])
        axes: list[int] = []
        axis = 0
        for entry in self.idx_list:
            if isinstance(entry, ArrayEntry):
                axes.append(axis)
            axis += consumed_axes([entry])
        places = lt.zeros([lt.shape_i(x, a) for a in axes], "int64")
        selected = lt.getitem(places, key)
        numbers = lt.reshape(lt.arange(lt.size(selected)), lt.shape_tuple(selected))
        stayed = lt.eq(lt.getitem(lt.set_subtensor(selected, numbers), key), numbers)
        first = indexed_axis(self.idx_list)
        order = ["x"] * first + list(range(stayed.ndim)) + ["x"] * (cotangent.ndim - first - stayed.ndim)
        return lt.switch(lt.dimshuffle(stayed, order), cotangent, lt.zeros_like(cotangent))

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return pushed_forward(
            lambda dx: self.selection.select(dx, inputs[2:]), self.set_instead_of_inc, inputs, eval_points
        )

    @override
    def __str__(self) -> str:
        kind = "Set" if self.set_instead_of_inc else "Inc"
        name = type(self).__name__.replace("Inc", kind)
        return f"{name}{{{describe_entries(self.idx_list)}{', inplace' if self.inplace else ''}}}"


def _in_order(index: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an index array laid out so that NumPy walks it in the order of its elements: the last of those for one place wins."""
    return np.array(np.broadcast_to(index, shape), order="C")


def is_free_of_repetitions(entries: Sequence[IndexEntry], index: Sequence[TensorVariable]) -> bool:
    """Whether it is known that no place is selected twice."""
    arrays = [index[entry.position] for entry in entries if isinstance(entry, ArrayEntry)]
    if all([array.type.shape == (1,) * array.ndim for array in arrays]):
        return True
    constants = [array.data for array in arrays if isinstance(array, TensorConstant)]
    if len(constants) == len(arrays):
        if any([np.any(data < 0) and np.any(data >= 0) for data in constants]):
            return False  # -1 may be the same place as 2
        places = np.stack([data.ravel() for data in np.broadcast_arrays(*constants)])
        return np.unique(places, axis=1).shape == places.shape
    masks = {array.owner for array in arrays if array.owner is not None and isinstance(array.owner.op, Nonzero)}
    return any([_is_all_of(node, arrays) for node in masks])


def _is_all_of(mask: Apply[Any], arrays: Sequence[TensorVariable]) -> bool:
    """Whether arrays are all indices of a mask, and beside them only numbers: another array could repeat places of the mask."""
    others = [array for array in arrays if array not in mask.outputs and array.type.shape != (1,) * array.ndim]
    return not others and all([out in arrays for out in mask.outputs])


@final
@attrs.frozen(eq=False, repr=False)
class AdvancedIncSubtensor(_AdvancedWriting[...]):
    """Return an array with a value set to, or added to, the elements that an advanced index selects.

    The inputs of a node are the array, the value (of the array's dtype), and the index inputs as in `AdvancedSubtensor`. Where a place is
    selected several times, adding adds all values, and setting leaves the last one, in the order of the index arrays' elements.

    Parameters
    ----------
    idx_list
        The index, as in `AdvancedSubtensor`.
    inplace
        Write to the memory of the array.
    set_instead_of_inc
        Set elements instead of adding to them.
    """

    idx_list: tuple[IndexEntry, ...]
    inplace: bool = False
    set_instead_of_inc: bool = False
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(inplace_map, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        check_advanced_entries(self.idx_list)

    @property
    @override
    def selection(self) -> AdvancedSubtensor:
        return AdvancedSubtensor(self.idx_list)

    @override
    def make_node(self, x: TensorLike, value: TensorLike, *index: TensorLike) -> Apply[TensorVariable]:
        return self.checked_node(x, value, index)


@final
@attrs.frozen(eq=False, repr=False)
class AdvancedIncSubtensor1(_AdvancedWriting[[TensorLike, TensorLike, TensorLike]]):
    """Return an array with a value set to, or added to, the elements along one axis at a vector of integers.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    inplace, set_instead_of_inc
        As in `AdvancedIncSubtensor`.
    """

    axis: int = 0
    inplace: bool = False
    set_instead_of_inc: bool = False
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(inplace_map, takes_self=True)
    )

    @property
    @override
    def idx_list(self) -> tuple[IndexEntry, ...]:
        return along_axis(self.axis)

    @property
    @override
    def selection(self) -> AdvancedSubtensor1:
        return AdvancedSubtensor1(self.axis)

    @override
    def make_node(self, x: TensorLike, value: TensorLike, index: TensorLike) -> Apply[TensorVariable]:
        return self.checked_node(x, value, [as_index_vector(index)])
