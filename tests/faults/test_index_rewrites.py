"""Wrong values from rewrites of indices: read back after writing, taken of what is computed, merged, or seen as others."""

from typing import Any

import numpy as np

import lamella.tensor as lt
from tests.faults.three_ways import check, check_error

A = np.array([[1.0, -0.0, np.nan], [4.0, np.inf, 6.0]])
F64 = np.float64


def _written(array: Any, *writes: Any) -> Any:
    result = np.array(array)
    for index, way, value in writes:
        if way == "set":
            result[index] = value
        else:
            np.add.at(result, index, value)
    return result


def test_what_is_read_after_several_writes() -> None:
    x, i, j, v = lt.dvector("x"), lt.lscalar("i"), lt.lvector("j"), lt.dscalar("v")
    a, places = np.array([1.0, 2.0, -0.0, 4.0]), [0, 0, -4]
    twice = x[j].set(v)[j].set(2.0)
    check(
        {x: a, i: -2, j: places, v: -0.0},
        (twice, _written(a, (places, "set", 2.0))),
        (x[j].inc(v)[j].inc(1.0), _written(a, (places, "inc", 1.0))),
        (x[j].set(1.0)[j].inc(1.0), _written(a, (places, "set", 1.0), (places, "inc", 1.0))),
        (x[j].inc(1.0)[j], np.array([4.0, 4.0, 4.0])),
        (x[i].set(v)[2], F64(-0.0)),
        (x[i].inc(v)[i], F64(-0.0)),
        (x[0].set(7.0)[1], F64(2.0)),
        (x[0].set(7.0)[-4], F64(7.0)),
        (x[i].set(7.0)[2:], np.array([7.0, 4.0])),
        (x[1:].set(7.0)[0], F64(1.0)),
        (x[1:].set(7.0)[-1], F64(7.0)),
        (x[::-1].set(lt.arange(4.0))[::-1], np.arange(4.0)),
        (lt.zeros(4)[1:].inc(v), np.zeros(4)),
        (lt.zeros(4)[1:].set(v), np.array([0.0, -0.0, -0.0, -0.0])),
        (lt.zeros(4)[j].inc(1.0), np.array([3.0, 0.0, 0.0, 0.0])),
        (x[j].set(x[j] + 1.0), _written(a, (places, "set", 2.0))),
        (x[1:].set(x[1:] + v), a),
    )
    for wrong in (x[i].set(v)[0], x[i].set(1.0)[i].set(v), x[i].set(x[i]), x[i].inc(0.0), x[i].set(v)[1:]):
        check_error({x: a, i: 4, v: 1.0}, wrong, IndexError)


def test_an_index_taken_of_what_is_computed() -> None:
    m, w, i = lt.dmatrix("m"), lt.dvector("w"), lt.lscalar("i")
    row = lt.tensor("row", dtype="float64", shape=(1, 3))
    b = np.array([[2.0, -0.0, 3.0]])
    with np.errstate(invalid="ignore"):
        check(
            {m: A, w: b[0], i: -1, row: b},
            ((m * row)[i], (A * b)[-1]),
            ((m * row)[1:, ::-1], (A * b)[1:, ::-1]),
            ((row + row)[i, 1:], (b + b)[-1, 1:]),
            ((m + w)[:, i], (A + b[0])[:, -1]),
            (lt.sum(m, axis=1)[i], np.sum(A, axis=1)[-1]),
            (lt.max(m, axis=0)[1:], np.max(A, axis=0)[1:]),
            (lt.prod(m, axis=0, keepdims=True)[0, i], np.prod(A, axis=0)[-1]),
            ((m * 2).T[i, :1], (A * 2).T[-1, :1]),
            (lt.dimshuffle(m, 1, "x", 0)[i, 0], A.T[-1]),
            (lt.concatenate([m, row])[:, i], np.concatenate([A, b])[:, -1]),
            (lt.concatenate([m, row])[i], b[0]),
            (lt.alloc(w, 4, 3)[i, 1:], b[0, 1:]),
            (lt.fill(m, 2.0)[i, ::2], np.array([2.0, 2.0])),
            (lt.expand_dims(m, 1)[:, 0, i], A[:, -1]),
            (lt.neg(m)[[1, 0]], -A[::-1]),
            (lt.stack([w[0], w[1], w[2]])[[0, 2]], b[0, [0, 2]]),
        )
    for computed in (m * row, lt.sum(m, axis=1), lt.exp(m), lt.alloc(w, 4, 3)[:2], lt.concatenate([m, m], axis=1)):
        check_error({m: A, w: b[0], row: b, i: 2}, computed[i], IndexError)
    check_error({row: b, i: 1}, (row + 1.0)[i], IndexError)
