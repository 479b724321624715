"""In-place work, shared memory, and what Ops declare of both."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import InconsistencyError
from lamella.ir import Apply, FunctionGraph, TensorVariable
from lamella.typing_layer import DestroyHandler, InplaceProposal, Supervisor, accept_inplace, apply_inplace
from tests.faults.three_ways import MODES, check, compiled

Array = npt.NDArray[Any]
every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))


@every_mode
def test_what_is_returned_belongs_to_the_caller(mode: lm.Mode) -> None:
    state = lm.shared(np.zeros(2))
    grid = lm.shared(np.zeros((2, 2)))
    x = lt.dmatrix("x")
    number = lt.constant(np.zeros(3))
    outputs = [
        state,
        state,
        state[::-1],
        lt.reshape(state, (2, 1)),
        grid.T,
        grid[0],
        number,
        number[1:],
        x,
        x,
        x.T,
        x[0],
        x.T,
    ]
    f = lm.function([x], outputs, mode=mode)
    given = np.zeros((2, 2))
    results = f(given)
    for i, result in enumerate(results):
        result += i + 1
    for i, result in enumerate(results):  # nobody has changed another one's
        assert np.all(result == i + 1)
    assert not given.any()
    assert not state.get_value().any()
    assert not grid.get_value().any()
    assert not np.any(number.data)
    for result in f(given):
        assert not result.any()


@every_mode
def test_views_of_results_are_taken_apart(mode: lm.Mode) -> None:
    x = lt.dmatrix("x")
    y = x + 1
    a = np.arange(4.0).reshape(2, 2)
    f = lm.function(
        [x], [y, y.T, y[::-1], y[0], y, lt.ravel(y), lt.diagonal(y), lt.broadcast_to(y[0, 0], (2, 2))], mode=mode
    )
    b = a + 1
    wanted = [b, b.T, b[::-1], b[0], b, b.ravel(), np.diagonal(b), np.broadcast_to(b[0, 0], (2, 2))]
    results = f(a)
    for result in results:
        assert result.flags.writeable
        result += 10
    for result, value in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(result, value + 10)


@every_mode
def test_updates_do_not_keep_what_was_returned_or_given(mode: lm.Mode) -> None:
    state, other = lm.shared(np.zeros(2)), lm.shared(np.zeros(2))
    x = lt.dvector("x")
    f = lm.function([x], [x + 1, state], updates={state: x + 1, other: x}, mode=mode)
    given = np.zeros(2)
    new, old = f(given)
    new[:], old[:], given[:] = 7, 8, 9
    assert state.get_value().tolist() == [1, 1]
    assert other.get_value().tolist() == [0, 0]
    state.set_value(given)
    given[:] = 5
    assert state.get_value().tolist() == [9, 9]
    state.get_value()[:] = 4
    assert state.get_value().tolist() == [9, 9]


@every_mode
def test_reading_comes_before_overwriting(mode: lm.Mode) -> None:
    x = lt.dvector("x")
    y, z = x[1:].inc(x[:-1]), x[:-1].inc(x[1:])
    a = np.array([1.0, 2.0, 3.0, 4.0])
    for mutable in (False, True):
        f = lm.function(
            [lm.In(x, mutable=mutable)], [y, z, x[::-1].inc(x), x[[0, 0, 3]].inc(x[:3]), lt.exp(x) + y], mode=mode
        )
        given = a.copy()
        results = f(given)
        assert results[0].tolist() == [1, 3, 5, 7]
        assert results[1].tolist() == [3, 5, 7, 4]
        assert results[2].tolist() == [5, 5, 5, 5]
        assert results[3].tolist() == [4, 2, 3, 7]
        np.testing.assert_allclose(results[4], np.exp(a) + np.array([1, 3, 5, 7]), rtol=1e-14)
        assert mutable or given.tolist() == a.tolist()
    one_by_one = [y, z, x[::-1].set(x), x[:2].set(x[1:3]), x[2:].inc(x[:2]), x[::2].set(x[1::2]), x[1:].set(x[:-1])]
    wanted = [[1, 3, 5, 7], [3, 5, 7, 4], [4, 3, 2, 1], [2, 3, 3, 4], [1, 2, 4, 6], [2, 2, 4, 4], [1, 1, 2, 3]]
    for output, value in zip(one_by_one, wanted, strict=True):
        f = lm.function([lm.In(x, mutable=True)], output, mode=mode)
        assert f(a.copy()).tolist() == value


def test_writing_into_what_is_read_again() -> None:
    x, m, i = lt.dvector("x"), lt.dmatrix("m"), lt.lvector("i")
    a, b = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)
    y = lt.exp(x)
    e = np.exp(a)
    shifted = np.array([e[0], e[0] + e[1], e[1] + e[2]])
    crossed = b + np.eye(3)
    check(
        {x: a, m: b, i: [2, 0]},
        (y[1:].inc(y[:-1]), shifted),
        (y[1:].inc(y[:-1]) - y, shifted - e),
        (y[i].set(y[i[::-1]]), e[[2, 1, 0]]),
        (lt.sum(y[:1].set(0.0)) + y[0], e.sum()),
        ((m + 1)[0].set((m + 1)[1]), (b + 1)[[1, 1, 2]]),
        ((m + 1).T[0].set((m + 1)[0]), np.column_stack([[1.0, 2, 3], (b + 1)[:, 1:]]).T),
        (lt.diagonal(m + 1) + 0 * m, np.diagonal(b + 1) + 0 * b),
        ((m + np.eye(3))[:, i].inc(m[:, i]), crossed + b * [1, 0, 1]),
        (lt.sqrt(m) * lt.sqrt(m).T, np.sqrt(b) * np.sqrt(b).T),
    )


class Inplace(lm.Op[[TensorVariable, TensorVariable], TensorVariable]):
    """The sum of two vectors, which may be left in one of them, or spoil both."""

    __props__: ClassVar[tuple[str, ...]] = ("over",)

    def __init__(self, *over: int) -> None:
        self.over = over
        self.destroy_map = {0: list(over)} if over else {}

    def make_node(self, x: TensorVariable, y: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x, y], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        total = inputs[0] + inputs[1]
        for place in self.over:
            inputs[place][:] = -77
        if self.over:
            inputs[self.over[0]][:] = total
            total = inputs[self.over[0]]
        output_storage[0][0] = total


def test_a_wrong_way_of_working_in_place_does_not_block_a_right_one() -> None:
    x, y = lt.dvectors("x", "y")
    first, second = lt.exp(x), lt.exp(y)
    total = Inplace()(first, second)
    graph = FunctionGraph([x, y], [total, lt.sum(first)]).with_outputs([total, first]).with_feature(Supervisor([x, y]))
    node = total.owner
    assert node is not None
    ways = [InplaceProposal(node, Inplace(*over)) for over in ((0, 1), (0,), (1,))]
    decision = accept_inplace(graph, ways)
    assert decision.accepted == (ways[2],)
    assert [proposal for proposal, _ in decision.refused] == ways[:2]
    changed, _ = apply_inplace(graph, decision.accepted)
    values = {x: np.zeros(2), y: np.ones(2)}
    total_value, first_value = lm.evaluate(changed.outputs, values)
    np.testing.assert_array_equal(total_value, 1 + np.exp(np.ones(2)))
    np.testing.assert_array_equal(first_value, np.ones(2))
    carrying = graph.with_feature(DestroyHandler())
    for over in ((0, 1), (0,)):
        with pytest.raises(InconsistencyError):
            carrying.replace(total, Inplace(*over)(first, second))
    assert carrying.outputs[0] is total
    assert carrying.replace(total, Inplace(1)(first, second)).outputs[0] is not total


def test_one_impossible_step_among_many_leaves_the_others() -> None:
    x = lt.dvector("x")
    steps = [lt.exp(x)]
    for _ in range(500):
        steps.append(Inplace()(steps[-1], x))
    graph = FunctionGraph([x], [steps[-1], steps[250]]).with_feature(Supervisor([x]))
    ways = [InplaceProposal(node, Inplace(0)) for node in graph.order if isinstance(node.op, Inplace)]
    decision = accept_inplace(graph, ways)
    assert len(decision.accepted) == 499
    ((refused, reason),) = decision.refused
    assert refused.node.inputs[0] is steps[250]
    assert reason
    changed, _ = apply_inplace(graph, decision.accepted)
    last, middle = lm.interpret(changed.inputs, changed.outputs, [np.array([1.0])], changed.order)
    assert last[0] == pytest.approx(np.e + 500)
    assert middle[0] == pytest.approx(np.e + 250)


@every_mode
def test_an_op_that_overwrites_is_given_what_it_may_spoil(mode: lm.Mode) -> None:
    x, y = lt.dvectors("x", "y")
    ones = np.ones(2)
    for over in ((0,), (1,), (0, 1)):
        kept = lm.function([x, y], [Inplace(*over)(lt.exp(x), lt.exp(y)), lt.sum(x) + lt.sum(y)], mode=mode)
        total, both = kept(0 * ones, ones)
        np.testing.assert_array_equal(total, 1 + np.exp(ones))
        assert both == 2
        with pytest.raises(InconsistencyError):
            lm.function([x, y], Inplace(*over)(x, y), mode=mode)
        spoiled = lm.function(
            [lm.In(x, mutable=True), lm.In(y, mutable=True)], [Inplace(*over)(x, y), lt.exp(x), lt.sum(y)], mode=mode
        )
        total, read, total_of_y = spoiled(ones.copy(), 2 * ones)
        np.testing.assert_array_equal(total, 3 * ones)
        np.testing.assert_array_equal(read, np.exp(ones))
        assert total_of_y == 4
    with pytest.raises(InconsistencyError):
        lm.function([lm.In(x, mutable=True), y], [Inplace(0)(x, y), x], mode=mode)
    with pytest.raises(InconsistencyError):
        lm.function([y], Inplace(0)(lt.constant(ones), y), mode=mode)


@every_mode
def test_updates_happen_at_once(mode: lm.Mode) -> None:
    a, b = lm.shared(1.0, name="a"), lm.shared(2.0, name="b")
    swap = lm.function([], [a, b], updates={a: b, b: a}, mode=mode)
    assert [float(v) for v in swap()] == [1, 2]
    assert (a.get_value(), b.get_value()) == (2, 1)
    swap()
    assert (a.get_value(), b.get_value()) == (1, 2)
    count = lm.function([], [a, a + 1], updates={a: a + 1}, mode=mode)
    assert [float(v) for v in count()] == [1, 2]
    assert a.get_value() == 2
    v, w = lm.shared(np.arange(3.0)), lm.shared(np.zeros(3))
    turn = lm.function([], [v[0]], updates=[(v, v[::-1] + w), (w, v)], mode=mode)
    turn()
    assert v.get_value().tolist() == [2, 1, 0]
    assert w.get_value().tolist() == [0, 1, 2]
    turn()
    assert v.get_value().tolist() == [0, 2, 4]
    assert w.get_value().tolist() == [2, 1, 0]
    same = lm.function([], [], updates={v: w, w: w}, mode=mode)
    same()
    v.set_value(np.full(3, 9.0))
    assert w.get_value().tolist() == [2, 1, 0]
    grow = lm.function([], v.shape, updates={v: lt.concatenate([v, v])}, mode=mode)
    assert [grow().tolist() for _ in range(3)] == [[3], [6], [12]]


def test_the_same_array_given_twice_is_not_changed() -> None:
    x, y = lt.dvectors("x", "y")
    a = np.ones(3)
    for run in compiled([x + y, (x + 1)[0].set(y[1]), lt.exp(x) * y], [x, y]).values():
        results = run(a, a)
        assert results[0].tolist() == [2, 2, 2]
        run(a[::-1], a)
        run(np.broadcast_to(np.float64(1), 3), a)
        assert a.tolist() == [1, 1, 1]
    frozen = np.ones(3)
    frozen.flags.writeable = False
    for run in compiled([x[0].set(5.0), x + 1], [x]).values():
        assert run(frozen)[0].tolist() == [5, 1, 1]
    f = lm.function([lm.In(x, mutable=True)], x[0].set(5.0))
    assert f(frozen).tolist() == [5, 1, 1]
    assert frozen.tolist() == [1, 1, 1]
    wide = np.broadcast_to(np.float64(1), 3)
    assert f(wide).tolist() == [5, 1, 1]
