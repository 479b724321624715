"""`logsumexp`, `softmax` and `log_softmax`: stable, and right with infinities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import lamella as lm
import lamella.tensor as lt
from lamella.tensor import TensorVariable
from lamella.testing import verify_grad
from tests.ir.tensor.against_numpy import (
    ALL_DTYPES,
    TOLERANCES,
    Array,
    assert_agrees,
    layouts,
    quietly,
    shapes,
    some_values,
    variable_like,
)


def in_double(function: Callable[..., Any], x: Array, axis: Any) -> Array:
    """SciPy's function, computed in float64, in the dtype of the argument (float64 for integers)."""
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("float64")
    return np.asarray(quietly(function, x.astype("float64"), axis=axis)).astype(dtype)


FUNCTIONS: dict[str, tuple[Callable[..., TensorVariable], Callable[..., Any]]] = {
    "logsumexp": (lt.logsumexp, special.logsumexp),
    "softmax": (lt.softmax, special.softmax),
    "log_softmax": (lt.log_softmax, special.log_softmax),
}

REAL_DTYPES = [dtype for dtype in ALL_DTYPES if not dtype.startswith("complex")]


@pytest.mark.parametrize("dtype", REAL_DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_dtypes_on_every_layout(name: str, dtype: str) -> None:
    function, reference = FUNCTIONS[name]
    values = some_values((2, 3, 4), dtype)
    x = variable_like(values)
    for axis in [None, 0, -1, (0, 2)]:
        expected = in_double(reference, values, axis)
        for value in layouts(values).values():
            assert_agrees(function(x, axis=axis), {x: value}, expected, rtol=4 * TOLERANCES[expected.dtype.name])


@given(st.data())
def test_any_shape_any_axes_any_static_knowledge(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(FUNCTIONS)))
    function, reference = FUNCTIONS[name]
    shape = data.draw(shapes(min_side=0 if name == "logsumexp" else 1))
    values = some_values(shape, "float64")
    axes = data.draw(
        st.none() | st.lists(st.sampled_from(range(len(shape))), unique=True, min_size=1) if shape else st.none()
    )
    axis = axes if axes is None else tuple(axes)
    known = [data.draw(st.booleans()) for _ in shape]
    x = variable_like(values, known)
    result = function(x, axis=axis)
    if values.size == 0:
        expected = quietly(np.log, np.sum(np.exp(values), axis=axis))
    else:
        expected = quietly(reference, values, axis=axis)
    assert_agrees(result, {x: values}, expected, rtol=1e-12)
    if name != "logsumexp":
        assert result.type == x.type


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_of_no_elements(name: str, axis: int | None) -> None:
    x = lt.matrix("x")
    for shape in [(0, 3), (3, 0)]:
        assert FUNCTIONS[name][0](x, axis=axis).eval({x: np.zeros(shape)}).shape == shape


def test_keepdims() -> None:
    x = lt.tensor3("x")
    values = some_values((2, 3, 4), "float64")
    result = lt.logsumexp(x, axis=(0, -1), keepdims=True)
    assert result.type.shape == (1, None, 1)
    assert_agrees(result, {x: values}, special.logsumexp(values, axis=(0, 2), keepdims=True))


class TestStability:
    def test_of_large_numbers(self) -> None:
        x = lt.vector("x")
        values = np.array([1000.0, 1000.0, -1000.0])
        assert_agrees(lt.logsumexp(x), {x: values}, np.float64(1000 + np.log(2)))
        assert_agrees(lt.softmax(x), {x: values}, np.array([0.5, 0.5, 0]))
        assert_agrees(lt.log_softmax(x), {x: values}, np.array([-np.log(2), -np.log(2), -2000 - np.log(2)]))

    def test_the_digits_of_a_small_rest_are_kept(self) -> None:
        x = lt.vector("x")
        values = np.array([0.0, -40.0])
        np.testing.assert_allclose(lt.logsumexp(x).eval({x: values}), np.exp(-40.0), rtol=1e-14)
        np.testing.assert_allclose(lt.log_softmax(x).eval({x: values}), [-np.exp(-40.0), -40.0], rtol=1e-14)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_float16_is_rounded_once(self, name: str) -> None:
        function, reference = FUNCTIONS[name]
        x = lt.matrix("x", dtype="float16")
        values = np.random.default_rng(0).uniform(-3, 3, (20, 30)).astype("float16")
        assert_agrees(function(x, axis=1), {x: values}, in_double(reference, values, 1), rtol=2**-10)
        assert np.mean(function(x, axis=1).eval({x: values}) == in_double(reference, values, 1)) > 0.95

    def test_float16_does_not_overflow(self) -> None:
        x = lt.vector("x", dtype="float16")
        values = np.full(100000, 10, dtype="float16")
        assert_agrees(lt.logsumexp(x), {x: values}, np.float16(10 + np.log(100000)))

    def test_the_gradient_far_out(self) -> None:
        x = lt.vector("x")
        values = np.array([1000.0, 0.0, -1000.0])
        assert_agrees(lm.grad(lt.logsumexp(x), x), {x: values}, np.array([1.0, 0, 0]))
        assert_agrees(lm.grad(lt.log_softmax(x)[1], x), {x: values}, np.array([-1.0, 1, 0]))
        assert_agrees(lm.grad(lt.softmax(x)[0], x), {x: values}, np.zeros(3))


INF, NAN = np.inf, np.nan


