"""Parts of complex numbers: real, imaginary, angle, conjugate. Of cotangents of complex numbers see `cotangents`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import times_slope, zero_cotangent
from lamella.ir.scalar.dtypes import COMPLEX_DTYPES, DTypeOrLiteral, Loop, resolve_ufunc_loop, strong_dtype
from lamella.ir.scalar.op import ScalarOp, UnaryUfunc
from lamella.ir.scalar.variable import ScalarLike

__all__ = ["Angle", "Conj", "Imag", "Real", "angle", "conj", "imag", "real"]

_REAL_OF = {"complex64": "float32", "complex128": "float64"}


class _Part(ScalarOp[[ScalarLike]]):
    """A part of a complex number; defined for real ones too, whose dtype it keeps."""

    __slots__ = ()

    nin = 1

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        dtype = strong_dtype(dtypes[0])
        return (dtype,), (_REAL_OF.get(dtype, dtype),)


@final
class Real(_Part):
    """The real part; real numbers stay as they are."""

    __slots__ = ()

    flops_per_element = 0

    @override
    def impl(self, *operands: Any) -> Any:
        return np.real(operands[0])

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        return [output_grads[0]]


@final
class Imag(_Part):
    """The imaginary part; of real numbers 0."""

    __slots__ = ()

    flops_per_element = 0

    @override
    def impl(self, *operands: Any) -> Any:
        return np.imag(operands[0])

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        return [gz * 1j if x.dtype in COMPLEX_DTYPES else zero_cotangent(x)]


@final
class Angle(ScalarOp[[ScalarLike]]):
    """The angle of a complex number, in [-pi, pi]; of real numbers 0 or pi. The gradient at 0 is NaN."""

    __slots__ = ()

    nin = 1
    flops_per_element = 30

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        dtype = strong_dtype(dtypes[0])
        if dtype in COMPLEX_DTYPES:
            return (dtype,), (_REAL_OF[dtype],)
        (_, computed), outs = resolve_ufunc_loop(np.arctan2, (int, dtype))
        return (computed,), outs

    @override
    def impl(self, *operands: Any) -> Any:
        return np.angle(operands[0])

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        if x.dtype not in COMPLEX_DTYPES:
            return [zero_cotangent(x)]
        return [times_slope(gz, 1j / ls.conj(x))]


@final
class Conj(UnaryUfunc):
    """The complex conjugate; of real numbers, themselves."""

    __slots__ = ()

    ufunc = np.conjugate

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (x,), (gz,) = inputs, output_grads
        return [ls.conj(gz) if x.dtype in COMPLEX_DTYPES else gz]


angle = Angle()
conj = Conj()
imag = Imag()
real = Real()
