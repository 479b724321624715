"""Conversion to another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import zero_cotangent
from lamella.ir.scalar.dtypes import (
    COMPLEX_DTYPES,
    DTypeOrLiteral,
    Loop,
    is_differentiable_dtype,
    normalize_dtype,
    strong_dtype,
)
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.scalar.variable import ScalarLike, ScalarVariable

__all__ = ["Cast", "cast"]


def _dtype_name(dtype: npt.DTypeLike) -> str:
    return normalize_dtype(dtype)


@final
@attrs.frozen(eq=False, repr=False)
class Cast(ScalarOp[[ScalarLike]]):
    """``x`` in another dtype, as ``numpy.ndarray.astype``; but complex numbers are not cast to real ones.

    The gradient goes through casts among floats and complex numbers; it is 0 through casts to integers.

    Parameters
    ----------
    dtype
        The dtype.
    """

    dtype: str = attrs.field(converter=_dtype_name)

    nin = 1
    flops_per_element = 1

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        found = strong_dtype(dtypes[0])
        if found in COMPLEX_DTYPES and self.dtype not in (*COMPLEX_DTYPES, "bool"):
            raise TypeError(f"{found} is not cast to {self.dtype}: the imaginary part would be lost; use real, or abs")
        return (found,), (self.dtype,)

    @override
    def impl(self, *operands: Any) -> Any:
        return np.asarray(operands[0]).astype(self.dtype)

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x,) = inputs
        varies = is_differentiable_dtype(x.dtype) and is_differentiable_dtype(self.dtype)
        return [output_grads[0] if varies else zero_cotangent(x)]

    @override
    def __str__(self) -> str:
        return f"Cast{{{self.dtype}}}"


_cast_to = cache(Cast)


def cast(x: ScalarLike, dtype: npt.DTypeLike) -> ScalarVariable:
    """Return a number in another dtype; the number itself where it has that dtype."""
    name = normalize_dtype(dtype)
    if isinstance(x, ScalarVariable) and x.dtype == name:
        return x
    return _cast_to(name)(x)
