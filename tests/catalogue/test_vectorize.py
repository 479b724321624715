"""Every Op applied to batches: the result is that of a loop that applies it to each element."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lamella.errors import BroadcastError
from lamella.ir import TensorType, TensorVariable, as_tensor_variable, grad, interpret, lt, vectorize_graph
from lamella.testing import value_difference
from tests.catalogue.batches import applications
from tests.catalogue.catalogue import CATALOGUE
from tests.catalogue.entry import Array, Case, Entry

BATCH = 3

REFUSALS: dict[str, type[Exception]] = {
    "MakeSlice": TypeError,  # slices have no batches
    "IfElse": BroadcastError,  # what is chosen element by element has the same shape in both branches
}
"""What may be refused though a loop could do it."""


def elements(array: Array) -> list[Array]:
    """The elements of a batch: the array, and the same numbers in other places."""
    return [np.roll(array.ravel(), k).reshape(array.shape) for k in range(BATCH)]


def looped(
    inputs: Sequence[TensorVariable], outputs: Sequence[Any], columns: Sequence[Sequence[Array]]
) -> list[Array] | None:
    """What a loop over the elements gives; None where it raises, or where their results cannot be stacked."""
    try:
        runs = [interpret(inputs, outputs, list(element)) for element in zip(*columns, strict=True)]
        return [np.stack(results) for results in zip(*runs, strict=True)]
    except Exception:  # noqa: BLE001  # whatever it is: batches must raise too
        return None


def ways(case: Case) -> list[tuple[bool, ...]]:
    """Which inputs have batch axes: all, and each alone."""
    alone = [tuple([i == j for j in range(len(case))]) for i in range(len(case))]
    return list(dict.fromkeys([(True,) * len(case), *alone]))


def problem(
    entry: Entry,
    inputs: Sequence[TensorVariable],
    outputs: Sequence[Any],
    case: Case,
    batched: Sequence[bool],
    static: bool,
) -> str | None:
    columns = [elements(a) if b else [a] * BATCH for a, b in zip(case, batched, strict=True)]
    expected = looped(inputs, outputs, columns)
    replace: dict[TensorVariable, TensorVariable] = {}
    given: list[Array] = []
    for x, column, is_batch in zip(inputs, columns, batched, strict=True):
        shape = (BATCH if static else None, *x.type.shape) if is_batch else x.type.shape
        replace[x] = TensorType(x.dtype, shape)()
        given.append(np.stack(column) if is_batch else column[0])
    try:
        made = vectorize_graph(list(outputs), replace)
        results = interpret(list(replace.values()), made, given)
    except Exception as error:  # noqa: BLE001  # compared with the loop
        refused = isinstance(error, REFUSALS.get(entry.name, ()))
        return None if expected is None or refused else f"raises {error!r}"
    if expected is None:
        return "does not raise"
    for new, old, result, wanted in zip(made, outputs, results, expected, strict=True):
        if new.type.ndim == old.type.ndim:  # it does not depend on the batch
            result = np.broadcast_to(result, wanted.shape)
        elif not new.type.is_valid_value(result):
            return f"{result.dtype}{result.shape} is no {new.type}"
        eps = float(np.finfo(wanted.dtype).eps) if wanted.dtype.kind in "fc" else 0.0
        found = value_difference(result, wanted, 4 + entry.max_ulps, (8 + entry.max_ulps) * (entry.scale + 1) * eps)
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_batches_give_what_a_loop_gives(entry: Entry) -> None:
    found: list[str] = []
    seen: set[tuple[Any, ...]] = set()
    for application in applications(entry):
        shapes = tuple([v.type.shape for v in application.inputs])
        if shapes in seen and application.inputs[0].dtype not in ("bool", "float32"):
            continue
        seen.add(shapes)
        for n, case in enumerate(application.cases[:3]):
            for batched in ways(case):
                text = problem(entry, application.inputs, application.outputs, case, batched, n % 2 == 0)
                if text is not None:
                    arrays = ", ".join([f"{a.dtype}{a.shape}" for a in case])
                    found.append(f"{arrays}, batches {batched}: {text}")
    assert not found, f"{len(found)} problems:\n" + "\n".join(found[:20])


def bound(entry: Entry, point: Case) -> tuple[list[TensorVariable], TensorVariable]:
    """The floats among the inputs, as Variables, and a cost that depends on all outputs."""
    arguments = [x.type() if x.dtype == "float64" else x for x in map(as_tensor_variable, point)]
    outputs = [out for out in entry.applied(arguments) if out.dtype in ("float32", "float64")]
    cost = lt.add(*[lt.sum(lt.sin(out), dtype="float64") for out in outputs], 0.0)
    return [x for x in arguments if not x.is_constant], cost


@pytest.mark.parametrize(
    "entry", [e for e in CATALOGUE if not isinstance(e.gradient, str)], ids=lambda entry: entry.name
)
def test_gradients_of_batches_are_batches_of_gradients(entry: Entry) -> None:
    for point in entry.gradient[:2]:
        assert not isinstance(point, str)
        inputs, cost = bound(entry, point)
        floats = [x for x in point if x.dtype == "float64"]
        columns = [elements(x) for x in floats]
        gradients = grad(cost, inputs, disconnected_inputs="ignore")
        expected = looped(inputs, gradients, columns)
        assert expected is not None
        batches = [TensorType(x.dtype, (None, *x.type.shape))() for x in inputs]
        replace = dict(zip(inputs, batches, strict=True))
        given = [np.stack(column) for column in columns]
        of_gradients = vectorize_graph(gradients, replace)
        whole = lt.sum(vectorize_graph(cost, replace))
        of_batches = grad(whole, batches, disconnected_inputs="ignore")
        for made in (of_gradients, of_batches):
            for result, wanted in zip(interpret(batches, made, given), expected, strict=True):
                np.testing.assert_allclose(np.broadcast_to(result, wanted.shape), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "entry", [e for e in CATALOGUE if not isinstance(e.gradient, str)], ids=lambda entry: entry.name
)
def test_what_has_no_batch_axes_receives_the_sum_of_all_gradients(entry: Entry) -> None:
    point = entry.gradient[0]
    assert not isinstance(point, str)
    inputs, cost = bound(entry, point)
    if len(inputs) < 2:
        return
    floats = [x for x in point if x.dtype == "float64"]
    columns = [elements(floats[0]), *[[x] * BATCH for x in floats[1:]]]
    expected = looped(inputs, grad(cost, inputs, disconnected_inputs="ignore"), columns)
    assert expected is not None
    batch = TensorType("float64", (None, *inputs[0].type.shape))()
    whole = lt.sum(vectorize_graph(cost, {inputs[0]: batch}))
    made = grad(whole, [batch, *inputs[1:]], disconnected_inputs="ignore")
    results = interpret([batch, *inputs[1:]], made, [np.stack(columns[0]), *floats[1:]])
    np.testing.assert_allclose(results[0], expected[0], rtol=1e-9, atol=1e-9)
    for result, wanted in zip(results[1:], expected[1:], strict=True):
        np.testing.assert_allclose(result, wanted.sum(axis=0), rtol=1e-9, atol=1e-9)
