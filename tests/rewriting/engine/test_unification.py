"""Unification and reification of graphs, without any package."""

import pickle
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import Apply, Elemwise, TensorType, Variable, toposort
from lamella.rewriting import (
    ConsPair,
    ExpressionTuple,
    LogicVariable,
    cons,
    etuple,
    etuplize,
    isvar,
    lvars,
    nth,
    reify,
    unify,
    var,
)
from tests.rewriting.toys import Pair, RealOp, add, exp, graph_of, identity, mul, neg, pair, real, show, sub

x, y, z = real("x"), real("y"), real("z")
a, b, c = var("a"), var("b"), var("c")


def test_the_tutorials_first_example() -> None:
    y_lv = var()
    s = unify(add(x, y), etuple(add, x, y_lv))
    assert s == {y_lv: y}
    assert unify(etuple(add, x, y_lv), add(x, y)) == s
    res = reify(etuple(add, y_lv, y_lv), s)
    assert isinstance(res, ExpressionTuple)
    assert res == etuple(add, y, y)
    assert str(res) == "e(add, y, y)"
    assert res.evaled_obj is add(y, y)
    assert unify(add(x, y), etuple(mul, x, y_lv)) is False
    assert unify(add(x, y), etuple(add, y, y_lv)) is False


def test_the_tutorials_example_of_any_number_of_arguments() -> None:
    op_lv, args_lv = lvars(2)
    for graph in (add(x, y), add(x, y, z)):
        s = unify(cons(op_lv, args_lv), graph)
        assert s == {op_lv: add, args_lv: ExpressionTuple([*graph.owner.inputs] if graph.owner else [])}
        res = reify(cons(mul, args_lv), s)
        assert isinstance(res, ExpressionTuple)
        assert show(res.evaled_obj) == show(graph).replace("add", "mul")


def test_logic_variables() -> None:
    assert isvar(a)
    assert not isvar(x)
    assert var("a") == a
    assert var() != var()
    assert len(set(lvars(3))) == 3
    assert str(a) == "~a"
    assert str(var("n", constraint=callable)) == "~n[callable]"
    assert pickle.loads(pickle.dumps(a)) == a


@pytest.mark.parametrize(
    ("u", "v", "expected"),
    [
        (a, x, {a: x}),
        (x, a, {a: x}),
        (a, a, {}),
        (x, x, {}),
        (x, y, False),
        (x, add(x, y), False),
        (etuple(add, a, a), add(x, x), {a: x}),
        (etuple(add, a, a), add(x, y), False),
        (etuple(add, a, etuple(exp, a)), add(x, exp(x)), {a: x}),
        (etuple(add, a), add(x, y), False),
        (etuple(a, x, y), sub(x, y), {a: sub}),
        (etuple(exp, a), x, False),
        ([a, x], [y, b], {a: y, b: x}),
        ((a, (b, 3)), (1, (2, 3)), {a: 1, b: 2}),
        ((a, b), [1, 2], False),
        ((1, 2), (1, 2, 3), False),
        (1, 1.0, False),
        (True, 1, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), {}),
        ("add", "add", {}),
        (add, add, {}),
        (add, mul, False),
        (np.array([1, 2]), np.array([1, 2]), {}),
        (np.array([1, 2]), np.array([1.0, 2.0]), False),
        (cons(a, b), (1, 2, 3), {a: 1, b: (2, 3)}),
        (cons(a, b), [1], {a: 1, b: []}),
        (cons(a, b), (), False),
        (cons(a, b), 5, False),
        (cons(1, a), cons(b, (2,)), {a: (2,), b: 1}),
        (cons(a, b), ConsPair(1, c), {a: 1, b: c}),
        (etuple(), etuple(), {}),
        (a, etuple(exp, a), False),
        ((a, b), (etuple(exp, b), etuple(exp, a)), False),
    ],
)
def test_unifying(u: object, v: object, expected: object) -> None:
    assert unify(u, v) == expected
    other = unify(v, u)
    assert (other is False) == (expected is False)
    if other is not False:
        assert reify(u, other) is v or _same(reify(u, other), reify(v, other))


def _same(u: object, v: object) -> bool:
    return unify(u, v) == {}


def test_bindings_that_are_given() -> None:
    assert unify(a, x, {a: y}) is False
    assert unify(a, b, {a: y}) == {a: y, b: y}
    given_ones = {a: x}
    assert unify(b, y, given_ones) == {a: x, b: y}
    assert given_ones == {a: x}


