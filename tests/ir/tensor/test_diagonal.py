"""`ExtractDiag`, `AllocDiag`, `Eye` and triangles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir import AllocDiag, ExtractDiag, TensorType, TensorVariable, grad, lt
from tests.ir.tensor.agreement import Array, Values, agrees, arrays, check_derivatives, numbered, run, shapes

N, M, K = TensorType("int64", ())("n"), TensorType("int64", ())("m"), TensorType("int64", ())("k")


@given(arrays(shapes(min_dims=2)), st.integers(-5, 5), st.data())
def test_diagonals_are_numpys(case: tuple[TensorVariable, Array], offset: int, data: st.DataObject) -> None:
    x, value = case
    axis1, axis2 = data.draw(st.permutations(range(x.ndim)))[:2]
    signed = axis1 - x.ndim if data.draw(st.booleans()) else axis1
    out = x.diagonal(offset, signed, axis2)
    expected = value.diagonal(offset, signed, axis2)
    agrees(out, {x: value}, expected)
    (result,) = run([out], {x: value})
    assert np.shares_memory(result, value) or not expected.size
    agrees(lt.trace(x, offset, axis1, axis2), {x: value}, np.trace(value, offset, axis1, axis2))


@given(arrays(shapes(min_dims=2), ["float64"]), st.integers(-5, 5), st.data())
def test_derivatives_of_diagonals(case: tuple[TensorVariable, Array], offset: int, data: st.DataObject) -> None:
    x, value = case
    axis1, axis2 = data.draw(st.permutations(range(x.ndim)))[:2]
    check_derivatives(lambda v: lt.diagonal(v, offset, axis1, axis2), x, value)


@given(arrays(shapes(min_dims=1, max_dims=3), ["float64", "int8"]), st.integers(-3, 3), st.data())
def test_diagonals_are_laid_where_they_are_taken(
    case: tuple[TensorVariable, Array], offset: int, data: st.DataObject
) -> None:
    x, value = case
    axis1, axis2 = data.draw(st.permutations(range(x.ndim + 1)))[:2]
    extra = data.draw(st.integers(0, 2))
    length = value.shape[-1]
    rows, columns = length + max(-offset, 0), length + max(offset, 0) + extra
    if length == 0:
        rows, columns = 0, 2
    op = AllocDiag(offset, axis1, axis2)
    out = op(x, rows, columns)
    (result,) = run([out], {x: value})
    np.testing.assert_array_equal(result.diagonal(offset, axis1, axis2), value)
    assert np.count_nonzero(result) == np.count_nonzero(value)
    agrees(out, {x: value}, result)
    agrees(op(x, N, M), {x: value, N: np.array(rows), M: np.array(columns)}, result)
    agrees(ExtractDiag(offset, axis1, axis2)(out), {x: value}, value)
    if x.dtype == "float64":
        check_derivatives(lambda v: op(v, rows, columns), x, value)


@given(arrays(shapes(min_dims=1, max_dims=2)), st.integers(-4, 4))
def test_diag_is_numpys(case: tuple[TensorVariable, Array], k: int) -> None:
    x, value = case
    agrees(lt.diag(x, k), {x: value}, np.diag(value, k))


def test_a_negative_offset() -> None:
    # B40
    x = TensorType("float64", (None, None))("x")
    gradient = grad(lt.sum(lt.diagonal(x, offset=-1) * np.array([1.0, 2.0])), x)
    np.testing.assert_array_equal(gradient.eval({x: numbered((3, 3))}), [[0, 0, 0], [1, 0, 0], [0, 2, 0]])


def test_static_lengths_of_diagonals() -> None:
    def static(shape: tuple[int | None, ...], offset: int) -> tuple[int | None, ...]:
        return lt.diagonal(TensorType("float64", shape)(), offset).type.shape

    assert static((3, 5), 0) == (3,)
    assert static((3, 5), 3) == (2,)
    assert static((3, 5), -7) == (0,)
    assert static((None, 5), 0) == (None,)
    assert static((None, 5), 5) == (0,)
    assert static((2, None), -2) == (0,)
    assert static((0, None), 1) == (0,)


def test_wrong_diagonals_are_refused() -> None:
    x = TensorType("float64", (None, None))("x")
    v = TensorType("float64", (None,))("v")
    with pytest.raises(ValueError, match="not two axes"):
        lt.diagonal(x, 0, 1, 1)
    with pytest.raises(np.exceptions.AxisError):
        lt.diagonal(v)
    with pytest.raises(ValueError, match="a vector or a matrix"):
        lt.diag(lt.zeros((1, 1, 1)))
    with pytest.raises(StaticShapeError, match="has 3 elements, not 2"):
        AllocDiag()(lt.zeros((2,)), 3, 3)
    with pytest.raises(ShapeMismatchError, match="has 3 elements, not 2"):
        AllocDiag()(v, 3, N).eval({v: numbered((2,)), N: 4})
    with pytest.raises(TypeError, match="has no dimensions"):
        AllocDiag()(N, 3, 3)


def test_a_diagonal_is_as_writable_as_its_array() -> None:
    x = TensorType("float64", (None, None))("x")
    value = numbered((3, 3))
    (result,) = run([lt.diagonal(x)], {x: value})
    assert result.flags.writeable
    value.setflags(write=False)
    (result,) = run([lt.diagonal(x)], {x: value})
    assert not result.flags.writeable


sizes = st.integers(0, 4)


@given(sizes, sizes, st.integers(-5, 5), st.sampled_from(["float64", "int8", "bool"]))
def test_eye_and_tri_are_numpys(n: int, m: int, k: int, dtype: str) -> None:
    values: Values = {N: np.array(n), M: np.array(m), K: np.array(k)}
    known, symbolic = lt.eye(n, m, k, dtype), lt.eye(N, M, K, dtype)
    assert known.type.shape == (n, m)
    agrees(known, {}, np.eye(n, m, k, dtype=dtype))
    agrees(symbolic, values, np.eye(n, m, k, dtype=dtype))
    agrees(lt.identity(N, dtype), values, np.identity(n, dtype=dtype))
    agrees(lt.eye(n), {}, np.eye(n))
    agrees(lt.tri(n, m, k, dtype), {}, np.tri(n, m, k, dtype=dtype))
    agrees(lt.tri(N, M, K, dtype), values, np.tri(n, m, k, dtype=dtype))


@given(arrays(shapes(min_dims=1), ["float64", "int8", "bool"]), st.integers(-4, 4))
def test_triangles_are_numpys(case: tuple[TensorVariable, Array], k: int) -> None:
    x, value = case
    values: Values = {x: value, K: np.array(k)}
    agrees(lt.tril(x, k), values, np.tril(value, k))
    agrees(lt.triu(x, k), values, np.triu(value, k))
    agrees(lt.triu(x, K), values, np.triu(value, k))


def test_triangles_stop_nan() -> None:
    x = TensorType("float64", (2, 2))("x")
    agrees(lt.tril(x), {x: np.full((2, 2), np.nan)}, np.tril(np.full((2, 2), np.nan)))
    check_derivatives(lt.tril, x, numbered((2, 2)))
    with pytest.raises(ValueError, match="a matrix is wanted"):
        lt.tril(N)


def test_negative_sizes_of_eye() -> None:
    with pytest.raises(StaticShapeError, match="negative lengths"):
        lt.eye(-1)
    with pytest.raises(ValueError, match="negative lengths"):
        lt.eye(N).eval({N: -1})
    with pytest.raises(TypeError, match="a length is an integer"):
        lt.eye(2.0)
