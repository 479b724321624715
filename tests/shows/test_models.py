"""Five models: value and gradient in every mode, on usual and on odd data; training, pickling, and errors."""

import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import UnusedInputError
from lamella.rewriting import RewriteDatabaseQuery
from tests.shows.models import MODELS, Model, gaussian_mixture, logistic_regression, perceptron, softmax_regression

Array = npt.NDArray[Any]
MODES = {
    "FAST_COMPILE": lm.FAST_COMPILE,
    "FAST_RUN": lm.FAST_RUN,
    "C, as written": lm.Mode(lm.CLinker(), RewriteDatabaseQuery(include=())),
    "without fusion": lm.FAST_RUN.excluding("fusion"),
    "without in-place": lm.FAST_RUN.excluding("inplace"),
}
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
every_model = pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])


def slopes_by_differences(model: Model, values: dict[str, Array], step: float = 1e-6) -> list[Array]:
    """Return central differences of the reference by each element of each parameter."""
    found = []
    for parameter in model.parameters:
        name = parameter.name or ""
        slope = np.zeros(values[name].shape)
        for place in np.ndindex(values[name].shape):
            ends = []
            for sign in (-1, 1):
                moved = values[name].copy()
                moved[place] += sign * step
                ends.append(model.reference(values | {name: moved}))
            slope[place] = (ends[1] - ends[0]) / (2 * step)
        found.append(slope)
    return found


def compile_model(model: Model, mode: lm.Mode | str) -> lm.Function:
    return lm.function(model.inputs, [model.cost, *lm.grad(model.cost, model.parameters)], mode=mode)


@every_model
def test_value_and_gradient(model: Model) -> None:
    values = model.sample(np.random.default_rng(1), 8)
    wanted = model.reference(values)
    slopes = slopes_by_differences(model, values)
    for name, mode in MODES.items():
        found, *gradients = compile_model(model, mode)(**values)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)
        for parameter, gradient, slope in zip(model.parameters, gradients, slopes, strict=True):
            assert parameter.type.is_valid_value(gradient)
            np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-7, err_msg=f"{name}: {parameter}")


@every_model
def test_second_derivatives(model: Model) -> None:
    values = model.sample(np.random.default_rng(2), 5)
    vectors = [parameter.type(f"v_{parameter}") for parameter in model.parameters]
    product = lm.hessian_vector_product(model.cost, model.parameters, vectors)
    hessians = lm.hessian(model.cost, model.parameters)
    rng = np.random.default_rng(3)
    directions = [rng.normal(size=values[str(parameter)].shape) for parameter in model.parameters]
    step = 1e-5
    gradient = compile_model(model, "FAST_RUN")

    def moved(sign: int) -> Sequence[Array]:
        change = {str(p): values[str(p)] + sign * step * d for p, d in zip(model.parameters, directions, strict=True)}
        found: list[Array] = gradient(**values | change)
        return found[1:]

    by_differences = [(b - a) / (2 * step) for a, b in zip(moved(-1), moved(1), strict=True)]
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = lm.function([*model.inputs, *vectors], [*product, *hessians], mode=mode, on_unused_input="ignore")
        found = f(*values.values(), *directions)
        for result, slope in zip(found[: len(vectors)], by_differences, strict=True):
            np.testing.assert_allclose(result, slope, rtol=1e-4, atol=1e-5)
        for result, parameter in zip(found[len(vectors) :], model.parameters, strict=True):
            shape = values[str(parameter)].shape
            assert result.shape == shape + shape
            flat = result.reshape((int(np.prod(shape)),) * 2)
            np.testing.assert_allclose(flat, flat.T, rtol=1e-9, atol=1e-10)


@every_model
def test_odd_data(model: Model) -> None:
    """One observation, none, many; strided, reversed and Fortran-ordered arrays; NaN and infinities."""
    rng = np.random.default_rng(4)
    functions = {name: compile_model(model, mode) for name, mode in MODES.items()}
    samples = [model.sample(rng, n) for n in (1, 0, 300)]
    strided = model.sample(rng, 12)
    for variable in model.data:
        strided[str(variable)] = strided[str(variable)][::-2]
    fortran = {name: np.array(value, order="F") for name, value in model.sample(rng, 6).items()}
    first = str(model.data[0] if model.data[0].dtype == "float64" else model.data[-1])
    broken = model.sample(rng, 6)
    broken[first] = broken[first].copy()
    broken[first][2] = np.nan
    huge = model.sample(rng, 6)
    huge[first] = huge[first] * 1e160
    for values in (*samples, strided, fortran, broken, huge):
        before = {name: value.copy() for name, value in values.items()}
        expected = functions["FAST_COMPILE"](**values)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # of the mean of nothing
            reference = model.reference(values)
        if np.isfinite(reference):
            np.testing.assert_allclose(expected[0], reference, rtol=1e-11)
        for name, f in functions.items():
            for found, wanted in zip(f(**values), expected, strict=True):
                assert found.dtype == wanted.dtype
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=name)
        for name, value in before.items():
            assert np.array_equal(values[name], value, equal_nan=True)