def test_constraints() -> None:
    some_exp = var("e", constraint=lambda term: isinstance(term, Variable) and term.owner is not None)
    assert unify(etuple(neg, some_exp), neg(exp(x))) == {some_exp: exp(x)}
    assert unify(etuple(neg, some_exp), neg(x)) is False
    # of two unknowns, what stands for both must satisfy both
    positive = var("p", constraint=lambda term: isinstance(term, int) and term > 0)
    even = var("q", constraint=lambda term: isinstance(term, int) and term % 2 == 0)
    assert unify((positive, a, a), (a, even, 3)) is False
    assert unify((positive, a, a), (a, even, -2)) is False
    s = unify((positive, a, a), (a, even, 4))
    assert s is not False
    assert reify([positive, even, a], s) == [4, 4, 4]


def test_numbers_stand_for_constants_that_hold_them() -> None:
    v = lt.dvector("v")
    assert unify(v + 1, etuple(lt.add, a, 1)) == {a: v}
    assert unify(v + 2, etuple(lt.add, a, 1)) is False
    assert unify(v + np.full(3, 2.0), etuple(lt.add, a, 2)) == {a: v}
    assert unify(v + np.array([2.0, 3.0]), etuple(lt.add, a, 2)) is False
    assert unify(v * -0.0, etuple(lt.mul, v, 0.0)) is False
    assert unify(v * float("nan"), etuple(lt.mul, v, float("nan"))) == {}
    one, same, other = lt.constant(1.0), lt.constant(1.0).named("one"), lt.constant(np.float32(1))
    assert unify(one, same) == {}
    assert unify(one, other) is False


def test_names_and_sharing_mean_nothing() -> None:
    assert unify(add(exp(x).named("e"), y), add(exp(x), y)) == {}
    doubled = plain = x
    for _ in range(200):
        doubled, plain = add(doubled, doubled).named("d"), add(plain, plain)
    assert unify(doubled, plain) == {}  # in as many steps as there are nodes, not as there are paths
    assert unify(doubled, add(plain, y)) is False


def test_ops_and_types_with_their_properties() -> None:
    v = lt.fvector("v")
    scalar, axis = lvars(2)
    assert unify(lt.exp(v), etuple(etuple(Elemwise, scalar, ()), v)) == {scalar: lt.exp.scalar_op}
    summed = lt.sum(v, axis=0)
    assert summed.owner is not None
    op = summed.owner.op
    assert etuplize(op) == etuple(type(op), (0,), "float32", "float64")
    s = unify(cons(cons(type(op), cons(axis, a)), (b,)), summed)
    assert s is False  # the arguments of an application are an expression tuple
    s = unify(cons(cons(type(op), cons(axis, a)), etuple(v)), summed)
    assert s == {axis: (0,), a: etuple("float32", "float64")}
    assert etuplize(op).evaled_obj is op
    made = reify(etuple(etuple(Elemwise, scalar, ()), v), {scalar: lt.log.scalar_op})
    assert isinstance(made, ExpressionTuple)
    assert made.evaled_obj is lt.log(v)
    assert unify(v.type, etuple(TensorType, "float32", a)) == {a: (None,)}
    assert unify(etuple(TensorType, "float64", a), v.type) is False
    wide = reify(etuple(TensorType, "float64", a), {a: (3,)})
    assert isinstance(wide, ExpressionTuple)
    assert wide.evaled_obj == TensorType("float64", (3,))
    assert unify(add, etuple(RealOp, a, b, c)) == {a: "add", b: add.function, c: True}


@attrs.frozen
class WithMemory(RealOp):
    """What it carries beside its properties cannot be given to it."""

    memory: int = attrs.field(init=False, default=0)


class Untold(RealOp):
    """Says nothing of its properties: it stays whole."""

    def __init__(self) -> None:
        super().__init__("untold", abs)
        object.__setattr__(self, "more", 1)


def test_ops_that_cannot_be_taken_apart() -> None:
    for op in (WithMemory("m", abs), Untold()):
        assert unify(op, etuple(type(op), a, b, c)) is False
        assert unify(op, cons(a, b)) is False
        assert unify(op(x), etuple(op, a)) == {a: x}
        with pytest.raises(TypeError, match="has no parts: it is no application of a function"):
            etuplize(op)


