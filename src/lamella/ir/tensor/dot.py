"""`Dot` and `BatchedDot`: products of vectors and matrices, and of stacks of matrices.

Lengths that are multiplied together must be equal: a length of 1 is never broadcast against them. Stacks broadcast along axes whose
length is known to be 1 when the node is built, as elementwise Ops do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from typing_extensions import override

import lamella.ir.tensor.functions as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype, result_dtype
from lamella.ir.tensor.conversion import as_tensor_variable, constant
from lamella.ir.tensor.cotangents import conjugate, times_slope, zero_cotangent
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["BatchedDot", "Dot", "dot", "matmul"]


def _operands(x: TensorLike, y: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """Return two operands in the dtype that both promote to."""
    a, b = as_tensor_variable(x), as_tensor_variable(y)
    common = result_dtype(a.dtype, b.dtype)
    return a if a.dtype == common else lt.cast(a, common), b if b.dtype == common else lt.cast(b, common)


def _check_lengths(op: Op[Any, Any], a: TensorVariable, b: TensorVariable) -> None:
    m, n = a.type.shape[-1], b.type.shape[max(b.ndim - 2, 0)]
    if m is not None and n is not None and m != n:
        raise StaticShapeError(
            f"{op}: the last axis of {a!r} of type {a.type} has length {m}, "
            f"axis {max(b.ndim - 2, 0)} of {b!r} of type {b.type} has length {n}; they are summed over, so they must be equal"
        )


def _check_run_time_lengths(node: Apply[Any], a: Any, b: Any) -> None:
    m, n = a.shape[-1], b.shape[max(b.ndim - 2, 0)]
    if m != n:
        x, y = node.inputs
        raise ValueError(
            f"{node.op}: the last axis of {x!r} has length {m}, axis {max(b.ndim - 2, 0)} of {y!r} has length {n} "
            f"(shapes {a.shape} and {b.shape}); they are summed over, so they must be equal"
        )


def _matrix_transposed(x: TensorVariable) -> TensorVariable:
    return x.dimshuffle([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


@final
class Dot(Op[[TensorLike, TensorLike], TensorVariable]):
    """The product of two vectors or matrices: the last axis of the first and the first axis of the second are summed over.

    Operands of different dtypes are cast to the dtype that both promote to; of booleans, products are `and` and sums are `or`.
    """

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        a, b = _operands(x, y)
        if a.ndim not in (1, 2) or b.ndim not in (1, 2):
            raise TypeError(
                f"{self} multiplies vectors and matrices; {a!r} and {b!r} have {a.ndim} and {b.ndim} dimensions"
            )
        _check_lengths(self, a, b)
        return Apply(self, [a, b], [TensorType(a.dtype, [*a.type.shape[:-1], *b.type.shape[1:]])])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        a, b = inputs
        _check_run_time_lengths(node, a, b)
        with np.errstate(all="ignore"):  # numpy.dot takes infinity times 0 for 0, where one number is summed
            output_storage[0][0] = np.asarray(np.matmul(a, b))

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        a, b = shapes
        return [(*a[:-1], *b[1:])]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (a, b), (gz,) = inputs, output_grads
        if not is_differentiable_dtype(a.dtype):
            return [zero_cotangent(a), zero_cotangent(b)]
        left, right = conjugate(a), conjugate(b)
        if a.ndim == 1 and b.ndim == 1:
            return [times_slope(gz, right), times_slope(gz, left)]
        if b.ndim == 1:
            return [_outer(gz, right), self(left.T, gz)]
        if a.ndim == 1:
            return [self(right, gz), _outer(left, gz)]
        return [self(gz, right.T), self(left.T, gz)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [_product_rule(self, inputs, eval_points)]

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        a, b = inputs
        return 2 * int(np.prod(a, dtype=np.int64)) * int(np.prod(b[1:], dtype=np.int64))


def _product_rule(
    op: Dot | BatchedDot, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
) -> TensorVariable | None:
    (a, b), (da, db) = inputs, eval_points
    if not is_differentiable_dtype(a.dtype):
        return None
    terms = [] if da is None else [op(da, b)]
    terms += [] if db is None else [op(a, db)]
    return None if not terms else terms[0] if len(terms) == 1 else lt.add(terms[0], terms[1])


def _outer(a: TensorVariable, b: TensorVariable) -> TensorVariable:
    return lt.mul(a.dimshuffle(0, "x"), b.dimshuffle("x", 0))


@final
class BatchedDot(Op[[TensorLike, TensorLike], TensorVariable]):
    """The products of two stacks of matrices, which are the last two axes; all axes before these broadcast.

    The operand with fewer dimensions gets new ones of length 1 on the left. An axis of a stack is broadcast where its length is known to be 1
    when the node is built.
    """

    __slots__ = ()

    @override
    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        a, b = _operands(x, y)
        ndim = max(a.ndim, b.ndim)
        if min(a.ndim, b.ndim) < 2 or ndim < 3:
            raise TypeError(
                f"{self} multiplies stacks of matrices; {a!r} and {b!r} have {a.ndim} and {b.ndim} dimensions"
            )
        a, b = as_tensor_variable(a, ndim=ndim), as_tensor_variable(b, ndim=ndim)
        _check_lengths(self, a, b)
        stack: list[int | None] = []
        for axis, (m, n) in enumerate(zip(a.type.shape[:-2], b.type.shape[:-2], strict=True)):
            if m is not None and n is not None and m != n and 1 not in (m, n):
                raise StaticShapeError(
                    f"{self}: lengths {m} and {n} along axis {axis} do not broadcast: {a!r} is {a.type}, {b!r} is {b.type}"
                )
            stack.append(n if m in (1, None) else m)
            if m is None and n == 1:
                stack[-1] = None
        shape = [*stack, a.type.shape[-2], b.type.shape[-1]]
        return Apply(self, [a, b], [TensorType(a.dtype, shape)])

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        # A stack that is now known to have length 1, and was not when the node was built, must not begin to broadcast.
        fixed: list[TensorVariable] = []
        for new, old in zip(inputs, node.inputs, strict=True):
            lengths = zip(new.type.shape[:-2], old.type.shape[:-2], strict=True)
            axes = [axis for axis, (a, b) in enumerate(lengths) if a == 1 and b is None]
            variable = as_tensor_variable(new)
            fixed.append(lt.unbroadcast(variable, axes) if axes else variable)
        return self.make_node(fixed[0], fixed[1])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        a, b = inputs
        _check_run_time_lengths(node, a, b)
        first, second = [variable.type.shape for variable in node.inputs]
        for axis, (m, n) in enumerate(zip(a.shape[:-2], b.shape[:-2], strict=True)):
            if m != n and first[axis] != 1 and second[axis] != 1:
                raise BroadcastError(
                    f"{self}: {node.inputs[0]!r} has length {m} along axis {axis}, {node.inputs[1]!r} has length {n}. A length that is not "
                    "known to be 1 while the graph is built is never broadcast: declare it, as in tensor(shape=(1, ...)) or specify_shape"
                )
        with np.errstate(all="ignore"):
            output_storage[0][0] = np.asarray(np.matmul(a, b))

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        a, b = shapes
        static = node.outputs[0].type.shape
        left = node.inputs[0].type.shape
        lengths = [(b if left[axis] == 1 else a)[axis] for axis in range(len(static) - 2)]
        known = zip([*lengths, a[-2], b[-1]], static, strict=True)
        return [tuple([length if n is None else constant(n, dtype="int64") for length, n in known])]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        (a, b), (z,), (gz,) = inputs, outputs, output_grads
        if not is_differentiable_dtype(a.dtype):
            return [zero_cotangent(a), zero_cotangent(b)]
        left = self(gz, _matrix_transposed(conjugate(b)))
        right = self(_matrix_transposed(conjugate(a)), gz)
        return [_sum_of_stack(left, a, z), _sum_of_stack(right, b, z)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        return [_product_rule(self, inputs, eval_points)]

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        return 2 * int(np.prod(outputs[0], dtype=np.int64)) * int(inputs[0][-1])


def _sum_of_stack(cotangent: TensorVariable, x: TensorVariable, z: TensorVariable) -> TensorVariable:
    """Sum a cotangent over the axes of the stack along which `x` was broadcast."""
    pairs = zip(x.type.shape[:-2], z.type.shape[:-2], strict=True)
    axes = [axis for axis, (m, n) in enumerate(pairs) if m == 1 and n != 1]
    return lt.sum(cotangent, axis=axes, keepdims=True) if axes else cotangent


def dot(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the dot product as `numpy.dot`: over the last axis of `x` and the last but one of `y` (its only one, if a vector).

    Parameters
    ----------
    x, y
        Arrays of any number of dimensions; a scalar multiplies the other. Of two stacks of matrices, each of one is multiplied with each of
        the other.

    Raises
    ------
    StaticShapeError
        The lengths of the axes that are summed over are known, and differ.
    ValueError
        At run time: they differ. A length of 1 is not broadcast.
    """
    a, b = as_tensor_variable(x), as_tensor_variable(y)
    if a.ndim == 0 or b.ndim == 0:
        return lt.mul(a, b)
    if a.ndim <= 2 and b.ndim <= 2:
        return Dot()(a, b)
    return lt.tensordot(a, b, axes=([a.ndim - 1], [max(b.ndim - 2, 0)]))


