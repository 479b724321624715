"""Products of arrays that reduce to one product of matrices: axes are permuted and joined, multiplied, and parted again."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.lib.array_utils import normalize_axis_tuple

import lamella.ir.tensor.functions as lt
from lamella.errors import StaticShapeError
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dot import Dot
from lamella.ir.tensor.shape import product_of_lengths
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["inner", "outer", "tensordot", "vdot"]

ContractedAxes = int | tuple[int | Sequence[int], int | Sequence[int]] | Sequence[Sequence[int]]
"""What `tensordot` sums over: the axes of each operand, paired in order; or how many last axes of the first and first ones of the second."""


def _contracted(a: TensorVariable, b: TensorVariable, axes: ContractedAxes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(a.ndim, b.ndim):
            raise ValueError(
                f"tensordot cannot sum over {axes} axes of {a!r} and {b!r}: they have {a.ndim} and {b.ndim}"
            )
        return tuple(range(a.ndim - axes, a.ndim)), tuple(range(axes))
    if len(axes) != 2:
        raise ValueError(f"the axes of tensordot are those of each operand, or their number, not {axes}")
    first, second = axes
    left = normalize_axis_tuple(first, a.ndim, "axes of the first operand")
    right = normalize_axis_tuple(second, b.ndim, "axes of the second operand")
    if len(left) != len(right):
        raise ValueError(f"tensordot sums over pairs of axes, but {len(left)} and {len(right)} are given: {axes}")
    return left, right


def _agreeing(
    a: TensorVariable, b: TensorVariable, left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[TensorVariable, TensorVariable]:
    """Return the operands with the lengths of paired axes checked, now or at run time."""
    for i, j in zip(left, right, strict=True):
        m, n = a.type.shape[i], b.type.shape[j]
        if m is not None and n is not None and m != n:
            raise StaticShapeError(
                f"tensordot: axis {i} of {a!r} of type {a.type} has length {m}, axis {j} of {b!r} of type {b.type} has length {n}; "
                "they are summed over, so they must be equal"
            )
    if len(left) <= 1:  # the product of matrices checks it
        return a, b
    # Joined axes may have the same length though the lengths of the parts differ.
    wanted: list[TensorLike | None] = [None] * b.ndim
    for i, j in zip(left, right, strict=True):
        wanted[j] = lt.shape_i(a, i)
    known: list[TensorLike | None] = [None] * a.ndim
    for i, j in zip(left, right, strict=True):
        known[i] = b.type.shape[j]
    return lt.specify_shape(a, known), lt.specify_shape(b, wanted)


def _joined(x: TensorVariable, first: Sequence[int], second: Sequence[int]) -> TensorVariable:
    """Return a matrix of two groups of axes; a vector where one of them is empty."""
    moved = x.dimshuffle([*first, *second])
    groups = [group for group in (first, second) if group]
    if all(len(group) == 1 for group in groups):
        return moved
    return lt.reshape(moved, [product_of_lengths([lt.shape_i(x, axis) for axis in group]) for group in groups])


def tensordot(x: TensorLike, y: TensorLike, axes: ContractedAxes = 2) -> TensorVariable:
    """Return sums of products over pairs of axes, as `numpy.tensordot`: the axes left of `x`, then those left of `y`.

    Parameters
    ----------
    x, y
        The arrays.
    axes
        The axes of each to sum over, paired in order, negative ones counted from the last; or a number `n`, for the last `n` of `x` and the
        first `n` of `y`.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    StaticShapeError
        Paired axes are known to differ in length.
    ValueError
        An axis is named twice, or the numbers of axes differ. At run time: paired axes differ in length.
    """
    a, b = as_tensor_variable(x), as_tensor_variable(y)
    left, right = _contracted(a, b, axes)
    if not left:
        return _outer(a, b)
    a, b = _agreeing(a, b, left, right)
    left_free = [axis for axis in range(a.ndim) if axis not in left]
    right_free = [axis for axis in range(b.ndim) if axis not in right]
    product = Dot()(_joined(a, left_free, left), _joined(b, right, right_free))
    if len(left_free) <= 1 and len(right_free) <= 1:
        return product
    return lt.reshape(
        product, [lt.shape_i(a, axis) for axis in left_free] + [lt.shape_i(b, axis) for axis in right_free]
    )


def _outer(a: TensorVariable, b: TensorVariable) -> TensorVariable:
    """Return all products of an element of one array and one of the other: the axes of the first, then those of the second."""
    return lt.mul(a.dimshuffle([*range(a.ndim), *["x"] * b.ndim]), b.dimshuffle([*["x"] * a.ndim, *range(b.ndim)]))


def outer(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the matrix of all products of an element of `x` and one of `y`, which are flattened."""
    return _outer(lt.flatten(as_tensor_variable(x)), lt.flatten(as_tensor_variable(y)))


def inner(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return sums of products over the last axes of both, as `numpy.inner`; a scalar multiplies the other.

    Raises
    ------
    StaticShapeError
        The last axes are known to differ in length.
    ValueError
        At run time: they differ in length.
    """
    a, b = as_tensor_variable(x), as_tensor_variable(y)
    if a.ndim == 0 or b.ndim == 0:
        return lt.mul(a, b)
    return tensordot(a, b, axes=([a.ndim - 1], [b.ndim - 1]))


def vdot(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the sum of products of all elements, those of `x` conjugated; both arrays are flattened.

    Raises
    ------
    StaticShapeError
        They are known to differ in size.
    ValueError
        At run time: they differ in size.
    """
    a, b = lt.flatten(as_tensor_variable(x)), lt.flatten(as_tensor_variable(y))
    return Dot()(lt.conj(a) if a.dtype in COMPLEX_DTYPES else a, b)
