"""`TensorType`: arrays of one dtype and number of dimensions, with lengths that are known or not."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.type import Type
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import normalize_dtype
from lamella.ir.scalar.op import is_literal
from lamella.ir.tensor.variable import TensorConstant, TensorVariable, narrowed

__all__ = ["StaticShape", "TensorType"]

StaticShape = tuple[int | None, ...]
"""For each axis its length, or None where it is known at run time only."""

_BYTES_KEPT_IN_KEYS = 1024


def _static_shape(shape: Iterable[SupportsIndex | None]) -> StaticShape:
    lengths: list[int | None] = []
    for length in shape:
        if isinstance(length, bool | np.bool_):
            raise TypeError(f"a static shape holds lengths or None, not {length}: write 1 for an axis that broadcasts")
        lengths.append(None if length is None else operator.index(length))
    if any([length is not None and length < 0 for length in lengths]):
        raise ValueError(f"a static shape has lengths of 0 or more, or None; {tuple(lengths)} has not")
    return tuple(lengths)


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


def _keeps_values(array: npt.NDArray[Any], cast: npt.NDArray[Any]) -> bool:
    """Whether `cast`, which was made of `array`, holds the same numbers."""
    if array.dtype.kind in "iu" and cast.dtype.kind in "iu":
        return bool(np.all(array == cast))  # NumPy compares integers of all dtypes exactly
    if array.dtype.kind in "iu" and cast.dtype.kind in "fc":
        exact = 2 ** (np.finfo(cast.dtype).nmant + 1)
        return bool(np.all((array >= -exact) & (array <= exact)))
    if np.can_cast(array.dtype, cast.dtype, "same_kind"):
        back = cast if array.dtype.kind == "c" else cast.real  # what was real is real still
        return bool(np.all((back.astype(array.dtype) == array) | ((array != array) & (back != back))))
    return False


@final
@attrs.frozen(eq=False, repr=False)
class TensorType(Type["npt.NDArray[Any]"]):
    """NumPy arrays of a dtype, a number of dimensions, and a partly known shape.

    A length of 1 in `shape` means that the axis is broadcast in elementwise Ops; an axis of unknown length (None) never is.

    Parameters
    ----------
    dtype
        Name of the dtype, or whatever ``numpy.dtype`` accepts.
    shape
        For each axis its length, or None.

    Examples
    --------
    >>> TensorType("float64", (None, 3))
    TensorType(float64, shape=(None, 3))
    """

    dtype: str = attrs.field(converter=_dtype_name)
    shape: StaticShape = attrs.field(converter=_static_shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @cached_property
    def broadcastable(self) -> tuple[bool, ...]:
        """For each axis whether its length is known to be 1."""
        return tuple([length == 1 for length in self.shape])

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype, as NumPy has it."""
        return np.dtype(self.dtype)

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> npt.NDArray[Any]:
        """Return `value` as an array of this Type.

        Parameters
        ----------
        value
            An array, a number, or nested sequences of numbers.
        strict
            Accept only arrays (and NumPy scalars, for 0 dimensions) of the very dtype.
        allow_downcast
            True casts any number to this dtype. None and False accept casts that are safe (as `numpy.can_cast` says), and others where
            the values are kept: from integers, and among floats or complex numbers. None also rounds Python floats. Complex
            numbers are never cast to real ones.

        Raises
        ------
        TypeError
            The value does not fit: dtype, number of dimensions, or a known length.
        """
        if isinstance(value, Variable):
            raise TypeError(f"a value is expected, not the variable {value!r}")
        if strict and not isinstance(value, np.ndarray | np.generic):
            raise TypeError(f"a {type(value).__name__} where an array is expected")
        if hasattr(value, "mask") and hasattr(value, "filled"):
            raise TypeError("a masked array would lose its mask; fill it first")
        array = np.asarray(value)
        if array.dtype != self.numpy_dtype:
            if strict:
                raise TypeError(f"an array of dtype {array.dtype} where {self.dtype} is expected")
            array = self._cast(value, array, allow_downcast)
        if array.ndim != self.ndim:
            raise TypeError(f"an array of {array.ndim} dimensions where {self.ndim} are expected")
        for axis, (found, expected) in enumerate(zip(array.shape, self.shape, strict=True)):
            if expected is not None and found != expected:
                raise TypeError(f"length {found} along axis {axis} where {expected} is expected (shape {array.shape})")
        return array

    def _cast(self, value: Any, array: npt.NDArray[Any], allow_downcast: bool | None) -> npt.NDArray[Any]:
        if isinstance(value, int) and array.dtype == object:
            raise TypeError(f"the integer {value} fits no dtype")
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{value!r} of type {type(value).__name__} is no array of numbers")
        dtype = self.numpy_dtype
        if array.dtype.kind == "c" and dtype.kind != "c":
            raise TypeError(
                f"complex numbers where {self.dtype} is expected: the imaginary parts would be lost; take the real parts"
            )
        with np.errstate(all="ignore"):
            cast = array.astype(dtype)
            if allow_downcast or np.can_cast(array.dtype, dtype, "safe"):
                return cast
            if allow_downcast is None and is_literal(value) and array.dtype.kind == "f" and dtype.kind in "fc":
                kept = bool(np.isfinite(cast)) or not np.isfinite(value)
            else:
                kept = _keeps_values(array, cast)
        if not kept:
            raise TypeError(
                f"values of dtype {array.dtype} do not fit {self.dtype} without loss; cast them, or pass allow_downcast=True"
            )
        return cast

    @override
    def convert_variable(self, variable: Variable[Any]) -> Variable[Any] | None:
        return narrowed(self, variable)

    @override
    def values_eq(self, a: Any, b: Any) -> bool:
        return a.dtype == b.dtype and bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))

    @override
    def values_eq_approx(self, a: Any, b: Any) -> bool:
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        tolerance = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}.get(self.dtype, 1e-7)
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))

    @override
    def in_same_class(self, other: Type[Any]) -> bool:
        return isinstance(other, TensorType) and self.dtype == other.dtype and self.broadcastable == other.broadcastable

    @override
    def is_super(self, other: Type[Any]) -> TensorType | None:
        if self is other:
            return self
        if not isinstance(other, TensorType) or self.dtype != other.dtype or len(self.shape) != len(other.shape):
            return None
        return self if all([a is None or a == b for a, b in zip(self.shape, other.shape, strict=True)]) else None

    @override
    def may_share_memory(self, a: Any, b: Any) -> bool:
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.may_share_memory(a, b)

    @override
    def copy_value(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.array(value, copy=True)

    @override
    def freeze(self, value: npt.NDArray[Any]) -> npt.NDArray[Any]:
        private = np.array(value, order="C", copy=True)
        private.setflags(write=False)
        return private.view()  # who owns memory may make it writeable again, who views it may not

    @override
    def constant_key(self, value: npt.NDArray[Any]) -> Hashable:
        bits = value.tobytes()
        if len(bits) > _BYTES_KEPT_IN_KEYS:
            import hashlib  # here, as it loads OpenSSL

            bits = hashlib.blake2b(bits).digest()
        return (value.shape, bits)

    @override
    def get_shape_info(self, value: npt.NDArray[Any]) -> tuple[int, ...]:
        return value.shape

    @override
    def get_size(self, shape_info: object) -> int:
        lengths = shape_info if isinstance(shape_info, tuple) else ()
        return int(np.prod(lengths, dtype=np.int64)) * self.numpy_dtype.itemsize

    @override
    def make_variable(self, name: str | None = None) -> TensorVariable:
        return TensorVariable(self, None, None, name)

    @override
    def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> TensorVariable:
        return TensorVariable(self, owner, index, name)

    @override
    def make_constant(self, value: Any, name: str | None = None) -> TensorConstant:
        return TensorConstant(self, value, name)

    @override
    def __call__(self, name: str | None = None) -> TensorVariable:
        return self.make_variable(name)

    @override
    def __str__(self) -> str:
        lengths = ", ".join(["?" if length is None else str(length) for length in self.shape])
        return f"{self.dtype}[{lengths}]"

    @override
    def __repr__(self) -> str:
        return f"TensorType({self.dtype}, shape={self.shape})"
