"""Products of vectors and matrices, by the BLAS that SciPy hands out; those of dtypes that the BLAS does not know, by loops.

z = gemm(c, alpha, x, y, beta)
->  if (!(x.shape[1] == y.shape[0] && ...)) return LM_REFER;
    (z is c, or z is allocated);  call->serve->nest(... z = beta * c ...);
    call->serve->add_product(call, z, alpha, x, y);
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lamella.codegen.c.elementwise_kernel import Operand, add_elementwise_kernel
from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.moves import copy_of, lengths_of, whole_view
from lamella.codegen.c.lowerings.other_products import multiply_matrices
from lamella.codegen.c.step import Array, Step, Strided, integers
from lamella.errors import LoweringError
from lamella.ir import AccumulatedProduct, BatchedDot, Dot, Gemm, Gemv, Mul

_BLAS_DTYPES = ("float32", "float64", "complex64", "complex128")


@c_lowering.register(Dot)
def dot(op: Dot, step: Step) -> None:
    """Multiply vectors and matrices."""
    a, b = step.inputs
    summed, over = a.length(a.ndim - 1), b.length(0)
    if summed != over:
        step.require(f"{summed} == {over}")
    lengths = [a.length(axis) for axis in range(a.ndim - 1)] + [b.length(axis) for axis in range(1, b.ndim)]
    operands = f"{a.value_of_host}, {b.value_of_host}"
    if a.type.dtype not in _BLAS_DTYPES:
        multiply_matrices(step, step.allocate(lengths), a, b)
        return
    _require_lengths_of_blas(step, [a, b])
    z = step.allocate(lengths)
    step.attempt(f"call->serve->add_product(call, {z.value_of_host}, NULL, {operands})")


@c_lowering.register(Gemm, Gemv)
def accumulated_product(op: AccumulatedProduct, step: Step) -> None:
    """Scale what is there, then let the BLAS add to it."""
    c, alpha, a, b, beta = step.inputs
    if c.c.kind != "f":
        raise LoweringError("complex numbers with infinite parts are multiplied in another way by the BLAS")
    pairs = [(a.length(a.ndim - 1), b.length(0)), *zip(lengths_of(c), _product_lengths(a, b), strict=True)]
    for one, other in pairs:
        if one != other:
            step.require(f"{one} == {other}")
    _require_lengths_of_blas(step, [a, b])
    if alpha.constant is None:
        step.unit.need("blas")
        step.require(f"lm_is_plain_{alpha.c.suffix}({alpha.value()})")
    elif not np.isfinite(alpha.constant) or alpha.constant == 0:
        step.refer()  # what is multiplied by 0 may be infinite: the BLAS would not look
        return
    if op.inplace:
        step.unit.need("blas")
        layout = f"{c.ndim}, {c.shape}, {c.strides}, {c.c.itemsize}"
        step.require(f"lm_is_writable_by_blas({layout})")
        z = whole_view(step, c)
    elif _is_one(beta):
        z = copy_of(step, c)
    else:
        z = step.allocate(lengths_of(c), like=[c])
    if not _is_one(beta):
        _scale(step, z, beta, c)
    step.attempt(
        f"call->serve->add_product(call, {z.value_of_host}, {alpha.data}, {a.value_of_host}, {b.value_of_host})"
    )


def _product_lengths(a: Array, b: Array) -> list[str]:
    return [a.length(axis) for axis in range(a.ndim - 1)] + [b.length(axis) for axis in range(1, b.ndim)]


def _require_lengths_of_blas(step: Step, arrays: Sequence[Array]) -> None:
    """Require that lengths are numbers to the BLAS, whose integers have 32 bits."""
    for text in dict.fromkeys([x.length(axis) for x in arrays for axis in (x.ndim - 1, max(x.ndim - 2, 0))]):
        if not text.isdigit() or int(text) >= 2**31:
            step.require(f"{text} <= INT32_MAX")


def _is_one(x: Array) -> bool:
    return x.constant is not None and bool(x.constant == 1)


def _scale(step: Step, z: Array, beta: Array, c: Array) -> None:
    dtype = z.type.dtype
    factor = Operand(dtype, "same", None if beta.constant is None else beta.constant[()])
    kernel = add_elementwise_kernel(step.unit, Mul(), [factor, Operand(dtype)], [dtype])
    operands = [z.strided, Strided(beta.data, integers(["0"] * z.ndim)), c.strided]
    if beta.constant is not None:
        del operands[1]
    step.nest(kernel.loops, z.shape, z.ndim, operands)


@c_lowering.register(BatchedDot)
def batched_dot(op: BatchedDot, step: Step) -> None:
    """Multiply the matrices of two stacks."""
    a, b = step.inputs
    if a.length(a.ndim - 1) != b.length(b.ndim - 2):
        step.require(f"{a.length(a.ndim - 1)} == {b.length(b.ndim - 2)}")
    lengths: list[str] = []
    for axis in range(a.ndim - 2):
        lengths.append((b if a.type.shape[axis] == 1 else a).length(axis))
        if 1 not in (a.type.shape[axis], b.type.shape[axis]) and a.length(axis) != b.length(axis):
            step.require(f"{a.length(axis)} == {b.length(axis)}")
    lengths += [a.length(a.ndim - 2), b.length(b.ndim - 1)]
    if a.type.dtype not in _BLAS_DTYPES:
        multiply_matrices(step, step.allocate(lengths), a, b)
        return
    _require_lengths_of_blas(step, [a, b])
    z = step.allocate(lengths)
    step.attempt(f"call->serve->products(call, {z.value_of_host}, {a.value_of_host}, {b.value_of_host})")
