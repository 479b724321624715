"""Special functions. SciPy, which computes them, is loaded when the first of them is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, final

from typing_extensions import override

import lamella.ir.scalar.functions as ls
from lamella.errors import GradientNotImplementedError
from lamella.ir.graph.null_types import NullType
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.cotangents import pull_back, zero_cotangent
from lamella.ir.scalar.dtypes import (
    COMPLEX_DTYPES,
    DTypeOrLiteral,
    Loop,
    is_differentiable_dtype,
    strong_dtype,
    undefined,
)
from lamella.ir.scalar.op import ScalarOp, Scalars, Slopes
from lamella.ir.scalar.variable import ScalarLike

__all__ = [
    "Digamma",
    "Erf",
    "Erfc",
    "Erfcx",
    "GammaLn",
    "PolyGamma",
    "SpecialScalarOp",
    "digamma",
    "erf",
    "erfc",
    "erfcx",
    "gammaln",
    "polygamma",
]


@cache
def _scipy_special(name: str) -> Any:
    return getattr(import_module("scipy.special"), name)


class SpecialScalarOp(ScalarOp[[ScalarLike]]):
    """A function of one operand that `scipy.special` computes: in float32 if that is the operand's dtype, else in float64.

    Attributes
    ----------
    scipy_name
        Its name there.
    takes_complex
        Whether it is defined for complex numbers.
    """

    __slots__ = ()

    nin = 1
    flops_per_element = 40
    scipy_name: ClassVar[str]
    takes_complex: ClassVar[bool] = False

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        dtype = strong_dtype(dtypes[0])
        if dtype in COMPLEX_DTYPES and not self.takes_complex:
            raise undefined(str(self), dtypes)
        computed = dtype if dtype == "float32" or dtype in COMPLEX_DTYPES else "float64"
        return (computed,), (computed,)

    @override
    def impl(self, *operands: Any) -> Any:
        return _scipy_special(self.scipy_name)(*operands)


@final
class Erf(SpecialScalarOp):
    """The error function."""

    __slots__ = ()

    scipy_name = "erf"
    takes_complex = True

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.exp(-(x * x)) * (2 / math.sqrt(math.pi))]


@final
class Erfc(SpecialScalarOp):
    """``1 - erf(x)``, exact where that is small."""

    __slots__ = ()

    scipy_name = "erfc"
    takes_complex = True

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.exp(-(x * x)) * (-2 / math.sqrt(math.pi))]


@final
class Erfcx(SpecialScalarOp):
    """``exp(x**2) * erfc(x)``, which neither underflows nor overflows for ``x`` above 0."""

    __slots__ = ()

    scipy_name = "erfcx"
    takes_complex = True

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,), (z,) = inputs, outputs
        slope = 2 * x * z - 2 / math.sqrt(math.pi)
        if x.dtype in COMPLEX_DTYPES:
            return [slope]
        s = ls.reciprocal(x * x)
        series = (s * (-1 / math.sqrt(math.pi))) * (1 - s * (1.5 - s * (3.75 - s * 13.125)))
        # The difference cancels where x is large: there its asymptotic series is exact (NIST DLMF, 7.12.1, differentiated).
        return [ls.switch(ls.gt(x, 50), series, slope)]


@final
class GammaLn(SpecialScalarOp):
    """``log(|gamma(x)|)``."""

    __slots__ = ()

    scipy_name = "gammaln"

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        return [ls.digamma(x)]


@final
class Digamma(SpecialScalarOp):
    """The derivative of ``gammaln``. There is a gradient of real numbers only."""

    __slots__ = ()

    scipy_name = "psi"
    takes_complex = True

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        (x,) = inputs
        if x.dtype in COMPLEX_DTYPES:
            raise GradientNotImplementedError("digamma has no gradient by complex numbers; cast them to real ones")
        return [ls.polygamma(1, x)]


@final
class PolyGamma(ScalarOp[[ScalarLike, ScalarLike]]):
    """Derivative ``n`` of ``digamma`` at ``x``, for operands ``n, x``, where ``n`` is an integer (of any dtype), 0 or more.

    ``(-1)**(n + 1) * n! * zeta(n + 1, x)`` with the Hurwitz zeta function, for ``n`` of 1 or more. There is no gradient by ``n``.
    """

    __slots__ = ()

    nin = 2
    flops_per_element = 80

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        strong = [strong_dtype(d) for d in dtypes]
        if any([d in COMPLEX_DTYPES for d in strong]):
            raise undefined(str(self), dtypes)
        return ("float64", "float64"), ("float32" if strong[1] == "float32" else "float64",)

    @override
    def impl(self, *operands: Any) -> Any:
        n, x = operands
        return _scipy_special("polygamma")(n, x)

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        (n, x), (gz,) = inputs, output_grads
        return [
            NullType("polygamma has no derivative by its order n")()
            if is_differentiable_dtype(n.dtype)
            else zero_cotangent(n),
            pull_back(gz, ls.polygamma(n + 1, x)),
        ]


digamma = Digamma()
erf = Erf()
erfc = Erfc()
erfcx = Erfcx()
gammaln = GammaLn()
polygamma = PolyGamma()
