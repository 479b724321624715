"""Every scalar Op in C against its `perform`: all dtypes, edge values, all layouts."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.special

import lamella.tensor as lt
from lamella.codegen import c_expression, write_program
from lamella.errors import LoweringError
from lamella.ir import (
    DTYPES,
    SCALAR_OPS,
    Abs,
    Angle,
    Cast,
    Digamma,
    Elemwise,
    Erf,
    Erfc,
    Erfcx,
    FunctionGraph,
    GammaLn,
    LogAddExp,
    LogAddExp2,
    Mul,
    PolyGamma,
    Power,
    ScalarOp,
    Softplus,
    Square,
    TensorType,
    TensorVariable,
    UnaryUfunc,
    interpret,
)
from lamella.testing import compare_backends
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled, edge_values, layouts, spread_values, units_apart

Array = npt.NDArray[Any]

ARITHMETIC = {
    *["Add", "AnnihilatingMul", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "Clip", "Conj"],
    *[
        "CopySign",
        "Deg2Rad",
        "Eq",
        "Floor",
        "FloorDivide",
        "Ge",
        "Gt",
        "Identity",
        "Imag",
        "IsFinite",
        "IsInf",
        "IsNan",
    ],
    *[
        "Le",
        "LeftShift",
        "LogicalAnd",
        "LogicalNot",
        "LogicalOr",
        "LogicalXor",
        "Lt",
        "Maximum",
        "Minimum",
        "Mod",
        "Mul",
    ],
    *[
        "Neg",
        "Neq",
        "Rad2Deg",
        "Real",
        "Reciprocal",
        "RightShift",
        "Rint",
        "Second",
        "Sign",
        "SignBit",
        "Sqrt",
        "Square",
    ],
    *["Sub", "Switch", "TrueDivide", "Trunc"],
}
"""Ops whose results have one right value to the last bit."""

MIXED = [
    *[("int64", "uint64"), ("uint64", "int64"), ("int8", "float32"), ("bool", "int16"), ("float16", "int64")],
    *[("int32", "float32"), ("uint8", "int8"), ("float32", "complex64"), ("float64", "float16")],
]


def instances() -> list[ScalarOp[Any]]:
    return [op for cls in SCALAR_OPS for op in ([Cast(dtype) for dtype in DTYPES] if cls is Cast else [cls()])]


def operand_dtypes(op: ScalarOp[Any]) -> list[tuple[str, ...]]:
    nin = 2 if op.nin < 0 else op.nin
    found: list[tuple[str, ...]] = [(dtype,) * nin for dtype in DTYPES]
    if nin == 2:
        found += MIXED
    if op.nin < 0:
        found += [("int8",) * 3, ("float16",) * 4, ("float32", "float64", "int8"), ("int8", "int8", "float16")]
    if nin == 3:
        found += [("bool", "float32", "float64"), ("float64", "int8", "uint8"), ("int16", "float16", "float16")]
    return found


def operand_values(op: ScalarOp[Any], dtypes: Sequence[str]) -> list[Array]:
    edges = [edge_values(dtype) for dtype in dtypes[:2]]
    crossed = [grid.ravel() for grid in np.meshgrid(*edges)]
    values = [
        np.concatenate([e, spread_values(d, 300, i)]) for i, (e, d) in enumerate(zip(crossed, dtypes, strict=False))
    ]
    for i, dtype in enumerate(dtypes[2:], 2):
        values.append(np.resize(np.concatenate([edge_values(dtype), spread_values(dtype, 97, i)]), values[0].size))
    if isinstance(op, Power) and np.result_type(*dtypes).kind in "iu":
        values[1] = abs(values[1] % values[1].dtype.type(20))  # a negative exponent is an error
    if isinstance(op, PolyGamma) and dtypes[0] != "bool":
        with np.errstate(all="ignore"):
            values[0] = np.where(np.isfinite(values[0]), np.abs(np.trunc(values[0])) % 6, 2).astype(dtypes[0])
    return values


def applications(op: ScalarOp[Any]) -> list[tuple[list[TensorVariable], TensorVariable]]:
    """The Op, applied to vectors of all dtypes for which it is defined."""
    found: list[tuple[list[TensorVariable], TensorVariable]] = []
    for dtypes in operand_dtypes(op):
        inputs = [TensorType(dtype, (None,))() for dtype in dtypes]
        try:
            output = Elemwise[Any](op)(*inputs)
        except TypeError:
            continue
        found.append((inputs, output))
    return found


def tolerance(op: ScalarOp[Any], dtypes: Sequence[str]) -> float:
    if type(op).__name__ in ARITHMETIC:
        return 0.0
    if isinstance(op, Digamma | Erf | Erfc | Erfcx) and dtypes[0] == "complex128":
        return 1000.0  # SciPy's own error; `test_complex_special` has exact values
    return 10.0 if isinstance(op, LogAddExp2 | Digamma | Erfcx) else 4.0


def scale(op: ScalarOp[Any], values: Sequence[Array], expected: Array) -> Array | None:
    """What the error of functions is measured by whose result is a small difference of large numbers."""
    with np.errstate(all="ignore"):
        if isinstance(op, LogAddExp | LogAddExp2 | Softplus):
            return np.asarray(np.max([np.where(np.isfinite(v), np.abs(v), 0) for v in values], axis=0))
        if isinstance(op, GammaLn | Digamma):  # next to their zeros
            return np.asarray(np.maximum(np.where(np.isfinite(values[0]), np.abs(values[0]), 0), 1))
        if isinstance(op, PolyGamma):  # next to zeros, where a rounded argument tells
            n, x = np.asarray(values[0], float), np.asarray(values[1], float)
            slope = np.abs(scipy.special.polygamma(n + 1, x) * x)
            return np.where(np.isfinite(slope), slope, 0)
        if expected.dtype.kind == "c":
            return np.asarray(np.abs(np.where(np.isfinite(expected), expected, 0)))
    return None


def _erfcx(x: Array) -> Array:
    wide = x.astype("longdouble")
    tail = scipy.special.erfcx(np.abs(x))
    with np.errstate(all="ignore"):
        return np.where(x < 0, 2 * np.exp(wide * wide) - tail, tail).astype(x.dtype)


@pytest.mark.parametrize("op", instances(), ids=str)
def test_values_are_those_of_perform(op: ScalarOp[Any]) -> None:
    cases = applications(op)
    inputs = [x for xs, _ in cases for x in xs]
    outputs = [out for _, out in cases]
    values = [operand_values(op, [x.dtype for x in xs]) for xs, _ in cases]
    flat = [v for vs in values for v in vs]
    function = compiled(inputs, outputs)
    expected = interpret(inputs, outputs, flat)
    if isinstance(op, Erfc):  # SciPy loses digits in the tail
        expected = [
            np.array([math.erfc(v) for v in vs[0].astype(e.dtype)], e.dtype)
            for vs, e in zip(values, expected, strict=True)
            if e.dtype.kind == "f"
        ]
    if isinstance(op, Erfcx):  # and where this grows
        expected = [
            _erfcx(vs[0].astype(e.dtype)) if e.dtype.kind == "f" else e for vs, e in zip(values, expected, strict=True)
        ]
    got = function(flat)
    for (xs, _), vs, z, wanted in zip(cases, values, got, expected, strict=False):
        dtypes = [x.dtype for x in xs]
        apart = units_apart(z, wanted, scale(op, vs, wanted))
        assert (z.dtype, z.shape) == (wanted.dtype, wanted.shape)
        assert apart <= tolerance(op, dtypes), f"{op} of {dtypes}: {apart} units"


@pytest.mark.parametrize("op", instances(), ids=str)
def test_every_op_is_in_c(op: ScalarOp[Any]) -> None:
    cases = applications(op)
    text = write_program(schedule(FunctionGraph([x for xs, _ in cases for x in xs], [out for _, out in cases]))).text
    left = {int(n) for n in re.findall(r"/\* (\d+): [^\n]* \*/\n    {NULL,", text)}
    assert not left, [[x.dtype for x in cases[number][0]] for number in left]


@pytest.mark.parametrize("dtype", ["int16", "float16", "float32", "float64", "complex64"])
def test_layouts(dtype: str) -> None:
    x, y = [TensorType(dtype, (None,))() for _ in range(2)]
    z = Elemwise[Any](Mul())(x, y)
    function = compiled([x, y], [z])
    a, b = spread_values(dtype, 77, 1), spread_values(dtype, 77, 2)
    (expected,) = interpret([x, y], [z], [a, b])
    for name, first in layouts(a):
        for other, second in layouts(b):
            (got,) = function([first, second])
            assert units_apart(got, expected, np.abs(expected)) == 0, (name, other)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 31, 64, 1000])
def test_lengths(n: int) -> None:
    x = TensorType("float64", (None,))()
    y = Elemwise[Any](Square())(x)
    values = spread_values("float64", n)
    assert np.array_equal(compiled([x], [y])([values])[0], values * values)


def test_vector_code_and_single_numbers_agree_within_rounding() -> None:
    x = TensorType("float64", (None,))()
    s = TensorType("float64", ())()
    for op in (Abs(), *[cls() for cls in SCALAR_OPS if cls.__name__ in ("Exp", "Tanh", "Sin", "Log1p", "Sigmoid")]):
        vector, single = compiled([x], [Elemwise[Any](op)(x)]), compiled([s], [Elemwise[Any](op)(s)])
        values = np.abs(spread_values("float64", 40))
        (together,) = vector([values])
        apart = np.array([single([np.asarray(v)])[0] for v in values])
        assert units_apart(together, apart) <= 4, op


def test_a_negative_exponent_of_integers_raises_before_anything_is_written() -> None:
    x, y = [TensorType("int64", (None,))() for _ in range(2)]
    function = compiled([x, y], [Elemwise[Any](Power(), ((0, 0),))(x, y)])
    a = np.array([2, 3, 4])
    assert function([a, np.array([1, 2, 3])])[0].tolist() == [2, 9, 64]
    a = np.array([2, 3, 4])
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        function([a, np.array([1, 2, -1])])
    assert a.tolist() == [2, 3, 4]


def test_an_op_without_an_expression_says_so() -> None:
    class Unknown(UnaryUfunc):
        __slots__ = ()
        ufunc = np.cbrt

    with pytest.raises(LoweringError, match="Unknown has no expression in C"):
        c_expression.get(Unknown())


def test_angle_of_real_numbers_keeps_the_sign_of_zero_apart() -> None:
    x = TensorType("float64", (None,))()
    values = np.array([0.0, -0.0, 1.0, -1.0, np.nan])
    np.testing.assert_array_equal(compiled([x], [Elemwise[Any](Angle())(x)])([values])[0], np.angle(values))


def test_a_half_power_is_no_square_root_of_infinity_or_zero() -> None:
    x = lt.dvector("x")
    # Many elements, of which vector code computes most.
    compare_backends(lt.power(x, 0.5), {x: np.array([4.0, -np.inf, -0.0, 0.0, np.inf, np.nan, -1.0] * 20)}, ["CLinker"])
