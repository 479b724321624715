"""Reductions: values, dtypes, shapes and errors are NumPy's; derivatives are right, at zeros and ties too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.tensor import TensorType, TensorVariable
from lamella.testing import verify_grad
from tests.ir.tensor.against_numpy import (
    ALL_DTYPES,
    Array,
    assert_agrees,
    layouts,
    quietly,
    shapes,
    some_values,
    variable_like,
)

REDUCTIONS: dict[str, tuple[Callable[..., TensorVariable], Callable[..., Any]]] = {
    "sum": (lt.sum, np.sum),
    "prod": (lt.prod, np.prod),
    "max": (lt.max, np.max),
    "min": (lt.min, np.min),
    "all": (lt.all, np.all),
    "any": (lt.any, np.any),
    "count_nonzero": (lt.count_nonzero, np.count_nonzero),
}

INTEGER_REDUCTIONS: dict[str, tuple[Callable[..., TensorVariable], np.ufunc]] = {
    "bitwise_and": (lt.bitwise_and_reduce, np.bitwise_and),
    "bitwise_or": (lt.bitwise_or_reduce, np.bitwise_or),
    "bitwise_xor": (lt.bitwise_xor_reduce, np.bitwise_xor),
}


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values_and_dtypes_are_those_of_numpy_on_every_layout(name: str, dtype: str) -> None:
    function, reference = REDUCTIONS[name]
    values = some_values((2, 3, 4), dtype)
    x = variable_like(values)
    for axis, keepdims in [(None, False), (None, True), (1, False), (-1, True), ((0, 2), False), ((-3, 1), True)]:
        result = function(x, axis=axis, keepdims=keepdims)
        expected = quietly(reference, values, axis=axis, keepdims=keepdims)
        for value in layouts(values).values():
            assert_agrees(result, {x: value}, expected)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if not dtype.startswith(("float", "complex"))])
@pytest.mark.parametrize("name", INTEGER_REDUCTIONS)
def test_bitwise_reductions_are_those_of_numpy(name: str, dtype: str) -> None:
    function, ufunc = INTEGER_REDUCTIONS[name]
    for shape in [(2, 3), (0, 3), (3,), ()]:
        values = some_values(shape, dtype)
        x = variable_like(values)
        for axis in [None, *range(len(shape))]:
            expected = ufunc.reduce(values, axis=tuple(range(len(shape))) if axis is None else axis)
            assert_agrees(function(x, axis=axis), {x: values}, expected)


def test_bitwise_reductions_of_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="BitwiseAndReduce is defined for integers and booleans, not for float64"):
        lt.bitwise_and_reduce(lt.vector("x", dtype="float64"))


@given(st.data())
def test_any_shape_any_axes_any_static_knowledge(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(REDUCTIONS)))
    function, reference = REDUCTIONS[name]
    shape = data.draw(shapes())
    values = some_values(shape, data.draw(st.sampled_from(["float32", "int16", "bool", "complex64"])))
    axes = data.draw(st.none() | st.lists(st.sampled_from(range(len(shape))), unique=True) if shape else st.none())
    axis = axes if axes is None else tuple([a - len(shape) if data.draw(st.booleans()) else a for a in axes])
    keepdims = data.draw(st.booleans())
    known = [data.draw(st.booleans()) for _ in shape]
    x = variable_like(values, known)
    result = function(x, axis=axis, keepdims=keepdims)
    reduced = range(len(shape)) if axes is None else axes
    exact = [
        1 if i in reduced else n if k else None
        for i, (n, k) in enumerate(zip(shape, known, strict=True))
        if keepdims or i not in reduced
    ]
    assert result.type.shape == tuple(exact)
    try:
        expected = quietly(reference, values, axis=axis, keepdims=keepdims)
    except ValueError:
        assert name in ("max", "min")
        with pytest.raises(ValueError, match="zero-size array"):
            result.eval({x: values})
    else:
        assert_agrees(result, {x: values}, expected)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_the_result_may_have_any_dtype_that_keeps_the_imaginary_part(dtype: str) -> None:
    values = some_values((3, 2), dtype)
    x = variable_like(values)
    for wanted in ALL_DTYPES:
        for function, reference in [REDUCTIONS["sum"], REDUCTIONS["prod"]]:
            if dtype.startswith("complex") and not wanted.startswith("complex"):
                with pytest.raises(TypeError, match="would lose the imaginary part"):
                    function(x, dtype=wanted)
                continue
            result = function(x, axis=0, dtype=wanted)
            assert_agrees(result, {x: values}, quietly(reference, values, axis=0, dtype=wanted))


class TestNormalForm:
    def test_all_ways_to_write_the_axes_give_one_node(self) -> None:
        x = lt.matrix("x", dtype="float32")
        assert lt.sum(x) is lt.sum(x, axis=(0, 1)) is lt.sum(x, axis=[-1, 0]) is lt.Sum()(x)
        assert lt.sum(x) is lt.sum(x, dtype="float32", acc_dtype="float64")
        assert lt.max(x, axis=-1) is lt.max(x, axis=1) is lt.max(x, axis=np.int64(1))  # type: ignore[arg-type]  # an index, as NumPy has them

    def test_the_op_of_a_node_says_everything(self) -> None:
        x = lt.matrix("x", dtype="int8")
        node = lt.prod(x, axis=-1).owner
        assert node is not None
        match node.op:
            case lt.Prod(axis, dtype, acc_dtype):
                assert (axis, dtype, acc_dtype) == ((1,), "int64", "int64")
            case _:
                pytest.fail("not a product")

    def test_it_applies_to_the_same_inputs_as_itself(self) -> None:
        x = lt.tensor3("x")
        for function, _ in REDUCTIONS.values():
            node = function(x, axis=(0, -1)).owner
            assert node is not None
            again: Any = node.op.make_node
            assert again(*node.inputs) is node

    def test_it_prints_what_is_not_a_matter_of_course(self) -> None:
        x = lt.matrix("x", dtype="float32")
        assert str(lt.Sum(0)) == "Sum{axis=(0,)}"
        assert str(lt.sum(x, axis=1).owner) == "Sum{axis=(1,)}(x)"
        assert str(lt.sum(x, axis=1, acc_dtype="float32").owner) == "Sum{axis=(1,), acc_dtype=float32}(x)"

    def test_axes_are_unknown_before_it_is_applied(self) -> None:
        with pytest.raises(ValueError, match="reduces all axes of what it is applied to"):
            lt.Sum().axes  # noqa: B018  # the access raises


class TestErrors:
    @pytest.mark.parametrize("name", REDUCTIONS)
    @pytest.mark.parametrize("axis", [2, -3, (0, 5)])
    def test_an_axis_that_is_not_there(self, name: str, axis: Any) -> None:
        with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
            REDUCTIONS[name][0](lt.matrix("x"), axis=axis)

    @pytest.mark.parametrize("name", REDUCTIONS)
    def test_an_axis_that_is_named_twice(self, name: str) -> None:
        with pytest.raises(ValueError, match="repeated axis"):
            REDUCTIONS[name][0](lt.matrix("x"), axis=(1, -1))

    def test_a_scalar_has_no_axis(self) -> None:
        with pytest.raises(np.exceptions.AxisError):
            lt.sum(lt.scalar("x"), axis=0)

    def test_an_axis_is_an_integer(self) -> None:
        with pytest.raises(TypeError, match="float"):
            lt.sum(lt.matrix("x"), axis=1.0)  # type: ignore[arg-type]  # that is the point

    @pytest.mark.parametrize("function", [lt.max, lt.min])
    def test_an_extreme_of_nothing(self, function: Callable[..., TensorVariable]) -> None:
        x = lt.matrix("x")
        with pytest.raises(ValueError, match="no identity"):
            function(x, axis=0).eval({x: np.zeros((0, 3))})
        assert function(x, axis=1).eval({x: np.zeros((0, 3))}).shape == (0,)


class TestNumbers:
    def test_a_float32_sum_is_accurate_and_stays_float32(self) -> None:
        x = lt.vector("x", dtype="float32")
        rows = lt.matrix("rows", dtype="float32")
        tenths = np.full(10**7, 0.1, dtype="float32")
        total = lt.sum(x).eval({x: tenths})
        assert total.dtype == np.float32
        assert abs(total / 1e6 - 1) < 1e-6
        columns = lt.sum(rows, axis=0).eval({rows: tenths.reshape(-1, 2)})
        assert columns.dtype == np.float32
        np.testing.assert_allclose(columns, 5e5, rtol=1e-6)

    def test_float16_is_accumulated_in_float32(self) -> None:
        x = lt.vector("x", dtype="float16")
        total = lt.sum(x).eval({x: np.full(5000, 0.1, dtype="float16")})
        assert total.dtype == np.float16
        assert abs(float(total) - 500) < 0.5
        assert lt.sum(x).eval({x: np.array([60000, 60000, -60000], dtype="float16")}) == 60000

    def test_the_accumulator_can_be_chosen(self) -> None:
        x = lt.vector("x", dtype="float32")
        big = np.array([2.0**24, 1, 1, -(2.0**24)], dtype="float32")
        assert lt.sum(x).eval({x: big}) == 2
        assert lt.sum(x, acc_dtype="float32").eval({x: big}) != 2

    def test_nan_wins(self) -> None:
        x = lt.matrix("x")
        values = np.array([[1, np.nan], [2, 0]])
        for function in (lt.max, lt.min):
            assert np.isnan(function(x).eval({x: values}))
        np.testing.assert_array_equal(lt.max(x, axis=0).eval({x: values}), [2, np.nan])
        np.testing.assert_array_equal(lt.min(x, axis=0).eval({x: values}), [1, np.nan])
        assert bool(lt.all(x[0]).eval({x: values}))

    def test_booleans_and_bytes(self) -> None:
        b = lt.vector("b", dtype="bool")
        values = np.array([True, True, False])
        assert_agrees(lt.sum(b), {b: values}, np.int64(2))
        assert_agrees(lt.max(b), {b: values}, np.True_)
        assert_agrees(lt.min(b), {b: values}, np.False_)
        u = lt.matrix("u", dtype="uint8")
        bytes_ = np.array([[255, 0], [255, 255]], dtype="uint8")
        assert_agrees(lt.max(u, axis=0), {u: bytes_}, np.array([255, 255], dtype="uint8"))
        assert_agrees(lt.min(u, axis=0), {u: bytes_}, np.array([255, 0], dtype="uint8"))
        assert_agrees(lt.bitwise_and_reduce(u, axis=0), {u: bytes_}, np.array([255, 0], dtype="uint8"))
        assert_agrees(lt.sum(u), {u: bytes_}, np.uint64(765))

    def test_different_reductions_one_after_the_other(self) -> None:
        x = lt.matrix("x")
        values = np.array([[2.0, 3], [4, 5]])
        assert lt.sum(lt.prod(x, axis=1)).eval({x: values}) == 26
        assert lt.prod(lt.sum(x, axis=1)).eval({x: values}) == 45
        assert lt.max(lt.min(x, axis=1)).eval({x: values}) == 4
        assert lt.all(lt.any(x > 3, axis=1)).eval({x: values}) == np.False_

    def test_integers_wrap_as_numpy(self) -> None:
        x = lt.vector("x", dtype="int64")
        values = np.array([2**62, 2**62, 2**62])
        assert_agrees(lt.sum(x), {x: values}, np.sum(values))
        assert_agrees(lt.prod(x), {x: values}, np.prod(values))

    def test_an_operand_may_be_an_array_or_a_number(self) -> None:
        assert lt.sum(np.arange(4)).eval() == 6
        assert lt.max(3).eval() == 3


POINT = np.array([[0.3, -1.2, 2.0], [1.7, 0.4, -0.6]])


class TestDerivatives:
    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), ()])
    @pytest.mark.parametrize("keepdims", [False, True])
    @pytest.mark.parametrize("function", [lt.sum, lt.prod, lt.max, lt.min])
    def test_they_are_the_numeric_ones(
        self, function: Callable[..., TensorVariable], axis: Any, keepdims: bool
    ) -> None:
        verify_grad(lambda x: function(x, axis=axis, keepdims=keepdims), [POINT])

    @pytest.mark.parametrize("function", [lt.sum, lt.prod, lt.max, lt.min])
    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_they_keep_the_dtype(self, function: Callable[..., TensorVariable], dtype: str) -> None:
        x = lt.matrix("x", dtype=dtype)
        assert lm.grad(lt.sum(function(x, axis=0)), x).dtype == dtype
        verify_grad(lambda x: function(x, axis=0), [POINT.astype(dtype)])

    @pytest.mark.parametrize("function", [lt.sum, lt.prod, lt.max, lt.min])
    def test_of_a_column_of_length_one_and_of_no_elements(self, function: Callable[..., TensorVariable]) -> None:
        verify_grad(lambda x: function(x, axis=0), [POINT[:1]])
        verify_grad(lambda x: function(x, axis=1), [POINT[:, :1]])
        verify_grad(lambda x: function(x, axis=1), [POINT[:0]])

    @pytest.mark.parametrize("function", [lt.sum, lt.prod])
    def test_through_a_wider_result(self, function: Callable[..., TensorVariable]) -> None:
        verify_grad(lambda x: function(x, axis=0, dtype="float64"), [POINT.astype("float32")])

    @pytest.mark.parametrize("function", [lt.sum, lt.prod])
    def test_of_real_numbers_through_a_complex_result(self, function: Callable[..., TensorVariable]) -> None:
        verify_grad(lambda x: lt.real(function(x, axis=0, dtype="complex128") * (2 + 1j)), [POINT])

    def test_of_integers_and_of_what_is_discrete_they_are_zero(self) -> None:
        x = lt.vector("x", dtype="int64")
        for function in (lt.sum, lt.prod, lt.max, lt.all):
            gradient = lm.grad(lt.sum(function(x) * 2.0), x)
            assert_agrees(gradient, {x: np.array([1, 2])}, np.zeros(2))
        y = lt.vector("y", dtype="float32")
        gradient = lm.grad(lt.sum(lt.any(y) * 2.0), y)
        assert_agrees(gradient, {y: np.ones(2, dtype="float32")}, np.zeros(2, dtype="float32"))
        gradient = lm.grad(lt.sum(lt.sum(y, dtype="int64") * 2.0), y)
        assert_agrees(gradient, {y: np.ones(2, dtype="float32")}, np.zeros(2, dtype="float32"))

    @pytest.mark.parametrize("function", [lt.sum, lt.prod, lt.max, lt.min])
    def test_forward_derivatives_are_the_transposed_ones(self, function: Callable[..., TensorVariable]) -> None:
        x, t, w = lt.matrix("x"), lt.matrix("t"), lt.vector("w")
        z = function(x, axis=1)
        forward = lt.sum(lm.Rop(z, x, t) * w)
        backward = lt.sum(lm.grad(lt.sum(z * w), x) * t)
        given_ = {x: POINT, t: POINT[::-1].copy(), w: np.array([0.7, -1.1])}
        np.testing.assert_allclose(forward.eval(given_), backward.eval(given_), rtol=1e-12)


class TestExtremes:
    def test_a_tie_is_shared(self) -> None:
        x = lt.matrix("x")
        values = np.array([[1.0, 3, 3], [2, 2, 2], [0, 1, 5]])
        gradient = lm.grad(lt.sum(lt.max(x, axis=1)), x)
        np.testing.assert_allclose(
            gradient.eval({x: values}), np.array([[0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
        )

    def test_a_nan_is_the_extreme_of_its_row(self) -> None:
        x = lt.matrix("x")
        gradient = lm.grad(lt.sum(lt.min(x, axis=1)), x)
        np.testing.assert_array_equal(gradient.eval({x: np.array([[1.0, np.nan], [2, 0]])}), [[0, 1], [0, 1]])

    def test_infinities(self) -> None:
        x = lt.vector("x")
        gradient = lm.grad(lt.max(x), x)
        np.testing.assert_array_equal(gradient.eval({x: np.array([-np.inf, np.inf, 1])}), [0, 1, 0])

    def test_the_second_derivative_is_zero(self) -> None:
        verify_grad(lambda x: lm.grad(lt.sum(lt.max(x, axis=1) ** 2), x), [POINT])


class TestProducts:
    ROWS = np.array([[2.0, 0, 3], [0, 0, 4], [1, 2, 3]])

    def test_with_one_and_two_zeros(self) -> None:
        x = lt.matrix("x")
        gradient = lm.grad(lt.sum(lt.prod(x, axis=1)), x)
        np.testing.assert_array_equal(gradient.eval({x: self.ROWS}), [[0, 6, 0], [0, 0, 0], [6, 3, 2]])

    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
    def test_derivatives_of_all_orders_with_zeros(self, axis: Any) -> None:
        def product(x: TensorVariable) -> TensorVariable:
            return lt.sum(lt.prod(x, axis=axis))

        def slope(x: TensorVariable) -> TensorVariable:
            gradient = lm.grad(product(x), x)
            assert isinstance(gradient, TensorVariable)
            return gradient

        def curvature(x: TensorVariable) -> TensorVariable:
            gradient = lm.grad(lt.sum(slope(x) * np.arange(1.0, 7.0).reshape(2, 3)), x)
            assert isinstance(gradient, TensorVariable)
            return gradient

        for zeros in [[], [0], [0, 4], [0, 1, 4], [0, 1, 2]]:
            point = POINT.copy()
            point.flat[zeros] = 0
            verify_grad(product, [point])
            verify_grad(slope, [point])
            verify_grad(curvature, [point])

    def test_the_hessian_of_a_product(self) -> None:
        x = lt.vector("x")
        hessian = lm.hessian(lt.prod(x), x)
        assert isinstance(hessian, TensorVariable)
        for values in ([2.0, 3, 5], [0, 3, 5], [0, 0, 5], [0, 0, 0]):
            a, b, c = values
            expected = [[0, c, b], [c, 0, a], [b, a, 0]]
            np.testing.assert_array_equal(hessian.eval({x: np.array(values)}), expected)

    def test_a_product_of_huge_and_tiny_factors(self) -> None:
        x = lt.vector("x")
        values = np.array([1e200, 1e-200, 3.0, 1e-150, 1e150])
        gradient = lm.grad(lt.prod(x), x)
        np.testing.assert_allclose(gradient.eval({x: values}), np.prod(values) / values, rtol=1e-12)

    def test_complex_factors(self) -> None:
        z = lt.vector("z", dtype="complex128")
        values = np.array([1 + 2j, 0, 3 - 1j])
        gradient = lm.grad(lt.sum(lt.real(lt.prod(z))), z)
        np.testing.assert_allclose(gradient.eval({z: values}), [0, np.conj((1 + 2j) * (3 - 1j)), 0])


def steps(a: Array, b: Array, initial: float) -> Array:
    states = []
    state = np.full(a.shape[1:], initial, dtype=a.dtype)
    for factor, term in zip(a, b, strict=True):
        states.append(state)
        state = factor * state + term
    return np.array(states, dtype=a.dtype).reshape(a.shape)


class TestLinearRecurrence:
    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
    @pytest.mark.parametrize("shape", [(4,), (3, 2), (0, 2), (3, 0), (1,)])
    def test_values(self, shape: tuple[int, ...], dtype: str) -> None:
        a, b = some_values(shape, dtype), some_values(shape, dtype, seed=1)
        x, y = variable_like(a), variable_like(b, name="y")
        for initial in (0.0, 1.0):
            assert_agrees(lt.LinearRecurrence(0, initial)(x, y), {x: a, y: b}, steps(a, b, initial))
            backwards = steps(a[::-1], b[::-1], initial)[::-1]
            assert_agrees(lt.LinearRecurrence(0, initial, reverse=True)(x, y), {x: a, y: b}, backwards)

    def test_layouts_and_another_axis(self) -> None:
        a, b = POINT, POINT[::-1] * 2
        x, y = variable_like(a), variable_like(b, name="y")
        expected = steps(a.T, b.T, 1.0).T
        for first in layouts(a).values():
            for second in layouts(b).values():
                assert_agrees(lt.LinearRecurrence(1, 1.0)(x, y), {x: first, y: second}, expected)

    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize("axis", [0, 1])
    def test_derivatives(self, axis: int, reverse: bool) -> None:
        op = lt.LinearRecurrence(axis, 0.7, reverse)
        verify_grad(op, [POINT, POINT[::-1]])
        verify_grad(lambda x, y: lm.grad(lt.sum(op(x, y) ** 2), [x, y]), [POINT, POINT[::-1]])

    def test_derivatives_by_complex_numbers(self) -> None:
        def cost(*parts: TensorVariable) -> TensorVariable:
            a, b = parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]
            return lt.real(lt.LinearRecurrence(0, 1.0)(a, b) * (2 - 1j))

        verify_grad(cost, [POINT, POINT[::-1], POINT + 1, POINT**2])

    def test_forward_derivatives(self) -> None:
        x, y, t, u, w = lt.matrices("x", "y", "t", "u", "w")
        z = lt.LinearRecurrence(0)(x, y)
        forward = lt.sum(lm.Rop(z, [x, y], [t, u]) * w)
        gx, gy = lm.grad(lt.sum(z * w), [x, y])
        backward = lt.sum(gx * t + gy * u)
        given_ = dict(zip((x, y, t, u, w), (POINT, POINT + 1, POINT * 2, POINT - 1, POINT**2), strict=True))
        np.testing.assert_allclose(forward.eval(given_), backward.eval(given_), rtol=1e-12)

    def test_what_does_not_fit(self) -> None:
        with pytest.raises(TypeError, match="one floating-point dtype"):
            lt.LinearRecurrence(0)(lt.vector("x"), lt.vector("y", dtype="float32"))
        with pytest.raises(ValueError, match="one shape"):
            lt.LinearRecurrence(0)(TensorType("float64", (2,))("x"), TensorType("float64", (3,))("y"))
        with pytest.raises(np.exceptions.AxisError):
            lt.LinearRecurrence(1)(lt.vector("x"), lt.vector("y"))
        x, y = lt.vector("x"), lt.vector("y")
        with pytest.raises(lm.errors.BroadcastError, match="one shape"):
            lt.LinearRecurrence(0)(x, y).eval({x: np.ones(2), y: np.ones(1)})
