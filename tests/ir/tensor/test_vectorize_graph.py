"""`vectorize_graph`: what stands for what, which axes broadcast, and that Ops are applied to the whole batch.

That the values are those of a loop, for every Op, is tested with the catalogue.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir import Apply, Op, OutputStorage, TensorVariable, Variable, generic, toposort
from lamella.testing.strategies import graphs
from tests.ir.control.counted import Counted

x, y, m = lt.dvector("x"), lt.dvector("y"), lt.dmatrix("m")
xs, ys = lt.dmatrix("xs"), lt.dmatrix("ys")


def test_a_model_applied_to_a_batch() -> None:
    weights = lt.dmatrix("weights")
    one = lt.log_softmax(lt.tanh(weights @ x))[0]
    many = lm.vectorize_graph(one, {x: xs})
    assert many.ndim == 1
    values, points = np.array([[0.1, 0.2], [0.3, -0.4], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = [one.eval({weights: values, x: point}) for point in points]
    f = lm.function([weights, xs], many)
    np.testing.assert_allclose(f(values, points), expected)


def test_one_or_several_outputs_and_what_does_not_depend_on_the_batch() -> None:
    doubled, other = lm.vectorize_graph([x * 2, y + 1], {x: xs})
    assert (doubled.ndim, other.ndim) == (2, 1)
    assert other is y + 1
    assert isinstance(lm.vectorize_graph(x, {x: xs}), TensorVariable)
    assert lm.vectorize_graph(x + 1, [(x, xs)]) is xs + 1


def test_a_variable_that_is_computed_can_be_replaced() -> None:
    middle = lt.exp(x)
    assert lm.vectorize_graph(middle * y, {middle: xs}) is xs * y


def test_without_batch_axes_it_replaces() -> None:
    assert lm.vectorize_graph(x * y, {x: y}) is y * y


def test_batches_broadcast_as_operands_do() -> None:
    rows = lt.tensor("rows", dtype="float64", shape=(4, 1, None))
    out = lm.vectorize_graph(lt.dot(x, y), {x: rows, y: ys})
    assert out.type.shape == (4, None)
    a, b = np.arange(8.0).reshape(4, 1, 2), np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(out.eval({rows: a, ys: b}), np.sum(a * b, axis=-1))
    unequal = lm.vectorize_graph(lt.dot(x, y), {x: xs, y: ys})
    with pytest.raises(BroadcastError):
        unequal.eval({xs: np.zeros((1, 2)), ys: np.zeros((3, 2))})


def test_axes_of_ones_own_never_begin_to_broadcast() -> None:
    """A length that is known of the batch, and was not of the Variable, changes no meaning."""
    ones = lt.tensor("ones", dtype="float64", shape=(3, 1))
    added = lm.vectorize_graph(x + y, {x: ones})
    with pytest.raises(BroadcastError):
        added.eval({ones: np.ones((3, 1)), y: np.ones(2)})
    row = lt.drow("row")
    wide = lt.dtensor3("wide")
    repeated = lm.vectorize_graph(row + m, {row: wide})
    np.testing.assert_array_equal(
        repeated.eval({wide: np.ones((2, 1, 3)), m: np.ones((4, 3))}), np.full((2, 4, 3), 2.0)
    )


def batched_alike() -> list[tuple[str, TensorVariable]]:
    """Graphs that are applied to whole batches without a loop."""
    i = lt.lscalar("i")
    return [
        ("elementwise", lt.exp(x) + y),
        ("reductions", lt.sum(m * x[:, None], axis=0) + lt.max(x)),
        ("argmax", lt.argmax(m * x[:, None], axis=1)),
        ("argmax of all", lt.argmax(x[:, None] * y[None, :])),
        ("softmax", lt.softmax(x) + lt.log_softmax(x) + lt.logsumexp(x)),
        ("products", lt.dot(x, y) + lt.sum(lt.dot(m, x)) + lt.sum(lt.dot(x, m))),
        ("slices", x[1:] + x[:-1]),
        ("an index", x[i]),
        ("an index of the batch", m[lt.cast(x[0], "int64")]),
        ("arrays", x[[1, 1]] + m[lt.cast(x, "int64"), lt.cast(x, "int64")]),
        ("written", lt.set_subtensor(x[1:], 0.0) + lt.inc_subtensor(x[[0, 0]], y[0])),
        ("written at an index of the batch", lt.set_subtensor(m[lt.cast(x[0], "int64")], x)),
        ("shapes", lt.reshape(lt.outer(x, y), (-1,)) * lt.cast(x.shape[0], "float64")),
        ("repeated", lt.full((2, 2), x[0]) + lt.zeros_like(m)),
        ("joined", lt.concatenate([x, y, x[:1]])),
        ("stacked", lt.stack([x[0], y[1], x[1]])),
        ("sorted", lt.sort(x) + lt.cast(lt.argsort(x), "float64") + lt.cumsum(x)),
        ("diagonals", lt.diag(lt.outer(x, y)) + lt.sum(lt.diag(x), axis=0)),
        ("split", lt.split(x, [1, 1], 2)[1]),
        ("inner graphs", lm.OpFromGraph([x, y], [lt.dot(x, y)], inline=False)(x, y)),
        ("choices", lm.ifelse(lt.gt(x[0], 0.5), x, y)),
        ("asserted", lm.Assert("x")(lt.specify_shape(x, (2,)), lt.gt(x[0], -9.0))),
    ]


@pytest.mark.parametrize(("name", "graph"), batched_alike(), ids=[name for name, _ in batched_alike()])
def test_no_loop_is_needed(name: str, graph: TensorVariable) -> None:
    many = lm.vectorize_graph(graph, {x: xs, y: ys})
    assert not [node for node in toposort([many]) if isinstance(node.op, lm.Blockwise)]
    values = {m: np.array([[1.0, 2.0], [3.0, 4.0]])}
    index = [v for v in lm.graph_inputs([graph]) if v.name == "i"]
    values.update(dict.fromkeys(index, np.array(1)))  # type: ignore[arg-type]  # it is a tensor too
    needed = set(lm.graph_inputs([graph]))
    known: dict[Any, Any] = {v: a for v, a in values.items() if v in needed}
    batch, other = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([[2.0, 3.0], [0.5, -1.0], [4.0, 9.0]])
    found = many.eval({**known, xs: batch, **({ys: other} if y in needed else {})})
    for k in range(3):
        one = graph.eval({**known, x: batch[k], **({y: other[k]} if y in needed else {})})
        np.testing.assert_allclose(found[k], one, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_random_graphs(data: st.DataObject) -> None:
    graph = data.draw(graphs())
    inputs = list(graph.inputs)
    columns = [[np.roll(a.ravel(), k).reshape(a.shape) for k in range(2)] for a in graph.inputs.values()]
    try:
        runs = [lm.interpret(inputs, graph.outputs, list(element)) for element in zip(*columns, strict=True)]
        expected = [np.stack(results) for results in zip(*runs, strict=True)]
    except (ValueError, IndexError, BroadcastError):
        return
    batches = {v: lt.TensorType(v.dtype, (2, *v.type.shape))() for v in inputs}
    many = lm.vectorize_graph(list(graph.outputs), batches)
    results = lm.interpret(list(batches.values()), many, [np.stack(column) for column in columns])
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(np.broadcast_to(result, wanted.shape), wanted, rtol=1e-6, atol=1e-6)


class Reversed(Op[[TensorVariable], TensorVariable]):
    """An Op without a rule."""

    __props__ = ()

    def make_node(self, v: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [v], [v.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0][::-1].copy()


def test_an_op_without_a_rule_is_applied_in_a_loop_and_with_one_it_is_not() -> None:
    in_a_loop = lm.vectorize_graph(Reversed()(x), {x: xs})
    assert in_a_loop.owner is not None
    assert in_a_loop.owner.op == lm.Blockwise(Reversed(), "(i00)->(o00)")
    np.testing.assert_array_equal(in_a_loop.eval({xs: [[1.0, 2.0]]}), [[2.0, 1.0]])

    class Own(Reversed):
        __props__ = ()

    @lm.vectorize_node.register(Own)
    def along_the_last_axis(op: Own, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> list[Variable[Any]]:
        return [lt.as_tensor_variable(inputs[0])[..., ::-1]]

    assert lm.vectorize_graph(Own()(x), {x: xs}) is xs[..., ::-1]


@pytest.mark.parametrize(
    ("replacement", "error", "message"),
    [
        (lt.fmatrix(), TypeError, "is no batch of x"),
        (lt.dscalar(), TypeError, "at least as many axes"),
        (generic(), TypeError, "no tensor"),
    ],
)
def test_what_is_no_batch(replacement: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lm.vectorize_graph(x + 1, {x: replacement})


def test_known_lengths_must_fit() -> None:
    two = lt.tensor("two", dtype="float64", shape=(2,))
    with pytest.raises(StaticShapeError, match="the last lengths differ"):
        lm.vectorize_graph(two + 1, {two: lt.tensor("three", dtype="float64", shape=(5, 3))})


def test_values_that_have_no_batches() -> None:
    @lm.as_op(
        [generic.type if hasattr(generic, "type") else generic("g").type, lt.TensorType("float64", ())],
        [lt.TensorType("float64", ())],
    )
    def chosen(key: Any, value: Any) -> Any:
        return value

    g, s = generic("g"), lt.dscalar("s")
    with pytest.raises(TypeError, match="which has no batches; register a rule"):
        lm.vectorize_graph(chosen(g, s), {s: x})


def test_a_choice_as_a_whole_computes_one_branch() -> None:
    log: list[str] = []
    c = lt.bscalar("c")
    chosen = lm.ifelse(c, Counted("then", log)(x) * 2, Counted("else", log)(y))
    many = lm.vectorize_graph(chosen, {x: xs})
    for condition, wanted, ran in ((1, [[2.0, 4.0], [6.0, 8.0]], "then"), (0, [[9.0, 9.0]] * 2, "else")):
        log.clear()
        found = many.eval({c: condition, xs: [[1.0, 2.0], [3.0, 4.0]], y: [9.0, 9.0]})
        np.testing.assert_array_equal(found, wanted)
        assert set(log) == {ran}


def test_a_long_chain() -> None:
    z = x
    for _ in range(3000):
        z = lt.sin(z)
    assert lm.vectorize_graph(z, {x: xs}).ndim == 2