def test_nodes_of_several_outputs() -> None:
    total, difference = pair(x, y)
    assert etuplize(difference) == etuple(nth, 1, etuple(pair, x, y))
    assert unify(difference, etuple(nth, a, etuple(pair, b, y))) == {a: 1, b: x}
    assert unify(total, etuple(nth, 1, etuple(pair, x, y))) is False
    assert unify(total, difference) is False
    assert unify(total, etuple(pair, x, y)) is False  # which is both
    assert unify(cons(a, b), total) == {a: nth, b: etuple(0, etuple(pair, x, y))}
    swapped = etuple(nth, 1, etuple(pair, y, x)).evaled_obj
    assert swapped is pair(y, x)[1]
    assert etuple(pair, y, x).evaled_obj == pair(y, x)
    assert etuple(add, etuple(nth, 0, etuple(pair, y, x)), x).evaled_obj is add(pair(y, x)[0], x)


@attrs.frozen(repr=False)
class FirstOfPair(Pair):
    default_output = 0


def test_the_default_output_needs_no_number() -> None:
    first_of = FirstOfPair()
    total = first_of(x, y)
    assert unify(total, etuple(first_of, a, b)) == {a: x, b: y}
    assert etuple(first_of, x, y).evaled_obj is total
    assert etuple(nth, 1, etuple(first_of, x, y)).evaled_obj is total.owner.outputs[1]
    assert unify(total.owner.outputs[1], etuple(first_of, a, b)) is False


def test_etuplizing_goes_to_the_inputs() -> None:
    graph = add(exp(x), mul(y, exp(x)))
    assert etuplize(graph) == etuple(add, etuple(exp, x), etuple(mul, y, etuple(exp, x)))
    assert etuplize(graph, shallow=True) == etuple(add, exp(x), mul(y, exp(x)))
    assert etuplize(graph).evaled_obj is graph
    assert etuplize([add, x, y]).evaled_obj is add(x, y)
    assert etuplize(etuplize(graph)) == etuplize(graph)
    for nothing in (x, 5, "text"):
        with pytest.raises(TypeError, match="has no parts"):
            etuplize(nothing)


def test_expression_tuples_are_sequences() -> None:
    e = etuple(add, x, y)
    assert len(e) == 3
    assert list(e) == [add, x, y]
    assert e[0] is add
    assert e[1:] == ExpressionTuple([x, y])
    head, tail = (add,), (x, y)
    assert e[:1] + tail == e
    assert head + e[1:] == e
    assert cons(add, e[1:]) == e
    assert (hash(e), hash(etuple(add, e))) == (hash(etuple(add, x, y)), hash(etuple(add, etuple(add, x, y))))
    assert e != etuple(add, x)
    assert e != (add, x, y)
    assert x in e
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        e.items = ()  # type: ignore[misc]  # a planted mistake


