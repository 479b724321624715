"""Elements computed and reduced in one pass: every reduction, dtype and axis; whole results beside; what overwrites; lengths of 0."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import (
    Abs,
    Add,
    All,
    Apply,
    BitwiseXorReduce,
    CAReduce,
    Composite,
    Max,
    Min,
    Mul,
    Prod,
    ReducedElemwise,
    ScalarOp,
    ScalarType,
    Sum,
    TensorType,
    Variable,
    interpret,
    ls,
)
from lamella.ir import Any as AnyOf
from tests.codegen.agreement import compiled, spread_values

DTYPES = ("float64", "float32", "float16", "int64", "uint8", "bool", "complex128")


def _node(op: ScalarOp[Any], dtype: str, *inputs: Variable[Any], whole: bool = False) -> Apply[Any]:
    """Reduce what an Op computes in several ways; the whole result, if it is wanted, comes last."""
    kinds: list[CAReduce] = [Sum((1,)), Sum((0,)), Sum((0, 1)), AnyOf((0,)), All((1,))]
    kinds += [Prod((0, 1))] if dtype != "complex128" else []
    kinds += [Max((1,)), Min((0,)), Max((0, 1))] if dtype != "complex128" else []
    kinds += [BitwiseXorReduce((0,))] if dtype in ("int64", "uint8", "bool") else []
    reductions = [kind.normal_form(dtype, 2) for kind in kinds]
    outputs = [*reductions, None] if whole else reductions
    made: Any = ReducedElemwise(op, (0,) * len(outputs), tuple(outputs)).make_node
    node: Apply[Any] = made(*inputs)
    return node


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_a_sum_and_the_sum_itself(dtype: str) -> None:
    x, y = TensorType(dtype, (None, None))("x"), TensorType(dtype, (1, None))("y")
    node = _node(Add(), dtype, x, y, whole=True)
    run = compiled([x, y], node.outputs)
    for shape in ((3, 40), (40, 3), (2, 1300), (1300, 2), (1, 1)):
        values = spread_values(dtype, shape[0] * shape[1])
        if dtype not in ("bool", "uint8"):
            # No product overflows: what infinity times 0 is, depends on the order of factors.
            largest = 3 if dtype == "int64" else 1
            values = (np.sign(values) * np.minimum(np.abs(values), largest)).astype(dtype)
        array = values.reshape(shape)
        row = array[:1] // 2 if dtype in ("int64", "uint8") else array[:1]
        for given in (array, np.asfortranarray(array), np.repeat(array, 2, axis=1)[:, ::2]):
            with np.errstate(all="ignore"):
                expected = interpret([x, y], node.outputs, [given, row])
            for out, got, wanted in zip(node.outputs, run([given, row]), expected, strict=True):
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
                tolerance = {"float16": 1e-2, "float32": 1e-5}.get(dtype, 1e-11)
                scale = np.abs(given.astype("complex128")).sum() if dtype == "complex128" else 1.0
                np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale, err_msg=str(out))


def test_nan_infinities_and_no_elements() -> None:
    x = TensorType("float64", (None, None))("x")
    node = _node(Abs(), "float64", x)
    run = compiled([x], node.outputs)
    special = np.array([[np.nan, 1.0], [np.inf, -np.inf], [-0.0, 0.0]])
    for array in (special, special.T, special[1:], special[:1], special[2:]):
        for got, wanted in zip(run([array]), interpret([x], node.outputs, [array]), strict=True):
            np.testing.assert_array_equal(got, wanted)
    sums = ReducedElemwise(Abs(), (0, 0), (Sum((0,)).normal_form("float64", 2), Prod((0, 1)).normal_form("float64", 2)))
    totals = sums.make_node(x).outputs
    empty = compiled([x], totals)
    for shape in ((0, 3), (3, 0), (0, 0)):
        for got, wanted in zip(empty([np.ones(shape)]), interpret([x], totals, [np.ones(shape)]), strict=True):
            np.testing.assert_array_equal(got, wanted)
    with pytest.raises(ValueError, match="no identity"):
        run([np.ones((0, 2))])


def test_two_results_of_which_one_overwrites_an_input() -> None:
    a, b = TensorType("float64", (None, None))("a"), TensorType("float64", (None, 1))("b")
    i, j = [TensorType("float64", ())(name) for name in "ij"]
    first, second = ScalarType("float64")("first"), ScalarType("float64")("second")
    both = Composite([first, second], [ls.exp(first) * second, first - second])
    op = ReducedElemwise(
        both, (1, 0, 0), (None, Sum((1,)).normal_form("float64", 2), Max((0, 1)).normal_form("float64", 2)), ((0, 0),)
    )
    copied = lt.neg(a)
    outputs = op.make_node(copied, b).outputs
    run = compiled([a, b, i, j], outputs)
    for shape in ((5, 7), (3, 600)):
        values = [np.random.default_rng(0).normal(size=shape), np.ones((shape[0], 1)), np.ones(()), np.ones(())]
        expected = interpret([a, b, i, j], outputs, values)
        for got, wanted in zip(run(values), expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_long_sum_loses_no_digits() -> None:
    x = TensorType("float32", (None,))("x")
    op = ReducedElemwise(Mul(), (0,), (Sum((0,)).normal_form("float32", 1),))
    run = compiled([x], op.make_node(x, lt.constant(np.float32(1.0))).outputs)
    (total,) = run([np.full(10_000_000, 0.1, "float32")])
    np.testing.assert_allclose(total, 1e7 * float(np.float32(0.1)), rtol=1e-7)
    y = TensorType("float64", (None,))("y")
    double = ReducedElemwise(Mul(), (0,), (Sum((0,)).normal_form("float64", 1),))
    (exact,) = compiled([y], double.make_node(y, lt.constant(1.0)).outputs)([np.full(1_000_000, 0.1)])
    np.testing.assert_allclose(exact, 1e5, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_one_reduction_of_what_a_single_array_gives(dtype: str) -> None:
    x = TensorType(dtype, (None, None))("x")
    kinds: list[CAReduce] = [
        Sum((1,)),
        Sum((0,)),
        Sum((0, 1)),
        Prod((0,)),
        Max((1,)),
        Min((0,)),
        Max((0, 1)),
        All((1,)),
    ]
    made: list[Any] = [
        ReducedElemwise(op, (0,), (kind.normal_form(dtype, 2),)).make_node for kind in kinds for op in (ls.exp, Abs())
    ]
    outputs = [make(x).outputs[0] for make in made]
    run = compiled([x], outputs)
    for shape in ((1, 1), (3, 40), (40, 3), (2, 1300), (1300, 2), (70, 65), (0, 4), (2, 0)):
        values = np.random.default_rng(3).uniform(-2, 2, size=shape).astype(dtype)
        wide = np.repeat(values, 2, axis=1)[:, ::2]
        tolerance = 4 * float(np.finfo(dtype).eps) * (8 + max(shape))  # each factor is off by as much
        for given in (values, np.asfortranarray(values), wide, values[::-1, ::-1], np.broadcast_to(values[:1], shape)):
            if 0 in shape:
                with pytest.raises(ValueError, match="no identity"):
                    run([given])
                continue
            for out, got, wanted in zip(outputs, run([given]), interpret([x], outputs, [given]), strict=True):
                assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
                np.testing.assert_allclose(got, wanted, rtol=tolerance, err_msg=str(out))
    special = np.array([[np.nan, 1.0], [np.inf, -np.inf], [-0.0, 0.0]], dtype)
    for array in (special, special[1:], special[2:], special[:1].T):
        for got, wanted in zip(run([array]), interpret([x], outputs, [array]), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
