"""Ops that rewrites make: products added to something, elements reduced while they are computed."""

from typing import Any

import numpy as np

from lamella.errors import BroadcastError
from lamella.ir import Gemm, Gemv, IndexedElemwise, Max, ReducedElemwise, Sum, TensorVariable, ls
from tests.catalogue.entry import Case, Entry, numbers, point

Shape = tuple[int, ...]

SHAPES: dict[str, list[tuple[Shape, Shape, Shape]]] = {
    "Gemm": [((2, 3), (2, 4), (4, 3)), ((1, 3), (1, 2), (2, 3)), ((3, 1), (3, 5), (5, 1)), ((2, 2), (2, 0), (0, 2))],
    "Gemv": [((2,), (2, 4), (4,)), ((1,), (1, 3), (3,)), ((3,), (3, 1), (1,)), ((2,), (2, 0), (0,))],
}


def _cases(name: str) -> list[Case]:
    found: list[Case] = []
    for dtype in ("float64", "float32", "complex128"):
        for z, x, y in SHAPES[name]:
            arrays = [numbers(shape, dtype, i) for i, shape in enumerate((z, x, y))]
            found.append((arrays[0], np.array(0.5, dtype), arrays[1], arrays[2], np.array(-2.0, dtype)))
    there, first, second = [numbers(shape, "float64", i) for i, shape in enumerate(SHAPES[name][0])]
    there.flat[0] = np.inf
    for alpha, beta in ((0.0, 1.0), (1.0, 0.0), (np.inf, 1.0)):
        found.append((there, np.array(alpha), first, second, np.array(beta)))
    return found


def _added(z: Any, alpha: Any, x: Any, y: Any, beta: Any) -> Any:
    return (beta * z + alpha * (x @ y)).astype(z.dtype)


_REDUCED = ReducedElemwise(
    ls.mul, (0, 0, 0), (Sum((1,)).normal_form("float64", 2), None, Max((0, 1)).normal_form("float64", 2))
)


def _reduced(x: TensorVariable, y: TensorVariable) -> list[TensorVariable]:
    return [out for out in _REDUCED.make_node(x, y).outputs if isinstance(out, TensorVariable)]


def _products(x: Any, y: Any) -> list[Any]:
    product = x * y
    return [product.sum(axis=1), product, product.max()]


_INDEXED = IndexedElemwise(
    ls.mul, (0, None), (0, 0, 0), (Sum((0,)).normal_form("float64", 1), None, None), (None, None, 0)
)
_INDEX = np.array([1, -1, 0, 1])


def _indexed(x: TensorVariable, y: TensorVariable, to: TensorVariable) -> list[TensorVariable]:
    return [out for out in _INDEXED.make_node(x, y, _INDEX, to).outputs if isinstance(out, TensorVariable)]


def _at_index(x: Any, y: Any, to: Any) -> list[Any]:
    product = x[_INDEX] * y
    added = to.copy()
    np.add.at(added, _INDEX, product)
    return [product.sum(), product, added]


def _product_entry(op: Gemm | Gemv, refused: list[tuple[Shape, Shape, type[Exception]]]) -> Entry:
    name = type(op).__name__
    first, *others = SHAPES[name][0]
    return Entry(
        name,
        type(op),
        op,
        _added,
        _cases(name),
        [point(first, (), *others, ())],
        max_ulps=4,
        scale=30.0,
        raises=[
            ((np.ones(z), np.array(1.0), np.ones((2, 3)), np.ones(y), np.array(1.0)), error) for z, y, error in refused
        ],
    )


FUSED_ENTRIES = [
    _product_entry(Gemm(), [((2, 4), (2, 4), ValueError), ((3, 4), (3, 4), BroadcastError)]),
    _product_entry(Gemv(), [((2,), (2,), ValueError), ((3,), (3,), BroadcastError)]),
    Entry(
        "ReducedElemwise",
        ReducedElemwise,
        _reduced,
        _products,
        [
            (numbers((2, 3), "float64"), numbers((2, 3), "float64", 1)),
            (numbers((2, 3), "float64"), numbers((1, 3), "float64", 1)),
            (numbers((40, 2), "float64"), numbers((40, 1), "float64", 1)),
            (numbers((2, 1200), "float64"), numbers((1, 1200), "float64", 1)),
        ],
        [point((2, 3), (1, 3))],
        scale=1e6,
        raises=[
            ((np.ones((0, 2)), np.ones((0, 2))), ValueError),
            ((np.ones((2, 3)), np.ones((2, 4))), BroadcastError),
        ],
    ),
    Entry(
        "IndexedElemwise",
        IndexedElemwise,
        _indexed,
        _at_index,
        [
            (numbers((2,), "float64"), numbers((4,), "float64", 1), numbers((2,), "float64", 2)),
            (numbers((5,), "float64"), numbers((4,), "float64", 1), numbers((3,), "float64", 2)),
        ],
        [point((3,), (4,), (2,))],
        scale=1e6,
        raises=[
            ((np.ones(2), np.ones(3), np.ones(2)), BroadcastError),
        ],
    ),
]
