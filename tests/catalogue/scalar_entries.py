"""The scalar Ops, applied to every element of arrays: made of the references that their own tests use."""

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from lamella.ir import (
    Abs,
    Add,
    AnnihilatingMul,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Cast,
    Ceil,
    Clip,
    Composite,
    Conj,
    CopySign,
    Elemwise,
    Eq,
    Erf,
    Erfc,
    Erfcx,
    Floor,
    FloorDivide,
    GammaLn,
    Ge,
    Gt,
    Identity,
    Imag,
    IsFinite,
    IsInf,
    IsNan,
    Le,
    LeftShift,
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
    Real,
    Reciprocal,
    RightShift,
    Rint,
    ScalarOp,
    ScalarType,
    Second,
    Sign,
    SignBit,
    Sqrt,
    Square,
    Sub,
    Switch,
    TensorVariable,
    TrueDivide,
    Trunc,
    ls,
    lt,
)
from tests.catalogue.entry import ALL, Array, Case, Entry, numbers, point
from tests.ir.scalar.references import REFERENCES, Reference, interesting

# Everything else may be off by the 4 units that functions of the C library are.
_EXACT: tuple[type[ScalarOp[Any]], ...] = (
    *(Abs, Add, AnnihilatingMul, BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor, Cast, Ceil, Clip, Conj, CopySign, Eq),
    *(Floor, FloorDivide, Ge, Gt, Identity, Imag, IsFinite, IsInf, IsNan, Le, LeftShift, LogicalAnd, LogicalNot),
    *(LogicalOr, LogicalXor, Lt, Maximum, Minimum, Mod, Mul, Neg, Neq, Real, Reciprocal, RightShift, Rint, Second),
    *(Sign, SignBit, Sqrt, Square, Sub, Switch, TrueDivide, Trunc),
)

_MIXED_PAIRS = (
    *(("bool", "int8"), ("int8", "uint8"), ("uint16", "int16"), ("int64", "uint64"), ("uint64", "int64")),
    *(("int32", "float32"), ("float32", "int64"), ("float16", "float32"), ("float64", "float16"), ("bool", "float32")),
    *(("uint8", "float16"), ("float32", "complex64"), ("complex64", "float64"), ("complex128", "bool")),
)


def _grid(dtypes: Sequence[str]) -> Case:
    """Every interesting number of one dtype with every one of another; for one dtype only, its numbers in two columns."""
    if len(dtypes) == 1:
        values = interesting(dtypes[0])
        return (np.resize(values, (len(values), 2)),)
    first, second = interesting(dtypes[0]), interesting(dtypes[1])
    shape = (len(first), len(second))
    return np.broadcast_to(first[:, None], shape), np.broadcast_to(second, shape)


def _operands(reference: Reference, dtypes: Sequence[str]) -> Case:
    operands = _grid(dtypes)
    if reference.nin < 3:
        return operands
    third = operands[0] if isinstance(reference.op, Add) else operands[0] == 1
    return (third, *operands)


def _defined(reference: Reference, operands: Case) -> Case | None:
    """Operands for which NumPy has a result: the function may not be defined for their dtypes, or for some of the values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            reference.function(*operands)
        except TypeError:
            return None
        except ValueError:  # integers to negative powers
            return _defined(reference, (operands[0], np.maximum(operands[1], 0)))
    return operands


def _cases(reference: Reference) -> list[Case]:
    same = [(dtype,) * min(reference.nin, 2) for dtype in ALL]
    found: list[Case] = []
    for dtypes in [*same, *(_MIXED_PAIRS if reference.nin > 1 else ())]:
        operands = _defined(reference, _operands(reference, dtypes))
        if operands is not None:
            row = len(operands[0]) // 2
            found.append(operands)
            if dtypes in same:
                found.append(tuple([x[:0] for x in operands]))
                found.append(tuple([np.asarray(x[row, 1]) for x in operands]))
    return found


def _quietly(reference: Reference) -> Any:
    def function(*operands: Array) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return reference.function(*operands)

    return function


def _ulps_in_c(op: ScalarOp[Any]) -> float:
    if isinstance(op, _EXACT):
        return 0.0
    # SciPy itself, which is compared with, is 6 units off near the zeros of one function, and for complex numbers, and 17 000 for
    # derivatives of high order.
    return {Erf: 12.0, Erfc: 12.0, Erfcx: 12.0, GammaLn: 12.0, PolyGamma: 2e4}.get(type(op), 4.0)


def _entry(reference: Reference, repeated: bool) -> Entry:
    op: Elemwise[...] = Elemwise(reference.op)
    points = tuple([np.array(p) for p in reference.points])
    if isinstance(reference.op, Switch):
        points = (points[0] != 0, *points[1:])
    return Entry(
        f"{reference.op}-{reference.nin}" if repeated else str(reference.op),
        type(reference.op),
        op,
        _quietly(reference),
        _cases(reference),
        [points] if points else "its value is an integer, or a part of a complex number",
        max_ulps=reference.rtol * 1e16,
        c_ulps=max(reference.rtol * 1e16, _ulps_in_c(reference.op)),
    )


@cache
def _composite() -> Composite:
    x, y = ScalarType("float64")("x"), ScalarType("float32")("y")
    return Composite([x, y], [ls.add(ls.mul(x, y), 1.5), ls.sin(ls.mul(x, y))])


def _apply_composite(x: TensorVariable, y: TensorVariable) -> Sequence[TensorVariable]:
    op: Elemwise[...] = Elemwise(_composite())
    return [out for out in op.make_node(x, y).outputs if isinstance(out, TensorVariable)]


def _broadcast_cases() -> list[Case]:
    shapes = [((3, 1), (1, 4)), ((1, 1), (3, 2)), ((), (2, 3)), ((0, 1), (1, 3)), ((1,), (2, 1)), ((2, 1, 3), (4, 1))]
    return [(numbers(a, dtype), numbers(b, dtype, 1)) for dtype in ALL if dtype != "bool" for a, b in shapes]


SCALAR_ENTRIES = [
    *[_entry(r, sum(type(other.op) is type(r.op) for other in REFERENCES) > 1) for r in REFERENCES],
    Entry(
        "Composite",
        Composite,
        _apply_composite,
        lambda x, y: (x * y + 1.5, np.sin(x * y)),
        [(numbers(s, "float64"), numbers(s, "float32")) for s in [(3, 4), (0, 4), ()]],
        [(np.array([0.3, -1.2]), np.array([0.5, 2.0], "float32"))],
        c_ulps=4.0,
    ),
    Entry(
        "Elemwise-broadcasting",
        Elemwise,
        lambda x, y: lt.sub(x, y),
        np.subtract,
        _broadcast_cases(),
        [point((3, 1), (1, 4))],
    ),
]
