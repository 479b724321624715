"""Linear algebra on tensors."""

from lamella.ir.linalg.accumulated_product import AccumulatedProduct as AccumulatedProduct
from lamella.ir.linalg.accumulated_product import Gemm as Gemm
from lamella.ir.linalg.accumulated_product import Gemv as Gemv
