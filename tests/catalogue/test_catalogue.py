"""Every Op of the library, in every way of running it: values against NumPy for all dtypes and layouts, shapes, gradients."""

import sys
from typing import Any

import attrs
import numpy as np
import pytest

from lamella.ir import (
    Add,
    Composite,
    Elemwise,
    MapRows,
    Op,
    Split,
    Sub,
    TensorVariable,
    as_tensor_variable,
    grad,
    interpret,
    lt,
)
from lamella.runtime import Mode
from lamella.testing import check_infer_shape, check_rop_lop, compare_backends, value_difference, verify_grad
from tests.catalogue.batches import (
    AS_WRITTEN,
    LAYOUTS,
    Application,
    applications,
    batches,
    laid_out,
    name_of,
    rewritten_otherwise,
    run_in_c,
)
from tests.catalogue.catalogue import CATALOGUE
from tests.catalogue.entry import COMPLEX, FLOATS, Array, Case, Entry, variables_like

each_entry = pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)


def _problems(entry: Entry, application: Application, layout: str, case: Case, results: Any, ulps: float) -> list[str]:
    wanted = entry.wanted(case)
    assert len(wanted) == len(results)
    found: list[str] = []
    for i, (out, result, expected) in enumerate(zip(application.outputs, results, wanted, strict=True)):
        problem = value_difference(result, expected, ulps, entry.scale * ulps * _eps(expected))
        if problem is None and not out.type.is_valid_value(result):
            problem = f"the value of shape {result.shape} and dtype {result.dtype} is no {out.type}"
        if problem is not None:
            found.append(f"output {i}, {layout} {', '.join([f'{a.dtype}{a.shape}' for a in case])}: {problem}")
    return found


def _eps(array: Array) -> float:
    return float(np.finfo(array.dtype).eps) if array.dtype.kind in "fc" else 0.0


def _report(problems: list[str]) -> None:
    assert not problems, f"{len(problems)} differences:\n" + "\n".join(problems[:40])


@each_entry
def test_values_in_the_interpreter(entry: Entry) -> None:
    problems: list[str] = []
    for application in applications(entry):
        for case in application.cases:
            for layout in LAYOUTS:
                given = laid_out(case, layout)
                before = [a.tobytes() for a in given]
                results = interpret(application.inputs, application.outputs, given)
                problems += _problems(entry, application, layout, given, results, entry.max_ulps)
                assert [a.tobytes() for a in given] == before
    _report(problems)


each_batch = pytest.mark.parametrize("batch", batches(), ids=name_of)


def _problems_in_c(batch: list[Application], mode: Mode | str) -> list[str]:
    problems: list[str] = []
    for application, tried in run_in_c(batch, mode).items():
        entry = application.entry
        if isinstance(tried, Exception):
            problems.append(f"{entry.name} raises {tried!r}, {getattr(tried, '__notes__', '')}")
            continue
        for trial in tried:
            found = _problems(entry, application, trial.layout, trial.case, trial.results, entry.ulps_in_c)
            problems += [f"{entry.name}: {problem}" for problem in found]
    return problems


@each_batch
def test_values_in_c(batch: list[Application]) -> None:
    _report(_problems_in_c(batch, AS_WRITTEN))


@each_batch
def test_values_in_c_rewritten(batch: list[Application]) -> None:
    # What is not rewritten is compiled to the very code that the test before has run.
    changed = rewritten_otherwise(batch)
    _report(_problems_in_c(changed, "FAST_RUN") if changed else [])


def _of_distinct_shapes(entry: Entry) -> list[Application]:
    """One application for each way in which lengths are known: what they give does not depend on dtypes."""
    return list({tuple([v.type.shape for v in a.inputs]): a for a in applications(entry)}.values())


@each_entry
def test_static_shapes(entry: Entry) -> None:
    for application in _of_distinct_shapes(entry):
        for case in application.cases[:3]:
            inputs = variables_like(case, known=True)
            outputs = entry.applied(inputs)
            for out, value in zip(outputs, interpret(inputs, outputs, list(case)), strict=True):
                assert out.type.is_valid_value(value)
                if entry.static:
                    assert out.type.shape == value.shape, (
                        "the lengths of the inputs are known, and that of the result is not"
                    )


@each_entry
def test_inferred_shapes(entry: Entry) -> None:
    for application in _of_distinct_shapes(entry):
        for case in application.cases[:3]:
            check_infer_shape(
                lambda *xs: entry.build(*xs),
                case,
                entry.op_class if entry.infers else None,
                mode="FAST_COMPILE",
                warn=False,
            )


