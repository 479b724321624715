"""Profiles: time and memory of the calls of a function, per node, Op and class, as data and printed."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, OutputStorage
from lamella.runtime import NanGuardMode, VMLinker
from tests.runtime.lazy_ops import Counted, choose
from tests.runtime.planted_ops import OneVector

BY_NODES = ["FAST_COMPILE", "FAST_RUN", "NanGuardMode"]


class Slow(OneVector):
    """Takes its time."""

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        time.sleep(0.01)
        output_storage[0][0] = inputs[0] + 1


@pytest.mark.parametrize("mode", BY_NODES)
def test_a_profile_tells_time_and_memory_of_every_node(mode: str) -> None:
    x = lt.dmatrix("x")
    f = lm.function([x], [lt.sum(Slow()(x)), lt.exp(x).T, Slow()(x * 3.0)], mode=mode, profile=True, name="step")
    profile = f.profile
    assert profile is not None
    assert profile.calls == 0
    assert str(profile) == "Function profile: step, 0 calls, 0.000000s"
    for _ in range(3):
        f(np.ones((10, 20)))
    assert profile.calls == 3
    assert {one.calls for one in profile.nodes} == {3}
    assert len(profile.nodes) == len(f.fgraph.order)
    assert 0.06 <= sum(one.seconds for one in profile.nodes) <= profile.seconds
    slow = [one for one in profile.nodes if isinstance(one.node.op, Slow)]
    assert [one.bytes for one in slow] == [1600, 1600]
    assert all(one.seconds >= 0.03 for one in slow)
    viewing = [one for one in profile.nodes if one.node.op.view_map]
    assert [one.bytes for one in viewing] == [0] * len(viewing)
    (first, *_) = profile.by_class()
    assert (first.name, first.nodes, first.calls, first.bytes) == ("Slow", 2, 6, 3200)
    assert profile.by_op()[0].name == "Slow"
    printed = str(profile)
    assert printed.startswith("Function profile: step, 3 calls, ")
    for word in ("class", "Op", "node", "Slow(x)", "test_profile.py", "bytes allocated a call"):
        assert word in printed
    profile.reset()
    assert (profile.calls, profile.nodes) == (0, ())


def test_the_configuration_asks_for_profiles() -> None:
    x = lt.dvector("x")
    assert lm.function([x], x + 1.0).profile is None
    with lm.config.override(profile=True):
        assert lm.function([x], x + 1.0).profile is not None
        assert lm.function([x], x + 1.0, profile=False).profile is None


def test_what_does_not_run_is_not_told() -> None:
    c, x = lt.dscalar("c"), lt.dvector("x")
    graph = choose(c, Counted("then", [])(x), Counted("else", [])(x))
    f = lm.function([c, x], graph, mode=lm.Mode(VMLinker(), lm.FAST_RUN.query), profile=True)
    f(1.0, np.ones(3))
    assert f.profile is not None
    assert sorted(str(one.node.op) for one in f.profile.nodes) == ["Choose", "Counted{name=then}"]


def test_a_choice_runs_in_one_compiled_function_while_it_is_profiled() -> None:
    c, x = lt.bscalar("c"), lt.dvector("x")
    graph = lm.ifelse(c, Slow()(x), lt.cumsum(x * 2.0))
    f = lm.function([c, x], graph + 1.0, profile=True)
    profile = f.profile
    assert profile is not None
    np.testing.assert_array_equal(f(0, np.ones(3)), [3, 5, 7])
    assert "Slow" not in {row.name for row in profile.by_class()}
    assert len(profile.nodes) == len(f.fgraph.order) - 1
    np.testing.assert_array_equal(f(1, np.ones(3)), [3, 3, 3])
    calls = {type(one.node.op).__name__: one.calls for one in profile.nodes}
    assert (calls["Slow"], calls["IfElse"], calls["CumOp"]) == (1, 2, 1)


def test_a_mode_that_does_not_run_nodes_one_by_one_is_timed_as_a_whole() -> None:
    x = lt.dvector("x")
    f = lm.function([x], x + 1.0, mode=lm.DebugMode(check_c_code=False), profile=True)
    f(np.ones(2))
    assert f.profile is not None
    assert f.profile.calls == 1
    assert f.profile.nodes == ()
    assert "nodes were not timed" in str(f.profile)


def test_profiles_and_pickling_threads_and_other_modes() -> None:
    x = lt.dvector("x")
    f = lm.function([x], lt.exp(x), mode=NanGuardMode(True, True), profile=True)
    threads = [threading.Thread(target=lambda: [f(np.ones(3)) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert f.profile is not None
    assert f.profile.calls == 200
    assert f.profile.nodes[0].calls == 200
    again = pickle.loads(pickle.dumps(f))
    assert again.profile is not None
    assert again.profile.calls == 0
    assert again(np.zeros(1)).tolist() == [1]
    assert again.profile.calls == 1
    assert f.mode == NanGuardMode(True, True)
