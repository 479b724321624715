"""Shapes, axes, creation, joining, diagonals, running sums, sorting: Ops that move elements, and copies."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamella.ir import (
    Alloc,
    AllocDiag,
    AllocEmpty,
    ARange,
    ArgSortOp,
    CumOp,
    DeepCopyOp,
    DimShuffle,
    ExtractDiag,
    Eye,
    Join,
    LinearRecurrence,
    MakeVector,
    Reshape,
    ScalarFromTensor,
    Shape,
    Shape_i,
    SortOp,
    SpecifyShape,
    Split,
    TensorFromScalar,
    Unbroadcast,
    ViewOp,
    deep_copy_op,
    ls,
    lt,
    view_op,
)
from tests.catalogue.entry import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    REALS,
    Array,
    Case,
    Entry,
    numbers,
    of_dtypes,
    point,
)

_INTEGER = "its value is an integer"


def _integers(*values: int, dtype: str = "int64") -> Case:
    return tuple([np.array(v, dtype) for v in values])


def _with(arrays: Sequence[Case], *others: int) -> list[Case]:
    return [(*case, *_integers(*others)) for case in arrays]


AXES_ENTRIES = [
    Entry(
        "DimShuffle-transpose",
        DimShuffle,
        lambda x: lt.transpose(x, (2, 0, 1)),
        lambda x: np.transpose(x, (2, 0, 1)),
        of_dtypes(ALL, (2, 3, 4), (2, 0, 3)),
        [point((2, 3, 2))],
    ),
    Entry(
        "DimShuffle-new-axes",
        DimShuffle,
        lambda x: lt.dimshuffle(x, "x", 1, "x", 0),
        lambda x: np.transpose(x)[None, :, None, :],
        of_dtypes(ALL, (2, 3), (0, 3)),
        [point((2, 3))],
    ),
    Entry(
        "DimShuffle-dropped",
        DimShuffle,
        lambda x: lt.dimshuffle(x, 2, 0),
        lambda x: np.transpose(x[:, 0, :]),
        of_dtypes(ALL, (2, 1, 3), (0, 1, 3)),
        [point((2, 1, 3))],
    ),
    Entry(
        "DimShuffle-0d",
        DimShuffle,
        lambda x: lt.dimshuffle(x, "x", "x"),
        lambda x: x[None, None],
        of_dtypes(ALL, ()),
        [point(())],
    ),
    Entry(
        "Shape",
        Shape,
        lambda x: Shape()(x),
        lambda x: np.array(x.shape, "int64"),
        of_dtypes(ALL, (2, 3, 4), (0, 2, 1), ()),
        _INTEGER,
    ),
    Entry(
        "Shape_i",
        Shape_i,
        lambda x: [lt.shape_i(x, 0), Shape_i(1)(x)],
        lambda x: [np.array(n) for n in x.shape[:2]],
        of_dtypes(ALL, (2, 3), (0, 2)),
        _INTEGER,
    ),
    Entry(
        "SpecifyShape",
        SpecifyShape,
        lambda x, n: lt.specify_shape(x, (n, None, 3)),
        lambda x, n: x,
        [*_with(of_dtypes(ALL, (2, 4, 3)), 2), *_with(of_dtypes(ALL, (0, 4, 3)), 0)],
        [(*point((2, 2, 3)), *_integers(2))],
        raises=[((np.ones((2, 2, 3)), np.array(3)), ValueError), ((np.ones((2, 2, 4)), np.array(2)), ValueError)],
    ),
    Entry(
        "Unbroadcast",
        Unbroadcast,
        lambda x: lt.unbroadcast(x, [0, 2]),
        lambda x: x,
        of_dtypes(ALL, (1, 3, 1), (1, 0, 1)),
        [point((1, 3, 1))],
        static=False,
    ),
    Entry(
        "Reshape",
        Reshape,
        lambda x, n: lt.reshape(x, (n, -1, 2)),
        lambda x, n: x.reshape(int(n), -1, 2),
        _with(of_dtypes(ALL, (2, 6), (4, 3)), 3) + _with(of_dtypes(ALL, (0, 6)), 3),
        [(*point((2, 6)), *_integers(3))],
        raises=[((np.ones((2, 5)), np.array(3)), ValueError)],
        static=False,
    ),
    Entry(
        "Reshape-flat",
        Reshape,
        lambda x: [lt.flatten(x), lt.reshape(x, (4, -1))],
        lambda x: [x.ravel(), x.reshape(4, -1)],
        of_dtypes(ALL, (2, 3, 4), (2, 0, 4)),
        [point((2, 2, 1))],
    ),
    Entry(
        "Reshape-0d",
        Reshape,
        lambda x: [lt.reshape(x, (1, 1)), lt.reshape(lt.reshape(x, (1,)), ())],
        lambda x: [x.reshape(1, 1), x],
        of_dtypes(ALL, ()),
        [point(())],
    ),
]


def _arange(*bounds: Array) -> Array:
    # NumPy computes the length in the dtype of the bounds, which wraps around.
    plain: list[Any] = [int(x) if x.dtype.kind in "iu" else x[()] for x in bounds]
    return np.arange(*plain, dtype=np.result_type("int64", *bounds))


CREATION_ENTRIES = [
    Entry(
        "MakeVector",
        MakeVector,
        lambda *xs: MakeVector(xs[0].dtype)(*xs),
        lambda *xs: np.array(xs),
        [(numbers((), d), numbers((), d, 1), numbers((), d, 2)) for d in ALL],
        [point((), (), ())],
    ),
    Entry(
        "MakeVector-mixed",
        MakeVector,
        lambda x, y: MakeVector("float64")(x, y),
        lambda x, y: np.array([float(x), float(y)]),
        [
            (np.array(2, d), np.array(0.5, e))
            for d, e in [("int8", "float32"), ("bool", "float16"), ("uint64", "float64")]
        ],
        [point((), ())],
    ),
    Entry(
        "Alloc",
        Alloc,
        lambda x, n: lt.alloc(x, n, 3, n),
        lambda x, n: np.broadcast_to(x, (int(n), 3, int(n))),
        [
            (v, *_integers(n))
            for d in ALL
            for v, n in [(numbers((3, 1), d), 2), (numbers((), d), 0), (numbers((3, 4), d), 4)]
        ],
        [(*point((3, 1)), *_integers(2))],
        raises=[((np.ones((3, 2)), np.array(4)), ValueError), ((np.ones(()), np.array(-1)), ValueError)],
        static=False,
    ),
    Entry(
        "AllocEmpty",
        AllocEmpty,
        lambda x: lt.set_subtensor(lt.empty(x.shape, x.dtype)[...], x),
        lambda x: x,
        of_dtypes(ALL, (2, 3), (0, 2), ()),
        [point((2, 3))],
    ),
    Entry(
        "ARange",
        ARange,
        lambda start, stop, step: lt.arange(start, stop, step),
        _arange,
        [
            *[_integers(*v, dtype=d) for d in INTEGERS for v in [(0, 5, 1), (2, 11, 3), (5, 2, 1), (4, 4, 2)]],
            *[_integers(*v, dtype=d) for d in ("int8", "int64") for v in [(5, -3, -2), (-4, 3, 2)]],
            *[tuple([np.array(v, d) for v in (0.5, 4.0, 0.75)]) for d in FLOATS],
        ],
        _INTEGER,
        raises=[(_integers(0, 3, 0), ZeroDivisionError)],
        static=False,
    ),
    Entry(
        "Eye",
        Eye,
        lambda n, m, k: [lt.eye(n, m, k), lt.eye(n, m, k, dtype="int8"), lt.eye(n, m, k, dtype="complex64")],
        lambda n, m, k: [np.eye(int(n), int(m), int(k), dtype=d) for d in ("float64", "int8", "complex64")],
        [
            _integers(*v, dtype=d)
            for d in ("int64", "int8")
            for v in [(3, 4, 0), (3, 3, 1), (2, 5, -1), (0, 3, 0), (3, 2, 7)]
        ],
        "its value depends on integers only",
        static=False,
        raises=[(_integers(-1, 2, 0), ValueError)],
    ),
    Entry(
        "DeepCopyOp",
        DeepCopyOp,
        deep_copy_op,
        lambda x: x,
        of_dtypes(ALL, (2, 3), (0, 2), ()),
        [point((2, 3))],
    ),
    Entry("ViewOp", ViewOp, view_op, lambda x: x, of_dtypes(ALL, (2, 3), (0, 2), ()), [point((2, 3))]),
    Entry(
        "ScalarFromTensor",
        ScalarFromTensor,
        lambda x: lt.tensor_from_scalar(ls.add(lt.scalar_from_tensor(x), lt.scalar_from_tensor(x))),
        lambda x: x + x,
        of_dtypes(ALL, ()),
        [point(())],
    ),
    Entry(
        "TensorFromScalar",
        TensorFromScalar,
        lambda x, y: lt.tensor_from_scalar(ls.mul(lt.scalar_from_tensor(x), lt.scalar_from_tensor(y))),
        lambda x, y: x * y,
        [(numbers((), d), numbers((), d, 1)) for d in ALL],
        [point((), ())],
    ),
]


def _pairs(dtypes: Sequence[str], *shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Case]:
    return [(numbers(a, d), numbers(b, d, 1)) for d in dtypes for a, b in shapes]


JOINING_ENTRIES = [
    Entry(
        "Join",
        Join,
        lambda x, y: lt.join(1, x, y, x),
        lambda x, y: np.concatenate([x, y, x], axis=1),
        [
            *_pairs(ALL, ((2, 3), (2, 4)), ((2, 0), (2, 3)), ((0, 2), (0, 1)), ((2, 1), (2, 3))),
            *[
                (numbers((2, 3), d), numbers((2, 2), e))
                for d, e in [("int8", "uint8"), ("int64", "float32"), ("bool", "int8")]
            ],
        ],
        [point((2, 3), (2, 2))],
        raises=[((np.ones((2, 3)), np.ones((3, 3))), ValueError)],
    ),
    Entry(
        "Join-stack",
        Join,
        lambda x, y: lt.stack([x, y], axis=-1),
        lambda x, y: np.stack([x, y], axis=-1),
        _pairs(ALL, ((2, 3), (2, 3)), ((0, 3), (0, 3))),
        [point((2, 3), (2, 3))],
    ),
    Entry(
        "Split",
        Split,
        lambda x, n: lt.split(x, MakeVector("int64")(n, 3, x.shape[1] - 3 - n), 3, axis=1),
        lambda x, n: np.split(x, [int(n), int(n) + 3], axis=1),
        [*_with(of_dtypes(ALL, (2, 7)), 2), *_with(of_dtypes(ALL, (0, 3)), 0)],
        [(*point((2, 5)), *_integers(1))],
        raises=[((np.ones((2, 5)), np.array(4)), ValueError)],
        static=False,
    ),
    Entry(
        "Split-known",
        Split,
        lambda x: lt.split(x, [1, 0, 3], 3),
        lambda x: np.split(x, [1, 1]),
        of_dtypes(ALL, (4, 2), (4, 0)),
        [point((4, 2))],
        raises=[((np.ones((5, 2)),), ValueError)],
    ),
]


def _alloc_diag(x: Array, rows: int, columns: int, offset: int) -> Array:
    made = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    for i in range(x.shape[-1]):
        made[..., i + max(-offset, 0), i + max(offset, 0)] = x[..., i]
    return made


DIAGONAL_ENTRIES = [
    *[
        Entry(
            f"ExtractDiag-{k}",
            ExtractDiag,
            lambda x, k=k: [lt.diagonal(x, k), lt.diagonal(x, k, 1, 0)],
            lambda x, k=k: [np.diagonal(x, k), np.diagonal(x, k, 1, 0)],
            of_dtypes(ALL, (3, 4, 2), (0, 3, 2)),
            [point((3, 4, 2))],
        )
        for k in (0, 1, -2)
    ],
    *[
        Entry(
            f"AllocDiag-{k}",
            AllocDiag,
            lambda x, k=k: [AllocDiag(k, 1, 2)(x, 5, 3 + k), lt.diag(x[0], k)],
            lambda x, k=k: [_alloc_diag(x, 5, 3 + k, k), np.diag(x[0], k)],
            of_dtypes(ALL, (2, 3), (1, 3)),
            [point((2, 3))],
        )
        for k in (0, 1, 2)
    ],
]


def _cumulative(function: Callable[..., Any], axis: int | None) -> Callable[[Array], Any]:
    def plain(x: Array) -> Any:
        return function(x, axis=axis)

    return plain


def _recurrence(reverse: bool) -> Callable[[Array, Array], Array]:
    def plain(a: Array, b: Array) -> Array:
        z = np.empty_like(a)
        state = np.full(a.shape[:1], 0.5, a.dtype)
        for i in reversed(range(a.shape[1])) if reverse else range(a.shape[1]):
            z[:, i] = state
            state = (a[:, i] * state + b[:, i]).astype(a.dtype)
        return z

    return plain


CUMULATIVE_ENTRIES = [
    *[
        Entry(
            f"CumOp-add-{axis}",
            CumOp,
            lambda x, axis=axis: lt.cumsum(x, axis=axis),
            _cumulative(np.cumsum, axis),
            [*of_dtypes(ALL, (3, 4, 2), (2, 0, 3)), *(of_dtypes(ALL, ()) if axis is None else ())],
            [point((3, 4, 2))],
            max_ulps=1.0,
        )
        for axis in (None, 0, 1, -1)
    ],
    *[
        Entry(
            f"CumOp-mul-{axis}",
            CumOp,
            lambda x, axis=axis: lt.cumprod(x, axis=axis),
            _cumulative(np.cumprod, axis),
            of_dtypes(ALL, (3, 2, 2), (2, 0, 3)),
            [point((3, 4, 2))],
            max_ulps=1.0,
        )
        for axis in (None, 0, 1)
    ],
    *[
        Entry(
            f"LinearRecurrence-{reverse}",
            LinearRecurrence,
            lambda a, b, reverse=reverse: LinearRecurrence(1, 0.5, reverse)(a, b),
            _recurrence(reverse),
            _pairs(FLOATS, ((2, 4), (2, 4)), ((0, 3), (0, 3)), ((2, 0), (2, 0))),
            [point((2, 4), (2, 4))],
            max_ulps=1.0,
        )
        for reverse in (False, True)
    ],
]


def _sorting_cases() -> list[Case]:
    found = of_dtypes(ALL, (3, 4, 5), (2, 0, 3))
    for dtype in (*FLOATS, *COMPLEX):
        tied = numbers((3, 4, 5), dtype, 2)
        tied[0, :, 1], tied[1, 2, :3], tied[2, 0, 0], tied[2, 1, 4] = np.nan, (0.0, -0.0, 0.0), np.inf, -np.inf
        found.append((tied,))
    return [*found, *[(np.array([[[2, 1, 2, 1, 1, 2, 0]] * 2] * 2).astype(d),) for d in (*REALS, *BOOL)]]


SORTING_ENTRIES = [
    *[
        Entry(
            f"SortOp-{axis}",
            SortOp,
            lambda x, axis=axis: lt.sort(x, axis=axis, kind="stable"),
            lambda x, axis=axis: np.sort(x, axis=axis, kind="stable"),
            _sorting_cases(),
            [point((3, 4, 2))],
        )
        for axis in (None, 0, -1)
    ],
    *[
        Entry(
            f"ArgSortOp-{axis}",
            ArgSortOp,
            lambda x, axis=axis: lt.argsort(x, axis=axis, kind="stable"),
            lambda x, axis=axis: np.argsort(x, axis=axis, kind="stable"),
            _sorting_cases(),
            _INTEGER,
        )
        for axis in (None, 0, -1)
    ],
]

SHAPE_ENTRIES = [
    *AXES_ENTRIES,
    *CREATION_ENTRIES,
    *JOINING_ENTRIES,
    *DIAGONAL_ENTRIES,
    *CUMULATIVE_ENTRIES,
    *SORTING_ENTRIES,
]