@every_mode
def test_training_by_updates(mode: lm.Mode) -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(64, 3))
    labels = features @ np.array([1.0, -2.0, 0.5]) + 0.3 > 0
    model = logistic_regression()
    x, y, w, b = model.inputs
    data, targets = lm.shared(features, name="data"), lm.shared(labels, name="targets")
    weights, bias, steps = (
        lm.shared(np.zeros(3), name="weights"),
        lm.shared(0.0, name="bias"),
        lm.shared(0, name="steps"),
    )
    batch = lt.lscalar("batch")
    slopes = lm.grad(model.cost, [w, b])
    rate = 1.0 / (1.0 + 0.01 * steps)
    step = lm.function(
        [batch],
        [model.cost, steps],
        updates=[(weights, w - rate * slopes[0]), (bias, b - rate * slopes[1]), (steps, steps + 1)],
        givens={x: data[batch * 16 : (batch + 1) * 16], y: targets[batch * 16 : (batch + 1) * 16], w: weights, b: bias},
        mode=mode,
    )
    costs = [float(step(k % 4)[0]) for k in range(60)]
    assert int(steps.get_value()) == 60
    assert costs[-1] < costs[0] == pytest.approx(np.log(2))

    by_hand, offset = np.zeros(3), 0.0
    for k in range(60):
        rows = slice(k % 4 * 16, (k % 4 + 1) * 16)
        error = (1 / (1 + np.exp(-(features[rows] @ by_hand + offset))) - labels[rows]) / 16
        rate_now = 1 / (1 + 0.01 * k)
        by_hand, offset = by_hand - rate_now * (error @ features[rows] + 0.2 * by_hand), offset - rate_now * error.sum()
    np.testing.assert_allclose(weights.get_value(), by_hand, rtol=1e-10)
    np.testing.assert_allclose(bias.get_value(), offset, rtol=1e-10)

    restored, kept = pickle.loads(pickle.dumps((step, weights)))
    step(0)
    assert not np.array_equal(kept.get_value(), weights.get_value())
    restored(0)
    np.testing.assert_array_equal(kept.get_value(), weights.get_value())
    assert np.isnan(step(9)[0])  # there is no such batch: the mean of nothing


@every_model
def test_a_pickled_function_computes_the_same(model: Model) -> None:
    values = model.sample(np.random.default_rng(6), 4)
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = compile_model(model, mode)
        for found, wanted in zip(pickle.loads(pickle.dumps(f))(**values), f(**values), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("make", [logistic_regression, perceptron, gaussian_mixture, softmax_regression])
def test_models_of_narrow_numbers_stay_narrow(make: Callable[[], Model]) -> None:
    model = make()
    narrow = {
        v: lt.tensor(v.name, dtype="float32" if v.dtype == "float64" else v.dtype, shape=v.type.shape)
        for v in model.inputs
    }
    cost = lt.cast(lm.clone_replace(model.cost, {v: lt.cast(narrow[v], v.dtype) for v in model.inputs}), "float32")
    parameters = [narrow[v] for v in model.parameters]
    gradients = lm.grad(cost, parameters)
    assert [g.dtype for g in gradients] == ["float32"] * len(parameters)
    values = model.sample(np.random.default_rng(7), 6)
    wanted = compile_model(model, "FAST_RUN")(**values)
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = lm.function([narrow[v] for v in model.inputs], [cost, *gradients], mode=mode, allow_input_downcast=True)
        for found, exact in zip(f(**values), wanted, strict=True):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, exact, rtol=2e-4, atol=2e-5)


def wrong_calls(model: Model) -> dict[str, dict[str, Any]]:
    values = model.sample(np.random.default_rng(8), 4)
    first, last = str(model.data[0]), str(model.parameters[-1])
    return {
        "one dimension too many": values | {first: values[first][None]},
        "a number for an array": values | {first: 1.0},
        "complex numbers": values | {last: values[last] * 1j},
        "text": values | {first: "x"},
        "objects": values | {first: np.array([object()])},
        "None": values | {last: None},
        "an unknown name": values | {"unknown": 1.0},
        "nothing": {},
    }


@every_model
def test_wrong_calls_are_refused(model: Model) -> None:
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = compile_model(model, mode)
        for values in wrong_calls(model).values():
            with pytest.raises((TypeError, ValueError)):
                f(**values)
        assert np.isfinite(f(**model.sample(np.random.default_rng(9), 3))[0])


@every_mode
def test_lengths_that_do_not_fit_are_errors(mode: lm.Mode) -> None:
    rng = np.random.default_rng(10)
    for model in MODELS:
        f = compile_model(model, mode)
        values = model.sample(rng, 5)
        for variable in model.data[1:]:
            short = values | {str(variable): values[str(variable)][:-1]}
            with pytest.raises((ValueError, IndexError)):
                f(**short)
    f = compile_model(softmax_regression(), mode)
    values = softmax_regression().sample(rng, 5)
    for label in (4, -5):
        with pytest.raises(IndexError):
            f(**values | {"label": np.full(5, label)})
    with pytest.raises(ValueError, match=r"length|shape"):
        f(**values | {"b": np.ones(1)})  # it was not declared to be broadcast


def test_inputs_that_take_no_part_or_are_missing() -> None:
    model = perceptron()
    x, _, w1, b1, *_ = model.inputs
    hidden = lt.tanh(x @ w1 + b1)
    with pytest.raises(UnusedInputError, match="y"):
        lm.function(model.inputs, hidden)
    with pytest.raises(LookupError, match="w1"):
        lm.function([x, b1], hidden)
    f = lm.function(model.inputs, hidden, on_unused_input="ignore")
    values = model.sample(np.random.default_rng(11), 2)
    np.testing.assert_allclose(f(**values), np.tanh(values["x"] @ values["w1"] + values["b1"]), rtol=1e-14)
