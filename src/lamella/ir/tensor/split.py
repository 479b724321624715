"""`Split`: an array cut into parts along an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import attrs
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.known_integers import known_integers
from lamella.ir.tensor.lengths import ShapeLike, as_lengths, as_shape_vector
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Split", "split"]


def _every_output(self: Split) -> Mapping[int, Sequence[int]]:
    return {i: [0] for i in range(self.n_splits)}


@final
@attrs.frozen(eq=False, repr=False)
class Split(Op[[TensorLike, ShapeLike], tuple[TensorVariable, ...]]):
    """Cut an array into parts along an axis; each is a view.

    The inputs are the array and the lengths of the parts, whose sum must be that of the array. A call returns a tuple of
    `n_splits` Variables; the only one where there is one.

    Parameters
    ----------
    n_splits
        Number of parts.
    axis
        The axis, counted from the first.
    """

    n_splits: int
    axis: int
    view_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_every_output, takes_self=True)
    )

    @override
    def make_node(self, x: TensorLike, sizes: ShapeLike) -> Apply[tuple[TensorVariable, ...]]:
        input, vector = as_tensor_variable(x), as_shape_vector(sizes)
        if self.n_splits < 1:
            raise ValueError(f"{self}: an array is split into one part or more")
        if not 0 <= self.axis < input.ndim:
            raise ValueError(f"{input!r} of {input.ndim} dimensions has no axis {self.axis}")
        known = known_integers(vector) or (None,) * self.n_splits
        if len(known) != self.n_splits:
            raise StaticShapeError(f"{self} makes {self.n_splits} parts; {len(known)} sizes are given")
        parts = self._static_sizes(input, list(known))
        static = input.type.shape
        return Apply(
            self,
            [input, vector],
            [TensorType(input.dtype, (*static[: self.axis], part, *static[self.axis + 1 :])) for part in parts],
        )

    def _static_sizes(self, x: TensorVariable, sizes: list[int | None]) -> list[int | None]:
        length = x.type.shape[self.axis]
        given = [size for size in sizes if size is not None]
        missing = [i for i, size in enumerate(sizes) if size is None]
        left = None if length is None else length - sum(given)
        if any(size < 0 for size in given) or (left is not None and (left < 0 or (left > 0 and not missing))):
            raise StaticShapeError(
                f"{x!r} of type {x.type} cannot be split along axis {self.axis} into parts of lengths {sizes}"
            )
        if left is not None and len(missing) == 1:
            sizes[missing[0]] = left
        return sizes

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, vector = inputs
        sizes = vector.tolist()
        length = x.shape[self.axis]
        if len(sizes) != self.n_splits or any(size < 0 for size in sizes) or sum(sizes) != length:
            raise ShapeMismatchError(
                f"{node.inputs[0]!r} of length {length} along axis {self.axis} cannot be split into {self.n_splits} parts "
                f"of lengths {sizes}: they must be 0 or more, and their sum {length}"
            )
        before = (slice(None),) * self.axis
        start = 0
        for cell, size in zip(output_storage, sizes, strict=True):
            cell[0] = x[(*before, slice(start, start + size))]
            start += size

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        vector = as_tensor_variable(node.inputs[1])
        if vector.type.shape[0] is None:
            sizes = tuple([lt.getitem(vector, i) for i in range(self.n_splits)])
        else:
            sizes = as_lengths(vector)
        result: list[tuple[Any, ...]] = []
        for out, size in zip(node.outputs, sizes, strict=True):
            known = out.type.shape[self.axis]
            part = size if known is None else constant(known, dtype="int64")
            result.append((*shapes[0][: self.axis], part, *shapes[0][self.axis + 1 :]))
        return result

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True] * self.n_splits, [False] * self.n_splits]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        parts = [
            g
            if isinstance(g, TensorVariable)
            else lt.zeros_like(out, out.dtype if is_differentiable_dtype(out.dtype) else "float64")
            for g, out in zip(output_grads, outputs, strict=True)
        ]
        return [lt.concatenate(parts, self.axis), DisconnectedType()()]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        tangent = eval_points[0]
        if tangent is None:
            return [None] * self.n_splits
        return list(self.make_node(tangent, inputs[1]).outputs)


def split(
    x: TensorLike, splits_size: ShapeLike, n_splits: int | None = None, axis: int = 0
) -> tuple[TensorVariable, ...]:
    """Return parts of `x` along an axis: views.

    Parameters
    ----------
    x
        The array.
    splits_size
        The lengths of the parts; their sum must be that of `x`.
    n_splits
        Number of parts; needed where the length of the vector `splits_size` is not known.
    axis
        The axis; negative ones count from the last.

    Raises
    ------
    StaticShapeError
        The lengths can never fit.
    ShapeMismatchError
        At run time: the lengths do not fit.
    TypeError
        The number of parts is not known.
    """
    variable, sizes = as_tensor_variable(x), as_shape_vector(splits_size)
    parts = sizes.type.shape[0] if n_splits is None else n_splits
    if parts is None:
        raise TypeError(f"the number of lengths in {sizes!r} is not known: pass n_splits")
    node = Split(parts, normalize_axis(axis, variable.ndim)).make_node(variable, sizes)
    return tuple([out for out in node.outputs if isinstance(out, TensorVariable)])
