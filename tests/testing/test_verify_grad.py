"""`verify_grad` accepts right gradients and says where a wrong one is wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, TensorVariable, disconnected_grad, grad_scale, lt, zero_grad
from lamella.runtime import function
from lamella.testing import GradientError, numeric_gradient, verify_grad
from tests.testing import own_ops as ops

POINT = np.array([[0.5, -1.25, 2.0], [0.75, 1.5, -0.3]])
Fun = Callable[..., Any]


def verify(fun: Fun, *point: Any, **options: Any) -> None:
    verify_grad(fun, list(point), mode="FAST_COMPILE", **options)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize(
    "fun",
    [lt.exp, lt.tanh, lambda x: x * x * x, lambda x: lt.sum(x**2), ops.Scale()],
    ids=["exp", "tanh", "cube", "sum_of_squares", "scale"],
)
def test_right_gradients_pass_in_every_float_dtype(fun: Fun, dtype: str) -> None:
    verify(fun, POINT.astype(dtype))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("factor", [1.5, 0.5, -1.0])
def test_a_wrong_factor_fails_in_every_float_dtype(factor: float, dtype: str) -> None:
    with pytest.raises(GradientError):
        verify(lambda x: lt.exp(grad_scale(x, factor)), POINT.astype(dtype))


@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-12, 1e-100, 1e100])
def test_each_element_is_judged_relative_to_its_size(size: float) -> None:
    verify(lambda x: size * lt.sin(x), POINT)
    with pytest.raises(GradientError) as caught:
        verify(lambda x: size * lt.sin(zero_grad(x)), POINT)
    assert caught.value.symbolic == 0.0
    with pytest.raises(GradientError):
        verify(lambda x: size * lt.sin(grad_scale(x, 1.0001)), POINT)


def test_a_tiny_slope_beside_large_ones_is_seen() -> None:
    sizes = np.array([1e6, 1.0, 1e-9])

    def wrong(x: TensorVariable) -> TensorVariable:
        y = x * sizes
        return lt.set_subtensor(y[2], zero_grad(y[2]))

    verify(lambda x: x * sizes, np.ones(3))
    with pytest.raises(GradientError) as caught:
        verify(wrong, np.ones(3))
    assert caught.value.index == (2,)


def test_a_small_output_beside_a_large_constant_one_is_seen() -> None:
    def outputs(x: TensorVariable) -> list[TensorVariable]:
        return [lt.zeros_like(x) + 1e12, 1e-9 * zero_grad(x)]

    with pytest.raises(GradientError):
        verify(outputs, POINT)


def test_outputs_of_other_dtypes_are_passed_over() -> None:
    verify(lambda x: [lt.argmax(x, axis=1), lt.max(x, axis=1), x > 0], POINT)


def test_mixed_precision_is_judged_by_the_coarsest_dtype() -> None:
    verify(lambda x: lt.cast(lt.exp(x), "float32"), POINT)
    verify(lambda x, y: x * y, POINT, POINT.astype("float16"))
    with pytest.raises(GradientError):
        verify(lambda x: lt.cast(lt.exp(zero_grad(x)), "float32"), POINT)


def test_inputs_that_are_disconnected_must_not_matter() -> None:
    verify(lambda x, y: lt.fill(y, 1.0) * x, POINT, POINT)
    with pytest.raises(GradientError) as caught:
        verify(lambda x, y: x + disconnected_grad(y), POINT, POINT)
    assert caught.value.input == 1


def test_arrays_without_elements_and_without_dimensions() -> None:
    verify(lt.exp, np.zeros((0, 3)))
    verify(lt.exp, np.array(0.5))
    verify(lambda x: x[0] * lt.sum(x), np.array([0.5]))


def test_nan_is_no_number() -> None:
    with pytest.raises(GradientError):
        verify(lambda x: lt.sqrt(grad_scale(x, float("nan"))), np.abs(POINT))


@pytest.mark.parametrize(
    ("fun", "point", "words"),
    [
        (lt.exp, np.array([1, 2]), "argument 0 has the dtype int64"),
        (lt.exp, np.array([1j]), "argument 0 has the dtype complex128"),
        (lambda x: x > 0, np.ones(2), "no output is an array of floats"),
        (lambda x: x * 1j, np.ones(2), "no output is an array of floats"),
    ],
)
def test_what_has_no_gradient_is_refused(fun: Fun, point: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        verify(fun, point)


def test_the_message_says_where_and_by_how_much() -> None:
    with pytest.raises(GradientError) as caught:
        verify(lambda x, y: x + grad_scale(y, 2.0) * np.array([0.0, 0.0, 3.0]), np.ones(3), np.ones((2, 3)), n_tests=1)
    error = caught.value
    assert (error.input, error.index) in {(1, (0, 2)), (1, (1, 2))}
    assert error.symbolic == pytest.approx(2 * error.numeric)
    words = str(error)
    assert words.startswith(
        f"the gradient with respect to element {list(error.index)} of input 1 is {error.symbolic!r}"
    )
    assert f"but numerically {error.numeric!r}" in words
    assert words.endswith("Inputs: float64[3], float64[2, 3]")
    assert "kink" not in words


def test_a_kink_is_named_as_such() -> None:
    with pytest.raises(GradientError, match="at or near a kink"):
        verify(lambda x: lt.switch(x > 0, x, 0.0), np.array([0.5, 0.0]))


def test_the_number_of_compiled_functions_does_not_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Sequence[Any]] = []

    def counted(inputs: Sequence[Any], *args: Any, **kwargs: Any) -> Any:
        calls.append(inputs)
        return function(inputs, *args, **kwargs)

    monkeypatch.setattr("lamella.testing.gradient_check.function", counted)
    verify(lambda x, y: [x * y, x + y], POINT, POINT, n_tests=5)
    assert len(calls) == 2


def test_options() -> None:
    with pytest.raises(GradientError):
        verify(lambda x: lt.exp(grad_scale(x, 1.001)), POINT)
    verify(lambda x: lt.exp(grad_scale(x, 1.001)), POINT, rel_tol=0.01)
    verify(lambda x: lt.exp(grad_scale(x, 1.001)), POINT, abs_tol=0.1)
    verify(lt.exp, POINT, eps=1e-3, rng=np.random.default_rng(3))
    verify_grad(lt.exp, [POINT])


def test_numeric_gradients_know_their_error() -> None:
    point = [np.array([0.3, 1.1])]
    weights = [[np.array([1.0, 2.0])], [np.array([0.0, -1.0])]]
    first, second = numeric_gradient(lambda xs: [np.exp(xs[0])], point, weights, 0)
    np.testing.assert_allclose(first.value, np.exp(point[0]) * [1, 2], rtol=1e-9)
    np.testing.assert_allclose(second.value, np.exp(point[0]) * [0, -1], rtol=1e-9)
    assert np.all(np.abs(first.value - np.exp(point[0]) * [1, 2]) <= first.error)
    (bent,) = numeric_gradient(lambda xs: [np.abs(xs[0])], [np.array([0.0, 1.0])], [[np.ones(2)]], 0)
    np.testing.assert_allclose(bent.jump, [2.0, 0.0], atol=1e-9)
