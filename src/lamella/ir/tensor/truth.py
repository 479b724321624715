"""`All` and `Any`: whether elements are true."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.reduction import CAReduce, apply_reduction
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["All", "Any", "all", "any"]


class _Truth(CAReduce):
    """What `All` and `Any` share: numbers that are not 0, NaN included, are true; the derivative is 0."""

    __slots__ = ()

    @override
    def loop(self, dtype: str) -> tuple[str, str]:
        return "bool", "bool"

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[typing.Any]]:
        return [zero_cotangent(inputs[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[typing.Any] | None]:
        return [None]


@final
class All(_Truth):
    """Whether all elements along axes are true; true where there are none.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.logical_and
    scalar_op = ls.logical_and


@final
class Any(_Truth):
    """Whether any element along axes is true; false where there are none.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.logical_or
    scalar_op = ls.logical_or


def all(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return whether all elements along axes are true: not 0.

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
        An axis is named twice.
    """
    return apply_reduction(All(axis), x, keepdims)


def any(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return whether any element along axes is true: not 0.

    Parameters
    ----------
    x, axis, keepdims
        As those of `all`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError
        As `all`.
    """
    return apply_reduction(Any(axis), x, keepdims)
