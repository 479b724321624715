"""`ScalarType`: single numbers, as NumPy scalars."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.type import Type
from lamella.ir.scalar.dtypes import normalize_dtype
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable

__all__ = ["ScalarType"]


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


def _scalar(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> np.generic:
    with np.errstate(all="ignore"):
        return dtype.type(array.astype(dtype)[()])  # type: ignore[no-any-return]  # dtype.type is a subclass of generic


@final
@attrs.frozen(eq=False, repr=False)
class ScalarType(Type[np.generic]):
    """Numbers of one dtype: what a tensor is made of, and what scalar Ops compute with."""

    dtype: str = attrs.field(converter=_dtype_name)

    @override
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> np.generic:
        numpy_dtype = np.dtype(self.dtype)
        if isinstance(value, np.generic) and value.dtype == numpy_dtype:
            return value
        if strict:
            raise TypeError(f"{value!r} of type {type(value).__name__} is no scalar of dtype {self.dtype}")
        array = np.asarray(value)
        if array.ndim != 0:
            raise TypeError(f"a scalar is expected, not an array of shape {array.shape}")
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{value!r} of type {type(value).__name__} is no number")
        if array.dtype == numpy_dtype or allow_downcast or np.can_cast(array.dtype, numpy_dtype, "safe"):
            return _scalar(array, numpy_dtype)
        if isinstance(value, int) and not isinstance(value, np.generic):
            made: np.generic = numpy_dtype.type(value)  # an OverflowError where it does not fit
            return made
        kinds = "biufc"
        if not isinstance(value, np.generic | np.ndarray) and kinds.index(numpy_dtype.kind) >= kinds.index(
            array.dtype.kind
        ):
            return _scalar(array, numpy_dtype)  # a literal is rounded to the precision
        raise TypeError(f"{value!r} of dtype {array.dtype} does not fit {self.dtype} without loss")

    @override
    def values_eq(self, a: Any, b: Any) -> bool:
        return bool(a == b or (a != a and b != b))

    @override
    def values_eq_approx(self, a: Any, b: Any) -> bool:
        tolerance = {"float16": 1e-2, "float32": 1e-4, "complex64": 1e-4}.get(self.dtype, 1e-7)
        return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True))

    @override
    def constant_key(self, value: np.generic) -> Hashable:
        return value.tobytes()

    @override
    def make_variable(self, name: str | None = None) -> ScalarVariable:
        return ScalarVariable(self, None, None, name)

    @override
    def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> ScalarVariable:
        return ScalarVariable(self, owner, index, name)

    @override
    def make_constant(self, value: Any, name: str | None = None) -> ScalarConstant:
        return ScalarConstant(self, value, name)

    @override
    def __call__(self, name: str | None = None) -> ScalarVariable:
        return self.make_variable(name)

    @override
    def __str__(self) -> str:
        return self.dtype

    @override
    def __repr__(self) -> str:
        return f"ScalarType({self.dtype})"