def matmul(x: TensorLike, y: TensorLike) -> TensorVariable:
    """Return the matrix product as `numpy.matmul`: of vectors, matrices, and stacks of matrices, which broadcast.

    Parameters
    ----------
    x, y
        Arrays of one or more dimensions. A vector is taken as a row on the left and as a column on the right, and that axis is
        dropped from the result.

    Raises
    ------
    ValueError
        An operand is a scalar. At run time: the lengths that are summed over differ. A length of 1 is not broadcast.
    StaticShapeError
        These lengths are known, and differ; or those of the stacks do.
    BroadcastError
        At run time: the lengths of the stacks differ, and none was known to be 1.
    """
    a, b = as_tensor_variable(x), as_tensor_variable(y)
    for operand in (a, b):
        if operand.ndim == 0:
            raise ValueError(
                f"matmul takes arrays of one or more dimensions; {operand!r} is a scalar: multiply by it with *"
            )
    if a.ndim <= 2 and b.ndim <= 2:
        return Dot()(a, b)
    row = a.dimshuffle("x", 0) if a.ndim == 1 else a
    column = b.dimshuffle(0, "x") if b.ndim == 1 else b
    product = BatchedDot()(row, column)
    stack = range(product.ndim - 2)
    if a.ndim == 1:
        return product.dimshuffle([*stack, product.ndim - 1])
    return product.dimshuffle([*stack, product.ndim - 2]) if b.ndim == 1 else product
