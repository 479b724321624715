"""The elementwise functions: one `Elemwise` for each scalar Op, typed by its operands, and functions made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from typing_extensions import ParamSpec

import lamella.ir.scalar.functions as ls
from lamella.ir.scalar.cast import Cast
from lamella.ir.scalar.dtypes import INTEGER_DTYPES, normalize_dtype
from lamella.ir.scalar.op import ScalarOp, is_literal
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.elemwise import Elemwise
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = [
    "abs",
    "add",
    "angle",
    "annihilating_mul",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "digamma",
    "eq",
    "erf",
    "erfc",
    "erfcx",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "gammaln",
    "ge",
    "gt",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "left_shift",
    "log",
    "log1mexp",
    "log1p",
    "log2",
    "log10",
    "log_sigmoid",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "neq",
    "polygamma",
    "power",
    "rad2deg",
    "real",
    "reciprocal",
    "right_shift",
    "rint",
    "second",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "sub",
    "switch",
    "tan",
    "tanh",
    "tensor_copy",
    "trigamma",
    "true_divide",
    "trunc",
    "where",
    "xlogy",
]

P = ParamSpec("P")


def _unary(x: TensorLike, /) -> None: ...


def _binary(x: TensorLike, y: TensorLike, /) -> None: ...


def _ternary(x: TensorLike, y: TensorLike, z: TensorLike, /) -> None: ...


def _two_or_more(x: TensorLike, y: TensorLike, /, *others: TensorLike) -> None: ...


def _elementwise(operands: Callable[P, None], scalar_op: ScalarOp[Any]) -> Elemwise[P]:
    return Elemwise(scalar_op)


add: Final = _elementwise(_two_or_more, ls.add)
mul: Final = _elementwise(_two_or_more, ls.mul)

neg: Final = _elementwise(_unary, ls.neg)
reciprocal: Final = _elementwise(_unary, ls.reciprocal)
square: Final = _elementwise(_unary, ls.square)
sqrt: Final = _elementwise(_unary, ls.sqrt)
abs: Final = _elementwise(_unary, ls.abs)
sign: Final = _elementwise(_unary, ls.sign)
isnan: Final = _elementwise(_unary, ls.isnan)
isinf: Final = _elementwise(_unary, ls.isinf)
isfinite: Final = _elementwise(_unary, ls.isfinite)
signbit: Final = _elementwise(_unary, ls.signbit)
logical_not: Final = _elementwise(_unary, ls.logical_not)
bitwise_not: Final = _elementwise(_unary, ls.bitwise_not)
ceil: Final = _elementwise(_unary, ls.ceil)
floor: Final = _elementwise(_unary, ls.floor)
trunc: Final = _elementwise(_unary, ls.trunc)
rint: Final = _elementwise(_unary, ls.rint)
exp: Final = _elementwise(_unary, ls.exp)
exp2: Final = _elementwise(_unary, ls.exp2)
expm1: Final = _elementwise(_unary, ls.expm1)
log: Final = _elementwise(_unary, ls.log)
log2: Final = _elementwise(_unary, ls.log2)
log10: Final = _elementwise(_unary, ls.log10)
log1p: Final = _elementwise(_unary, ls.log1p)
log1mexp: Final = _elementwise(_unary, ls.log1mexp)
sin: Final = _elementwise(_unary, ls.sin)
cos: Final = _elementwise(_unary, ls.cos)
tan: Final = _elementwise(_unary, ls.tan)
arcsin: Final = _elementwise(_unary, ls.arcsin)
arccos: Final = _elementwise(_unary, ls.arccos)
arctan: Final = _elementwise(_unary, ls.arctan)
sinh: Final = _elementwise(_unary, ls.sinh)
cosh: Final = _elementwise(_unary, ls.cosh)
tanh: Final = _elementwise(_unary, ls.tanh)
arcsinh: Final = _elementwise(_unary, ls.arcsinh)
arccosh: Final = _elementwise(_unary, ls.arccosh)
arctanh: Final = _elementwise(_unary, ls.arctanh)
deg2rad: Final = _elementwise(_unary, ls.deg2rad)
rad2deg: Final = _elementwise(_unary, ls.rad2deg)
sigmoid: Final = _elementwise(_unary, ls.sigmoid)
log_sigmoid: Final = _elementwise(_unary, ls.log_sigmoid)
softplus: Final = _elementwise(_unary, ls.softplus)
erf: Final = _elementwise(_unary, ls.erf)
erfc: Final = _elementwise(_unary, ls.erfc)
erfcx: Final = _elementwise(_unary, ls.erfcx)
gammaln: Final = _elementwise(_unary, ls.gammaln)
digamma: Final = _elementwise(_unary, ls.digamma)
real: Final = _elementwise(_unary, ls.real)
imag: Final = _elementwise(_unary, ls.imag)
conj: Final = _elementwise(_unary, ls.conj)
angle: Final = _elementwise(_unary, ls.angle)
tensor_copy: Final = _elementwise(_unary, ls.identity)

sub: Final = _elementwise(_binary, ls.sub)
true_divide: Final = _elementwise(_binary, ls.true_divide)
floor_divide: Final = _elementwise(_binary, ls.floor_divide)
mod: Final = _elementwise(_binary, ls.mod)
power: Final = _elementwise(_binary, ls.power)
eq: Final = _elementwise(_binary, ls.eq)
neq: Final = _elementwise(_binary, ls.neq)
lt: Final = _elementwise(_binary, ls.lt)
le: Final = _elementwise(_binary, ls.le)
gt: Final = _elementwise(_binary, ls.gt)
ge: Final = _elementwise(_binary, ls.ge)
logical_and: Final = _elementwise(_binary, ls.logical_and)
logical_or: Final = _elementwise(_binary, ls.logical_or)
logical_xor: Final = _elementwise(_binary, ls.logical_xor)
bitwise_and: Final = _elementwise(_binary, ls.bitwise_and)
bitwise_or: Final = _elementwise(_binary, ls.bitwise_or)
bitwise_xor: Final = _elementwise(_binary, ls.bitwise_xor)
left_shift: Final = _elementwise(_binary, ls.left_shift)
right_shift: Final = _elementwise(_binary, ls.right_shift)
hypot: Final = _elementwise(_binary, ls.hypot)
arctan2: Final = _elementwise(_binary, ls.arctan2)
logaddexp: Final = _elementwise(_binary, ls.logaddexp)
logaddexp2: Final = _elementwise(_binary, ls.logaddexp2)
xlogy: Final = _elementwise(_binary, ls.xlogy)
copysign: Final = _elementwise(_binary, ls.copysign)
minimum: Final = _elementwise(_binary, ls.minimum)
maximum: Final = _elementwise(_binary, ls.maximum)
polygamma: Final = _elementwise(_binary, ls.polygamma)
second: Final = _elementwise(_binary, ls.second)
annihilating_mul: Final = _elementwise(_binary, ls.annihilating_mul)

switch: Final = _elementwise(_ternary, ls.switch)

_clip: Final = _elementwise(_ternary, ls.clip)


def cast(x: TensorLike, dtype: npt.DTypeLike) -> TensorVariable:
    """Return an array in another dtype; `x` itself where it has that dtype.

    Raises
    ------
    TypeError
        There is no such dtype, or complex numbers would lose their imaginary parts.
    """
    variable = as_tensor_variable(x)
    name = normalize_dtype(dtype)
    return variable if variable.dtype == name else _elementwise(_unary, Cast(name))(variable)


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return, for each element, that of `x` where `condition` is not 0, else that of `y`, as `numpy.where`.

    The gradient goes to the operand that was chosen, and is exactly 0 for the other.
    """
    return switch(condition, x, y)


