"""The C that lowerings emit, one file for each kind of Op. With LAMELLA_UPDATE_GOLDENS=1 in the environment they are written anew."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import lamella.tensor as lt
from lamella.ir import (
    AdvancedIncSubtensor1,
    FromInput,
    IncSubtensor,
    IntegerEntry,
    Join,
    LinearRecurrence,
    MakeVector,
    SliceEntry,
    Split,
    TensorType,
    TensorVariable,
)

from .against_perform import steps_in_c

GOLDEN = Path(__file__).parent / "golden"

Graph = tuple[Sequence[TensorVariable], Sequence[TensorVariable]]


def _subtensor() -> Graph:
    x, i = lt.dmatrix("x"), lt.lscalar("i")
    return [x, i], [x[i, 1::-2]]


def _inc_subtensor() -> Graph:
    x, v, i = lt.dmatrix("x"), lt.dvector("v"), lt.lscalar("i")
    return [x, v, i], [lt.set_subtensor(x[i], v), lt.inc_subtensor(x[i], v)]


def _inc_subtensor_in_place() -> Graph:
    x, v, i = lt.dmatrix("x"), lt.dvector("v"), lt.lscalar("i")
    return [x, v, i], [IncSubtensor((SliceEntry(), IntegerEntry(FromInput(0))), True, True)(x, v, i)]


def _advanced_subtensor1() -> Graph:
    x, i = lt.dmatrix("x"), lt.vector("i", dtype="int64")
    return [x, i], [x[i]]


def _advanced_subtensor() -> Graph:
    x, i = lt.dmatrix("x"), lt.vector("i", dtype="int64")
    return [x, i], [x[lt.arange(x.shape[0]), i]]


def _advanced_inc_subtensor1_in_place() -> Graph:
    x, v, i = lt.dvector("x"), lt.dvector("v"), lt.vector("i", dtype="int64")
    return [x, v, i], [AdvancedIncSubtensor1(0, True)(x, v, i)]


def _advanced_inc_subtensor() -> Graph:
    x, v, i = lt.dtensor3("x"), lt.dmatrix("v"), lt.vector("i", dtype="int64")
    return [x, v, i], [lt.set_subtensor(x[:, i, i], v)]


def _mask() -> Graph:
    x = lt.dmatrix("x")
    return [x], [x[lt.gt(x, 0)]]


def _reshape() -> Graph:
    x, s = lt.dmatrix("x"), lt.vector("s", dtype="int64")
    return [x, s], [lt.reshape(x, (3, -1)), lt.reshape(x, s, ndim=3)]


def _shape() -> Graph:
    x, n = lt.dmatrix("x"), lt.lscalar("n")
    return [x, n], [lt.shape(x), lt.shape_i(x, 1), lt.specify_shape(x, (n, None))]


def _alloc() -> Graph:
    x, n = lt.dvector("x"), lt.lscalar("n")
    return [x, n], [lt.alloc(x, n, 3), lt.zeros((n, 2))]


def _make_vector() -> Graph:
    x, y = lt.dscalar("x"), lt.dscalar("y")
    return [x, y], [MakeVector("float64")(x, y)]


def _join() -> Graph:
    x, y = lt.dmatrix("x"), lt.dmatrix("y")
    return [x, y], [Join(1)(x, y)]


def _split() -> Graph:
    x, sizes = lt.dmatrix("x"), lt.vector("sizes", dtype="int64")
    return [x, sizes], list(Split(2, 1)(x, sizes))


def _diagonals() -> Graph:
    x, v, n = lt.dmatrix("x"), lt.dvector("v"), lt.lscalar("n")
    return [x, v, n], [lt.diagonal(x, 1), lt.diag(v), lt.eye(n)]


def _ranges() -> Graph:
    n, step = lt.lscalar("n"), lt.dscalar("step")
    return [n, step], [lt.arange(n), lt.arange(0.0, 1.0, step)]


def _running_sums() -> Graph:
    x = lt.fmatrix("x")
    return [x], [lt.cumsum(x, 0), LinearRecurrence(1, 1.0, reverse=True)(x, x)]


def _sorting() -> Graph:
    x = lt.dmatrix("x")
    return [x], [lt.sort(x, 0), lt.argsort(x, 1)]


def _known_shapes() -> Graph:
    x, i = TensorType("float64", (3, 1))("x"), TensorType("int64", (2,))("i")
    return [x, i], [lt.sum(lt.reshape(x, (3,))[i])]


GRAPHS: list[Callable[[], Graph]] = [
    *[_subtensor, _inc_subtensor, _inc_subtensor_in_place],
    *[_advanced_subtensor1, _advanced_subtensor, _advanced_inc_subtensor1_in_place, _advanced_inc_subtensor, _mask],
    *[
        _reshape,
        _shape,
        _alloc,
        _make_vector,
        _join,
        _split,
        _diagonals,
        _ranges,
        _running_sums,
        _sorting,
        _known_shapes,
    ],
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__[1:])
def test_emitted_c(graph: Callable[[], Graph]) -> None:
    inputs, outputs = graph()
    file = GOLDEN / f"{graph.__name__[1:]}.c"
    text = steps_in_c(inputs, outputs)
    if os.environ.get("LAMELLA_UPDATE_GOLDENS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    assert {file.stem for file in GOLDEN.glob("*.c")} == {graph.__name__[1:] for graph in GRAPHS}