class TestInfinities:
    ROWS = np.array([[1, -INF, 2], [-INF, -INF, -INF], [1, INF, 2], [INF, -INF, INF], [NAN, INF, 1]])

    def test_logsumexp(self) -> None:
        x = lt.matrix("x")
        expected = [np.logaddexp(1, 2), -INF, INF, INF, NAN]
        np.testing.assert_allclose(lt.logsumexp(x, axis=1).eval({x: self.ROWS}), expected, rtol=1e-15)

    def test_log_softmax_is_that_of_scipy(self) -> None:
        x = lt.matrix("x")
        expected = quietly(special.log_softmax, self.ROWS, axis=1)
        np.testing.assert_allclose(lt.log_softmax(x, axis=1).eval({x: self.ROWS}), expected, rtol=1e-15)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_softmax_is_the_quotient_and_the_exponential_of_log_softmax(self, dtype: str) -> None:
        x = lt.matrix("x", dtype=dtype)
        rows = np.concatenate([self.ROWS, [[1000, INF, -1000]]]).astype(dtype)
        written = quietly(lambda x: np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True), rows)
        for mode in ("FAST_COMPILE", "FAST_RUN"):
            quotient = lt.exp(x) / lt.sum(lt.exp(x), axis=1, keepdims=True)
            forms = [lt.softmax(x, axis=1), lt.exp(lt.log_softmax(x, axis=1)), quotient]
            weights, of_logarithms, divided = lm.function([x], forms, mode=mode)(rows)
            np.testing.assert_allclose(weights[:5], written[:5], rtol=TOLERANCES[dtype], err_msg=mode)
            np.testing.assert_array_equal(weights[5], np.array([0, NAN, 0]), err_msg=mode)
            np.testing.assert_allclose(of_logarithms, weights, rtol=TOLERANCES[dtype], err_msg=mode)
            np.testing.assert_allclose(divided[:5], weights[:5], rtol=TOLERANCES[dtype], err_msg=mode)

    def test_an_element_of_minus_infinity_has_no_part_in_the_gradient(self) -> None:
        x = lt.matrix("x")
        gradient = lm.grad(lt.sum(lt.logsumexp(x, axis=1)), x).eval({x: self.ROWS[:2]})
        share: Any = special.softmax([1.0, 2.0])
        np.testing.assert_allclose(gradient, [[share[0], 0, share[1]], [0, 0, 0]], rtol=1e-14)

    def test_a_row_that_is_not_used_contributes_nothing(self) -> None:
        x = lt.matrix("x")
        for name, (function, _) in FUNCTIONS.items():
            z = function(x, axis=1)
            used = z[0] if name == "logsumexp" else lt.sum(z[0, 2:])
            gradient = lm.grad(used, x).eval({x: self.ROWS})
            np.testing.assert_array_equal(gradient[1:], np.zeros((4, 3)), err_msg=name)


POINT = np.array([[0.3, -1.2, 2.0], [1.7, 0.4, -0.6]])


class TestDerivatives:
    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_they_are_the_numeric_ones(self, name: str, axis: Any) -> None:
        verify_grad(lambda x: FUNCTIONS[name][0](x, axis=axis), [POINT])

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_of_second_order(self, name: str) -> None:
        verify_grad(lambda x: lm.grad(lt.sum(FUNCTIONS[name][0](x, axis=1) ** 2), x), [POINT])

    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_they_keep_the_dtype(self, name: str, dtype: str) -> None:
        x = lt.matrix("x", dtype=dtype)
        assert lm.grad(lt.sum(FUNCTIONS[name][0](x, axis=1) ** 2), x).dtype == dtype
        verify_grad(lambda x: FUNCTIONS[name][0](x, axis=1), [POINT.astype(dtype)])

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_forward_derivatives_are_the_transposed_ones(self, name: str) -> None:
        x, t = lt.matrices("x", "t")
        z = FUNCTIONS[name][0](x, axis=1)
        w = z.type("w")
        forward = lt.sum(lm.Rop(z, x, t) * w)
        backward = lt.sum(lm.grad(lt.sum(z * w), x) * t)
        weights = np.array([0.7, -1.1]) if name == "logsumexp" else POINT**2
        given_ = {x: POINT, t: POINT[::-1].copy(), w: weights}
        np.testing.assert_allclose(forward.eval(given_), backward.eval(given_), rtol=1e-12)

    def test_of_integers_they_are_zero(self) -> None:
        x = lt.vector("x", dtype="int64")
        for function, _ in FUNCTIONS.values():
            gradient = lm.grad(lt.sum(function(x) * 2.0), x)
            assert_agrees(gradient, {x: np.array([1, 2])}, np.zeros(2))


class TestOps:
    def test_the_op_of_a_node_names_its_axes(self) -> None:
        x = lt.matrix("x")
        assert lt.softmax(x) is lt.softmax(x, axis=(1, 0)) is lt.Softmax()(x)
        assert str(lt.softmax(x).owner) == "Softmax{axis=(0, 1)}(x)"
        with pytest.raises(ValueError, match="goes over all axes"):
            lt.LogSumExp().axes  # noqa: B018  # the access raises

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_errors(self, name: str) -> None:
        function = FUNCTIONS[name][0]
        with pytest.raises(np.exceptions.AxisError):
            function(lt.matrix("x"), axis=2)
        with pytest.raises(ValueError, match="repeated axis"):
            function(lt.matrix("x"), axis=(0, 0))
        with pytest.raises(TypeError, match="is defined for real numbers; z is of dtype complex64"):
            function(lt.matrix("z", dtype="complex64"))
