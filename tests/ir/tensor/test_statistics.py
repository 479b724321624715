"""Means, variances and standard deviations: NumPy's values and dtypes, right derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.tensor import TensorVariable
from lamella.testing import verify_grad
from tests.ir.tensor.against_numpy import (
    ALL_DTYPES,
    TOLERANCES,
    assert_agrees,
    layouts,
    quietly,
    shapes,
    some_values,
    variable_like,
)

STATISTICS: dict[str, tuple[Callable[..., TensorVariable], Callable[..., Any]]] = {
    "mean": (lt.mean, np.mean),
    "var": (lt.var, np.var),
    "std": (lt.std, np.std),
}


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("name", STATISTICS)
def test_values_and_dtypes_are_those_of_numpy_on_every_layout(name: str, dtype: str) -> None:
    function, reference = STATISTICS[name]
    values = some_values((2, 3, 4), dtype)
    x = variable_like(values)
    for axis, keepdims in [(None, False), (None, True), (-1, True), ((0, 2), False)]:
        result = function(x, axis=axis, keepdims=keepdims)
        expected = quietly(reference, values, axis=axis, keepdims=keepdims)
        for value in layouts(values).values():
            assert_agrees(result, {x: value}, expected, rtol=4 * TOLERANCES.get(result.dtype, 0.0))


@given(st.data())
def test_any_shape_any_axes_any_static_knowledge(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(STATISTICS)))
    function, reference = STATISTICS[name]
    shape = data.draw(shapes())
    values = some_values(shape, data.draw(st.sampled_from(["float32", "float64", "int8", "complex64"])))
    axes = data.draw(st.none() | st.lists(st.sampled_from(range(len(shape))), unique=True) if shape else st.none())
    axis = axes if axes is None else tuple(axes)
    known = [data.draw(st.booleans()) for _ in shape]
    options: dict[str, Any] = {"keepdims": data.draw(st.booleans())}
    if name != "mean":
        options["ddof"] = data.draw(st.integers(0, 3))
    x = variable_like(values, known)
    result = function(x, axis=axis, **options)
    expected = quietly(reference, values, axis=axis, **options)
    assert_agrees(result, {x: values}, expected, rtol=1e-5)


@pytest.mark.parametrize("wanted", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("dtype", ["int8", "bool", "float32", "float64"])
@pytest.mark.parametrize("name", STATISTICS)
def test_the_dtype_can_be_chosen(name: str, dtype: str, wanted: str) -> None:
    function, reference = STATISTICS[name]
    values = some_values((3, 4), dtype)
    x = variable_like(values)
    expected = quietly(reference, values, axis=0, dtype=wanted)
    assert_agrees(function(x, axis=0, dtype=wanted), {x: values}, expected, rtol=4 * TOLERANCES[wanted])


class TestMean:
    def test_small_integers_do_not_wrap(self) -> None:
        x = lt.vector("x", dtype="int8")
        assert_agrees(lt.mean(x), {x: np.array([100, 100, 100], dtype="int8")}, np.float64(100))
        u = lt.vector("u", dtype="uint8")
        assert_agrees(lt.mean(u), {u: np.array([100, 2], dtype="uint8")}, np.float64(51))

    def test_of_booleans(self) -> None:
        x = lt.vector("x", dtype="bool")
        values = np.array([True, True, False])
        assert_agrees(lt.mean(x), {x: values}, np.mean(values))

    def test_float16_does_not_overflow(self) -> None:
        x = lt.vector("x", dtype="float16")
        values = np.full(70000, 2.0, dtype="float16")
        assert_agrees(lt.mean(x), {x: values}, np.float16(2))

    def test_of_nothing_is_nan(self) -> None:
        x = lt.vector("x")
        assert np.isnan(lt.mean(x).eval({x: np.zeros(0)}))

    def test_as_a_method(self) -> None:
        x = lt.matrix("x")
        assert x.mean(axis=1) is lt.mean(x, axis=1)
        assert x.var(axis=1, ddof=1, keepdims=True) is lt.var(x, axis=1, ddof=1, keepdims=True)
        assert x.std(0) is lt.std(x, 0)


class TestVar:
    def test_of_numbers_that_are_far_from_zero(self) -> None:
        x = lt.vector("x")
        values = 1e8 + np.array([1.0, 2, 3, 4])
        assert_agrees(lt.var(x), {x: values}, np.float64(1.25), rtol=1e-12)

    def test_of_float16_that_overflow_when_squared(self) -> None:
        x = lt.vector("x", dtype="float16")
        values = np.array([400, *[0] * 99], dtype="float16")
        assert_agrees(lt.std(x, ddof=1), {x: values}, np.std(values.astype("float64"), ddof=1).astype("float16"))

    @pytest.mark.parametrize("ddof", [0, 1, 2, 3, 0.5])
    def test_degrees_of_freedom(self, ddof: float) -> None:
        values = np.array([1.0, 4.0])
        for known in ([False], [True]):
            x = variable_like(values, known)
            assert_agrees(lt.var(x, ddof=ddof), {x: values}, quietly(np.var, values, ddof=ddof))


POINT = np.array([[0.3, -1.2, 2.0], [1.7, 0.4, -0.6]])


class TestDerivatives:
    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
    @pytest.mark.parametrize("keepdims", [False, True])
    @pytest.mark.parametrize("name", STATISTICS)
    def test_they_are_the_numeric_ones(self, name: str, axis: Any, keepdims: bool) -> None:
        verify_grad(lambda x: STATISTICS[name][0](x, axis=axis, keepdims=keepdims), [POINT])

    @pytest.mark.parametrize("name", STATISTICS)
    @pytest.mark.parametrize("dtype", ["float16", "float32"])
    def test_they_keep_the_dtype(self, name: str, dtype: str) -> None:
        x = lt.matrix("x", dtype=dtype)
        assert lm.grad(lt.sum(STATISTICS[name][0](x, axis=1)), x).dtype == dtype
        verify_grad(lambda x: STATISTICS[name][0](x, axis=1), [POINT.astype(dtype)])

    def test_with_degrees_of_freedom_and_of_second_order(self) -> None:
        verify_grad(lambda x: lt.var(x, axis=1, ddof=1), [POINT])
        verify_grad(lambda x: lm.grad(lt.sum(lt.var(x, axis=1) ** 2), x), [POINT])

    def test_of_integers_they_are_zero(self) -> None:
        x = lt.vector("x", dtype="int64")
        gradient = lm.grad(lt.mean(x), x)
        assert_agrees(gradient, {x: np.array([1, 2])}, np.zeros(2))
