"""Modes that look at every node: `MonitorMode`, `NanGuardMode`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import NanGuardError
from lamella.ir import Apply, FunctionGraph
from lamella.runtime import MonitorMode, NanGuardMode, NodeThunk, detect_nan, get_mode

GUARD = NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=True)


def test_monitors_see_inputs_and_outputs() -> None:
    seen: list[Any] = []

    def before(fgraph: FunctionGraph, i: int, node: Apply[Any], fn: NodeThunk) -> None:
        seen.append((i, [float(cell[0]) for cell in fn.inputs], [cell[0] for cell in fn.outputs]))

    def after(fgraph: FunctionGraph, i: int, node: Apply[Any], fn: NodeThunk) -> None:
        seen.append(float(fn.outputs[0][0]))

    x = lt.dscalar("x")
    f = lm.function([x], [5 * x], mode=MonitorMode(pre_func=before, post_func=after))
    assert f(3.0)[0] == 15
    assert seen == [(0, [5.0, 3.0], [None]), 15.0] or seen == [(0, [3.0, 5.0], [None]), 15.0]
    assert lm.function([x], x + 1.0, mode=MonitorMode())(1.0) == 2.0


def test_the_nan_is_found_as_in_the_tutorial(capsys: pytest.CaptureFixture[str]) -> None:
    x = lt.dscalar("x")
    f = lm.function([x], [lt.log(x) * lt.sin(x)], mode=MonitorMode(post_func=detect_nan))
    with np.errstate(all="ignore"):
        assert np.isnan(f(0.0)[0])
    printed = capsys.readouterr().out
    assert printed.startswith("*** NaN detected ***")
    assert "Inputs : [array(" in printed
    assert "Outputs: [array(nan)]" in printed
    f(1.0)
    assert capsys.readouterr().out == ""


def test_a_monitoring_mode_is_a_mode() -> None:
    mode = MonitorMode(post_func=detect_nan)
    assert mode.excluding("fusion").post_func is detect_nan
    assert mode.excluding("fusion") != mode
    assert pickle.loads(pickle.dumps(mode)) == mode
    assert pickle.loads(pickle.dumps(GUARD.including("nan_unsafe"))) == GUARD.including("nan_unsafe")


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        (lambda x: lt.log(x), -1.0, "NaN"),
        (lambda x: 1.0 / x, 0.0, "an infinite number"),
        (lambda x: lt.exp(x), 50.0, "a number larger than 1e"),
    ],
)
def test_suspicious_numbers_are_errors(expression: Any, value: float, kind: str) -> None:
    x = lt.dvector("x")
    f = lm.function([x], expression(x + 0.0) * 2.0, mode=GUARD)
    f([1.0])
    with np.errstate(all="ignore"), pytest.raises(NanGuardError, match=kind) as caught:
        f([value])
    assert kind in caught.value.kind or caught.value.kind.startswith(kind)
    assert "output 0 of " in str(caught.value)
    assert "test_watching_modes.py" in str(caught.value)
    assert isinstance(caught.value, AssertionError)


def test_what_a_function_is_given_is_looked_at() -> None:
    x = lt.dvector("x")
    f = lm.function([x], lt.switch(x > 0, x, 0.0), mode=GUARD)
    with pytest.raises(NanGuardError, match=r"input \d of .* holds NaN"):
        f([np.nan])
    state = lm.shared(np.array([np.inf]))
    g = lm.function([x], x + state, mode="NanGuardMode")
    with pytest.raises(NanGuardError, match=r"input 1 of .* holds an infinite number"):
        g([1.0])
    assert get_mode("NanGuardMode") == GUARD


def test_each_kind_is_switched_by_itself() -> None:
    x = lt.dvector("x")
    values = {"NaN": np.nan, "infinite": np.inf, "larger": 1e11}
    for wanted in values:
        mode = NanGuardMode(wanted == "NaN", wanted == "infinite", wanted == "larger")
        f = lm.function([x], x + 1.0, mode=mode)
        for kind, value in values.items():
            if kind == wanted:
                with pytest.raises(NanGuardError, match=wanted):
                    f([value])
            else:
                f([value])


def test_what_is_not_looked_at() -> None:
    x, b, i = lt.dvector("x"), lt.bvector("b"), lt.lvector("i")
    flags = lt.vector("flags", dtype="bool")
    f = lm.function([x, b, i, flags], [lt.minimum(x, np.inf), b + b, i * 10**9, ~flags, lt.sum(x)], mode=GUARD)
    f(np.zeros(0), [1], [10**9], [True])
    f([1.0], [1], [10**9], [True])
    n = lt.lscalar("n")
    garbage = lt.empty((n,))
    filled = lm.function(
        [n], lt.sum(garbage[:].set(1.0)), mode=GUARD.excluding("canonicalize", "specialize", "useless")
    )
    for size in (1, 5, 1000):
        assert filled(size) == size


def test_complex_numbers_are_looked_at() -> None:
    z = lt.zvector("z")
    f = lm.function([z], z * 2.0, mode=GUARD)
    f([1j])
    with pytest.raises(NanGuardError, match="NaN"):
        f([complex(0, np.nan)])
