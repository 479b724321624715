"""`Sum` and `Prod`, with NumPy's dtypes and an accumulator that is wider than the elements."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, Final, Self, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

import lamella.ir.scalar.functions as ls
import lamella.ir.tensor.functions as lt
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import (
    BOOL_DTYPES,
    COMPLEX_DTYPES,
    SIGNED_DTYPES,
    UNSIGNED_DTYPES,
    is_differentiable_dtype,
    normalize_dtype,
)
from lamella.ir.tensor.cotangents import fit_cotangent, pull_back, times_slope, zero_cotangent
from lamella.ir.tensor.recurrence import products_of_others
from lamella.ir.tensor.reduced_axes import sorted_axes, with_kept_axes
from lamella.ir.tensor.reduction import CAReduce, apply_reduction
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["Prod", "Sum", "prod", "sum", "wide_dtype"]

_WIDE: Final = {"float16": "float32", "float32": "float64", "complex64": "complex128"}


def wide_dtype(dtype: str) -> str:
    """Return the dtype in which numbers of `dtype` are accumulated: for a float twice as wide, for others the same.

    With it, a float32 sum does not lose digits as it grows, in whatever order the elements are added.
    """
    return _WIDE.get(dtype, dtype)


def _default_dtype(dtype: str) -> str:
    """Return the dtype that NumPy gives to a sum or product: integers are widened to 64 bits."""
    if dtype in BOOL_DTYPES or dtype in SIGNED_DTYPES:
        return "int64"
    return "uint64" if dtype in UNSIGNED_DTYPES else dtype


def _optional_dtype(dtype: npt.DTypeLike | None) -> str | None:
    return None if dtype is None else normalize_dtype(dtype)


@attrs.frozen(eq=False, repr=False)
class _Accumulation(CAReduce):
    """What `Sum` and `Prod` share: a dtype of the result and one to accumulate in."""

    dtype: str | None = attrs.field(default=None, converter=_optional_dtype)
    acc_dtype: str | None = attrs.field(default=None, converter=_optional_dtype)

    @override
    def loop(self, dtype: str) -> tuple[str, str]:
        result = self.dtype or _default_dtype(dtype)
        accumulator = self.acc_dtype or wide_dtype(result)
        if (dtype in COMPLEX_DTYPES and accumulator not in COMPLEX_DTYPES) or (
            accumulator in COMPLEX_DTYPES and result not in COMPLEX_DTYPES
        ):
            raise TypeError(
                f"{type(self).__name__} of {dtype} into {result} (accumulated in {accumulator}) would lose the imaginary part"
            )
        return accumulator, result

    @override
    def normal_form(self, dtype: str, ndim: int) -> Self:
        accumulator, result = self.loop(dtype)
        return attrs.evolve(self, axis=sorted_axes(self.axis, ndim), dtype=result, acc_dtype=accumulator)

    def is_differentiable(self, dtype: str) -> bool:
        """Whether the result varies continuously with elements of `dtype`."""
        return all(is_differentiable_dtype(d) for d in (dtype, *self.loop(dtype)))

    @override
    def __str__(self) -> str:
        shown = f"axis={self.axis}"
        if self.acc_dtype not in (None, wide_dtype(self.dtype or "bool")):
            shown += f", acc_dtype={self.acc_dtype}"
        return f"{type(self).__name__}{{{shown}}}"


@final
class Sum(_Accumulation):
    """Sums along axes; 0 where there are no elements.

    Parameters
    ----------
    axis
        The axes to sum over.
    dtype
        The dtype of the result. By default that of the elements; int64 for booleans and signed integers, uint64 for unsigned ones.
    acc_dtype
        The dtype to accumulate in, which elements are cast to. By default `dtype`; twice as wide for narrow floats.
    """

    __slots__ = ()

    ufunc = np.add
    scalar_op = ls.add

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        if not self.is_differentiable(x.dtype):
            return [zero_cotangent(x)]
        return [lt.fill(x, with_kept_axes(fit_cotangent(gz, x), self.axes))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        return [None if tangent is None or not self.is_differentiable(x.dtype) else self(tangent)]


@final
class Prod(_Accumulation):
    """Products along axes; 1 where there are no elements.

    The derivative by an element is the product of all others, computed without a division: it is right, and so are derivatives of higher
    order, where elements are 0.

    Parameters
    ----------
    axis, dtype, acc_dtype
        As those of `Sum`.
    """

    __slots__ = ()

    ufunc = np.multiply
    scalar_op = ls.mul

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        if not self.is_differentiable(x.dtype):
            return [zero_cotangent(x)]
        return [pull_back(with_kept_axes(fit_cotangent(gz, x), self.axes), self._slope(x))]

    def _slope(self, x: TensorVariable) -> TensorVariable:
        """Return, for each element, the product of all others along the axes: axis by axis, by the chain rule."""
        accumulator, _ = self.loop(x.dtype)
        partial = x if x.dtype == accumulator else lt.cast(x, accumulator)
        factors: list[TensorVariable] = []
        for axis in self.axes:
            factors.append(products_of_others(partial, axis))
            partial = prod(partial, axis=axis, keepdims=True, dtype=accumulator, acc_dtype=accumulator)
        return fit_cotangent(reduce(lt.mul, factors) if factors else lt.ones_like(x), x)

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        if tangent is None or not self.is_differentiable(x.dtype):
            return [None]
        return [Sum(self.axis, self.dtype, self.acc_dtype)(times_slope(tangent, self._slope(x)))]


def sum(
    x: TensorLike,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    acc_dtype: npt.DTypeLike | None = None,
) -> TensorVariable:
    """Return sums of elements along axes.

    Parameters
    ----------
    x
        The array.
    axis
        One axis, several, or all (None); negative ones count from the last.
    dtype
        The dtype of the result. By default that of `x`; int64 for booleans and signed integers, uint64 for unsigned ones.
    keepdims
        Keep the reduced axes, with length 1.
    acc_dtype
        The dtype to accumulate in, which elements are cast to. By default `dtype`; twice as wide for float16, float32 and complex64.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    TypeError
        A dtype would lose the imaginary part.
    """
    return apply_reduction(Sum(axis, dtype, acc_dtype), x, keepdims)


def prod(
    x: TensorLike,
    axis: Axis = None,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    acc_dtype: npt.DTypeLike | None = None,
) -> TensorVariable:
    """Return products of elements along axes.

    Parameters
    ----------
    x, axis, dtype, keepdims, acc_dtype
        As those of `sum`.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    TypeError
        A dtype would lose the imaginary part.
    """
    return apply_reduction(Prod(axis, dtype, acc_dtype), x, keepdims)
