"""`LogSumExp`, `Softmax` and `LogSoftmax`: each an Op of its own, so that they are stable before any rewriting."""

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
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, FLOAT_DTYPES
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.cotangents import times_slope
from lamella.ir.tensor.reduced_axes import Axes, as_axes, kept, reduced_shape, sorted_axes, with_kept_axes
from lamella.ir.tensor.summation import wide_dtype
from lamella.ir.tensor.type import StaticShape, TensorType
from lamella.ir.tensor.variable import Axis, TensorLike, TensorVariable

__all__ = ["LogSoftmax", "LogSumExp", "Softmax", "log_softmax", "logsumexp", "softmax"]

_Array = npt.NDArray[Any]


@attrs.frozen(eq=False, repr=False)
class _OfExponentials(Op[[TensorLike], TensorVariable]):
    """What the Ops of this file share: axes, in normal form in a node, and one real floating-point input."""

    axis: Axes = attrs.field(default=None, converter=as_axes)

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes, of an Op in normal form.

        Raises
        ------
        ValueError
            The axes are known on application only.
        """
        if self.axis is None:
            raise ValueError(f"{self} goes over all axes of what it is applied to; the Op of a node names them")
        return self.axis

    def static_shape(self, shape: StaticShape) -> StaticShape:
        """Return the static shape of the result."""
        return shape

    @override
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        input = as_tensor_variable(x)
        if input.dtype in COMPLEX_DTYPES:
            raise TypeError(f"{type(self).__name__} is defined for real numbers; {input!r} is of dtype {input.dtype}")
        if input.dtype not in FLOAT_DTYPES:
            input = lt.cast(input, "float64")
        op = attrs.evolve(self, axis=sorted_axes(self.axis, input.ndim))
        return Apply(op, [input], [TensorType(input.dtype, op.static_shape(input.type.shape))])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{axis={self.axis}}}"


def _in_single_precision(x: _Array) -> _Array:
    return x.astype("float32") if x.dtype == "float16" else x


def _log_sum_of_exponentials(x: _Array, axes: tuple[int, ...]) -> tuple[_Array, _Array]:
    """Return ``m`` and ``log(sum(exp(x - m)))``, with the axes kept; ``m`` is the greatest element where that is finite, else 0."""
    greatest = np.maximum.reduce(x, axis=axes, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(greatest), greatest, x.dtype.type(0))
    terms = np.exp(x - shift)
    # The greatest terms are 1; the logarithm of their number and of the rest apart keeps the digits of a small rest.
    ones = (x == greatest) & np.isfinite(greatest)
    wide = wide_dtype(x.dtype.name)
    number = np.add.reduce(ones, axis=axes, keepdims=True, dtype=wide)
    rest = np.add.reduce(np.where(ones, x.dtype.type(0), terms), axis=axes, keepdims=True, dtype=wide)
    logarithm = np.where(number > 0, np.log(number) + np.log1p(rest / np.maximum(number, 1)), np.log(rest))
    return shift, logarithm


@final
class LogSumExp(_OfExponentials):
    """``log(sum(exp(x)))`` along axes, without overflow or underflow; minus infinity where there are no elements.

    It is computed as ``m + log(k + sum of the others' exp(x - m))``, where ``m`` is the greatest element and ``k`` how many are. The
    derivative is the softmax; it is 0 for an element of minus infinity, also among others of minus infinity.

    Parameters
    ----------
    axis
        The axes to reduce.
    """

    __slots__ = ()

    @override
    def static_shape(self, shape: StaticShape) -> StaticShape:
        return tuple(kept(shape, self.axes))

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        with np.errstate(all="ignore"):
            shift, logarithm = _log_sum_of_exponentials(_in_single_precision(x), self.axes)
            output_storage[0][0] = np.asarray(np.squeeze(shift + logarithm, axis=self.axes)).astype(x.dtype)

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return reduced_shape(shapes, self.axes)

    def _weights(self, x: TensorVariable, z: TensorVariable) -> TensorVariable:
        total = with_kept_axes(z, self.axes)
        return lt.exp(lt.sub(x, lt.switch(lt.eq(total, -np.inf), 0.0, total)))

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (x,), (z,), (gz,) = inputs, outputs, output_grads
        return [times_slope(with_kept_axes(gz, self.axes), self._weights(x, z))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        if tangent is None:
            return [None]
        return [lt.sum(times_slope(tangent, self._weights(x, self(x))), axis=self.axes)]


@final
class Softmax(_OfExponentials):
    """``exp(x) / sum(exp(x))`` along axes, without overflow.

    Next to plus infinity, which itself becomes NaN, finite elements become 0: as in the quotient, and as in the exponential of
    `LogSoftmax`. (`scipy.special.softmax` makes all of them NaN.)

    Parameters
    ----------
    axis
        The axes to sum over.
    """

    __slots__ = ()

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        with np.errstate(all="ignore"):
            elements = _in_single_precision(x)
            greatest = np.maximum.reduce(elements, axis=self.axes, keepdims=True, initial=-np.inf)
            terms = np.exp(elements - greatest)
            total = np.add.reduce(terms, axis=self.axes, keepdims=True, dtype=wide_dtype(terms.dtype.name))
            total = np.where(greatest == np.inf, np.inf, total)
            output_storage[0][0] = np.asarray(terms / total).astype(x.dtype)

    def _derivative(self, z: TensorVariable, direction: TensorVariable) -> TensorVariable:
        """Return the product of the Jacobian, which is symmetric, with an array: ``z * (d - sum(d * z))``."""
        weighted = lt.sum(times_slope(direction, z), axis=self.axes, keepdims=True)
        return times_slope(lt.sub(direction, weighted), z)

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        return [self._derivative(outputs[0], output_grads[0])]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        return [None if tangent is None else self._derivative(self(x), tangent)]


@final
class LogSoftmax(_OfExponentials):
    """``x - log(sum(exp(x)))`` along axes, without overflow or underflow.

    Parameters
    ----------
    axis
        The axes to sum over.
    """

    __slots__ = ()

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        (x,) = inputs
        with np.errstate(all="ignore"):
            elements = _in_single_precision(x)
            shift, logarithm = _log_sum_of_exponentials(elements, self.axes)
            output_storage[0][0] = np.asarray((elements - shift) - logarithm).astype(x.dtype)

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (z,), (gz,) = outputs, output_grads
        return [lt.sub(gz, times_slope(lt.sum(gz, axis=self.axes, keepdims=True), lt.exp(z)))]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        (x,), (tangent,) = inputs, eval_points
        if tangent is None:
            return [None]
        return [lt.sub(tangent, lt.sum(times_slope(tangent, lt.exp(self(x))), axis=self.axes, keepdims=True))]


def logsumexp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """Return ``log(sum(exp(x)))`` along axes, without overflow or underflow.

    Parameters
    ----------
    x
        The array, of real numbers; integers are taken as float64.
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
        The array is complex.
    """
    input = as_tensor_variable(x)
    reduced = LogSumExp(axis)(input)
    return with_kept_axes(reduced, sorted_axes(axis, input.ndim)) if keepdims else reduced


def softmax(x: TensorLike, axis: Axis = None) -> TensorVariable:
    """Return ``exp(x) / sum(exp(x))`` along axes, without overflow; 0 for a finite element next to plus infinity, which becomes NaN.

    Parameters
    ----------
    x
        The array, of real numbers; integers are taken as float64.
    axis
        One axis, several, or all (None); negative ones count from the last.

    Raises
    ------
    numpy.exceptions.AxisError
        An axis is not there.
    ValueError
        An axis is named twice.
    TypeError
        The array is complex.
    """
    return Softmax(axis)(x)


def log_softmax(x: TensorLike, axis: Axis = None) -> TensorVariable:
    """Return ``x - log(sum(exp(x)))`` along axes: the logarithm of `softmax`, without overflow or underflow.

    Parameters
    ----------
    x, axis
        As those of `softmax`.

    Raises
    ------
    numpy.exceptions.AxisError, ValueError, TypeError
        As `softmax`.
    """
    return LogSoftmax(axis)(x)
