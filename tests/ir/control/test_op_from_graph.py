"""`OpFromGraph`: an Op that computes a graph, inlined or not; its gradient, its overrides, its equality."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import DisconnectedInputError, MissingInputError, NullTypeGradError
from lamella.ir import NullType, TensorVariable, Variable, grad_undefined, toposort
from lamella.testing import verify_grad
from lamella.typing_layer import symbolic_shape

x, y = lt.dvector("x"), lt.dvector("y")
in_each_mode = pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
inlined_or_not = pytest.mark.parametrize("inline", [True, False])


def product_and_sum(inline: bool = True, **overrides: Any) -> lm.OpFromGraph:
    a, b = lt.dvector("a"), lt.dvector("b")
    return lm.OpFromGraph([a, b], [a * b, a + b], inline=inline, **overrides)


def holds_inner_graph(f: lm.Function) -> bool:
    return any(isinstance(node.op, lm.OpFromGraph) for node in f.fgraph.order)


@in_each_mode
@inlined_or_not
def test_it_computes_its_graph(mode: str, inline: bool) -> None:
    product, total = product_and_sum(inline)(lt.exp(x), y)
    f = lm.function([x, y], [product, total], mode=mode)
    for result, expected in zip(f([0.0, 1.0], [2.0, 3.0]), ([2.0, 3 * np.e], [3.0, 3 + np.e]), strict=True):
        np.testing.assert_allclose(result, expected)
    assert holds_inner_graph(f) is not inline


@inlined_or_not
def test_several_related_outputs(inline: bool) -> None:
    """Fault B41."""
    a, b = product_and_sum(inline)(x, y)
    given: dict[Any, Any] = {x: [2.0], y: [3.0]}
    assert [g.eval(given) for g in lm.grad(lt.sum(a * b), [x, y])] == [21.0, 16.0]
    assert [g.eval(given) for g in lm.grad(lt.sum(b), [x, y])] == [1.0, 1.0]
    assert [g.eval(given) for g in lm.grad(lt.sum(a), [x, y])] == [3.0, 2.0]


@inlined_or_not
def test_an_output_that_another_one_is_computed_from(inline: bool) -> None:
    a = lt.dvector()
    h = lt.sin(a)
    first, second, again, given = lm.OpFromGraph([a], [h, h * h, h, a], inline=inline)(x)
    cost = lt.sum(first + 3 * second + 5 * again + 7 * given)
    slope = np.cos(2.0) * (1 + 6 * np.sin(2.0) + 5) + 7
    np.testing.assert_allclose(lm.grad(cost, x).eval({x: [2.0]}), [slope])


@in_each_mode
@inlined_or_not
def test_outputs_that_are_views_of_one_another(mode: str, inline: bool) -> None:
    """Fault B70."""
    a, m = lt.dmatrix(), lt.dmatrix("m")
    h = a + 1
    op = lm.OpFromGraph([a], [a, a.T, a[::-1], h, h.T], inline=inline)
    f = lm.function([m], [lt.inc_subtensor(z[:], 1.0) for z in op(m)], mode=mode)
    zeros = np.zeros((2, 2))
    for i, result in enumerate(f(zeros)):
        np.testing.assert_array_equal(result, np.full((2, 2), 1.0 + (i > 2)))
    assert not zeros.any()
    returned = lm.function([m], op(m), mode=mode)(zeros)
    for result in returned:
        result += 1
    assert [float(result[0, 0]) for result in returned] == [1.0, 1.0, 1.0, 2.0, 2.0]
    assert not zeros.any()


@inlined_or_not
def test_gradients_tangents_and_second_derivatives(inline: bool) -> None:
    a, b = lt.dvector(), lt.dscalar()
    op = lm.OpFromGraph([a, b], [lt.sum(lt.exp(a * b)), lt.sin(a) / b], inline=inline)

    def applied(v: TensorVariable, s: TensorVariable) -> TensorVariable:
        first, second = op(v, s)
        made: TensorVariable = first * lt.sum(second)
        return made

    point = [np.array([0.3, -0.2]), np.array(0.7)]
    verify_grad(applied, point, mode="FAST_COMPILE")
    verify_grad(lambda v, s: lm.grad(applied(v, s), [v])[0], point, mode="FAST_COMPILE")
    s = lt.dscalar("s")
    pushed = lm.Rop(applied(x, s), [x, s], [lt.ones_like(x), lt.ones_like(s)])
    slopes = lm.grad(applied(x, s), [x, s])
    given: dict[Any, Any] = {x: point[0], s: point[1]}
    np.testing.assert_allclose(pushed.eval(given), slopes[0].eval(given).sum() + slopes[1].eval(given))


def test_equal_graphs_make_equal_ops() -> None:
    u, v = lt.dvector("u"), lt.dvector("v")
    same = lm.OpFromGraph([u, v], [(u * v).named("product"), u + v], name="another name")
    assert same == product_and_sum()
    assert hash(same) == hash(product_and_sum())
    assert same(x, y)[0] is product_and_sum()(x, y)[0]
    assert product_and_sum() != product_and_sum(inline=False)
    assert lm.OpFromGraph([u, v], [u * v, u - v]) != same
    assert lm.OpFromGraph([v, u], [u - v]) != lm.OpFromGraph([u, v], [u - v])


def test_inputs_of_other_types_make_other_ops() -> None:
    def doubled(v: TensorVariable) -> lm.OpFromGraph:
        return lm.OpFromGraph([v], [v + v])

    assert doubled(lt.dvector()) == doubled(lt.dvector())
    assert doubled(lt.dvector()) != doubled(lt.fvector())
    assert doubled(lt.dvector()) != doubled(lt.dmatrix())


def test_pickling_keeps_equality_and_values() -> None:
    op = product_and_sum(name="f")
    again = pickle.loads(pickle.dumps(op))
    assert again == op
    assert str(again) == "OpFromGraph{f}"
    z = pickle.loads(pickle.dumps(op(x, y)[0]))
    assert z.owner.op == op
    state = lm.shared(np.ones(2), "state")
    a = lt.dvector("a")
    kept = pickle.loads(pickle.dumps(lm.OpFromGraph([a], [a + state])))
    assert [v.get_value().tolist() for v in kept.shared_inputs] == [[1.0, 1.0]]


@in_each_mode
@inlined_or_not
def test_shared_variables_are_inputs_by_themselves(mode: str, inline: bool) -> None:
    weights = lm.shared(np.array([1.0, 2.0]), "weights")
    a = lt.dvector()
    op = lm.OpFromGraph([a], [lt.sum(a * weights)], inline=inline)
    z = op(x)
    f = lm.function([x], [z, *lm.grad(z, [x, weights])], updates={weights: weights + 1}, mode=mode)
    np.testing.assert_array_equal(f([3.0, 4.0])[1], [1.0, 2.0])
    value, gx, gw = f([3.0, 4.0])
    assert value == 3 * 2 + 4 * 3
    np.testing.assert_array_equal(gx, [2.0, 3.0])
    np.testing.assert_array_equal(gw, [3.0, 4.0])


def test_shapes_follow_from_the_inner_graph() -> None:
    a, b = lt.dmatrix(), lt.dvector()
    op = lm.OpFromGraph([a, b], [a.T @ a, lt.concatenate([b, a[0]])], inline=False)
    m = lt.dmatrix("m")
    lengths = [length for out in op(m, x) for length in symbolic_shape(out)]
    assert not any(isinstance(node.op, lm.OpFromGraph) for node in toposort(lengths))
    f = lm.function([m, x], lengths)
    assert [int(n) for n in f(np.zeros((2, 3)), np.zeros(4))] == [3, 3, 7]


def test_shapes_of_nested_graphs_do_not_mix_up_their_inputs() -> None:
    a, b = lt.dvector(), lt.dvector()
    inner = lm.OpFromGraph([a, b], [lt.concatenate([a, b, b])], inline=False)
    outer = lm.OpFromGraph([a, b], [inner(b, a)], inline=False)
    (length,) = symbolic_shape(outer(x, y))
    assert length.eval({x: [1.0], y: [1.0, 2.0]}) == 4


def test_literals_and_narrower_inputs_are_taken() -> None:
    op = product_and_sum()
    np.testing.assert_array_equal(op(x, np.array([2.0]))[0].eval({x: [3.0]}), [6.0])
    known = lt.tensor("known", dtype="float64", shape=(2,))
    assert op(known, known)[0].eval({known: [1.0, 2.0]}).tolist() == [1.0, 4.0]


def test_what_an_override_sees() -> None:
    seen: list[list[str]] = []

    def override(inputs: Sequence[Any], outputs: Sequence[Any], grads: Sequence[Any]) -> list[Variable[Any]]:
        seen.append([type(g.type).__name__ for g in grads])
        return [inputs[0] * 100, outputs[1] * 1000]

    a, b = product_and_sum(lop_overrides=override)(x, y)
    given: dict[Any, Any] = {x: [2.0], y: [3.0]}
    assert [g.eval(given) for g in lm.grad(lt.sum(b), [x, y])] == [200.0, 5000.0]
    assert [g.eval(given) for g in lm.grad(lt.sum(a), [x, y])] == [200.0, 5000.0]
    assert seen == [["DisconnectedType", "TensorType"], ["TensorType", "DisconnectedType"]]


def test_an_op_from_graph_as_an_override() -> None:
    a, b, p, s, gp, gs = [lt.dvector() for _ in range(6)]
    back = lm.OpFromGraph([a, b, p, s, gp, gs], [gp * b + gs * 10, gp * a + gs * 20])
    product, total = product_and_sum(grad_overrides=back)(x, y)
    given: dict[Any, Any] = {x: [2.0], y: [3.0]}
    assert [g.eval(given) for g in lm.grad(lt.sum(total), [x, y])] == [10.0, 20.0]
    assert [g.eval(given) for g in lm.grad(lt.sum(product), [x, y])] == [3.0, 2.0]


def test_an_override_for_each_input() -> None:
    op = product_and_sum(lop_overrides=[None, lambda inputs, outputs, grads: grads[0] * 7])
    product, _ = op(x, y)
    given: dict[Any, Any] = {x: [2.0], y: [3.0]}
    assert [g.eval(given) for g in lm.grad(lt.sum(product), [x, y])] == [3.0, 7.0]
    undefined = NullType("on purpose")()
    refusing = product_and_sum(lop_overrides=[None, undefined])
    with pytest.raises(NullTypeGradError, match="on purpose"):
        lm.grad(lt.sum(refusing(x, y)[0]), y)
    with pytest.raises(ValueError, match="lop_overrides has 1 entries"):
        lm.grad(lt.sum(product_and_sum(lop_overrides=[None])(x, y)[0]), y)


def test_an_undefined_gradient_inside_is_told() -> None:
    class Undefined(lm.Op[[TensorVariable], TensorVariable]):
        __props__ = ()

        def make_node(self, v: TensorVariable) -> lm.Apply[TensorVariable]:
            return lm.Apply(self, [v], [v.type])

        def perform(self, node: lm.Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
            output_storage[0][0] = inputs[0]

        def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Variable[Any]]:
            return [grad_undefined(self, 0, inputs[0], "by design")]

    a = lt.dvector()
    z = lm.OpFromGraph([a], [Undefined()(a)])(x)
    with pytest.raises(NullTypeGradError, match="by design"):
        lm.grad(lt.sum(z), x)


def test_an_override_of_tangents() -> None:
    def pushed(inputs: Sequence[Any], points: Sequence[Any]) -> list[Any]:
        return [points[0] * 5, None]

    product, total = product_and_sum(rop_overrides=pushed)(x, y)
    np.testing.assert_array_equal(lm.Rop(product, x, lt.ones_like(x)).eval({x: [1.0]}), [5.0])
    with pytest.raises(DisconnectedInputError):
        lm.Rop(total, x, lt.ones_like(x))


def test_what_is_connected_follows_from_the_inner_graph_or_is_given() -> None:
    a, b = lt.dvector(), lt.dvector()
    op = lm.OpFromGraph([a, b], [a * 2, lt.sum(b) + a.shape[0]])
    assert op.connection_pattern(op.make_node(x, y)) == ((True, False), (False, True))
    cut = lm.OpFromGraph([a, b], [a * b], connection_pattern=[[True], [False]])
    with pytest.raises(DisconnectedInputError):
        lm.grad(lt.sum(cut(x, y)), y)


def test_integers_have_a_gradient_of_zero() -> None:
    n = lt.lvector("n")
    m = lt.lvector()
    z = lm.OpFromGraph([m], [lt.sum(m * 2.5)])(n)
    np.testing.assert_array_equal(lm.grad(z, n).eval({n: [1, 2]}), [0.0, 0.0])


def test_graphs_within_graphs() -> None:
    a = lt.dvector()
    square = lm.OpFromGraph([a], [a * a], inline=False)
    fourth = lm.OpFromGraph([a], [square(square(a))], inline=False)
    f = lm.function([x], [fourth(x), lm.grad(lt.sum(fourth(x)), x)])
    value, slope = f([2.0])
    assert (value, slope) == (16.0, 32.0)


def test_an_inner_graph_that_overwrites_spares_its_inputs() -> None:
    a = lt.dvector()
    inner = lt.set_subtensor(a[0], 9.0)
    assert inner.owner is not None
    over = type(inner.owner.op)(inner.owner.op.idx_list, True, True)  # type: ignore[attr-defined, call-arg]  # an IncSubtensor
    op = lm.OpFromGraph([a], [over(*inner.owner.inputs)], inline=False)
    given = np.array([1.0, 2.0])
    f = lm.function([x], [op(x), x * 2])
    results = f(given)
    np.testing.assert_array_equal(results[0], [9.0, 2.0])
    np.testing.assert_array_equal(results[1], [2.0, 4.0])
    np.testing.assert_array_equal(given, [1.0, 2.0])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: lm.OpFromGraph([x], [x + y]), MissingInputError, "y"),
        (lambda: lm.OpFromGraph([x], [2.0]), TypeError, "the ends of an inner graph are Variables, not 2.0"),  # type: ignore[list-item]  # the error is what is tested
        (
            lambda: lm.OpFromGraph([x], [x], lop_overrides=[None], grad_overrides=[None]),
            TypeError,
            "two names of one thing",
        ),
        (lambda: product_and_sum()(x), TypeError, "takes 2 inputs, not 1"),
        (lambda: product_and_sum()(x, lt.fvector()), TypeError, "float32"),
    ],
)
def test_what_does_not_fit_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_a_missing_input_says_what_to_do() -> None:
    with pytest.raises(MissingInputError) as caught:
        lm.OpFromGraph([x], [x + y])
    assert "give it among the inputs of the OpFromGraph" in caught.value.__notes__


def test_it_prints_its_graph() -> None:
    a, b = lt.dvector("a"), lt.dvector("b")
    # No other test has this graph: an equal node that is alive would be taken, with the name that its Op has.
    op = lm.OpFromGraph([a, b], [lt.exp(a * b) - 0.1875], inline=False, name="f")
    text = lm.dprint(op(x, y), file="str")
    assert "OpFromGraph{f}" in str(text)
    assert "Inner graphs" in str(text)
