"""`dot`, `matmul`, `tensordot` and their relatives: NumPy's values, dtypes and shapes; right derivatives; no silent broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.tensor import TensorType, TensorVariable
from lamella.testing import verify_grad
from tests.ir.tensor.against_numpy import ALL_DTYPES, Array, assert_agrees, layouts, some_values, variable_like

TOLERANCE = {"float16": 4e-3, "float32": 2e-6, "complex64": 2e-6}


def assert_product_agrees(
    function: Callable[..., TensorVariable], reference: Callable[..., Any], a: Array, b: Array
) -> None:
    x, y = variable_like(a), variable_like(b, name="y")
    expected = np.asarray(reference(a, b))
    result = function(x, y)
    assert_agrees(result, {x: a, y: b}, expected, rtol=TOLERANCE.get(expected.dtype.name, 1e-13))


SHAPES_OF_DOT = [
    ((), ()),
    ((), (3,)),
    ((2, 3), ()),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((2, 5, 3), (3,)),
    ((3,), (2, 3, 4)),
    ((2, 5, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((2, 5, 3), (4, 3, 2)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((0,), (0,)),
    ((0, 5, 3), (4, 3, 2)),
    ((1, 1), (1, 1)),
]

SHAPES_OF_MATMUL = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (1, 6, 3, 4)),
    ((6, 2, 3), (5, 1, 3, 4)),
    ((0, 2, 3), (0, 3, 4)),
    ((2, 2, 0), (2, 0, 4)),
    ((0, 2, 3), (1, 3, 4)),
]


@pytest.mark.parametrize(("first", "second"), SHAPES_OF_DOT)
def test_dot_of_all_ranks(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    for dtypes in [("float64", "float64"), ("float32", "int64"), ("int8", "uint8"), ("bool", "bool")]:
        a, b = some_values(first, dtypes[0]), some_values(second, dtypes[1], seed=1)
        assert_product_agrees(lt.dot, np.dot, a, b)


@pytest.mark.parametrize(("first", "second"), SHAPES_OF_MATMUL)
def test_matmul_of_all_ranks(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    for dtypes in [("float64", "float64"), ("float32", "int64"), ("int8", "uint8"), ("bool", "bool")]:
        a, b = some_values(first, dtypes[0]), some_values(second, dtypes[1], seed=1)
        known = [n == 1 for n in first], [n == 1 for n in second]
        x, y = variable_like(a, known[0]), variable_like(b, known[1], name="y")
        expected = np.asarray(np.matmul(a, b))
        assert_agrees(lt.matmul(x, y), {x: a, y: b}, expected, rtol=TOLERANCE.get(expected.dtype.name, 1e-13))


@pytest.mark.parametrize("second", ALL_DTYPES)
@pytest.mark.parametrize("first", ALL_DTYPES)
def test_dtypes_are_those_of_numpy(first: str, second: str) -> None:
    assert_product_agrees(lt.dot, np.dot, some_values((2, 2), first), some_values((2, 2), second, seed=1))
    stack = (2, 2, 2)
    assert_product_agrees(lt.matmul, np.matmul, some_values(stack, first), some_values(stack, second, seed=1))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32", "bool"])
@pytest.mark.parametrize(("first", "second"), [((3,), (3,)), ((2, 3), (3,)), ((3, 3), (3, 4)), ((2, 2, 3), (2, 3, 2))])
def test_every_layout(first: tuple[int, ...], second: tuple[int, ...], dtype: str) -> None:
    a, b = some_values(first, dtype), some_values(second, dtype, seed=1)
    x, y = variable_like(a), variable_like(b, name="y")
    result, expected = lt.matmul(x, y), np.matmul(a, b)
    for left in layouts(a).values():
        for right in layouts(b).values():
            assert_agrees(result, {x: left, y: right}, expected, rtol=TOLERANCE.get(dtype, 1e-13))


@pytest.mark.parametrize(
    ("first", "second"), [((1, 5), (5, 3)), ((3, 1), (1, 2)), ((1, 1), (1, 1)), ((0, 5), (5, 2)), ((3, 0), (0, 2))]
)
def test_rows_columns_and_empty_matrices_with_negative_strides(first: tuple[int, int], second: tuple[int, int]) -> None:
    a, b = some_values((2 * first[0], first[1]), "float64"), some_values(second, "float64", seed=1)
    left, right = a[::-2, ::-1], b[::-1]
    x, y = variable_like(left), variable_like(right, name="y")
    assert_agrees(x @ y, {x: left, y: right}, left @ right)


@given(st.data())
def test_any_stacks_with_any_static_knowledge(data: st.DataObject) -> None:
    sides = st.integers(0, 3)
    n, k, m = data.draw(sides), data.draw(sides), data.draw(sides)
    stack = data.draw(st.lists(sides, max_size=2))
    operands: list[Array] = []
    variables: list[TensorVariable] = []
    for name, matrix in (("x", [n, k]), ("y", [k, m])):
        kept = stack[data.draw(st.integers(0, len(stack))) :]
        lengths = [1 if data.draw(st.booleans()) else length for length in kept]
        array = some_values([*lengths, *matrix], "float64", seed=len(name))
        known = [length == 1 or data.draw(st.booleans()) for length in array.shape]
        operands.append(array)
        variables.append(variable_like(array, known, name))
    result = lt.matmul(*variables)
    expected = np.matmul(*operands)
    for found, actual in zip(result.type.shape, expected.shape, strict=True):
        assert found in (None, actual)
    if all(length is not None for v in variables for length in v.type.shape):
        assert result.type.shape == expected.shape
    assert_agrees(result, dict(zip(variables, operands, strict=True)), expected)


class TestStaticShapes:
    @pytest.mark.parametrize(
        ("first", "second", "expected"),
        [
            ((2, 3), (3, 4), (2, 4)),
            ((None, 3), (None, 4), (None, 4)),
            ((3,), (None, 4), (4,)),
            ((2, None), (None,), (2,)),
            ((None,), (None,), ()),
            ((5, 2, 3), (3, None), (5, 2, None)),
            ((None, 2, 3), (5, 3, 4), (5, 2, 4)),
            ((1, 2, 3), (None, 3, 4), (None, 2, 4)),
            ((None, 2, 3), (1, 3, 4), (None, 2, 4)),
            ((1, 2, 3), (1, 3, 4), (1, 2, 4)),
            ((6, 1, 2, 3), (5, 3, 4), (6, 5, 2, 4)),
            ((3,), (5, 3, 4), (5, 4)),
            ((5, None, 3), (3,), (5, None)),
            ((0, 2, 3), (1, 3, 4), (0, 2, 4)),
        ],
    )
    def test_of_matmul(
        self, first: Sequence[int | None], second: Sequence[int | None], expected: tuple[int | None, ...]
    ) -> None:
        x, y = TensorType("float64", first)("x"), TensorType("float64", second)("y")
        assert lt.matmul(x, y).type.shape == expected

    def test_of_dot_and_tensordot(self) -> None:
        x, y = TensorType("float64", (2, None, 3))("x"), TensorType("float64", (5, 3, None))("y")
        assert lt.dot(x, y).type.shape == (2, None, 5, None)
        assert lt.tensordot(x, y, axes=([2], [1])).type.shape == (2, None, 5, None)
        assert lt.inner(x, lt.TensorType("float64", (4, 3))("z")).type.shape == (2, None, 4)
        assert lt.outer(x, y).type.shape == (None, None)

    def test_a_numpy_array_on_the_left_builds_the_graph(self) -> None:
        x = TensorType("float64", (19, 19))("x")
        product = np.zeros((20, 19)) @ x
        assert isinstance(product, TensorVariable)
        assert product.type.shape == (20, 19)
        assert product is lt.matmul(np.zeros((20, 19)), x)
        assert isinstance(x @ np.zeros((19, 2)), TensorVariable)


class TestLengthsThatDiffer:
    def test_a_length_of_one_is_not_broadcast(self) -> None:
        a, b = TensorType("float64", (3, 1))("a"), TensorType("float64", (None, 1))("b")
        product = a @ b
        column = np.array([[1.0], [2], [3]])
        assert_agrees(product, {a: column, b: np.array([[5.0]])}, [[5.0], [10], [15]])
        with pytest.raises(ValueError, match="the last axis of a has length 1, axis 0 of b has length 4"):
            product.eval({a: column, b: np.ones((4, 1))})

    def test_stacks_of_unknown_length_are_not_broadcast(self) -> None:
        x, y = lt.tensor3("x"), lt.tensor3("y")
        with pytest.raises(BroadcastError, match="x has length 1 along axis 0, y has length 2"):
            (x @ y).eval({x: np.ones((1, 2, 2)), y: np.ones((2, 2, 2))})
        with pytest.raises(ValueError, match="they are summed over"):
            (x @ y).eval({x: np.ones((2, 2, 3)), y: np.ones((2, 2, 2))})

    def test_narrower_inputs_do_not_begin_to_broadcast(self) -> None:
        x, y = lt.tensor3("x"), lt.tensor3("y")
        narrow = TensorType("float64", (1, None, None))("narrow")
        (product,) = lm.graph_replace([x @ y], {x: narrow})
        assert isinstance(product, TensorVariable)
        with pytest.raises(BroadcastError):
            product.eval({narrow: np.ones((1, 2, 2)), y: np.ones((2, 2, 2))})
        assert_agrees(product, {narrow: np.ones((1, 2, 2)), y: np.ones((1, 2, 2))}, np.full((1, 2, 2), 2.0))

    @pytest.mark.parametrize(
        ("first", "second"),
        [((2, 3), (4, 2)), ((3,), (4,)), ((1, 3), (1, 3)), ((5, 2, 3), (5, 4, 2)), ((5, 2, 3), (4, 3, 2))],
    )
    def test_known_lengths_are_refused_when_built(self, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        x, y = TensorType("float64", first)("x"), TensorType("float64", second)("y")
        with pytest.raises(StaticShapeError, match="x"):
            lt.matmul(x, y)

    def test_joined_axes_of_equal_size(self) -> None:
        x, y = lt.matrix("x"), lt.matrix("y")
        product = lt.tensordot(x, y, axes=2)
        with pytest.raises(ValueError, match="length"):
            product.eval({x: np.ones((2, 3)), y: np.ones((3, 2))})
        with pytest.raises(StaticShapeError, match="they must be equal"):
            lt.tensordot(TensorType("float64", (2, 3))("x"), TensorType("float64", (3, 2))("y"), axes=2)

    def test_matmul_of_a_scalar(self) -> None:
        with pytest.raises(ValueError, match="s is a scalar: multiply by it with \\*"):
            lt.matmul(lt.scalar("s"), lt.vector("x"))

    def test_ops_take_what_they_are_for(self) -> None:
        with pytest.raises(TypeError, match="Dot multiplies vectors and matrices"):
            lt.Dot()(lt.tensor3("x"), lt.vector("y"))
        with pytest.raises(TypeError, match="BatchedDot multiplies stacks of matrices"):
            lt.BatchedDot()(lt.matrix("x"), lt.matrix("y"))


TENSORDOTS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((2,), (3, 2, 2), [[-1], [-1]]),
    ((2, 3), (2, 3), 2),
    ((2, 3), (3, 4), 1),
    ((2, 3), (4,), 0),
    ((), (4, 2), 0),
    ((2, 3, 4), (4, 3, 5), [[1, 2], [1, 0]]),
    ((2, 3, 4), (5, 3, 4), [[2, 1], [2, 1]]),
    ((2, 3, 4), (4, 2, 3), [[0, 1, 2], [1, 2, 0]]),
    ((2, 3, 4), (4,), (2, 0)),
    ((2, 3, 4), (3, 5, 2), (-2, -3)),
    ((0, 3, 4), (4, 3, 5), [[1, 2], [1, 0]]),
    ((2, 3, 0), (0, 3, 5), [[1, 2], [1, 0]]),
    ((2, 3, 4, 2), (4, 5), [[2], [0]]),
]


@pytest.mark.parametrize(("first", "second", "axes"), TENSORDOTS)
def test_tensordot(first: tuple[int, ...], second: tuple[int, ...], axes: Any) -> None:
    for dtype in ("float64", "int16"):
        a, b = some_values(first, dtype), some_values(second, dtype, seed=1)
        assert_product_agrees(
            lambda x, y: lt.tensordot(x, y, axes=axes), lambda x, y: np.tensordot(x, y, axes=axes), a, b
        )
        x, y = lt.constant(a), lt.constant(b)
        assert lt.tensordot(x, y, axes=axes).type.shape == np.tensordot(a, b, axes=axes).shape


def test_tensordot_with_negative_axes() -> None:
    x, h = lt.constant(np.array([1.0, 2])), lt.constant(np.arange(12.0).reshape(3, 2, 2))
    result = lt.tensordot(x, h, axes=[[-1], [-1]])
    assert result.type.shape == (3, 2)
    np.testing.assert_array_equal(result.eval(), [[2, 8], [14, 20], [26, 32]])


@pytest.mark.parametrize(
    ("axes", "error"),
    [
        (3, "cannot sum over 3 axes"),
        (-1, "cannot sum over -1 axes"),
        ([[0], [0], [0]], "are those of each operand"),
        ([[0, 1], [0]], "pairs of axes"),
        ([[0, 0], [0, 1]], "repeated axis"),
        ([[0], [2]], "out of bounds"),
    ],
)
def test_axes_of_tensordot_that_make_no_sense(axes: Any, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        lt.tensordot(lt.matrix("x"), lt.matrix("y"), axes=axes)


@pytest.mark.parametrize(
    ("first", "second"), [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (4, 3)), ((2, 3, 4), (5, 4)), ((), (3,)), ((3,), ())]
)
def test_inner(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert_product_agrees(lt.inner, np.inner, some_values(first, "float32"), some_values(second, "int16", seed=1))


@pytest.mark.parametrize(("first", "second"), [((3,), (4,)), ((2, 3), (2,)), ((), (3,)), ((0,), (3,))])
def test_outer(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert_product_agrees(lt.outer, np.outer, some_values(first, "float32"), some_values(second, "complex64", seed=1))


def test_vdot_conjugates_the_first() -> None:
    a, b = some_values((2, 3), "complex128"), some_values((2, 3), "complex128", seed=1)
    assert_product_agrees(lt.vdot, np.vdot, a, b)
    assert_product_agrees(lt.vdot, np.vdot, a.real, b)


class TestDerivatives:
    def point(self, shape: tuple[int, ...], seed: int) -> Array:
        return np.random.default_rng(seed).uniform(-2, 2, shape)

    @pytest.mark.parametrize(("first", "second"), SHAPES_OF_DOT)
    def test_of_dot(self, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        verify_grad(lt.dot, [self.point(first, 1), self.point(second, 2)])

    @pytest.mark.parametrize(("first", "second"), SHAPES_OF_MATMUL)
    def test_of_matmul(self, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        verify_grad(lt.matmul, [self.point(first, 1), self.point(second, 2)])

    @pytest.mark.parametrize(("first", "second", "axes"), TENSORDOTS)
    def test_of_tensordot(self, first: tuple[int, ...], second: tuple[int, ...], axes: Any) -> None:
        verify_grad(lambda x, y: lt.tensordot(x, y, axes=axes), [self.point(first, 1), self.point(second, 2)])

    @pytest.mark.parametrize("function", [lt.inner, lt.outer, lt.vdot])
    def test_of_the_others(self, function: Callable[..., TensorVariable]) -> None:
        verify_grad(function, [self.point((2, 3), 1), self.point((2, 3), 2)])

    @pytest.mark.parametrize(("first", "second"), [((2, 3), (3, 2)), ((3,), (3,)), ((2, 3), (3,)), ((2, 2, 3), (3, 2))])
    def test_of_second_order(self, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        verify_grad(
            lambda x, y: lm.grad(lt.sum(lt.matmul(x, y) ** 2), [x, y]), [self.point(first, 1), self.point(second, 2)]
        )

    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_they_keep_the_dtype(self, dtype: str) -> None:
        verify_grad(lt.matmul, [self.point((2, 3), 1).astype(dtype), self.point((3, 2), 2).astype(dtype)])
        x, y = lt.matrix("x", dtype=dtype), lt.matrix("y", dtype="float64")
        gx, gy = lm.grad(lt.sum(x @ y), [x, y])
        assert (gx.dtype, gy.dtype) == (dtype, "float64")

    def test_of_integers_they_are_zero(self) -> None:
        x, y = lt.vector("x", dtype="int64"), lt.vector("y", dtype="int64")
        gradient = lm.grad(lt.dot(x, y) * 1.5, x)
        assert_agrees(gradient, {x: np.array([1, 2]), y: np.array([3, 4])}, np.zeros(2))

    def test_of_complex_numbers(self) -> None:
        a, b = some_values((2, 3), "complex128"), some_values((3,), "complex128", seed=1)
        x, y = variable_like(a), variable_like(b, name="y")
        gx, gy = lm.grad(lt.sum(lt.real(x @ y)), [x, y])
        np.testing.assert_allclose(gx.eval({x: a, y: b}), np.conj(np.stack([b, b])))
        np.testing.assert_allclose(gy.eval({x: a, y: b}), np.conj(a.sum(axis=0)))

    @pytest.mark.parametrize(("first", "second"), [((2, 3), (3, 2)), ((3,), (3,)), ((1, 2, 3), (4, 3, 2))])
    def test_forward_derivatives_are_the_transposed_ones(self, first: tuple[int, ...], second: tuple[int, ...]) -> None:
        a, b = self.point(first, 1), self.point(second, 2)
        x, y = variable_like(a, [n == 1 for n in first]), variable_like(b, name="y")
        t, u = x.type("t"), y.type("u")
        z = lt.matmul(x, y)
        w = z.type("w")
        forward = lt.sum(lm.Rop(z, [x, y], [t, u]) * w)
        gx, gy = lm.grad(lt.sum(z * w), [x, y])
        backward = lt.sum(gx * t) + lt.sum(gy * u)
        given_ = {x: a, y: b, t: self.point(first, 3), u: self.point(second, 4)}
        given_[w] = self.point(np.matmul(a, b).shape, 5)
        np.testing.assert_allclose(forward.eval(given_), backward.eval(given_), rtol=1e-12)
