"""Running sums and products: `CumOp`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import BOOL_DTYPES, SIGNED_DTYPES, UNSIGNED_DTYPES, is_differentiable_dtype
from lamella.ir.tensor.axis import normalize_axis
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import conjugate, times_slope, zero_cotangent
from lamella.ir.tensor.recurrence import LinearRecurrence
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["CumOp", "cumprod", "cumsum"]


def _result_dtype(dtype: str) -> str:
    """Return the dtype of NumPy's running sums and products: integers are widened to 64 bits."""
    if dtype in BOOL_DTYPES or dtype in SIGNED_DTYPES:
        return "int64"
    return "uint64" if dtype in UNSIGNED_DTYPES else dtype


@final
@attrs.frozen(eq=False, repr=False)
class CumOp(Op[[TensorLike], TensorVariable]):
    """The sums (or products) of the elements up to each one, along an axis.

    Parameters
    ----------
    axis
        The axis, counted from the first.
    mode
        Whether to add or to multiply.
    """

    axis: int
    mode: Literal["add", "mul"] = "add"

    @property
    def ufunc(self) -> np.ufunc:
        """What combines two elements."""
        return np.add if self.mode == "add" else np.multiply

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        if not 0 <= self.axis < input.ndim:
            raise np.exceptions.AxisError(self.axis, input.ndim)
        return Apply(self, [input], [TensorType(_result_dtype(input.dtype), input.type.shape)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        with np.errstate(all="ignore"):
            output_storage[0][0] = self.ufunc.accumulate(inputs[0], axis=self.axis, dtype=node.outputs[0].type.dtype)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(x.dtype):
            return [zero_cotangent(x)]
        if self.mode == "add":
            back = (*[slice(None)] * self.axis, slice(None, None, -1))
            return [self(gz[back])[back]]
        # With the product `before` of all x[j], j < i, the cotangent of x[i] is before[i] * s[i], where s[i] = g[i] + x[i+1] * s[i+1]:
        # no division, so zeros among the elements are like other numbers. `later[i]` is x[i+1] * s[i+1].
        factors = conjugate(x)
        before = LinearRecurrence(self.axis, 1.0)(factors, lt.zeros_like(x))
        later = LinearRecurrence(self.axis, 0.0, reverse=True)(factors, times_slope(gz, factors))
        return [times_slope(lt.add(gz, later), before)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        if tangent is None:
            return [None]
        if self.mode == "add":
            return [self(tangent)]
        # z[i] = z[i-1] * x[i], so dz[i] = x[i] * dz[i-1] + z[i-1] * dx[i].
        before = LinearRecurrence(self.axis, 1.0)(x, lt.zeros_like(x))
        terms = times_slope(tangent, before)
        earlier = LinearRecurrence(self.axis, 0.0)(x, terms)
        return [lt.add(times_slope(earlier, x), terms)]

    @override
    def __str__(self) -> str:
        return f"{'Cumsum' if self.mode == 'add' else 'Cumprod'}{{axis={self.axis}}}"


def _accumulated(
    x: TensorLike, axis: int | None, dtype: npt.DTypeLike | None, mode: Literal["add", "mul"]
) -> TensorVariable:
    variable = as_tensor_variable(x)
    if dtype is not None:
        variable = variable.astype(dtype)
    if axis is None:
        variable, axis = lt.flatten(variable, 1), 0
    result = CumOp(normalize_axis(axis, variable.ndim), mode)(variable)
    return result if dtype is None or result.dtype == np.dtype(dtype).name else result.astype(dtype)


def cumsum(x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return the sums of the elements of `x` up to each one.

    Parameters
    ----------
    x
        The array.
    axis
        The axis; None for the flattened array.
    dtype
        The dtype in which to add; by default that of `x`, widened to 64 bits for integers.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    return _accumulated(x, axis, dtype, "add")


def cumprod(x: TensorLike, axis: int | None = None, dtype: npt.DTypeLike | None = None) -> TensorVariable:
    """Return the products of the elements of `x` up to each one. The gradient is exact also where elements are zero.

    Parameters
    ----------
    x
        The array.
    axis
        The axis; None for the flattened array.
    dtype
        The dtype in which to multiply; by default that of `x`, widened to 64 bits for integers.

    Raises
    ------
    numpy.exceptions.AxisError
        There is no such axis.
    """
    return _accumulated(x, axis, dtype, "mul")
