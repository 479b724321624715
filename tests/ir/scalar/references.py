"""What every scalar Op is compared with: a function of NumPy or SciPy, and points where its gradient is tested."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import scipy.special

from lamella.ir import (
    Abs,
    Add,
    Angle,
    AnnihilatingMul,
    Arccos,
    Arccosh,
    Arcsin,
    Arcsinh,
    Arctan,
    Arctan2,
    Arctanh,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Cast,
    Ceil,
    Clip,
    Conj,
    CopySign,
    Cos,
    Cosh,
    Deg2Rad,
    Digamma,
    Eq,
    Erf,
    Erfc,
    Erfcx,
    Exp,
    Exp2,
    Expm1,
    Floor,
    FloorDivide,
    GammaLn,
    Ge,
    Gt,
    Hypot,
    Identity,
    Imag,
    IsFinite,
    IsInf,
    IsNan,
    Le,
    LeftShift,
    Log,
    Log1mExp,
    Log1p,
    Log2,
    Log10,
    LogAddExp,
    LogAddExp2,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    LogSigmoid,
    Lt,
    Maximum,
    Minimum,
    Mod,
    Mul,
    Neg,
    Neq,
    PolyGamma,
    Power,
    Rad2Deg,
    Real,
    Reciprocal,
    RightShift,
    Rint,
    ScalarOp,
    Second,
    Sigmoid,
    Sign,
    SignBit,
    Sin,
    Sinh,
    Softplus,
    Sqrt,
    Square,
    Sub,
    Switch,
    Tan,
    Tanh,
    TrueDivide,
    Trunc,
    XLogY,
)

Array = npt.NDArray[Any]

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
WIDE = ["float32", "float64", *COMPLEX]
ALL_DTYPES = [*BOOL, *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX]


@attrs.frozen
class Reference:
    """What is known of a scalar Op.

    Attributes
    ----------
    op
        An instance.
    function
        NumPy's function.
    nin
        Number of operands to try.
    points
        For each operand numbers, far from kinks, where the gradient is compared with finite differences; empty where there is none.
    rtol
        Allowed relative difference of values, for what is no single function of NumPy.
    """

    op: ScalarOp[Any]
    function: Callable[..., Any]
    nin: int = 1
    points: Sequence[Sequence[float]] = ()
    rtol: float = 0.0


def _special(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy, in float64 where its operand is an integer; versions of SciPy differ in what they make of short ones."""

    def in_double(x: Any) -> Any:
        x = np.asarray(x)
        return function(x if x.dtype in WIDE else x.astype("float64"))

    return in_double


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, np.zeros((), np.asarray(x).dtype))


def _log1mexp(x: Any) -> Any:
    wide = np.asarray(x, dtype=np.logaddexp(x, x).dtype)
    if np.asarray(x).dtype.kind == "c":
        raise TypeError
    exact = wide.astype("longdouble")
    return np.where(exact < -20, np.log1p(-np.exp(exact)), np.log(-np.expm1(exact))).astype(wide.dtype)


def _xlogy(x: Any, y: Any) -> Any:
    dtype = np.logaddexp(x, y).dtype
    x, y = np.asarray(x, dtype), np.asarray(y, dtype)
    return np.where((x == 0) & ~np.isnan(y), np.zeros((), dtype), x * np.log(y))


def _polygamma(n: Any, x: Any) -> Any:
    x, n = np.asarray(x), np.asarray(n)
    if x.dtype.kind == "c" or n.dtype.kind == "c":
        raise TypeError
    return scipy.special.polygamma(n.astype(float), x.astype(float)).astype(
        "float32" if x.dtype == "float32" else "float64"
    )


def _switch(c: Any, x: Any, y: Any) -> Any:
    common = np.result_type(x, y)
    for literal in (x, y):
        if type(literal) is int:
            common.type(literal)  # OverflowError where it does not fit: NumPy's `where` wraps around
    return np.where(np.asarray(c).astype(bool), x, y)


def _clip(x: Any, low: Any, high: Any) -> Any:
    common = np.result_type(x, low, high)
    return np.minimum(np.maximum(np.asarray(x, common), np.asarray(low, common)), np.asarray(high, common))


