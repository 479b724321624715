"""Linkers that run a graph node by node: lazy evaluation, callbacks, wrapping, thunks of Ops' own."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, OutputStorage, TensorVariable, Variable
from lamella.rewriting import RewriteDatabaseQuery
from lamella.runtime import (
    CLinker,
    Linker,
    NodeThunk,
    OpWiseCLinker,
    PerformLinker,
    VMLinker,
    WrapLinker,
    WrapLinkerMany,
)
from lamella.runtime.c_pieces import in_pieces
from lamella.typing_layer import schedule
from tests.runtime.lazy_ops import Counted, choose

NOTHING = RewriteDatabaseQuery(include=())
LINKERS: Mapping[str, Linker] = {
    "PerformLinker": PerformLinker(),
    "VMLinker": VMLinker(),
    "VMLinker without gc": VMLinker(allow_gc=False),
    "CLinker": CLinker(),
    "OpWiseCLinker": OpWiseCLinker(),
}
every_linker = pytest.mark.parametrize("linker", LINKERS.values(), ids=list(LINKERS))


def compile_with(linker: Linker, inputs: Sequence[Any], outputs: Any, **kwargs: Any) -> lm.Function:
    return lm.function(inputs, outputs, mode=lm.Mode(linker, NOTHING), **kwargs)


@every_linker
def test_linkers_agree(linker: Linker) -> None:
    x, y = lt.vector("x"), lt.matrix("y")
    f = compile_with(linker, [x, y], [lt.exp(x) + y, (y @ x)[1:], lt.sum(y, axis=0).T, x])
    a, b = np.array([0.5, 1.0]), np.arange(6.0).reshape(3, 2)
    expected = [np.exp(a) + b, (b @ a)[1:], b.sum(0), a]
    for found, wanted in zip(f(a, b), expected, strict=True):
        np.testing.assert_allclose(found, wanted)
    with pytest.raises(ValueError, match=r"\(3, 2\)|2") as caught:
        f(np.ones(3), b)
    assert "node: " in "\n".join(caught.value.__notes__)


@every_linker
def test_only_the_branch_that_is_needed_is_computed(linker: Linker) -> None:
    log: list[str] = []
    c, x = lt.scalar("c"), lt.vector("x")
    then = lt.exp(Counted("then", log)(lt.sin(x)) * 2.0)
    otherwise = Counted("else", log)(lt.cos(x)) + 1.0
    shared = Counted("shared", log)(x * 3.0)
    f = compile_with(linker, [c, x], [choose(c > 0, then, otherwise + shared) * shared, lt.sum(x)])
    a = np.array([0.5, 1.0])
    np.testing.assert_allclose(f(1.0, a)[0], np.exp(np.sin(a) * 2) * a * 3)
    assert sorted(log) == ["shared", "then"]
    log.clear()
    np.testing.assert_allclose(f(-1.0, a)[0], (np.cos(a) + 1 + a * 3) * a * 3)
    assert sorted(log) == ["else", "shared"]


def test_a_linker_may_be_told_not_to_be_lazy() -> None:
    log: list[str] = []
    c, x = lt.scalar("c"), lt.vector("x")
    y = choose(c, Counted("then", log)(x), Counted("else", log)(x))
    f = compile_with(VMLinker(lazy=False), [c, x], y)
    np.testing.assert_array_equal(f(1.0, [2.0]), [2.0])
    assert sorted(log) == ["else", "then"]


@pytest.mark.parametrize("linker", [VMLinker(), CLinker()], ids=["VMLinker", "CLinker"])
def test_errors_of_a_branch_that_is_not_needed_do_not_happen(linker: Linker) -> None:
    c, x = lt.scalar("c"), lt.vector("x")
    bad = Counted("bad", [], fails=True)(x)
    f = compile_with(linker, [c, x], choose(c, lt.exp(bad), x + 1.0))
    np.testing.assert_array_equal(f(0.0, [2.0]), [3.0])
    with pytest.raises(ZeroDivisionError):
        f(1.0, [2.0])


@pytest.mark.parametrize("linker", [VMLinker(), CLinker()], ids=["VMLinker", "CLinker"])
def test_a_branch_that_is_not_needed_is_not_computed_for_the_sake_of_what_is_overwritten(linker: Linker) -> None:
    c, x = lt.scalar("c"), lt.dvector("x")
    t = lt.exp(x)
    bad = Counted("bad", [], fails=True)(t)
    f = lm.function([c, x], [t[0].set(9.0), choose(c, bad, x)], mode=lm.Mode(linker, lm.FAST_RUN.query))
    assert any(node.op.destroy_map for node in f.fgraph.order)
    for found, wanted in zip(f(0.0, [0.0, 0.0]), [[9, 1], [0, 0]], strict=True):
        assert found.tolist() == wanted
    good = lm.function(
        [c, x], [t[0].set(9.0), choose(c, Counted("read", [])(t), x)], mode=lm.Mode(linker, lm.FAST_RUN.query)
    )
    for found, wanted in zip(good(1.0, [0.0, 0.0]), [[9, 1], [1, 1]], strict=True):
        assert found.tolist() == wanted


@pytest.mark.parametrize("linker", [VMLinker(), PerformLinker()], ids=["VMLinker", "PerformLinker"])
def test_a_long_chain_of_choices(linker: Linker) -> None:
    log: list[str] = []
    c, x = lt.scalar("c"), lt.scalar("x")
    result: TensorVariable = x
    for i in range(3000):
        result = choose(c, result + x, Counted(str(i), log)(result))
    f = compile_with(linker, [c, x], result)
    assert float(f(1.0, 1.0)) == 3001.0
    assert log == []


@settings(max_examples=25)
@given(st.data())
def test_lazy_graphs_with_in_place_work_agree_in_every_linker(data: st.DataObject) -> None:
    inputs = [lt.dvector(f"x{i}") for i in range(3)]
    variables: list[TensorVariable] = list(inputs)
    for i in range(data.draw(st.integers(2, 10))):
        a, b, c = (data.draw(st.sampled_from(variables)) for _ in range(3))
        kind = data.draw(st.sampled_from(["add", "choose", "set", "view", "exp"]))
        if kind == "add":
            made = a + b
        elif kind == "choose":
            made = choose(a[0] > b[1], b, c)
        elif kind == "set":
            made = a[1:].set(float(i))
        else:
            made = a[::-1] if kind == "view" else lt.tanh(a)
        variables.append(made)
    outputs = data.draw(st.lists(st.sampled_from(variables), min_size=1, max_size=3))
    values = [np.array(data.draw(st.lists(st.integers(-3, 3), min_size=3, max_size=3)), float) for _ in inputs]
    expected = lm.interpret(inputs, outputs, [v.copy() for v in values])
    for mode in (lm.Mode(VMLinker(), lm.FAST_RUN.query), lm.Mode(PerformLinker(), lm.FAST_RUN.query)):
        ins = [lm.In(v, mutable=True) for v in inputs]
        f = lm.function(ins, outputs, mode=mode, on_unused_input="ignore")
        for found, wanted in zip(f(*[v.copy() for v in values]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
        # What C functions are made of, computed in Python.
        run = PerformLinker().link(schedule(in_pieces(f.scheduled)))
        for found, wanted in zip(run([v.copy() for v in values]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_pieces_of_c_overwrite_only_what_they_may() -> None:
    c, x, y = lt.scalar("c"), lt.dvector("x"), lt.dvector("y")
    t = lt.exp(x)
    twice = t * 2.0
    a = choose(c, lt.sum(t[::-1]), lt.sum(t[1:].set(0.0)))
    b = choose(c, t[1:].set(5.0), (twice + y)[0].set(1.0))
    outputs = [a, b, t[0].set(9.0), lt.sum(b * twice)]
    f = lm.function([c, lm.In(x, mutable=True), lm.In(y, mutable=True)], outputs)
    for condition in (0.0, 1.0):
        values = [np.array(condition), np.array([0.5, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])]
        expected = lm.interpret([c, x, y], outputs, [v.copy() for v in values])
        for found, wanted in zip(f(*[v.copy() for v in values]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


class Prepared(lm.Op[[Any], TensorVariable]):
    """Adds a number that it prepares once for each thunk."""

    __props__: ClassVar[tuple[str, ...]] = ()
    not_identity = frozenset({"made"})

    def __init__(self) -> None:
        self.made: list[int] = []

    def make_node(self, x: Any) -> Apply[TensorVariable]:
        variable = lt.as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise AssertionError("the thunk computes")

    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        self.made.append(len(self.made))
        (x,), (y,) = node.inputs, node.outputs

        def thunk() -> None:
            assert compute_map[x][0]
            assert not compute_map[y][0]
            value = storage_map[x][0]
            storage_map[y][0] = np.array(value + 1) if value[0] >= 0 else "nothing of the kind"
            compute_map[y][0] = True

        return thunk


def test_a_thunk_of_an_ops_own_is_made_once_and_serves_threads() -> None:
    x = lt.dvector("x")
    op = Prepared()
    f = compile_with(VMLinker(), [x], op(x) * 2.0)
    for i in range(5):
        np.testing.assert_array_equal(f([float(i)]), [2.0 * i + 2])
    assert op.made == [0]
    wrong: list[str] = []

    def call(k: int) -> None:
        wrong.extend(["another thread's value" for _ in range(50) if f([float(k)])[0] != 2.0 * k + 2])

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    with pytest.raises(lm.errors.OutputTypeError, match="its thunk stored"):
        f([-1.0])
    np.testing.assert_array_equal(f([1.0]), [4.0])


class Ported(lm.Op[[Any, Any, Any], TensorVariable]):
    """A choice whose thunk says itself what it needs, as in the tutorial."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, c: Any, a: Any, b: Any) -> Apply[TensorVariable]:
        return Apply(self, [c, a, b], [a.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise AssertionError("the thunk computes")

    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        (c, a, b), (out,) = node.inputs, node.outputs

        def thunk() -> list[int]:
            if not compute_map[c][0]:
                return [0]
            taken = 1 if storage_map[c][0] else 2
            if not compute_map[node.inputs[taken]][0]:
                return [taken]
            storage_map[out][0] = storage_map[a if taken == 1 else b][0].copy()
            compute_map[out][0] = True
            return []

        thunk.lazy = True  # type: ignore[attr-defined]  # the tutorial's way of saying so
        return thunk  # type: ignore[return-value]  # what it returns is what the tutorial's linker asks for


@pytest.mark.parametrize(
    "linker", [VMLinker(), PerformLinker(), CLinker()], ids=["VMLinker", "PerformLinker", "CLinker"]
)
def test_a_lazy_thunk_that_is_brought_along_runs_when_all_is_computed(linker: Linker) -> None:
    c, x, y = lt.dscalar("c"), lt.dvector("x"), lt.dvector("y")
    f = compile_with(linker, [c, x, y], Ported()(c, lt.exp(x), y * 2.0))
    assert f(1.0, [0.0], [3.0]).tolist() == [1]
    assert f(0.0, [0.0], [3.0]).tolist() == [6]


def test_a_callback_sees_every_node_that_runs() -> None:
    seen: list[tuple[str, float, bool]] = []

    def callback(node: Apply[Any], thunk: NodeThunk, storage_map: Any, compute_map: Any) -> None:
        assert [cell[0] for cell in thunk.outputs] == [storage_map[v][0] for v in node.outputs]
        seen.append(
            (type(node.op).__name__, float(np.sum(thunk.outputs[0][0])), all(c[0] for c in compute_map.values()))
        )

    c, x = lt.scalar("c"), lt.dvector("x")
    f = compile_with(VMLinker(callback=callback), [c, x], choose(c, lt.exp(x), lt.sum(x, keepdims=True)))
    f(0.0, [1.0, 2.0])
    assert seen == [("Sum", 3.0, True), ("Choose", 3.0, False)] or [s[0] for s in seen][-1] == "Choose"
    assert "Elemwise" not in [s[0] for s in seen]


def test_a_wrapper_runs_each_node() -> None:
    order: list[tuple[int, str]] = []

    def wrapper(fgraph: FunctionGraph, i: int, node: Apply[Any], *thunks: NodeThunk) -> None:
        assert fgraph.order[i] is node or node in fgraph.apply_nodes
        for thunk in thunks:
            thunk()
        order.append((i, type(node.op).__name__))
        first, second = (thunk.outputs[0][0] for thunk in thunks)
        np.testing.assert_allclose(first, second)

    x = lt.dvector("x")
    f = compile_with(WrapLinker([PerformLinker(), OpWiseCLinker()], wrapper), [x], lt.sum(lt.exp(x)[1:].set(2.0)))
    np.testing.assert_allclose(f([0.0, 1.0]), 3.0)
    assert [i for i, _ in order] == [0, 1, 2]
    assert order[-1][1] == "Sum"


def test_thunks_get_inputs_of_their_own_where_a_node_overwrites() -> None:
    def wrapper(fgraph: FunctionGraph, i: int, node: Apply[Any], *thunks: NodeThunk) -> None:
        for thunk in thunks:
            thunk()
        np.testing.assert_array_equal(*[thunk.outputs[0][0] for thunk in thunks])

    x = lt.dvector("x")
    wrapped = WrapLinker([VMLinker(), PerformLinker()], wrapper)
    f = lm.function([x], (x + 1.0)[0].inc(1.0), mode=lm.Mode(wrapped, lm.FAST_RUN.query.excluding("fusion")))
    assert any(node.op.destroy_map for node in f.fgraph.order)
    np.testing.assert_array_equal(f([1.0, 2.0]), [3.0, 3.0])


def test_several_wrappers_one_after_the_other() -> None:
    said: list[str] = []

    def run(fgraph: FunctionGraph, i: int, node: Apply[Any], *thunks: NodeThunk) -> None:
        thunks[0]()
        said.append("ran")

    def look(fgraph: FunctionGraph, i: int, node: Apply[Any], *thunks: NodeThunk) -> None:
        said.append(str(thunks[0].outputs[0][0]))

    x = lt.dscalar("x")
    f = compile_with(WrapLinkerMany([VMLinker()], [run, look]), [x], x + 1.0)
    f(1.0)
    assert said == ["ran", "2.0"]


def test_a_wrapper_that_runs_nothing_is_told() -> None:
    def forgets(fgraph: FunctionGraph, i: int, node: Apply[Any], *thunks: NodeThunk) -> None:
        return None

    x = lt.dscalar("x")
    with pytest.raises(ValueError, match="must call the first thunk"):
        compile_with(WrapLinker([VMLinker()], forgets), [x], x + 1.0)(1.0)
    with pytest.raises(ValueError, match="one linker at least"):
        WrapLinker([], forgets)


def test_linkers_are_values() -> None:
    assert pickle.loads(pickle.dumps(VMLinker(allow_gc=False))) == VMLinker(allow_gc=False)
    assert VMLinker() != VMLinker(lazy=False)
    assert OpWiseCLinker() == OpWiseCLinker()
