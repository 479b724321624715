"""`Reshape`: the same elements in another shape, as a view where the memory layout allows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.known_integers import Element, elements
from lamella.ir.tensor.lengths import ShapeLike, as_lengths, as_shape_vector
from lamella.ir.tensor.shape import Shape_i, product_of_lengths, shape, shape_tuple
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Reshape", "flatten", "ravel", "reshape"]


@final
@attrs.frozen(eq=False, repr=False)
class Reshape(Op[[TensorLike, ShapeLike], TensorVariable]):
    """Give an array another shape: a view where NumPy makes one, else a copy.

    The inputs are the array and the shape, a vector of integers; one length may be -1, which stands for what is left.

    Parameters
    ----------
    ndim
        Number of dimensions of the result.
    """

    ndim: int

    view_map = {0: [0]}

    @override
    def make_node(self, x: TensorLike, shape: ShapeLike) -> Apply[TensorVariable]:
        input, vector = as_tensor_variable(x), as_shape_vector(shape)
        if vector.type.shape[0] not in (None, self.ndim):
            raise StaticShapeError(
                f"{self} takes a shape of {self.ndim} lengths; {vector!r} has {vector.type.shape[0]}"
            )
        return Apply(self, [input, vector], [TensorType(input.dtype, self._static_shape(input, vector))])

    def _static_shape(self, x: TensorVariable, vector: TensorVariable) -> StaticShape:
        found = elements(vector)
        wanted: list[Element] = [None] * self.ndim if found is None else list(found)
        negative = [i for i, length in enumerate(wanted) if isinstance(length, int) and length < 0]
        if len(negative) > 1 or any(wanted[i] != -1 for i in negative):
            raise StaticShapeError(
                f"{x!r} cannot have the shape {_shown(wanted)}: lengths are 0 or more, and one may be -1"
            )
        static = [length if isinstance(length, int) and length >= 0 else None for length in wanted]
        missing = [i for i, length in enumerate(static) if length is None]
        if None not in x.type.shape:
            total = prod([length for length in x.type.shape if length is not None])
            _fill_in_exactly(x, total, wanted, static, missing)
        elif len(missing) == 1 and missing == negative:
            self._cancel(x, wanted, static, missing[0])
        elif negative:
            self._cancel(x, wanted, static, negative[0])
        return tuple(static)

    def _cancel(self, x: TensorVariable, wanted: Sequence[Element], static: list[int | None], place: int) -> None:
        """Find what -1 stands for where the unknown lengths of `x` are lengths of the result too.

        With a length of 0 among those that cancel, -1 stands for nothing, and the reshaping raises.
        """
        left = dict(enumerate(x.type.shape))
        divisor = 1
        for i, length in enumerate(wanted):
            if i == place:
                continue
            if isinstance(length, int):
                divisor *= length
                continue
            node = None if length is None else length.owner
            if node is None or not isinstance(node.op, Shape_i) or node.inputs[0] is not x:
                return
            if node.op.axis not in left:
                return
            del left[node.op.axis]
        known = [length for length in left.values() if length is not None]
        if len(known) < len(left) or divisor == 0:
            return
        if prod(known) % divisor:
            raise StaticShapeError(f"{x!r} of type {x.type} cannot have the shape {_shown(wanted)}")
        static[place] = prod(known) // divisor

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, vector = inputs
        lengths = vector.tolist()
        if len(lengths) != self.ndim:
            raise ValueError(f"{self} takes a shape of {self.ndim} lengths, not {lengths}")
        if lengths.count(-1) > 1 or any(length < -1 for length in lengths):
            raise ValueError(f"the shape {lengths}: lengths are 0 or more, and one may be -1")
        output_storage[0][0] = np.reshape(x, lengths)

    def moved_inputs(self, node: Apply[Any]) -> Sequence[int]:
        """Return the first input: the second is the shape."""
        return (0,)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        static = node.outputs[0].type.shape
        if None not in static:
            return [tuple([constant(length, dtype="int64") for length in static])]
        vector = as_tensor_variable(node.inputs[1])
        lengths = (
            as_lengths(vector)
            if vector.type.shape[0] is not None
            else tuple([lt.getitem(vector, i) for i in range(self.ndim)])
        )
        total = product_of_lengths(shapes[0])
        result: list[TensorVariable] = []
        for i, (known, length) in enumerate(zip(static, lengths, strict=True)):
            if known is not None:
                result.append(constant(known, dtype="int64"))
            elif (length.owner is not None and isinstance(length.owner.op, Shape_i)) or _is_known(length):
                result.append(length)
            elif length.is_constant:
                others = product_of_lengths([*lengths[:i], *lengths[i + 1 :]])
                result.append(lt.floor_divide(total, others))
            else:
                others = product_of_lengths([*lengths[:i], *lengths[i + 1 :]])
                result.append(lt.switch(lt.lt(length, 0), lt.floor_divide(total, others), length))
        return [tuple(result)]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True], [False]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        x = inputs[0]
        return [Reshape(x.ndim)(output_grads[0], shape(x)), DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        return [None if tangent is None else self(tangent, inputs[1])]


def _is_known(length: TensorVariable) -> bool:
    """Whether a length is a constant, and not -1: a node may have been made before it was known."""
    return length.is_constant and int(length.stored_value()) >= 0


def _shown(wanted: Sequence[Element]) -> str:
    return f"({', '.join([str(length) if isinstance(length, int) else '?' for length in wanted])})"


def _fill_in_exactly(
    x: TensorVariable, total: int, wanted: Sequence[Element], static: list[int | None], missing: Sequence[int]
) -> None:
    """Find the one missing length from the number of elements."""
    others = prod([length for length in static if length is not None])
    impossible = (others != total) if not missing else (total % others != 0 if others else total != 0)
    if impossible or (others == 0 and any(length == -1 for length in wanted)):
        raise StaticShapeError(
            f"{x!r} of type {x.type} has {total} elements: it cannot have the shape {_shown(wanted)}"
        )
    if len(missing) == 1 and others:
        static[missing[0]] = total // others


def reshape(x: TensorLike, shape: ShapeLike, ndim: int | None = None) -> TensorVariable:
    """Return `x` in another shape, its elements in the same order: a view where NumPy makes one.

    Parameters
    ----------
    x
        The array.
    shape
        For each axis its length, a number or a symbolic integer; or an integer vector. One length may be -1: what is left.
    ndim
        Number of dimensions of the result; needed where the length of the vector `shape` is not known.

    Raises
    ------
    StaticShapeError
        The numbers of elements can never agree.
    TypeError
        The number of dimensions is not known, or lengths are no integers.
    ValueError
        At run time: the numbers of elements differ.
    """
    vector = as_shape_vector(shape)
    length = vector.type.shape[0] if ndim is None else ndim
    if length is None:
        raise TypeError(f"the number of dimensions of the shape {vector!r} is not known: pass ndim")
    return Reshape(length)(x, vector)


def flatten(x: TensorLike, ndim: int = 1) -> TensorVariable:
    """Return `x` with its last axes joined to one, so that `ndim` axes are left.

    Raises
    ------
    ValueError
        `ndim` is less than 1, or more than `x` has.
    """
    variable = as_tensor_variable(x)
    if not 1 <= ndim <= max(variable.ndim, 1):
        raise ValueError(f"{variable!r} of {variable.ndim} dimensions cannot be flattened to {ndim}")
    if variable.ndim == ndim:
        return variable
    lengths = shape_tuple(variable)
    return Reshape(ndim)(variable, [*lengths[: ndim - 1], product_of_lengths(lengths[ndim - 1 :])])


def ravel(x: TensorLike) -> TensorVariable:
    """Return `x` as a vector."""
    return flatten(x, 1)
