"""Reductions by the bitwise functions: `BitwiseAndReduce`, `BitwiseOrReduce` and `BitwiseXorReduce`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype
from lamella.ir.tensor.cotangents import zero_cotangent
from lamella.ir.tensor.reduction import CAReduce, apply_reduction
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = [
    "BitwiseAndReduce",
    "BitwiseOrReduce",
    "BitwiseXorReduce",
    "bitwise_and_reduce",
    "bitwise_or_reduce",
    "bitwise_xor_reduce",
]


class _BitwiseReduce(CAReduce):
    """What these share: integers or booleans, whose dtype is kept."""

    __slots__ = ()

    @override
    def loop(self, dtype: str) -> tuple[str, str]:
        if is_differentiable_dtype(dtype):
            raise TypeError(f"{type(self).__name__} is defined for integers and booleans, not for {dtype}")
        return dtype, dtype

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [zero_cotangent(inputs[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [None]


@final
class BitwiseAndReduce(_BitwiseReduce):
    """Bitwise `and` along axes; all bits are 1 where there are no elements.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.bitwise_and
    scalar_op = ls.bitwise_and


@final
class BitwiseOrReduce(_BitwiseReduce):
    """Bitwise `or` along axes; 0 where there are no elements.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.bitwise_or
    scalar_op = ls.bitwise_or


@final
class BitwiseXorReduce(_BitwiseReduce):
    """Bitwise exclusive `or` along axes; 0 where there are no elements.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    ufunc = np.bitwise_xor
    scalar_op = ls.bitwise_xor


def bitwise_and_reduce(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return bitwise `and` of integers or booleans along axes.

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
    TypeError
        The elements are floats.
    """
    return apply_reduction(BitwiseAndReduce(axis), x, keepdims)


def bitwise_or_reduce(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return bitwise `or` of integers or booleans along axes; arguments and errors are those of `bitwise_and_reduce`."""
    return apply_reduction(BitwiseOrReduce(axis), x, keepdims)


def bitwise_xor_reduce(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return bitwise exclusive `or` of integers or booleans along axes; arguments and errors are those of `bitwise_and_reduce`."""
    return apply_reduction(BitwiseXorReduce(axis), x, keepdims)
