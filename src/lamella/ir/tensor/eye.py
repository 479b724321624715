"""`Eye`: ones on a diagonal, zeros elsewhere; and triangles of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

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
from lamella.ir.scalar.dtypes import normalize_dtype
from lamella.ir.tensor.alloc import node_lengths, run_time_lengths, static_lengths
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.lengths import as_length
from lamella.ir.tensor.ranges import arange
from lamella.ir.tensor.shape import shape_tuple
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.unit_axes import expand_dims
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["Eye", "eye", "identity", "tri", "tril", "triu"]


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


@final
@attrs.frozen(eq=False, repr=False)
class Eye(Op[[TensorLike, TensorLike, TensorLike], TensorVariable]):
    """Make a matrix of ones on a diagonal and zeros elsewhere.

    The inputs are the numbers of rows and columns, and which diagonal: above the main one where it is positive.

    Parameters
    ----------
    dtype
        The dtype of the matrix.
    """

    dtype: str = attrs.field(default="float64", converter=_dtype_name)

    @override
    def make_node(self, rows: TensorLike, columns: TensorLike, offset: TensorLike) -> Apply[TensorVariable]:
        inputs = [as_length(x) for x in (rows, columns, offset)]
        return Apply(self, inputs, [TensorType(self.dtype, static_lengths(self, inputs[:2]))])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        rows, columns = run_time_lengths(self, inputs[:2])
        output_storage[0][0] = np.eye(rows, columns, int(inputs[2]), dtype=self.dtype)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [node_lengths(node, node.inputs[:2])]

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Refuse: a large constant says less than three numbers."""
        return False

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[False], [False], [False]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> list[Variable[Any]]:
        return [DisconnectedType()() for _ in inputs]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None]


def eye(
    n: TensorLike, m: TensorLike | None = None, k: TensorLike = 0, dtype: npt.DTypeLike = "float64"
) -> TensorVariable:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n, m
        The numbers of rows and columns; as many columns as rows by default.
    k
        Which diagonal: above the main one where it is positive, below it where it is negative.
    dtype
        The dtype.

    Raises
    ------
    TypeError
        An argument is no integer scalar.
    """
    return Eye(dtype)(n, n if m is None else m, k)


def identity(n: TensorLike, dtype: npt.DTypeLike = "float64") -> TensorVariable:
    """Return the square matrix with ones on its main diagonal and zeros elsewhere."""
    return eye(n, dtype=dtype)


def tri(
    n: TensorLike, m: TensorLike | None = None, k: TensorLike = 0, dtype: npt.DTypeLike = "float64"
) -> TensorVariable:
    """Return a matrix with ones at and below a diagonal, and zeros above it; the parameters are those of `eye`."""
    rows, columns = expand_dims(arange(n), 1), expand_dims(arange(n if m is None else m), 0)
    below = lt.ge(rows, lt.sub(columns, k))
    return below if np.dtype(dtype) == np.bool_ else lt.cast(below, dtype)


def tril(x: TensorLike, k: TensorLike = 0) -> TensorVariable:
    """Return the matrices in the last two axes of `x` with zeros above a diagonal."""
    variable = as_tensor_variable(x)
    return lt.switch(_at_or_below(variable, k), variable, constant(0, dtype=variable.dtype))


def triu(x: TensorLike, k: TensorLike = 0) -> TensorVariable:
    """Return the matrices in the last two axes of `x` with zeros below a diagonal."""
    variable = as_tensor_variable(x)
    above = k - 1 if isinstance(k, int) else lt.sub(k, 1)
    return lt.switch(_at_or_below(variable, above), constant(0, dtype=variable.dtype), variable)


def _at_or_below(x: TensorVariable, k: TensorLike) -> TensorVariable:
    if x.ndim == 0:
        raise ValueError(f"a matrix is wanted; {x!r} has no dimensions")
    lengths = shape_tuple(x)
    return tri(lengths[0] if x.ndim == 1 else lengths[-2], lengths[-1], k, dtype="bool")
