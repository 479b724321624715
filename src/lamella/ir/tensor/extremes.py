"""`Max` and `Min`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
import lamella.ir.tensor.functions as lt
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.cotangents import times_slope, zero_cotangent
from lamella.ir.tensor.reduced_axes import with_kept_axes
from lamella.ir.tensor.reduction import CAReduce, apply_reduction
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["Max", "Min", "max", "min"]


class _Extreme(CAReduce):
    """What `Max` and `Min` share: the dtype, and the derivative."""

    __slots__ = ()

    @override
    def loop(self, dtype: str) -> tuple[str, str]:
        return dtype, dtype

    def _share(self, x: TensorVariable, z: TensorVariable) -> TensorVariable:
        """Return, for each element, the part it has in the extreme: 1 by the number of elements that attain it, or 0."""
        attains = lt.eq(x, with_kept_axes(z, self.axes))
        chosen = lt.cast(attains | lt.isnan(x), x.dtype)
        return lt.true_divide(chosen, lt.sum(chosen, axis=self.axes, keepdims=True))

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (z,), (gz,) = inputs, outputs, output_grads
        if not is_differentiable_dtype(x.dtype):
            return [zero_cotangent(x)]
        return [times_slope(with_kept_axes(gz, self.axes), self._share(x, z))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        if tangent is None or not is_differentiable_dtype(x.dtype):
            return [None]
        return [lt.sum(times_slope(tangent, self._share(x, self(x))), axis=self.axes)]


@final
class Max(_Extreme):
    """Greatest elements along axes; NaN where there is a NaN. Complex numbers are ordered by real, then by imaginary part.

    The derivative at a tie: the elements that attain the extreme share it equally. A NaN is an extreme of the elements it is among.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.maximum
    scalar_op = ls.maximum


@final
class Min(_Extreme):
    """Least elements along axes; in all else as `Max`.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.minimum
    scalar_op = ls.minimum


def max(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the greatest elements along axes; NaN where there is a NaN.

    Its derivative at a tie: the elements that attain the extreme share it equally.

    Parameters
    ----------
    x
        The array.
    axis
        One axis, several, or all (None); negative ones count from the last.
    keepdims
        Keep the reduced axes, with length 1.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice. At run time: there are no elements.
    """
    return apply_reduction(Max(axis), x, keepdims)


def min(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return the least elements along axes; in all else as `max`.

    Parameters
    ----------
    x, axis, keepdims
        As those of `max`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError
        As `max`.
    """
    return apply_reduction(Min(axis), x, keepdims)
