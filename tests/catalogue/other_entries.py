"""Ops of Python functions and of inner graphs, slices, and identities that change gradients."""

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np

from lamella.codegen import CffiArrayOp, CffiScalarOp, cffi_op
from lamella.ir import (
    Apply,
    FromFunctionOp,
    MakeSlice,
    MapRows,
    Op,
    OutputStorage,
    SliceType,
    TensorType,
    TensorVariable,
    Variable,
    as_op,
    as_tensor_variable,
    consider_constant,
    disconnected_grad,
    grad_clip,
    grad_scale,
    jacobian,
    lt,
    make_slice,
    undefined_grad,
    zero_grad,
)
from tests.catalogue.entry import ALL, Array, Case, Entry, numbers, of_dtypes, point


@final
@attrs.frozen
class TakeSlice(Op[[TensorVariable, Variable[SliceType]], TensorVariable]):
    """Take a slice, given as a value, of an array; it exists to use the slices that `MakeSlice` makes."""

    def make_node(self, x: TensorVariable, part: Variable[SliceType]) -> Apply[TensorVariable]:
        return Apply(self, [x, part], [TensorType(x.dtype, (None, *x.type.shape[1:]))])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0][inputs[1]].copy()


@as_op([TensorType("float64", (None,)), TensorType("int32", ())], [TensorType("float64", (None,))])
def scaled(x: Array, n: Array) -> Array:
    return x * n


def _identity(ours: Callable[[TensorVariable], TensorVariable], reason: str | None = None) -> Entry:
    node = ours(lt.scalar()).owner
    assert node is not None
    op_class = type(node.op)
    gradient: Any = [point((2, 3))] if reason is None else reason
    cases: list[Case] = of_dtypes(ALL, (2, 3), (0, 3), ())
    return Entry(op_class.__name__, op_class, ours, lambda x: x, cases, gradient)


def _row_jacobian(x: Array) -> Array:
    slope = np.repeat(x[:, :1], x.shape[1], axis=1)
    slope[:, 0] += x.sum(axis=1)
    made = np.zeros((len(x), *x.shape))
    made[np.arange(len(x)), np.arange(len(x))] = slope
    return made


def _hypotenuse(x: TensorVariable, y: TensorVariable) -> list[TensorVariable]:
    """The slopes of `hypot`."""
    return [x / lt.hypot(x, y), y / lt.hypot(x, y)]


MULTIPLIED = """
#include <stdint.h>
void multiplied(double *out, const double *x, int64_t n, double a) { for (int64_t i = 0; i < n; ++i) out[i] = a * x[i]; }
"""


def _multiplied_gradient(
    operands: list[TensorVariable], outputs: list[TensorVariable], cotangents: list[TensorVariable]
) -> list[TensorVariable]:
    (x, a), (cotangent,) = operands, cotangents
    return [a * cotangent, lt.sum(cotangent * x)]


multiplied_in_c = cffi_op(
    "void multiplied(double *out, const double *x, int64_t n, double a)",
    MULTIPLIED,
    _multiplied_gradient,
    sizes={"n": "x.size"},
    shapes={"out": "x"},
)

OTHER_ENTRIES = [
    Entry(
        "CffiArrayOp",
        CffiArrayOp,
        multiplied_in_c,
        lambda x, a: x.astype("float64") * a.astype("float64"),
        [
            (numbers((2, 3), d), numbers((), e))
            for d, e in [("float64", "float64"), ("float32", "int32"), ("float16", "bool")]
        ],
        [point((2, 3), ())],
    ),
    Entry(
        "CffiScalarOp",
        CffiScalarOp,
        cffi_op("double hypot(double, double)", grad=_hypotenuse),
        lambda x, y: np.hypot(x.astype("float64"), y.astype("float64")),
        [
            (numbers((2, 3), d), numbers((3,), e))
            for d, e in [("float64", "float64"), ("float32", "int32"), ("float16", "bool")]
        ],
        [point((2, 3), (3,))],
        max_ulps=1,
    ),
    Entry(
        "MakeSlice",
        MakeSlice,
        lambda x, a, b: [TakeSlice()(x, make_slice(a, b)), TakeSlice()(x, make_slice(None, b, -1))],
        lambda x, a, b: [x[int(a) : int(b)], x[: int(b) : -1]],
        [(numbers((5, 2), d), np.array(1), np.array(3, "int8")) for d in ALL],
        "a slice is no number",
        static=False,
        infers=False,
    ),
    Entry(
        "FromFunctionOp",
        FromFunctionOp,
        scaled,
        np.multiply,
        [(numbers((n,), "float64"), np.array(3, "int32")) for n in (0, 4)],
        "a Python function has none",
        static=False,
        infers=False,
    ),
    Entry(
        "MapRows",
        MapRows,
        lambda x: jacobian(lt.sum(x, axis=1) * x[:, 0], x),
        _row_jacobian,
        [(numbers((3, 2), "float64"),), (numbers((1, 2), "float64"),)],
        [point((2, 3))],
    ),
    _identity(lambda x: grad_clip(x, -1e4, 1e4)),
    _identity(lambda x: grad_scale(x, 1.0)),
    _identity(zero_grad, "its gradient is not that of its value, on purpose"),
    _identity(disconnected_grad, "it has none, on purpose"),
    _identity(lambda x: as_tensor_variable(consider_constant(x)), "it has none, on purpose"),
    _identity(undefined_grad, "it is undefined, on purpose"),
]