@each_entry
def test_gradients(entry: Entry) -> None:
    if isinstance(entry.gradient, str):
        return
    for point in entry.gradient:
        varied = [i for i, x in enumerate(point) if x.dtype.kind == "f"]

        def bound(*xs: TensorVariable, point: Case = point, varied: list[int] = varied) -> Any:
            arguments: list[Any] = list(point)
            for i, x in zip(varied, xs, strict=True):
                arguments[i] = x
            return entry.build(*[as_tensor_variable(a) for a in arguments])

        values = [point[i] for i in varied]
        verify_grad(bound, values, mode="FAST_COMPILE")
        check_rop_lop(bound, values, mode="FAST_COMPILE")


@each_entry
def test_gradients_keep_the_dtype(entry: Entry) -> None:
    for application in [] if isinstance(entry.gradient, str) else applications(entry):
        floats = [x for x in application.inputs if x.dtype in (*FLOATS, *COMPLEX)]
        outputs = [out for out in application.outputs if out.dtype in FLOATS]
        if floats and outputs:
            cost = lt.add(*[lt.sum(out, dtype="float64") for out in outputs], 0.0)
            for x, gradient in zip(floats, grad(cost, floats, disconnected_inputs="ignore"), strict=True):
                assert gradient.dtype == x.dtype
                assert x.type.is_super(gradient.type) is not None


each_refusal = pytest.mark.parametrize(
    ("entry", "case", "error"),
    [(entry, case, error) for entry in CATALOGUE for case, error in entry.raises],
    ids=lambda value: value.name if isinstance(value, Entry) else "",
)


@each_refusal
def test_errors_are_alike_in_all_backends(entry: Entry, case: Case, error: type[Exception]) -> None:
    inputs = variables_like(case)
    outputs = entry.outputs(inputs)
    with pytest.raises(error):
        interpret(inputs, outputs, list(case))
    compare_backends(outputs, dict(zip(inputs, case, strict=True)))


# Bases for users' own classes, what the linker of lazy graphs makes of graphs of other Ops, and the example that the demo defines and verifies.
NOT_APPLIED = {"CScalarOp", "ExternalCOp", "OpenMPOp", "CompiledPiece", "SmoothAbs"}


def _classes_of_ops() -> set[type[Op[Any, Any]]]:
    """All classes of Ops that the library defines and that can be applied: those that no other of its classes refines."""
    found: set[type[Op[Any, Any]]] = set()
    waiting = _refined(Op)
    while waiting:
        base = waiting.pop()
        refined = _refined(base)
        waiting.extend(refined)
        if not refined and base.__name__ not in NOT_APPLIED:
            found.add(base)
    return found


def _refined(base: type[Any]) -> list[type[Op[Any, Any]]]:
    return [c for c in base.__subclasses__() if c.__module__.startswith("lamella.") and _is_known(c)]


def _is_known(cls: type) -> bool:
    # attrs makes a class with slots a second time; the first one is not what the module holds.
    return getattr(sys.modules[cls.__module__], cls.__name__, None) is cls


def test_every_class_of_ops_has_an_entry() -> None:
    missing = _classes_of_ops() - {entry.op_class for entry in CATALOGUE}
    assert not missing, f"add entries to tests/catalogue for {sorted(c.__name__ for c in missing)}"


def test_a_new_class_of_ops_would_be_missed() -> None:
    assert {Elemwise, Add, Split, Composite, MapRows} <= _classes_of_ops()
    assert len(_classes_of_ops()) > 100
    assert all(not c.__abstractmethods__ for c in _classes_of_ops())


def test_a_wrong_value_is_seen_in_every_layout_and_dtype() -> None:
    right = next(entry for entry in CATALOGUE if entry.op_class is Sub)
    wrong = attrs.evolve(right, expected=lambda x, y: np.subtract(y, x))
    batch = applications(wrong)[:4]
    problems = _problems_in_c(batch, AS_WRITTEN)
    for layout in LAYOUTS:
        assert any(f"output 0, {layout} " in problem for problem in problems)
    assert not _problems_in_c(applications(right)[:4], AS_WRITTEN)


def test_an_entry_must_build_the_op_it_is_about() -> None:
    right = next(entry for entry in CATALOGUE if entry.op_class is Sub)
    with pytest.raises(AssertionError, match="builds no"):
        applications(attrs.evolve(right, op_class=Add))
