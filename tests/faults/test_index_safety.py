"""Indices that are out of bounds, constant or symbolic, and updates of columns."""

from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import equal_computations
from tests.faults.three_ways import MODES, Values, check, check_error


def test_updating_a_column() -> None:
    m, i, j, v = lt.dmatrix("m"), lt.lscalar("i"), lt.lvector("j"), lt.dvector("v")
    a = np.arange(12.0).reshape(3, 4)

    def written(*index: Any, value: Any = 0.0, add: bool = False) -> Any:
        result = a.copy()
        if add:
            np.add.at(result, index, value)
        else:
            result[index] = value
        return result

    column = np.array([1.0, 2.0, 3.0])
    every = slice(None)
    check(
        {m: a, i: -1, j: [0, 1], v: column},
        (m[:, i].set(0), written(every, -1)),
        (m[:, i].inc(v), written(every, -1, value=column, add=True)),
        (m[[0, 1], :].set(0), written([0, 1], every)),
        (m[[0, 1], :], a[[0, 1], :]),
        (m[j, :].inc(1), written([0, 1], every, value=1, add=True)),
        (m[:, j].set(lt.expand_dims(v, 1)), written(every, [0, 1], value=column[:, None])),
        (m[:, [0, 0]].inc(1), written(every, [0, 0], value=1, add=True)),
        (m[j, j].set(7), written([0, 1], [0, 1], value=7)),
        (m[:, i : i - 2 : -1].set(0), written(every, slice(-1, -3, -1))),
        (m[i].set(v[0]), written(-1, value=1.0)),
        (m.T[i].set(v).T, written(every, -1, value=column)),
        (m[..., 1].set(v), written(..., 1, value=column)),
        (m[:, None, 1].set(5), written(every, None, 1, value=5)),
    )


def test_a_constant_index_in_whatever_form_makes_the_same_graph() -> None:
    m = lt.dmatrix("m")
    index = np.array([0, 1])
    forms: list[Any] = [index, [0, 1], lt.constant(index), lt.as_tensor_variable(index), index.astype(np.int32)]
    graphs = [m[form] for form in forms]
    assert all(graph is graphs[0] for graph in graphs[:-1])  # the last is of another dtype
    check({m: np.arange(6.0).reshape(2, 3)}, *[(graph, np.arange(6.0).reshape(2, 3)) for graph in graphs])
    assert m[:, index] is m[:, lt.constant(index)]
    assert m[:, index].set(0) is m[:, lt.constant(index)].set(0)
    assert equal_computations([m[index].inc(1.0)], [m[lt.constant(index)].inc(1.0)])
    for number in (1, np.int64(1), np.int8(1), np.array(1), lt.constant(1), lt.constant(1, dtype="int8"), True + 0):
        assert m[number] is m[1]
        assert m[:number] is m[:1]
    mask = np.array([True, False])
    assert m[mask] is m[lt.constant(mask)]
    assert m[0:] is m[:]
    assert m[0::1, ::1] is m[:, :]


@pytest.mark.parametrize("bad", [4, -5, 2**40, -(2**40)])
def test_an_index_out_of_bounds_is_an_error_before_anything_is_read_or_written(bad: int) -> None:
    m, i, j, v = lt.dmatrix("m"), lt.lscalar("i"), lt.lvector("j"), lt.dvector("v")
    values: Values = {m: np.ones((4, 4)), i: bad, j: [0, bad, 1], v: np.ones(4)}
    for output in (
        m[i],
        m[:, i],
        m[i, i],
        m[j],
        m[:, j],
        m[j, j],
        m[j, 1:],
        m[i].set(0.0),
        m[:, i].inc(1.0),
        m[j].set(0.0),
        m[j].inc(1.0),
        m[:, j].set(0.0),
        m[j, j].inc(1.0),
        v[j],
        v[j].set(0.0),
        v[i],
        v[1:][i],
        v[::-1][i],
        lt.take(m, j, axis=0),
        lt.take(m, j, axis=1),
        (v + 1)[j] * 2,
    ):
        check_error(values, output, IndexError)


def test_nothing_is_written_where_an_index_is_out_of_bounds() -> None:
    m, j = lt.dmatrix("m"), lt.lvector("j")
    outputs = [m[j].set(0.0), m[j].inc(1.0), m[:, j].set(0.0), m[j, j].set(0.0)]
    for output in outputs:
        for mode in MODES.values():
            kept = np.ones((3, 3))
            f = lm.function([lm.In(m, mutable=True), j], output, mode=mode)
            with pytest.raises(IndexError):
                f(kept, [0, 1, 3])
            assert (kept == 1).all()


def test_constant_indices_out_of_bounds_of_a_known_length_are_errors_at_once() -> None:
    x = lt.tensor("x", dtype="float64", shape=(3, None))
    for index in (
        3,
        -4,
        [0, 3],
        [-4],
        np.array([[0, 5]]),
        (0, slice(None), 0),
        np.ones(4, bool),
        np.ones((3, 2, 2), bool),
    ):
        with pytest.raises(IndexError):
            x[index]
    no_indices: list[Any] = [1.0, "a", [0.5], lt.dscalar("f"), lt.dvector("g"), np.array(1.0), 2**70]
    for wrong in no_indices:
        with pytest.raises(IndexError):
            x[wrong]
    with pytest.raises(IndexError):
        x[..., ...]
    with pytest.raises(ValueError, match="step"):
        x[::0]
    assert x[3:].type.shape == (0, None)
    assert x[-10:10].type.shape == (3, None)


def test_masks_of_another_length_are_errors() -> None:
    x, m, b, w = lt.dvector("x"), lt.dmatrix("m"), lt.vector("b", dtype="bool"), lt.matrix("w", dtype="bool")
    a, grid = np.arange(3.0), np.arange(6.0).reshape(2, 3)
    mask, wide = np.array([True, False, True]), np.array([[True, False, True], [False, True, False]])
    check(
        {x: a, m: grid, b: mask, w: wide},
        (x[b], a[mask]),
        (m[:, b], grid[:, mask]),
        (m[w], grid[wide]),
        (x[b].set(-1.0), np.array([-1.0, 1.0, -1.0])),
        (m[w].inc(10.0), grid + 10.0 * wide),
        (lm.grad(lt.sum(x[b] ** 2), x), 2 * a * mask),
        (lm.grad(lt.sum(m[w] ** 2), m), 2 * grid * wide),
        (x[~b], a[~mask]),
        (x[x > 0], a[a > 0]),
        (lt.sum(x[b]) + 0 * x, np.full(3, 2.0)),
    )
    for wrong in (np.ones(2, bool), np.ones(4, bool), np.zeros(0, bool), np.ones(1, bool)):
        check_error({x: a, b: wrong}, x[b], IndexError)
        check_error({x: a, b: wrong}, x[b].set(0.0), IndexError)
        check_error({m: grid, b: wrong[:1]}, m[b], IndexError)
    check_error({m: grid, w: np.ones((3, 2), bool)}, m[w], IndexError)
