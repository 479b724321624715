"""Tensors: `TensorType`, its variables, and the Ops on them with their NumPy meaning."""

from lamella.ir.tensor import functions as functions
from lamella.ir.tensor.conversion import as_tensor_variable as as_tensor_variable
from lamella.ir.tensor.conversion import constant as constant
from lamella.ir.tensor.dimshuffle import DimShuffle as DimShuffle
from lamella.ir.tensor.elemwise import Elemwise as Elemwise
from lamella.ir.tensor.elemwise import broadcast_static_shapes as broadcast_static_shapes
from lamella.ir.tensor.elemwise import check_broadcast as check_broadcast
from lamella.ir.tensor.extremes import Max as Max
from lamella.ir.tensor.extremes import Min as Min
from lamella.ir.tensor.recurrence import LinearRecurrence as LinearRecurrence
from lamella.ir.tensor.reduction import CAReduce as CAReduce
from lamella.ir.tensor.summation import Prod as Prod
from lamella.ir.tensor.summation import Sum as Sum
from lamella.ir.tensor.truth import All as All
from lamella.ir.tensor.truth import Any as Any
from lamella.ir.tensor.type import StaticShape as StaticShape
from lamella.ir.tensor.type import TensorType as TensorType
from lamella.ir.tensor.variable import Axis as Axis
from lamella.ir.tensor.variable import TensorConstant as TensorConstant
from lamella.ir.tensor.variable import TensorLike as TensorLike
from lamella.ir.tensor.variable import TensorSharedVariable as TensorSharedVariable
from lamella.ir.tensor.variable import TensorVariable as TensorVariable
