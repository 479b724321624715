"""Variables and constants of `TensorType`, and their operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

# The one place where operators are bound to tensor variables, and the one cycle of this folder: operators apply tensor Ops,
# whose results are tensor Variables. Names of `functions` are looked up when an operator is used.
import lamella.ir.tensor.functions as lt
from lamella.ir.graph.shared import SharedVariable
from lamella.ir.graph.variable import Constant, Variable

if TYPE_CHECKING:
    from lamella.ir.tensor.subtensor import Index
    from lamella.ir.tensor.type import TensorType

__all__ = ["TensorConstant", "TensorLike", "TensorSharedVariable", "TensorVariable", "narrowed"]


@attrs.frozen(eq=False, repr=False)
class TensorVariable(Variable["TensorType"]):
    """A symbolic array.

    Operators and NumPy functions applied to it build the graph; ``==`` and ``hash`` are those of the node (`eq` compares values).
    """

    __array_priority__ = 1000.0

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.ndim

    @property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each axis whether its length is known to be 1."""
        return self.type.broadcastable

    @property
    def shape(self) -> TensorVariable:
        """The shape: a vector of int64."""
        return lt.shape(self)

    @property
    def size(self) -> TensorVariable:
        """The number of elements: a scalar of int64."""
        return lt.size(self)

    @property
    def T(self) -> TensorVariable:
        """The array with its axes reversed: a view."""
        return lt.transpose(self)

    @property
    def mT(self) -> TensorVariable:
        """The array with its last two axes exchanged: a view."""
        return lt.swapaxes(self, -1, -2)

    @property
    def real(self) -> TensorVariable:
        """The real part."""
        return lt.real(self)

    @property
    def imag(self) -> TensorVariable:
        """The imaginary part."""
        return lt.imag(self)

    def __add__(self, other: TensorLike) -> TensorVariable:
        return lt.add(self, other)

    def __radd__(self, other: TensorLike) -> TensorVariable:
        return lt.add(other, self)

    def __sub__(self, other: TensorLike) -> TensorVariable:
        return lt.sub(self, other)

    def __rsub__(self, other: TensorLike) -> TensorVariable:
        return lt.sub(other, self)

    def __mul__(self, other: TensorLike) -> TensorVariable:
        return lt.mul(self, other)

    def __rmul__(self, other: TensorLike) -> TensorVariable:
        return lt.mul(other, self)

    def __truediv__(self, other: TensorLike) -> TensorVariable:
        return lt.true_divide(self, other)

    def __rtruediv__(self, other: TensorLike) -> TensorVariable:
        return lt.true_divide(other, self)

    def __floordiv__(self, other: TensorLike) -> TensorVariable:
        return lt.floor_divide(self, other)

    def __rfloordiv__(self, other: TensorLike) -> TensorVariable:
        return lt.floor_divide(other, self)

    def __mod__(self, other: TensorLike) -> TensorVariable:
        return lt.mod(self, other)

    def __rmod__(self, other: TensorLike) -> TensorVariable:
        return lt.mod(other, self)

    def __divmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return lt.floor_divide(self, other), lt.mod(self, other)

    def __rdivmod__(self, other: TensorLike) -> tuple[TensorVariable, TensorVariable]:
        return lt.floor_divide(other, self), lt.mod(other, self)

    def __pow__(self, other: TensorLike) -> TensorVariable:
        return lt.power(self, other)

    def __rpow__(self, other: TensorLike) -> TensorVariable:
        return lt.power(other, self)

    def __matmul__(self, other: TensorLike) -> TensorVariable:
        return lt.matmul(self, other)

    def __rmatmul__(self, other: TensorLike) -> TensorVariable:
        return lt.matmul(other, self)

    def __neg__(self) -> TensorVariable:
        return lt.neg(self)

    def __pos__(self) -> TensorVariable:
        return self

    def __abs__(self) -> TensorVariable:
        return lt.abs(self)

    def __invert__(self) -> TensorVariable:
        return lt.bitwise_not(self)

    def __and__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_and(self, other)

    def __rand__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_and(other, self)

    def __or__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_or(self, other)

    def __ror__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_or(other, self)

    def __xor__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_xor(self, other)

    def __rxor__(self, other: TensorLike) -> TensorVariable:
        return lt.bitwise_xor(other, self)

    def __lshift__(self, other: TensorLike) -> TensorVariable:
        return lt.left_shift(self, other)

    def __rlshift__(self, other: TensorLike) -> TensorVariable:
        return lt.left_shift(other, self)

    def __rshift__(self, other: TensorLike) -> TensorVariable:
        return lt.right_shift(self, other)

    def __rrshift__(self, other: TensorLike) -> TensorVariable:
        return lt.right_shift(other, self)

    def __lt__(self, other: TensorLike) -> TensorVariable:
        return lt.lt(self, other)

    def __le__(self, other: TensorLike) -> TensorVariable:
        return lt.le(self, other)

    def __gt__(self, other: TensorLike) -> TensorVariable:
        return lt.gt(self, other)

    def __ge__(self, other: TensorLike) -> TensorVariable:
        return lt.ge(self, other)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"{self!r} is symbolic: it has no truth value while the graph is built; use switch or ifelse")

    def __len__(self) -> int:
        length = self.type.shape[0] if self.ndim else None
        if length is None:
            raise TypeError(f"the length of {self!r} is not known while the graph is built; use {self!r}.shape[0]")
        return length

    def __iter__(self) -> Iterator[TensorVariable]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, index: Index | tuple[Index, ...]) -> TensorVariable:
        return lt.getitem(self, index)

    # As an array of objects, of which NumPy's stubs say nothing, it is accepted by NumPy's functions, and `array @ x` is Any to a type
    # checker; under NoReturn it would be taken for an array.
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        raise TypeError(
            f"{self!r} is symbolic: it has no value while the graph is built; compile a function, or use eval"
        )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return lt.apply_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return lt.apply_array_function(func, args, kwargs)

    def set(self, value: TensorLike) -> TensorVariable:
        """Return the array this is an index of, with these elements set to `value`: ``x[i].set(v)``."""
        return lt.set_subtensor(self, value)

    def inc(self, value: TensorLike) -> TensorVariable:
        """Return the array this is an index of, with `value` added to these elements: ``x[i].inc(v)``."""
        return lt.inc_subtensor(self, value)

    def astype(self, dtype: npt.DTypeLike) -> TensorVariable:
        """Return the array cast to `dtype`."""
        return lt.cast(self, dtype)

    def dimshuffle(self, *pattern: int | str | Sequence[int | str]) -> TensorVariable:
        """Return the array with its axes reordered, added (``"x"``) and dropped: a view."""
        return lt.dimshuffle(self, *pattern)

    def reshape(self, shape: TensorLike | Sequence[TensorLike], ndim: int | None = None) -> TensorVariable:
        """Return the array in another shape; one length may be -1."""
        return lt.reshape(self, shape, ndim)

    def flatten(self, ndim: int = 1) -> TensorVariable:
        """Return the array with its last axes joined, so that `ndim` are left."""
        return lt.flatten(self, ndim)

    def ravel(self) -> TensorVariable:
        """Return the array as a vector."""
        return lt.flatten(self, 1)

    def transpose(self, *axes: int | Sequence[int]) -> TensorVariable:
        """Return the array with its axes permuted (reversed by default): a view."""
        return lt.transpose(self, *axes)

    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable:
        """Return the array with two axes exchanged: a view."""
        return lt.swapaxes(self, axis1, axis2)

    def squeeze(self, axis: int | Sequence[int] | None = None) -> TensorVariable:
        """Return the array without axes of length 1: a view."""
        return lt.squeeze(self, axis)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        """Return a diagonal of the array."""
        return lt.diagonal(self, offset, axis1, axis2)

    def sum(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        acc_dtype: npt.DTypeLike | None = None,
    ) -> TensorVariable:
        """Return sums over axes."""
        return lt.sum(self, axis, dtype, keepdims, acc_dtype)

    def prod(
        self,
        axis: Axis = None,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        acc_dtype: npt.DTypeLike | None = None,
    ) -> TensorVariable:
        """Return products over axes."""
        return lt.prod(self, axis, dtype, keepdims, acc_dtype)

    def max(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return greatest elements over axes; NaN where there is a NaN."""
        return lt.max(self, axis, keepdims)

    def min(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return least elements over axes; NaN where there is a NaN."""
        return lt.min(self, axis, keepdims)

    def all(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return whether all elements over axes are true."""
        return lt.all(self, axis, keepdims)

    def any(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """Return whether any element over axes is true."""
        return lt.any(self, axis, keepdims)

    def mean(self, axis: Axis = None, dtype: npt.DTypeLike | None = None, keepdims: bool = False) -> TensorVariable:
        """Return means over axes."""
        return lt.mean(self, axis, dtype, keepdims)

    def var(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
        """Return variances over axes."""
        return lt.var(self, axis, ddof, keepdims)

    def std(self, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
        """Return standard deviations over axes."""
        return lt.std(self, axis, ddof, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
        """Return the indices of the first greatest elements."""
        return lt.argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> TensorVariable:
        """Return the indices of the first least elements."""
        return lt.argmin(self, axis, keepdims)

    def cumsum(self, axis: int | None = None) -> TensorVariable:
        """Return running sums."""
        return lt.cumsum(self, axis)

    def cumprod(self, axis: int | None = None) -> TensorVariable:
        """Return running products."""
        return lt.cumprod(self, axis)

    def sort(self, axis: int | None = -1) -> TensorVariable:
        """Return the array sorted along an axis."""
        return lt.sort(self, axis)

    def argsort(self, axis: int | None = -1) -> TensorVariable:
        """Return the indices that sort the array along an axis."""
        return lt.argsort(self, axis)

    def nonzero(self) -> tuple[TensorVariable, ...]:
        """Return, for each axis, the indices of the elements that are not zero."""
        return lt.nonzero(self)

    def take(self, indices: TensorLike, axis: int | None = None) -> TensorVariable:
        """Return elements by index along an axis."""
        return lt.take(self, indices, axis)

    def dot(self, other: TensorLike) -> TensorVariable:
        """Return the dot product, as `numpy.dot`."""
        return lt.dot(self, other)

    def clip(self, a_min: TensorLike, a_max: TensorLike) -> TensorVariable:
        """Return the elements limited to a range."""
        return lt.clip(self, a_min, a_max)

    def round(self, decimals: int = 0) -> TensorVariable:
        """Return the elements rounded to even."""
        return lt.round(self, decimals)

    def conj(self) -> TensorVariable:
        """Return the complex conjugates."""
        return lt.conj(self)

    def fill(self, value: TensorLike) -> TensorVariable:
        """Return an array of this shape whose elements are all `value`."""
        return lt.fill(self, value)

    def copy(self, name: str | None = None) -> TensorVariable:
        """Return a copy."""
        copied = lt.tensor_copy(self)
        return copied if name is None else copied.named(name)

    def zeros_like(self, dtype: npt.DTypeLike | None = None) -> TensorVariable:
        """Return zeros of this shape."""
        return lt.zeros_like(self, dtype)

    def ones_like(self, dtype: npt.DTypeLike | None = None) -> TensorVariable:
        """Return ones of this shape."""
        return lt.ones_like(self, dtype)


class TensorConstant(Constant["TensorType"], TensorVariable):
    """An array that is known while the graph is built."""

    __slots__ = ()

    @override
    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return str(self.data.reshape(())[()]) if self.data.size == 1 else f"{self.type}{{{_abbreviated(self.data)}}}"


def _abbreviated(array: npt.NDArray[Any]) -> str:
    return np.array2string(array, threshold=6, edgeitems=2, separator=", ").replace("\n", "")


class TensorSharedVariable(SharedVariable["TensorType"], TensorVariable):
    """An array that lives from call to call."""

    __slots__ = ()


Axis = int | Sequence[int] | None
"""One axis, several, or all of them (None); negative ones count from the last."""

TensorLike = TensorVariable | npt.NDArray[Any] | np.generic | bool | int | float | complex
"""What tensor Ops take: a tensor Variable, an array, a NumPy scalar, or a literal (weak, as in NEP 50)."""


def narrowed(type: TensorType, variable: Variable[Any]) -> TensorVariable | None:
    """Return `variable` with the static shape of `type` asserted, or None where dtype, number of dimensions or known lengths differ."""
    if not isinstance(variable, TensorVariable) or variable.dtype != type.dtype or variable.ndim != type.ndim:
        return None
    if any([None not in (a, b) and a != b for a, b in zip(variable.type.shape, type.shape, strict=True)]):
        return None
    return lt.specify_shape(variable, type.shape)
