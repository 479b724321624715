"""New arrays: filled, empty, made of scalars."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Alloc, AllocEmpty, MakeVector, TensorType
from tests.codegen.agreement import compiled

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    DTYPES,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    numbers,
    variable,
)


@pytest.mark.parametrize("dtype", DTYPES)
def test_filling(dtype: str) -> None:
    n, m = lt.lscalar("n"), lt.lscalar("m")
    one, row, column = [
        TensorType(dtype, shape)(name) for name, shape in (("one", ()), ("row", (None,)), ("column", (None, 1)))
    ]
    outputs = [
        Alloc()(one, n, m),
        Alloc()(row, n, m),
        Alloc()(row, 2, m),
        Alloc()(column, n, 3),
        Alloc()(column, m, n, 2),
        lt.zeros((n, 3), dtype),
        lt.ones((m, n), dtype),
        Alloc()(one),
    ]
    assert is_in_c([n, m, one, row, column], outputs)
    for a, b in [(2, 3), (1, 1), (0, 3), (3, 0), (300, 40)]:
        values = [np.array(a), np.array(b), bits((), dtype), bits((b,), dtype, 1), bits((a, 1), dtype, 2)]
        assert_same_as_perform([n, m, one, row, column], outputs, values, layouts=["contiguous", "strided"])


def test_lengths_that_do_not_fit() -> None:
    n, x = lt.lscalar("n"), lt.dvector("x")
    ones = np.ones(3)
    assert_same_error([n, x], [Alloc()(x, n)], [np.array(4), ones], [np.array(-1), ones], [np.array(3), ones[:1]])
    assert_same_error([n, x], [Alloc()(x, 2, n)], [np.array(0), ones])
    column = TensorType("float64", (None, 1))("column")
    assert_same_error(
        [n, column], [Alloc()(column, n, 3)], [np.array(3), np.ones((1, 1))], [np.array(0), np.ones((1, 1))]
    )


def test_arrays_that_cannot_be() -> None:
    n = lt.lscalar("n")
    huge = [np.array(2**62), np.array(2**33), np.array(-1), np.array(-(2**63))]
    for output in (AllocEmpty("float64")(n, n), Alloc()(lt.constant(1.0), n, n), lt.eye(n, n)):
        assert_same_error([n], [output], *[[value] for value in huge])
    for output in (AllocEmpty("float64")(n), Alloc()(lt.constant(1.0), n)):
        assert_same_error([n], [output], [np.array(2**62)], [np.array(-1)])
        with pytest.raises(MemoryError):
            compiled([n], [output])([np.array(2**56)])


def test_nothing_where_a_length_is_zero() -> None:
    n, m = lt.lscalar("n"), lt.lscalar("m")
    outputs = [AllocEmpty("float64")(n, m), lt.zeros((n, m)), lt.eye(n, m)]
    assert_same_as_perform([n, m], outputs, [np.array(0), np.array(5)], [np.array(5), np.array(0)])
    assert_same_error([n, m], [AllocEmpty("float64")(n, m)], [np.array(0), np.array(2**62)])


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_empty_arrays_have_the_shape(dtype: str) -> None:
    n = lt.lscalar("n")
    outputs = [AllocEmpty(dtype)(n, 2), AllocEmpty(dtype)(), AllocEmpty(dtype)(3, n)]
    assert is_in_c([n], outputs)
    found = compiled([n], outputs)([np.array(4)])
    assert [(a.shape, a.dtype.name) for a in found] == [((4, 2), dtype), ((), dtype), ((3, 4), dtype)]
    assert all([a.flags.writeable and a.flags.c_contiguous for a in found])


@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_of_scalars(dtype: str) -> None:
    scalars = [TensorType(dtype, ())(name) for name in "abc"]
    make = MakeVector(dtype)
    outputs = [make(*scalars), make(scalars[0]), make(), make(*[scalars[1]] * 5)]
    assert is_in_c(scalars, outputs)
    assert_same_as_perform(scalars, outputs, [bits((), dtype, k) for k in range(3)])


def test_known_shapes_lie_in_the_frame() -> None:
    x = variable(np.zeros(2), known=[0])
    outputs = [lt.sum(Alloc()(x, 3, 2)), lt.sum(lt.zeros((2, 2)) + x), lt.sum(MakeVector("float64")(x[0], x[1]))]
    assert_same_as_perform([x], outputs, [numbers((2,), "float64")])


def test_each_call_gives_arrays_of_its_own() -> None:
    n = lt.lscalar("n")
    function = compiled([n], [lt.zeros((n, 2))])
    (first,) = function([np.array(2)])
    first += 1
    (second,) = function([np.array(2)])
    np.testing.assert_array_equal(second, 0)
    np.testing.assert_array_equal(first, 1)
