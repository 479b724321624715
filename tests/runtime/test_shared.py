"""Shared variables and updates."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Generic, SharedVariable, StorageCell

MODES = ["FAST_RUN", "FAST_COMPILE"]


def test_a_shared_value_is_a_copy() -> None:
    array = np.zeros(2)
    state = lm.shared(array, name="state")
    array[0] = 5.0
    np.testing.assert_array_equal(state.get_value(), [0.0, 0.0])
    state.get_value()[0] = 5.0
    np.testing.assert_array_equal(state.get_value(), [0.0, 0.0])
    state.get_value(borrow=True)[0] = 5.0
    np.testing.assert_array_equal(state.get_value(), [5.0, 0.0])


def test_borrowed_values_are_the_very_arrays() -> None:
    array = np.zeros(2)
    state = lm.shared(array, borrow=True)
    assert state.get_value(borrow=True) is array
    state.set_value(array, borrow=True)
    assert state.get_value(borrow=True) is array


def test_a_shared_vector_has_no_known_length() -> None:
    state = lm.shared(np.ones(3))
    assert state.type.shape == (None,)
    state.set_value(np.ones(5))
    assert lm.function([], state.shape[0])() == 5
    with pytest.raises(TypeError, match=r"length of .* is not known"):
        len(state)
    assert lm.shared(np.ones(3), shape=(3,)).type.shape == (3,)
    with pytest.raises(TypeError, match="2 dimensions where 1 are expected"):
        state.set_value(np.ones((2, 2)))
    with pytest.raises(TypeError, match="no array of numbers"):
        lm.shared({"a": 1})  # type: ignore[call-overload]  # refused at run time too


@pytest.mark.parametrize("mode", MODES)
def test_updates_happen_all_at_once(mode: str) -> None:
    a, b = lm.shared(1.0, name="a"), lm.shared(2.0, name="b")
    lm.function([], [], updates={a: b, b: a}, mode=mode)()
    assert (a.get_value(), b.get_value()) == (2.0, 1.0)
    f = lm.function([], a, updates=[(a, a + 1.0)], mode=mode)
    assert f() == 2.0
    assert f() == 3.0
    assert a.get_value() == 4.0


@pytest.mark.parametrize("mode", MODES)
def test_what_is_returned_is_not_the_shared_value(mode: str) -> None:
    state = lm.shared(np.zeros(2))
    x = lt.vector("x")
    result = lm.function([], state, mode=mode)()
    result[0] = 9.0
    np.testing.assert_array_equal(state.get_value(), [0.0, 0.0])
    stored = np.ones(2)
    kept = lm.function([x], x * 1.0, updates={state: x}, mode=mode)(stored)
    kept[0] = stored[0] = 9.0
    np.testing.assert_array_equal(state.get_value(), [1.0, 1.0])


def test_wrong_updates_are_refused() -> None:
    state, x = lm.shared(np.zeros(2), name="state"), lt.vector("x")
    with pytest.raises(TypeError) as caught:
        lm.function([], [], updates={state: lt.matrix("m")})
    assert any("the update of state of type float64[?]" in note for note in caught.value.__notes__)
    with pytest.raises(TypeError, match="only shared variables are updated"):
        lm.function([x], x, updates={x: x})  # type: ignore[type-var]  # refused at run time too
    with pytest.raises(ValueError, match="is updated twice"):
        lm.function([x], x, updates=[(state, x), (state, x)])


@pytest.mark.parametrize("mode", MODES)
def test_concurrent_updates_are_not_lost(mode: str) -> None:
    counter = lm.shared(np.int64(0))
    step = lm.function([], [], updates={counter: counter + 1}, mode=mode)

    def run() -> None:
        for _ in range(500):
            step()

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.get_value() == 4000


def test_eval_reads_shared_values() -> None:
    state = lm.shared(np.arange(3.0))
    np.testing.assert_array_equal((state * 2.0).eval(), [0.0, 2.0, 4.0])


class Held:
    """What a value is, and may hold a function that reads it."""

    function: lm.Function | None = None


class Ones(lm.Op[[Any], lt.TensorVariable]):
    """Ones, whatever is given."""

    __props__ = ()

    def make_node(self, v: Any) -> lm.Apply[lt.TensorVariable]:
        return lm.Apply(self, [v], [lt.dvector])

    def perform(self, node: lm.Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        output_storage[0][0] = np.ones(3)


@pytest.mark.parametrize("mode", [*MODES, "DebugMode"])
def test_a_value_that_holds_the_function_that_reads_it_is_collected(mode: str) -> None:
    held = Held()
    state = SharedVariable(Generic(), StorageCell(held), "state")
    held.function = lm.function([], lt.sum(lt.exp(Ones()(state)) + 1, keepdims=True), mode=mode)
    held.function()
    dying = weakref.ref(held)
    del held, state
    gc.collect()
    assert dying() is None