def clip(x: TensorLike, a_min: TensorLike | None, a_max: TensorLike | None) -> TensorVariable:
    """Return the elements of `x` limited to a range, as `numpy.clip`.

    Parameters
    ----------
    x
        The array.
    a_min, a_max
        The bounds; None for no bound. Where ``a_min > a_max`` the result is `a_max`. Literals out of the range of integers
        are no bound.

    Raises
    ------
    TypeError
        The dtypes have no common one.
    """
    variable = as_tensor_variable(x)
    low = None if _is_no_bound(a_min, variable.dtype, least=True) else a_min
    high = None if _is_no_bound(a_max, variable.dtype, least=False) else a_max
    if low is not None and high is not None:
        return _clip(variable, low, high)
    if low is not None:
        return maximum(variable, low)
    return tensor_copy(variable) if high is None else minimum(variable, high)


def _is_no_bound(bound: TensorLike | None, dtype: str, least: bool) -> bool:
    if not isinstance(bound, int) or not is_literal(bound) or isinstance(bound, bool) or dtype not in INTEGER_DTYPES:
        return bound is None
    limits = np.iinfo(dtype)
    return bound <= limits.min if least else bound >= limits.max


def trigamma(x: TensorLike) -> TensorVariable:
    """Return the derivative of `digamma`."""
    return polygamma(1, x)
