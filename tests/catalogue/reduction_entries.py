"""Reductions, argmax, softmax and products of matrices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special

from lamella.ir import (
    All,
    Argmax,
    Argmin,
    BatchedDot,
    BitwiseAndReduce,
    BitwiseOrReduce,
    BitwiseXorReduce,
    Dot,
    LogSoftmax,
    LogSumExp,
    Max,
    Min,
    Op,
    Prod,
    Softmax,
    Sum,
    TensorVariable,
    lt,
)
from lamella.ir import Any as AnyReduce
from tests.catalogue.entry import ALL, BOOL, FLOATS, INTEGERS, REALS, Array, Case, Entry, numbers, point

AXES: tuple[tuple[int, ...] | int | None, ...] = (None, 0, -1, (0, 2), (1,), ())


def _special(dtype: str) -> Array:
    """A matrix with NaN, infinities and zeros of both signs, where there are such, and with ties."""
    values = numbers((4, 5), dtype, 1)
    if values.dtype.kind in "fc":
        values[0, :2], values[1, 1] = (0.0, -0.0), np.nan
    if (
        values.dtype.kind == "f"
    ):  # what becomes of infinite parts of complex numbers depends on the order of the products
        values[2, 3], values[3, 0] = np.inf, -np.inf
    values[:, 4] = values[0, 0]
    return values


def _cases(dtypes: Sequence[str], small: float | None = None) -> list[Case]:
    """Arrays of all dtypes; where `small` is given, floats of at most that size."""
    found: list[Case] = []
    for dtype in dtypes:
        for array in (numbers((3, 4, 5), dtype), numbers((2, 0, 3), dtype)):
            scaled = small is not None and array.dtype.kind in "fc" and array.size
            found.append(((array * (small / np.abs(array).max())).astype(dtype) if scaled else array,))
    return found


def _matrices(dtypes: Sequence[str]) -> list[Case]:
    return [
        (array,) for dtype in dtypes for array in (_special(dtype), numbers((0, 3), dtype), numbers((17, 33), dtype))
    ]


def _wide(dtype: str) -> str:
    return {"float16": "float32", "float32": "float64", "complex64": "complex128"}.get(dtype, dtype)


def _accumulated(ufunc: np.ufunc, axis: Any, dtype: str | None = None, acc_dtype: str | None = None) -> Any:
    """NumPy's reduction, accumulated in a dtype that is twice as wide."""

    def function(x: Array) -> Array:
        default = {"b": "int64", "i": "int64", "u": "uint64"}.get(x.dtype.kind, x.dtype.name)
        result = dtype or default
        wide = ufunc.reduce(x, axis=axis, dtype=acc_dtype or _wide(result))
        return np.asarray(wide).astype(result)

    return function


def _per_axis(
    op_class: type[Op[Any, Any]],
    ours: Callable[..., TensorVariable],
    numpy_of: Callable[[Any], Callable[[Array], Any]],
    dtypes: Sequence[str],
    gradient: bool | str,
    max_ulps: float = 0.0,
    nonempty: bool = False,
) -> list[Entry]:
    found: list[Entry] = []
    for axis in AXES:
        cases = _cases(dtypes)
        if nonempty and axis not in (0, ()):
            cases = [case for case in cases if case[0].size]
        build: Any = lambda x, axis=axis: ours(x, axis=axis)  # noqa: E731
        points = [point((3, 2, 4))] if gradient is True else str(gradient)
        found.append(
            Entry(f"{op_class.__name__}-{axis}", op_class, build, numpy_of(axis), cases, points, max_ulps=max_ulps)
        )
    keep: Any = lambda x: ours(x, axis=0, keepdims=True)  # noqa: E731
    plain = numpy_of(0)
    cases = [case for case in _matrices(dtypes) if case[0].size or not nonempty]
    raises = [((np.zeros((0, 3), dtypes[0]),), ValueError)] if nonempty else []
    found.append(
        Entry(
            f"{op_class.__name__}-keepdims",
            op_class,
            keep,
            lambda x: np.expand_dims(plain(x), 0),
            cases,
            [point((3, 2))] if gradient is True else str(gradient),
            max_ulps=max_ulps,
            raises=raises,
        )
    )
    return found


def _reduce(ufunc: np.ufunc) -> Callable[[Any], Callable[[Array], Any]]:
    return lambda axis: lambda x: ufunc.reduce(x, axis=axis)


def _accumulate(ufunc: np.ufunc) -> Callable[[Any], Callable[[Array], Any]]:
    return lambda axis: _accumulated(ufunc, axis)


_EXACT_FLOATS = "its value is an integer or a truth value"

