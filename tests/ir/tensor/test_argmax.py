"""`argmax` and `argmin`: NumPy's indices."""

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
from tests.ir.tensor.against_numpy import ALL_DTYPES, assert_agrees, layouts, shapes, some_values, variable_like

FUNCTIONS: dict[str, tuple[Callable[..., TensorVariable], Callable[..., Any]]] = {
    "argmax": (lt.argmax, np.argmax),
    "argmin": (lt.argmin, np.argmin),
}


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_indices_are_those_of_numpy_on_every_layout(name: str, dtype: str) -> None:
    function, reference = FUNCTIONS[name]
    values = some_values((2, 3, 4), dtype)
    x = variable_like(values)
    for axis, keepdims in [(None, False), (None, True), (0, False), (-1, True)]:
        result = function(x, axis=axis, keepdims=keepdims)
        expected = reference(values, axis=axis, keepdims=keepdims)
        for value in layouts(values).values():
            assert_agrees(result, {x: value}, expected)


@given(st.data())
def test_any_shape_any_axis_any_static_knowledge(data: st.DataObject) -> None:
    function, reference = FUNCTIONS[data.draw(st.sampled_from(sorted(FUNCTIONS)))]
    shape = data.draw(shapes())
    values = some_values(shape, "int8")
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1) if shape else st.none())
    keepdims = data.draw(st.booleans())
    known = [data.draw(st.booleans()) for _ in shape]
    x = variable_like(values, known)
    result = function(x, axis=axis, keepdims=keepdims)
    reduced = range(len(shape)) if axis is None else [axis % len(shape)]
    lengths = [1 if i in reduced else n if k else None for i, (n, k) in enumerate(zip(shape, known, strict=True))]
    assert result.type.shape == tuple([n for i, n in enumerate(lengths) if keepdims or i not in reduced])
    try:
        expected = reference(values, axis=axis, keepdims=keepdims)
    except ValueError:
        with pytest.raises(ValueError, match="empty sequence"):
            result.eval({x: values})
    else:
        assert_agrees(result, {x: values}, expected)


def test_the_first_of_several_and_the_first_nan() -> None:
    x = lt.matrix("x")
    values = np.array([[1, np.nan], [2, 0]])
    assert lt.argmax(x).eval({x: values}) == 1
    assert lt.argmin(x).eval({x: values}) == 1
    assert lt.argmax(x).eval({x: np.array([[1.0, 3], [3, 0]])}) == 1


def test_the_greatest_elements_and_their_indices() -> None:
    x = lt.matrix("x")
    values = some_values((3, 4), "float32").astype("float64")
    greatest, indices = lt.max_and_argmax(x, axis=1, keepdims=True)
    assert_agrees(greatest, {x: values}, np.max(values, axis=1, keepdims=True))
    assert_agrees(indices, {x: values}, np.argmax(values, axis=1, keepdims=True))


def test_all_ways_to_write_the_axis_give_one_node() -> None:
    x, v = lt.matrix("x"), lt.vector("v")
    assert lt.argmax(x, axis=-1) is lt.argmax(x, axis=1)
    assert lt.argmin(v) is lt.argmin(v, axis=0)


def test_an_axis_that_is_not_there() -> None:
    with pytest.raises(np.exceptions.AxisError):
        lt.argmax(lt.matrix("x"), axis=2)


def test_the_derivative_is_zero() -> None:
    x = lt.vector("x", dtype="float32")
    gradient = lm.grad(lt.argmax(x) * 2.0, x)
    assert_agrees(gradient, {x: np.ones(3, dtype="float32")}, np.zeros(3, dtype="float32"))
