"""`IncSubtensor`: an array with the elements of a basic index set, or increased."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.index_entries import BasicEntry, check_entries, describe_entries, numpy_index
from lamella.ir.tensor.subtensor import Subtensor
from lamella.ir.tensor.subtensor_value import (
    as_written_value,
    check_written_value,
    fitted_value,
    kept_unbroadcast,
    summed_to_value,
)
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["IncSubtensor", "inplace_map", "pushed_forward"]


def inplace_map(self: Any) -> Mapping[int, Sequence[int]]:
    """Return the `destroy_map` of an Op that writes to its first input where its field `inplace` is set."""
    return {0: [0]} if self.inplace else {}


@final
@attrs.frozen(eq=False, repr=False)
class IncSubtensor(Op[..., TensorVariable]):
    """Return an array with a value set to, or added to, the elements that a basic index selects.

    The inputs of a node are the array, the value (of the array's dtype) and the integers that entries refer to. The value broadcasts
    along axes where its length is known to be 1, as everywhere.

    Parameters
    ----------
    idx_list
        The index, as in `Subtensor`.
    inplace
        Write to the memory of the array.
    set_instead_of_inc
        Set elements instead of adding to them.
    """

    idx_list: tuple[BasicEntry, ...]
    inplace: bool = False
    set_instead_of_inc: bool = False
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(inplace_map, takes_self=True)
    )

    def __attrs_post_init__(self) -> None:
        check_entries(self.idx_list)

    @override
    def make_node(self, x: TensorLike, value: TensorLike, *index: TensorLike) -> Apply[TensorVariable]:
        array = as_tensor_variable(x)
        selected = Subtensor(self.idx_list).make_node(array, *index)
        return self._node(selected, as_written_value(array, value, not self.set_instead_of_inc))

    def _node(self, selected: Apply[Any], value: TensorVariable) -> Apply[TensorVariable]:
        array, *integers = selected.inputs
        fitted = fitted_value(value, selected.outputs[0].type.shape)
        return Apply(self, [array, fitted, *integers], [array.type])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        value, *integers = kept_unbroadcast(inputs[1:], node.inputs[1:])
        return self._node(Subtensor(self.idx_list).unchecked_node(as_tensor_variable(inputs[0]), integers), value)

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, value, *index = inputs
        place = (*numpy_index(self.idx_list, index), ...)
        check_written_value(node, value, x[place].shape)
        result = x if self.inplace else np.array(x, copy=True)
        part = result[place]
        with np.errstate(all="ignore"):
            if self.set_instead_of_inc:
                part[...] = value
            else:
                np.add(part, value, out=part)
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
        part = Subtensor(self.idx_list)(gz, *index)
        gx = lt.set_subtensor(part, 0) if self.set_instead_of_inc else gz
        return [gx, summed_to_value(part, value), *disconnected]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return pushed_forward(
            lambda dx: Subtensor(self.idx_list)(dx, *inputs[2:]), self.set_instead_of_inc, inputs, eval_points
        )

    @override
    def __str__(self) -> str:
        kind = "Set" if self.set_instead_of_inc else "Inc"
        return f"{kind}Subtensor{{{describe_entries(self.idx_list)}{', inplace' if self.inplace else ''}}}"


def pushed_forward(
    select: Callable[[TensorVariable], TensorVariable],
    set_instead_of_inc: bool,
    inputs: Sequence[TensorVariable],
    eval_points: Sequence[TensorVariable | None],
) -> list[Variable[Any] | None]:
    """Return the tangent of an Op that writes a value (input 1) to a part of an array (input 0), linear in both.

    Parameters
    ----------
    select
        Returns the part of an array that is written.
    set_instead_of_inc
        Whether it is set or added to.
    inputs, eval_points
        As in `Op.R_op`.
    """
    dx, dvalue = eval_points[:2]
    if dx is None and dvalue is None:
        return [None]
    part = select(zero_cotangent(inputs[0]) if dx is None else dx)
    write = lt.set_subtensor if set_instead_of_inc else lt.inc_subtensor
    return [write(part, zero_cotangent(inputs[1]) if dvalue is None else dvalue)]