REDUCTIONS = [
    *_per_axis(Max, lt.max, _reduce(np.maximum), ALL, True, nonempty=True),
    *_per_axis(Min, lt.min, _reduce(np.minimum), ALL, True, nonempty=True),
    *_per_axis(Sum, lt.sum, _accumulate(np.add), ALL, True, max_ulps=1.0),
    *_per_axis(Prod, lt.prod, _accumulate(np.multiply), ALL, True, max_ulps=32.0),
    *_per_axis(All, lt.all, lambda axis: lambda x: np.all(x, axis=axis), ALL, _EXACT_FLOATS),
    *_per_axis(AnyReduce, lt.any, lambda axis: lambda x: np.any(x, axis=axis), ALL, _EXACT_FLOATS),
    *_per_axis(BitwiseAndReduce, lt.bitwise_and_reduce, _reduce(np.bitwise_and), (*BOOL, *INTEGERS), _EXACT_FLOATS),
    *_per_axis(BitwiseOrReduce, lt.bitwise_or_reduce, _reduce(np.bitwise_or), (*BOOL, *INTEGERS), _EXACT_FLOATS),
    *_per_axis(BitwiseXorReduce, lt.bitwise_xor_reduce, _reduce(np.bitwise_xor), (*BOOL, *INTEGERS), _EXACT_FLOATS),
    Entry(
        "Sum-dtype",
        Sum,
        lambda x: lt.sum(x, axis=1, dtype="float32"),
        _accumulated(np.add, 1, "float32"),
        _cases(REALS),
        [point((3, 2, 4))],
        max_ulps=1.0,
    ),
    Entry(
        "Sum-acc_dtype",
        Sum,
        lambda x: lt.sum(x, axis=(0, 1), acc_dtype="complex128", dtype="complex64"),
        _accumulated(np.add, (0, 1), "complex64", "complex128"),
        _cases(ALL),
        "its value is complex",
        max_ulps=1.0,
    ),
    Entry(
        "Prod-zeros",
        Prod,
        lambda x: lt.prod(x, axis=1),
        lambda x: np.prod(x, axis=1),
        [(np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [1.0, -2.0, 3.0], [0.0, 0.0, 0.0]]),)],
        [(np.array([[2.0, 0.0, 3.0], [1.0, -2.0, 3.0]]),)],
    ),
]


def _arg(function: Callable[..., Any], axis: int | None) -> Callable[[Array], Any]:
    return lambda x: function(x, axis=axis)


def _arg_entries() -> list[Entry]:
    found: list[Entry] = []
    pairs: list[tuple[type[Op[Any, Any]], Any, Any]] = [(Argmax, lt.argmax, np.argmax), (Argmin, lt.argmin, np.argmin)]
    for op_class, ours, plain in pairs:
        for axis in (None, 0, 1, -1):
            build: Any = lambda x, ours=ours, axis=axis: ours(x, axis=axis)  # noqa: E731
            cases: list[Case] = [(numbers((3, 4, 5), d),) for d in ALL]
            cases += [(np.array(3, d),) for d in ALL if axis is None]
            cases += [(_special(d),) for d in ALL] if axis != 2 else []
            cases += [(np.zeros((0, 4), d),) for d in ALL if axis in (1, -1)]
            found.append(
                Entry(
                    f"{op_class.__name__}-{axis}",
                    op_class,
                    build,
                    _arg(plain, axis),
                    cases,
                    "its value is an integer",
                    raises=[((np.zeros((0, 4)),), ValueError)] if axis in (None, 0) else [],
                )
            )
    return found


