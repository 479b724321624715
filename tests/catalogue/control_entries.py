"""Choices, checks, printing, graphs within graphs, recomputation, loops over batches."""

from typing import Any

import numpy as np

from lamella.ir import (
    Assert,
    Blockwise,
    CheckAndRaise,
    Checkpoint,
    CumOp,
    Dot,
    IfElse,
    OpFromGraph,
    Print,
    Recompute,
    TensorVariable,
    checkpoint,
    lt,
)
from tests.catalogue.entry import ALL, FLOATS, Entry, numbers, of_dtypes, point


def _silent(op: Print, value: object) -> None:
    pass


def _affine(x: TensorVariable, y: TensorVariable) -> Any:
    a, b = x.type(), y.type()
    return OpFromGraph([a, b], [lt.add(a, b), lt.mul(a, b).T, a])(x, y)


def _through_checkpoint(x: TensorVariable) -> Any:
    return checkpoint(lambda v: lt.mul(v, lt.add(v, v)))(x)


_SHAPES = ((2, 3), (0, 3), ())

CONTROL_ENTRIES = [
    Entry(
        "Print",
        Print,
        lambda x: Print("x", global_fn=_silent)(x),
        lambda x: x,
        of_dtypes(ALL, *_SHAPES),
        [point((2, 3))],
    ),
    Entry(
        "Assert",
        Assert,
        lambda x, c: Assert("no")(x, c, lt.ge(x.size, 0)),
        lambda x, c: x,
        [(numbers(shape, d), np.ones(3, bool)) for d in ALL for shape in _SHAPES],
        [(*point((2, 3)), np.ones(2, bool))],
        raises=[((numbers((2,), "float32"), np.array([True, False])), AssertionError)],
    ),
    Entry(
        "CheckAndRaise",
        CheckAndRaise,
        lambda x, c: CheckAndRaise(KeyError, "no")(x, c),
        lambda x, c: x,
        [(numbers((2,), "float32"), np.array(condition)) for condition in (True, 2.5, 1j, np.int8(-1))],
        [(*point((2, 3)), np.array(1.0))],
        raises=[((numbers((2,), "float32"), np.array(0)), KeyError)],
    ),
    Entry(
        "IfElse",
        IfElse,
        lambda c, x, y: IfElse(2)(c, x, lt.add(x, x), y, y),
        lambda c, x, y: [x, x + x] if c else [y, y],
        [
            (np.array(condition), numbers(shape, d), numbers(other, d, 1))
            for condition, shape, other in (
                (True, (2, 3), (4, 3)),
                (False, (2, 3), (4, 3)),
                (True, (), ()),
                (False, (0,), (1,)),
            )
            for d in ALL
        ],
        [(np.array(condition), *point((2, 3), (4, 3))) for condition in (True, False)],
        static=False,
        infers=False,  # a length is itself an IfElse, of lengths
    ),
    Entry(
        "OpFromGraph",
        OpFromGraph,
        _affine,
        lambda x, y: [x + y, (x * y).T, x],
        [(numbers((2, 3), d), numbers((2, 3), d, 1)) for d in ALL],
        [point((2, 3), (2, 3))],
    ),
    Entry(
        "Checkpoint",
        Checkpoint,
        _through_checkpoint,
        lambda x: x * (x + x),
        of_dtypes(FLOATS, *_SHAPES),
        [point((2, 3))],
    ),
    Entry(
        "Recompute",
        Recompute,
        lambda x, y: Recompute(1)(x, y),
        lambda x, y: x,
        [(numbers(shape, d), numbers((2,), "float64")) for d in ALL for shape in _SHAPES],
        [(*point((2, 3)), np.ones(2, bool))],
    ),
    Entry(
        "Blockwise",
        Blockwise,
        lambda x, y: Blockwise(Dot(), "(m,n),(n)->(m)")(x, y),
        lambda x, y: np.matmul(x, y[..., None])[..., 0].astype(np.result_type(x, y)),
        [
            (numbers(a, d), numbers(b, d, 1))
            for d in ALL
            for a, b in (((4, 2, 3), (4, 3)), ((1, 2, 3), (4, 3)), ((2, 3), (4, 3)), ((0, 2, 3), (0, 3)))
        ],
        [point((4, 2, 3), (1, 3)), point((2, 3), (4, 3))],
        max_ulps=4,
        scale=1e3,
    ),
    Entry(
        "Blockwise-of-running-sums",
        Blockwise,
        lambda x: Blockwise(CumOp(0), "(n)->(n)")(x),
        lambda x: np.cumsum(
            x, axis=-1, dtype=np.int64 if x.dtype.kind in "bi" else np.uint64 if x.dtype.kind == "u" else None
        ),
        [(numbers(shape, d),) for d in ("float64", "int64") for shape in ((2, 3, 4), (3,), (0, 3))],
        [point((2, 3))],
    ),
]