def test_values_of_expressions_of_any_function() -> None:
    assert etuple(max, 3, etuple(min, 5, 4)).evaled_obj == 4
    graph: Variable[Any] = etuple(lambda v, n: v.named(n), etuple(exp, x), "e").evaled_obj
    assert str(graph) == "e"


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        (etuple(add, x, a), ValueError, r"e\(add, x, ~a\) has no value while ~a is in it: reify it first"),
        (etuple(add, cons(x, a)), ValueError, "reify it first"),
        (ExpressionTuple([]), ValueError, "an empty expression tuple has no value"),
        (etuple(3, x), TypeError, "3 is no function"),
        (
            etuple(nth, 2, etuple(pair, x, y)),
            TypeError,
            "nth takes the number of an output and the application of an Op",
        ),
        (etuple(exp, "text"), ValueError, "could not convert"),
    ],
)
def test_expressions_without_a_value(expression: ExpressionTuple, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        _ = expression.evaled_obj


def test_reifying() -> None:
    assert reify(a, {}) is a
    assert reify(a, {a: b, b: x}) is x
    assert reify((a, [b, 1], cons(a, c)), {a: 1, c: (2,)}) == (1, [b, 1], (1, 2))
    nothing_to_do = (etuple(add, x, etuple(exp, y)), [a])
    assert reify(nothing_to_do, {b: x}) is nothing_to_do
    with pytest.raises(ValueError, match="is to stand for a part of itself"):
        reify(a, {a: etuple(exp, a)})
    with pytest.raises(ValueError, match=r"the bindings of ~[ab] lead back to it"):
        reify(a, {a: b, b: a})


# Properties

leaves = st.sampled_from([x, y, z])


def _applied(children: st.SearchStrategy[Variable[Any]]) -> st.SearchStrategy[Variable[Any]]:
    unary = st.builds(lambda op, u: op(u), st.sampled_from([exp, neg, identity]), children)
    binary = st.builds(lambda op, u, v: op(u, v), st.sampled_from([add, mul, sub]), children, children)
    second = st.builds(lambda u, v: pair(u, v)[1], children, children)
    return unary | binary | second


graphs: st.SearchStrategy[Variable[Any]] = st.recursive(leaves, _applied, max_leaves=12)


@st.composite
def patterns(draw: st.DrawFn, graph: Variable[Any]) -> object:
    """A graph as expression tuples, with logic variables in the place of some parts: equal parts may have the same one."""
    names: dict[object, LogicVariable] = {}

    def part(term: object) -> object:
        kind = draw(st.integers(0, 9))
        if kind == 0:
            return var()
        if kind <= 2:
            return names.setdefault(term, var())
        if isinstance(term, Variable) and term.owner is not None:
            return part(etuplize(term, shallow=True))
        if isinstance(term, ExpressionTuple) and len(term) > 0:
            if kind <= 4:
                return cons(part(term[0]), part(term[1:]))
            return ExpressionTuple([part(item) for item in term])
        return term

    return part(graph)


@given(st.data(), graphs)
def test_a_pattern_made_of_a_graph_fits_it_and_gives_it_back(data: st.DataObject, graph: Variable[Any]) -> None:
    pattern = data.draw(patterns(graph))
    s = unify(pattern, graph)
    assert s is not False
    back = reify(pattern, s)
    assert (back.evaled_obj if isinstance(back, ExpressionTuple) else back) is graph
    assert unify(graph, pattern) is not False


@given(st.data(), graphs, graphs)
def test_what_unifies_becomes_the_same(data: st.DataObject, first: Variable[Any], second: Variable[Any]) -> None:
    u, v = data.draw(patterns(first)), data.draw(patterns(second))
    s = unify(u, v)
    assert (s is False) == (unify(v, u) is False)
    if s is not False:
        assert unify(reify(u, s), reify(v, s)) == {}
        assert unify(u, v, s) == s


@given(graphs, graphs)
def test_graphs_without_unknowns_unify_where_they_are_the_same(first: Variable[Any], second: Variable[Any]) -> None:
    assert (unify(first, second) == {}) == (first is second)


@given(graphs)
def test_expression_tuples_give_graphs_back(graph: Variable[Any]) -> None:
    if graph.owner is not None:
        assert etuplize(graph).evaled_obj is graph
        fresh = reify(etuplize(graph), {})
        assert fresh == etuplize(graph)


def test_long_chains() -> None:
    graph = x
    for i in range(5_000):
        graph = neg(graph) if i % 2 else exp(graph)
    expression = etuplize(graph)
    assert expression.evaled_obj is graph
    pattern: object = a
    for node in toposort([graph]):
        pattern = etuple(node.op, pattern)
    s = unify(pattern, graph)
    assert s == {a: x}
    again = reify(pattern, s)
    assert isinstance(again, ExpressionTuple)
    assert again == expression
    assert again.evaled_obj is graph
    assert repr(again).endswith("e(...)" + ")" * 12)
    assert hash(again) == hash(expression)
    assert unify(a, pattern) is False
    assert len(graph_of(graph).order) == 5_000


def test_a_rewriter_by_hand() -> None:
    """Unification is a tool for rewriters of any kind: x + x -> 2 x."""
    from lamella.rewriting import in2out, node_rewriter

    @node_rewriter([add])
    def doubled(fgraph: Any, node: Apply[Any]) -> list[Variable[Any]] | None:
        s = unify(node.out, etuple(add, a, a))
        made = reify(etuple(mul, 2.0, a), s) if s else None
        return [made.evaled_obj] if isinstance(made, ExpressionTuple) else None

    assert show(in2out(doubled).rewrite(graph_of(add(exp(x), exp(x)), add(x, y)))) == "mul(2.0, exp(x)), add(x, y)"
