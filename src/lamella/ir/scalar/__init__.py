"""Scalar Ops: functions of single numbers, from which elementwise tensor Ops and fused kernels are made."""

from lamella.ir.scalar import functions as functions
from lamella.ir.scalar.arithmetic import Add as Add
from lamella.ir.scalar.arithmetic import Mul as Mul
from lamella.ir.scalar.arithmetic import Neg as Neg
from lamella.ir.scalar.arithmetic import Sub as Sub
from lamella.ir.scalar.arithmetic import TrueDivide as TrueDivide
from lamella.ir.scalar.dtypes import DTYPES as DTYPES
from lamella.ir.scalar.dtypes import DTypeOrLiteral as DTypeOrLiteral
from lamella.ir.scalar.dtypes import Loop as Loop
from lamella.ir.scalar.exponential import Exp as Exp
from lamella.ir.scalar.op import ScalarOp as ScalarOp
from lamella.ir.scalar.op import UfuncScalarOp as UfuncScalarOp
from lamella.ir.scalar.type import ScalarType as ScalarType
from lamella.ir.scalar.variable import ScalarConstant as ScalarConstant
from lamella.ir.scalar.variable import ScalarLike as ScalarLike
from lamella.ir.scalar.variable import ScalarVariable as ScalarVariable