def _in_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A function of floats, computed in long doubles, and rounded to their dtype; for integers to float64."""

    def rounded(x: Array) -> Array:
        dtype = x.dtype if x.dtype.kind == "f" else "float64"
        with np.errstate(all="ignore"):
            return np.asarray(function(x.astype("longdouble"))).astype(dtype)

    return rounded


def _softmax(axis: Any) -> Callable[[Array], Array]:
    def plain(x: Array) -> Array:
        shifted = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
        return np.asarray(shifted / np.sum(shifted, axis=axis, keepdims=True))

    return _in_double(plain)


def _logsumexp(axis: Any) -> Callable[[Array], Array]:
    def plain(x: Array) -> Array:
        top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        shift = np.where(np.isfinite(top), top, 0)
        total = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
        return np.asarray(np.squeeze(total, axis=axis) if axis != () else total)

    return _in_double(plain)


def _log_softmax(axis: Any) -> Callable[[Array], Array]:
    def plain(x: Array) -> Array:
        shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
        return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))

    return _in_double(plain)


def _exponential_entries() -> list[Entry]:
    found: list[Entry] = []
    named: list[tuple[type[Op[Any, Any]], Any, Any]] = [
        (Softmax, lt.softmax, _softmax),
        (LogSoftmax, lt.log_softmax, _log_softmax),
        (LogSumExp, lt.logsumexp, _logsumexp),
    ]
    for op_class, ours, plain in named:
        for axis in (None, 0, -1, (0, 2)):
            build: Any = lambda x, ours=ours, axis=axis: ours(x, axis=axis)  # noqa: E731
            found.append(
                Entry(
                    f"{op_class.__name__}-{axis}",
                    op_class,
                    build,
                    plain(axis),
                    [*_cases(FLOATS, 8.0), *[(numbers((3, 4, 2), d),) for d in (*BOOL, "int8", "uint16", "int64")]],
                    [point((2, 3, 4))],
                    max_ulps=16.0,
                    scale=8.0 if op_class is LogSoftmax else 0.0,
                )
            )
    infinite = np.array([[0.0, -np.inf, 1.0], [-np.inf, -np.inf, -np.inf], [np.inf, 0.0, 1.0], [np.nan, 0.0, 1.0]])
    references: list[Any] = [
        lambda x, axis: np.exp(scipy.special.log_softmax(x, axis)),  # which leaves 0 next to infinity
        scipy.special.log_softmax,
        scipy.special.logsumexp,
    ]
    for (op_class, ours, _), expected in zip(named, references, strict=True):
        build = lambda x, ours=ours: ours(x, axis=1)  # noqa: E731
        found.append(
            Entry(
                f"{op_class.__name__}-infinite",
                op_class,
                build,
                lambda x, expected=expected: expected(x, axis=1),
                [(infinite,), (1000.0 * infinite,), (np.full((2, 3), 1e300),)],
                [point((2, 3))],
                max_ulps=16.0,
            )
        )
    return found


def _products(*shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> list[Case]:
    found: list[Case] = []
    for dtype in ALL:
        for a, b in shapes:
            # Small whole numbers, whose sums do not round: the order of the sum cannot be seen.
            x, y = numbers(a, dtype), numbers(b, dtype, 1)
            if x.dtype.kind in "fc":
                x, y = np.rint(np.fmod(x.real, 4)).astype(dtype), np.rint(np.fmod(y.real, 4) - 1).astype(dtype)
            found.append((x, y))
    mixed = [
        ("float32", "float64"),
        ("int8", "float32"),
        ("bool", "uint8"),
        ("complex64", "float64"),
        ("int64", "uint64"),
    ]
    return [*found, *[(numbers(a, d), numbers(b, e, 1)) for d, e in mixed for a, b in shapes[:1]]]


PRODUCTS = [
    Entry(
        "Dot-matrices",
        Dot,
        lt.dot,
        np.dot,
        _products(((3, 4), (4, 5)), ((0, 4), (4, 2)), ((2, 0), (0, 3)), ((1, 5), (5, 1)), ((70, 66), (66, 35))),
        [point((2, 3), (3, 4))],
        max_ulps=4.0,
        raises=[((np.ones((2, 3)), np.ones((4, 2))), ValueError)],
    ),
    Entry("Dot-vectors", Dot, lt.dot, np.dot, _products(((7,), (7,)), ((0,), (0,))), [point((4,), (4,))], max_ulps=4.0),
    Entry(
        "Dot-matrix-vector",
        Dot,
        lt.dot,
        np.dot,
        _products(((3, 4), (4,)), ((3, 0), (0,)), ((0, 3), (3,)), ((1, 4), (4,)), ((40, 33), (33,))),
        [point((2, 3), (3,))],
        max_ulps=4.0,
    ),
    Entry(
        "Dot-vector-matrix",
        Dot,
        lt.dot,
        np.dot,
        _products(((4,), (4, 3)), ((0,), (0, 3)), ((4,), (4, 1)), ((33,), (33, 40))),
        [point((3,), (3, 2))],
        max_ulps=4.0,
    ),
    Entry(
        "Dot-transposed",
        Dot,
        lambda x, y: lt.dot(x.T, y[::-1].T),
        lambda x, y: np.dot(x.T, y[::-1].T),
        _products(((4, 3), (5, 4)), ((33, 20), (21, 33))),
        [point((3, 2), (4, 3))],
        max_ulps=4.0,
    ),
    Entry(
        "BatchedDot",
        BatchedDot,
        lt.matmul,
        np.matmul,
        _products(((2, 3, 4), (2, 4, 5)), ((1, 3, 4), (2, 4, 1)), ((0, 3, 4), (1, 4, 2)), ((2, 3, 0), (2, 0, 2))),
        [point((2, 2, 3), (2, 3, 2)), point((1, 2, 3), (2, 3, 2))],
        max_ulps=4.0,
    ),
    Entry(
        "BatchedDot-broadcasting",
        BatchedDot,
        lt.matmul,
        np.matmul,
        _products(((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2))),
        [point((2, 3), (2, 3, 2))],
        max_ulps=4.0,
    ),
]

REDUCTION_ENTRIES = [*REDUCTIONS, *_arg_entries(), *_exponential_entries(), *PRODUCTS]