def _second(x: Any, y: Any) -> Any:
    dtype = np.result_type(x, y) if type(y) in (int, float, complex) else np.asarray(y).dtype
    return np.broadcast_to(np.asarray(y, dtype), np.broadcast_shapes(np.shape(x), np.shape(y)))


def _annihilating(g: Any, slope: Any) -> Any:
    product = np.multiply(g, slope)
    return np.where(np.asarray(g) == 0, product.dtype.type(0), product)


def _sum_of(*operands: Any) -> Any:
    total = operands[0]
    for operand in operands[1:]:
        total = np.add(total, operand)
    return total


def _cast(dtype: str) -> Callable[[Any], Any]:
    def cast(x: Any) -> Any:
        if np.asarray(x).dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
            raise TypeError
        return np.asarray(x).astype(dtype)

    return cast


def _part(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: function(np.asarray(x))


PLAIN = [-1.7, -0.4, 0.3, 1.9]
POSITIVE = [0.2, 0.9, 1.6, 3.1]
UNIT = [-0.9, -0.3, 0.2, 0.8]
OTHER = [1.3, -0.6, 0.5, -2.2]

REFERENCES = [
    Reference(Abs(), np.absolute, 1, [PLAIN]),
    Reference(Add(), np.add, 2, [PLAIN, OTHER]),
    Reference(Add(), _sum_of, 3, [PLAIN, OTHER, POSITIVE]),
    Reference(Angle(), _part(np.angle)),
    Reference(AnnihilatingMul(), _annihilating, 2, [PLAIN, OTHER]),
    Reference(Arccos(), np.arccos, 1, [UNIT]),
    Reference(Arccosh(), np.arccosh, 1, [[1.1, 1.9, 3.0]]),
    Reference(Arcsin(), np.arcsin, 1, [UNIT]),
    Reference(Arcsinh(), np.arcsinh, 1, [PLAIN]),
    Reference(Arctan(), np.arctan, 1, [PLAIN]),
    Reference(Arctan2(), np.arctan2, 2, [PLAIN, OTHER]),
    Reference(Arctanh(), np.arctanh, 1, [UNIT]),
    Reference(BitwiseAnd(), np.bitwise_and, 2),
    Reference(BitwiseNot(), np.invert),
    Reference(BitwiseOr(), np.bitwise_or, 2),
    Reference(BitwiseXor(), np.bitwise_xor, 2),
    Reference(Cast("float32"), _cast("float32")),
    Reference(Cast("float64"), _cast("float64"), 1, [PLAIN]),
    Reference(Cast("int8"), _cast("int8")),
    Reference(Cast("bool"), _cast("bool")),
    Reference(Cast("complex64"), _cast("complex64")),
    Reference(Ceil(), np.ceil, 1, [PLAIN]),
    Reference(Clip(), _clip, 3, [PLAIN, [-1.0, -0.6, 0.5, -2.0], [1.0, 0.9, 0.7, 1.0]]),
    Reference(Conj(), np.conjugate, 1, [PLAIN]),
    Reference(CopySign(), np.copysign, 2, [PLAIN, OTHER]),
    Reference(Cos(), np.cos, 1, [PLAIN]),
    Reference(Cosh(), np.cosh, 1, [PLAIN]),
    Reference(Deg2Rad(), np.deg2rad, 1, [PLAIN]),
    Reference(Digamma(), _special(scipy.special.psi), 1, [[*POSITIVE, -0.4]]),
    Reference(Eq(), np.equal, 2),
    Reference(Erf(), _special(scipy.special.erf), 1, [PLAIN]),
    Reference(Erfc(), _special(scipy.special.erfc), 1, [PLAIN]),
    Reference(Erfcx(), _special(scipy.special.erfcx), 1, [[*PLAIN, 7.5]]),
    Reference(Exp(), np.exp, 1, [PLAIN]),
    Reference(Exp2(), np.exp2, 1, [PLAIN]),
    Reference(Expm1(), np.expm1, 1, [PLAIN]),
    Reference(Floor(), np.floor, 1, [PLAIN]),
    Reference(FloorDivide(), np.floor_divide, 2, [PLAIN, OTHER]),
    Reference(GammaLn(), _special(scipy.special.gammaln), 1, [[*POSITIVE, -0.4]]),
    Reference(Ge(), np.greater_equal, 2),
    Reference(Gt(), np.greater, 2),
    Reference(Hypot(), np.hypot, 2, [PLAIN, OTHER]),
    Reference(Identity(), np.copy, 1, [PLAIN]),
    Reference(Imag(), _part(np.imag)),
    Reference(IsFinite(), np.isfinite),
    Reference(IsInf(), np.isinf),
    Reference(IsNan(), np.isnan),
    Reference(Le(), np.less_equal, 2),
    Reference(LeftShift(), np.left_shift, 2),
    Reference(Log(), np.log, 1, [POSITIVE]),
    Reference(Log10(), np.log10, 1, [POSITIVE]),
    Reference(Log1mExp(), _log1mexp, 1, [[-3.0, -0.8, -0.6, -0.1]], rtol=5e-7),
    Reference(Log1p(), np.log1p, 1, [[*POSITIVE, -0.4]]),
    Reference(Log2(), np.log2, 1, [POSITIVE]),
    Reference(LogAddExp(), np.logaddexp, 2, [PLAIN, OTHER]),
    Reference(LogAddExp2(), np.logaddexp2, 2, [PLAIN, OTHER]),
    Reference(LogSigmoid(), _special(scipy.special.log_expit), 1, [PLAIN]),
    Reference(LogicalAnd(), np.logical_and, 2),
    Reference(LogicalNot(), np.logical_not),
    Reference(LogicalOr(), np.logical_or, 2),
    Reference(LogicalXor(), np.logical_xor, 2),
    Reference(Lt(), np.less, 2),
    Reference(Maximum(), np.maximum, 2, [PLAIN, OTHER]),
    Reference(Minimum(), np.minimum, 2, [PLAIN, OTHER]),
    Reference(Mod(), np.remainder, 2, [PLAIN, OTHER]),
    Reference(Mul(), np.multiply, 2, [PLAIN, OTHER]),
    Reference(Neg(), np.negative, 1, [PLAIN]),
    Reference(Neq(), np.not_equal, 2),
    Reference(PolyGamma(), _polygamma, 2),
    Reference(Power(), np.power, 2, [POSITIVE, OTHER]),
    Reference(Rad2Deg(), np.rad2deg, 1, [PLAIN]),
    Reference(Real(), _part(np.real), 1, [PLAIN]),
    Reference(Reciprocal(), np.reciprocal, 1, [PLAIN]),
    Reference(RightShift(), np.right_shift, 2),
    Reference(Rint(), np.rint, 1, [PLAIN]),
    Reference(Second(), _second, 2, [PLAIN, OTHER]),
    Reference(Sigmoid(), _special(scipy.special.expit), 1, [PLAIN]),
    Reference(Sign(), np.sign, 1, [PLAIN]),
    Reference(SignBit(), np.signbit),
    Reference(Sin(), np.sin, 1, [PLAIN]),
    Reference(Sinh(), np.sinh, 1, [PLAIN]),
    Reference(Softplus(), _softplus, 1, [PLAIN]),
    Reference(Sqrt(), np.sqrt, 1, [POSITIVE]),
    Reference(Square(), np.square, 1, [PLAIN]),
    Reference(Sub(), np.subtract, 2, [PLAIN, OTHER]),
    Reference(Switch(), _switch, 3, [[1.0, 0.0, 1.0, 0.0], PLAIN, OTHER]),
    Reference(Tan(), np.tan, 1, [PLAIN]),
    Reference(Tanh(), np.tanh, 1, [PLAIN]),
    Reference(TrueDivide(), np.true_divide, 2, [PLAIN, OTHER]),
    Reference(Trunc(), np.trunc, 1, [PLAIN]),
    Reference(XLogY(), _xlogy, 2, [PLAIN, POSITIVE]),
]


def name_of(reference: Reference) -> str:
    return f"{reference.op}-{reference.nin}"


def interesting(dtype: str) -> Array:
    """Numbers of a dtype that functions treat in different ways."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 7, limits.max, limits.min, *([-1, -2, -7] if kind == "i" else [])], dtype)
    reals = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e4, np.inf, -np.inf, np.nan]
    if kind == "f":
        return np.array(reals, dtype)
    return np.array([0.0, 1.0, -1.0, 1 + 2j, -0.5 - 1j, 3j, complex(np.nan, 1), complex(0.0, -0.0)], dtype)
