"""A chain of 20 000 tensor nodes: built, walked, differentiated, printed, pickled, rewritten, compiled and run, without recursion."""

import copy
import io
import pickle
import sys

import numpy as np
import pytest
from benchmarks.graph_depth import chain, measure

import lamella as lm
import lamella.tensor as lt
from lamella.tensor import TensorVariable

LENGTH = 20_000


@pytest.fixture(scope="module")
def x() -> TensorVariable:
    return lt.dscalar("x")


@pytest.fixture(scope="module")
def deep(x: TensorVariable) -> TensorVariable:
    assert sys.getrecursionlimit() < LENGTH // 4
    return chain(LENGTH, x)


@pytest.fixture(scope="module")
def gradient(deep: TensorVariable, x: TensorVariable) -> TensorVariable:
    return lm.grad(deep, x)


def by_hand(value: float) -> tuple[float, float]:
    slope = 1.0
    for _ in range(LENGTH // 2):
        value, slope = np.sin(value) * 1.01, slope * np.cos(value) * 1.01
    return value, slope


def test_building_and_walking(deep: TensorVariable, x: TensorVariable) -> None:
    assert chain(LENGTH, x) is deep
    assert len(lm.toposort([deep])) == LENGTH
    assert lm.variable_depends_on(deep, x)
    y = lt.dscalar("y")
    assert lm.clone_replace(deep, {x: y}) is chain(LENGTH, y)
    assert lm.equal_computations([deep], [chain(LENGTH, y)], [x], [y])
    assert copy.deepcopy(deep) is deep


def test_printing(deep: TensorVariable, gradient: TensorVariable) -> None:
    assert len(lm.to_text(deep).splitlines()) >= LENGTH
    assert len(lm.to_text(gradient).splitlines()) > LENGTH
    shown = io.StringIO()
    lm.dprint(deep, depth=3, file=shown)
    assert len(shown.getvalue().splitlines()) < 10
    assert len(lm.pp(deep)) > LENGTH
    assert len(repr(deep)) + len(str(deep.owner)) < 1000


def test_values_and_gradients(deep: TensorVariable, gradient: TensorVariable, x: TensorVariable) -> None:
    wanted = by_hand(0.5)
    np.testing.assert_allclose([deep.eval({x: 0.5}), gradient.eval({x: 0.5})], wanted, rtol=1e-9)
    f = lm.function([x], [deep, gradient], mode="FAST_COMPILE")
    np.testing.assert_allclose(f(0.5), wanted, rtol=1e-9)
    pushed = lm.Rop(deep, x, lt.constant(1.0))
    assert pushed.eval({x: 0.5}) == pytest.approx(wanted[1], rel=1e-9)


def test_pickling(deep: TensorVariable, x: TensorVariable) -> None:
    restored = pickle.loads(pickle.dumps(deep))
    (root,) = lm.explicit_graph_inputs(restored)
    assert lm.equal_computations([restored], [deep], [root], [x])
    f = lm.function([x], deep, mode="FAST_COMPILE")
    assert pickle.loads(pickle.dumps(f))(0.5) == f(0.5)
    assert copy.deepcopy(f)(0.5) == f(0.5)


def test_all_rewrites_and_c(deep: TensorVariable, x: TensorVariable) -> None:
    f = lm.function([x], deep, mode="FAST_RUN")
    assert f(0.5) == pytest.approx(by_hand(0.5)[0], rel=1e-9)


def test_other_kinds_of_depth() -> None:
    v = lt.dvector("v")
    moved, written, scaled = v, v, v
    for i in range(300):
        moved = moved[::-1] if i % 2 else lt.reshape(moved, (3, 1))[:, 0]
        written = written[i % 3].inc(1.0)
        scaled = lt.switch(scaled > 0, scaled, -scaled) + lt.concatenate([scaled[:1], v[1:]])
    a = np.array([1.0, -2.0, 3.0])
    for mode in ("FAST_COMPILE", "FAST_RUN"):
        f = lm.function([v], [lt.sum(moved), written, lt.shape(scaled), scaled[2]], mode=mode)
        total, counted, shape, last = f(a)
        assert total == 2
        np.testing.assert_array_equal(counted, a + 100)
        assert shape.tolist() == [3]
        assert last == 301 * 3
    assert len(lm.toposort([lm.grad(lt.sum(scaled), v)])) > 300


def test_the_benchmark_measures() -> None:
    assert min(measure(1000).values()) >= 0
