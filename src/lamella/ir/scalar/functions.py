"""The scalar Ops, by name: their classes, an instance of each, and the table of all of them."""

from __future__ import annotations

from typing import Any, Final

from lamella.ir.scalar.arithmetic import Abs as Abs
from lamella.ir.scalar.arithmetic import Add as Add
from lamella.ir.scalar.arithmetic import AnnihilatingMul as AnnihilatingMul
from lamella.ir.scalar.arithmetic import Mul as Mul
from lamella.ir.scalar.arithmetic import Neg as Neg
from lamella.ir.scalar.arithmetic import Sign as Sign
from lamella.ir.scalar.arithmetic import Sub as Sub
from lamella.ir.scalar.arithmetic import TrueDivide as TrueDivide
from lamella.ir.scalar.arithmetic import abs as abs
from lamella.ir.scalar.arithmetic import add as add
from lamella.ir.scalar.arithmetic import annihilating_mul as annihilating_mul
from lamella.ir.scalar.arithmetic import mul as mul
from lamella.ir.scalar.arithmetic import neg as neg
from lamella.ir.scalar.arithmetic import sign as sign
from lamella.ir.scalar.arithmetic import sub as sub
from lamella.ir.scalar.arithmetic import true_divide as true_divide
from lamella.ir.scalar.cast import Cast as Cast
from lamella.ir.scalar.cast import cast as cast
from lamella.ir.scalar.comparison import Eq as Eq
from lamella.ir.scalar.comparison import Ge as Ge
from lamella.ir.scalar.comparison import Gt as Gt
from lamella.ir.scalar.comparison import IsFinite as IsFinite
from lamella.ir.scalar.comparison import IsInf as IsInf
from lamella.ir.scalar.comparison import IsNan as IsNan
from lamella.ir.scalar.comparison import Le as Le
from lamella.ir.scalar.comparison import Lt as Lt
from lamella.ir.scalar.comparison import Neq as Neq
from lamella.ir.scalar.comparison import SignBit as SignBit
from lamella.ir.scalar.comparison import eq as eq
from lamella.ir.scalar.comparison import ge as ge
from lamella.ir.scalar.comparison import gt as gt
from lamella.ir.scalar.comparison import isfinite as isfinite
from lamella.ir.scalar.comparison import isinf as isinf
from lamella.ir.scalar.comparison import isnan as isnan
from lamella.ir.scalar.comparison import le as le
from lamella.ir.scalar.comparison import lt as lt
from lamella.ir.scalar.comparison import neq as neq
from lamella.ir.scalar.comparison import signbit as signbit
from lamella.ir.scalar.complex_parts import Angle as Angle
from lamella.ir.scalar.complex_parts import Conj as Conj
from lamella.ir.scalar.complex_parts import Imag as Imag
from lamella.ir.scalar.complex_parts import Real as Real
from lamella.ir.scalar.complex_parts import angle as angle
from lamella.ir.scalar.complex_parts import conj as conj
from lamella.ir.scalar.complex_parts import imag as imag
from lamella.ir.scalar.complex_parts import real as real
from lamella.ir.scalar.division import FloorDivide as FloorDivide
from lamella.ir.scalar.division import Mod as Mod
from lamella.ir.scalar.division import floor_divide as floor_divide
from lamella.ir.scalar.division import mod as mod
from lamella.ir.scalar.exponential import Exp as Exp
from lamella.ir.scalar.exponential import Exp2 as Exp2
from lamella.ir.scalar.exponential import Expm1 as Expm1
from lamella.ir.scalar.exponential import Log as Log
from lamella.ir.scalar.exponential import Log1p as Log1p
from lamella.ir.scalar.exponential import Log2 as Log2
from lamella.ir.scalar.exponential import Log10 as Log10
from lamella.ir.scalar.exponential import exp as exp
from lamella.ir.scalar.exponential import exp2 as exp2
from lamella.ir.scalar.exponential import expm1 as expm1
from lamella.ir.scalar.exponential import log as log
from lamella.ir.scalar.exponential import log1p as log1p
from lamella.ir.scalar.exponential import log2 as log2
from lamella.ir.scalar.exponential import log10 as log10
from lamella.ir.scalar.hyperbolic import Arccosh as Arccosh
from lamella.ir.scalar.hyperbolic import Arcsinh as Arcsinh
from lamella.ir.scalar.hyperbolic import Arctanh as Arctanh
from lamella.ir.scalar.hyperbolic import Cosh as Cosh
from lamella.ir.scalar.hyperbolic import Sinh as Sinh
from lamella.ir.scalar.hyperbolic import Tanh as Tanh
from lamella.ir.scalar.hyperbolic import arccosh as arccosh
from lamella.ir.scalar.hyperbolic import arcsinh as arcsinh
from lamella.ir.scalar.hyperbolic import arctanh as arctanh
from lamella.ir.scalar.hyperbolic import cosh as cosh
from lamella.ir.scalar.hyperbolic import sinh as sinh
from lamella.ir.scalar.hyperbolic import tanh as tanh
from lamella.ir.scalar.logical import BitwiseAnd as BitwiseAnd
from lamella.ir.scalar.logical import BitwiseNot as BitwiseNot
from lamella.ir.scalar.logical import BitwiseOr as BitwiseOr
from lamella.ir.scalar.logical import BitwiseXor as BitwiseXor
from lamella.ir.scalar.logical import LeftShift as LeftShift
from lamella.ir.scalar.logical import LogicalAnd as LogicalAnd
from lamella.ir.scalar.logical import LogicalNot as LogicalNot
from lamella.ir.scalar.logical import LogicalOr as LogicalOr
from lamella.ir.scalar.logical import LogicalXor as LogicalXor
from lamella.ir.scalar.logical import RightShift as RightShift
from lamella.ir.scalar.logical import bitwise_and as bitwise_and
from lamella.ir.scalar.logical import bitwise_not as bitwise_not
from lamella.ir.scalar.logical import bitwise_or as bitwise_or
from lamella.ir.scalar.logical import bitwise_xor as bitwise_xor
from lamella.ir.scalar.logical import left_shift as left_shift
from lamella.ir.scalar.logical import logical_and as logical_and
from lamella.ir.scalar.logical import logical_not as logical_not
from lamella.ir.scalar.logical import logical_or as logical_or
from lamella.ir.scalar.logical import logical_xor as logical_xor
from lamella.ir.scalar.logical import right_shift as right_shift
from lamella.ir.scalar.logistic import Log1mExp as Log1mExp
from lamella.ir.scalar.logistic import LogAddExp as LogAddExp
from lamella.ir.scalar.logistic import LogAddExp2 as LogAddExp2
from lamella.ir.scalar.logistic import LogSigmoid as LogSigmoid
from lamella.ir.scalar.logistic import Sigmoid as Sigmoid
from lamella.ir.scalar.logistic import Softplus as Softplus
from lamella.ir.scalar.logistic import XLogY as XLogY
from lamella.ir.scalar.logistic import log1mexp as log1mexp
from lamella.ir.scalar.logistic import log_sigmoid as log_sigmoid
from lamella.ir.scalar.logistic import logaddexp as logaddexp
from lamella.ir.scalar.logistic import logaddexp2 as logaddexp2
from lamella.ir.scalar.logistic import sigmoid as sigmoid
from lamella.ir.scalar.logistic import softplus as softplus
from lamella.ir.scalar.logistic import xlogy as xlogy
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.scalar.powers import Hypot as Hypot
from lamella.ir.scalar.powers import Power as Power
from lamella.ir.scalar.powers import Reciprocal as Reciprocal
from lamella.ir.scalar.powers import Sqrt as Sqrt
from lamella.ir.scalar.powers import Square as Square
from lamella.ir.scalar.powers import hypot as hypot
from lamella.ir.scalar.powers import power as power
from lamella.ir.scalar.powers import reciprocal as reciprocal
from lamella.ir.scalar.powers import sqrt as sqrt
from lamella.ir.scalar.powers import square as square
from lamella.ir.scalar.rounding import Ceil as Ceil
from lamella.ir.scalar.rounding import Floor as Floor
from lamella.ir.scalar.rounding import Rint as Rint
from lamella.ir.scalar.rounding import Trunc as Trunc
from lamella.ir.scalar.rounding import ceil as ceil
from lamella.ir.scalar.rounding import floor as floor
from lamella.ir.scalar.rounding import rint as rint
from lamella.ir.scalar.rounding import trunc as trunc
from lamella.ir.scalar.selection import Clip as Clip
from lamella.ir.scalar.selection import CopySign as CopySign
from lamella.ir.scalar.selection import Identity as Identity
from lamella.ir.scalar.selection import Maximum as Maximum
from lamella.ir.scalar.selection import Minimum as Minimum
from lamella.ir.scalar.selection import Second as Second
from lamella.ir.scalar.selection import Switch as Switch
from lamella.ir.scalar.selection import clip as clip
from lamella.ir.scalar.selection import copysign as copysign
from lamella.ir.scalar.selection import identity as identity
from lamella.ir.scalar.selection import maximum as maximum
from lamella.ir.scalar.selection import minimum as minimum
from lamella.ir.scalar.selection import second as second
from lamella.ir.scalar.selection import switch as switch
from lamella.ir.scalar.special import Digamma as Digamma
from lamella.ir.scalar.special import Erf as Erf
from lamella.ir.scalar.special import Erfc as Erfc
from lamella.ir.scalar.special import Erfcx as Erfcx
from lamella.ir.scalar.special import GammaLn as GammaLn
from lamella.ir.scalar.special import PolyGamma as PolyGamma
from lamella.ir.scalar.special import digamma as digamma
from lamella.ir.scalar.special import erf as erf
from lamella.ir.scalar.special import erfc as erfc
from lamella.ir.scalar.special import erfcx as erfcx
from lamella.ir.scalar.special import gammaln as gammaln
from lamella.ir.scalar.special import polygamma as polygamma
from lamella.ir.scalar.trigonometric import Arccos as Arccos
from lamella.ir.scalar.trigonometric import Arcsin as Arcsin
from lamella.ir.scalar.trigonometric import Arctan as Arctan
from lamella.ir.scalar.trigonometric import Arctan2 as Arctan2
from lamella.ir.scalar.trigonometric import Cos as Cos
from lamella.ir.scalar.trigonometric import Deg2Rad as Deg2Rad
from lamella.ir.scalar.trigonometric import Rad2Deg as Rad2Deg
from lamella.ir.scalar.trigonometric import Sin as Sin
from lamella.ir.scalar.trigonometric import Tan as Tan
from lamella.ir.scalar.trigonometric import arccos as arccos
from lamella.ir.scalar.trigonometric import arcsin as arcsin
from lamella.ir.scalar.trigonometric import arctan as arctan
from lamella.ir.scalar.trigonometric import arctan2 as arctan2
from lamella.ir.scalar.trigonometric import cos as cos
from lamella.ir.scalar.trigonometric import deg2rad as deg2rad
from lamella.ir.scalar.trigonometric import rad2deg as rad2deg
from lamella.ir.scalar.trigonometric import sin as sin
from lamella.ir.scalar.trigonometric import tan as tan

SCALAR_OPS: Final[tuple[type[ScalarOp[Any]], ...]] = (
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
    Log10,
    Log1mExp,
    Log1p,
    Log2,
    LogAddExp,
    LogAddExp2,
    LogSigmoid,
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
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
"""Every class of scalar Ops with one meaning; `Composite` is made of these."""
