"""Walks: what they visit, what they accept, what they refuse, and what they cost."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import InconsistencyError, MissingInputError, RewriteError, RewriteLoopError
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    NodeRewriter,
    OpPattern,
    PatternNodeRewriter,
    RemovalNodeRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
    WalkingGraphRewriter,
    in2out,
    node_rewriter,
    out2in,
    profile_rewriting,
)
from tests.effort import calls_made
from tests.rewriting.toys import (
    POSITIVE,
    REAL,
    Exp,
    RealOp,
    Text,
    add,
    exp,
    graph_of,
    identity,
    log,
    mul,
    neg,
    pair,
    real,
    show,
    sub,
    true_div,
    value,
)

x, y, z = real("x"), real("y"), real("z")

neg_of_neg = PatternNodeRewriter((neg, (neg, "x")), "x", allow_multiple_clients=True, name="neg_of_neg")
remove_identity = RemovalNodeRewriter(identity, name="remove_identity")
walks = pytest.mark.parametrize("walk", [in2out, out2in])
Walk = Callable[..., WalkingGraphRewriter]


@node_rewriter([log])
def log_of_exp(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
    (x,) = node.inputs
    return list(x.owner.inputs) if x.owner and x.owner.op == exp else None


@walks
def test_what_a_rewriter_makes_is_rewritten_in_turn(walk: Walk) -> None:
    add_to_mul, mul_to_sub = SubstitutionNodeRewriter(add, mul), SubstitutionNodeRewriter(mul, sub)
    e = graph_of(add(add(x, y), z))
    assert show(walk(add_to_mul, mul_to_sub).rewrite(e)) == "sub(sub(x, y), z)"
    assert show(walk(add_to_mul, mul_to_sub, ignore_newtrees=True).rewrite(e)) == "mul(mul(x, y), z)"


def test_inputs_are_in_normal_form_when_a_node_is_met() -> None:
    e = graph_of(neg(identity(neg(identity(x)))))
    assert show(in2out(neg_of_neg, remove_identity).rewrite(e)) == "x"
    # Outputs first, the outer node has been met before what is between goes.
    assert show(out2in(neg_of_neg, remove_identity).rewrite(e)) == "neg(neg(x))"
    assert show(EquilibriumGraphRewriter([neg_of_neg, remove_identity]).rewrite(e)) == "x"


@walks
def test_each_node_is_met_once_however_many_use_it(walk: Walk) -> None:
    met: list[Apply[Any]] = []

    @node_rewriter(None)
    def watch(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        met.append(node)

    v = x
    for _ in range(40):
        v = add(v, v)
    e = graph_of(v)
    assert walk(watch).rewrite(e) is e
    assert sorted(map(id, met)) == sorted(map(id, e.order))


@walks
def test_tracked_nodes_only(walk: Walk) -> None:
    met: dict[str, list[str]] = {"op": [], "class": [], "pattern": [], "all": []}

    def watch(name: str, *keys: Any) -> NodeRewriter:
        @node_rewriter(keys or None)
        def watcher(fgraph: FunctionGraph, node: Apply[Any]) -> None:
            met[name].append(str(node.op))

        return watcher

    rewriter = walk(
        watch("op", neg, log), watch("class", Exp), watch("pattern", OpPattern(RealOp, commutative=True)), watch("all")
    )
    rewriter.rewrite(graph_of(add(neg(x), exp(log(y)))))
    assert {name: sorted(ops) for name, ops in met.items()} == {
        "op": ["log", "neg"],
        "class": ["exp"],
        "pattern": ["add"],
        "all": ["add", "exp", "log", "neg"],
    }


def test_keys_that_name_ops() -> None:
    assert OpPattern(RealOp, symbol="add").matches(add)
    assert not OpPattern(RealOp, symbol="mul").matches(add)
    assert not OpPattern(Exp).matches(add)
    assert OpPattern(RealOp).matches(exp)
    assert not OpPattern(RealOp, absent=None).matches(exp)
    assert OpPattern(RealOp, symbol=str).matches(exp)
    assert OpPattern(RealOp, symbol="add") == OpPattern(RealOp, symbol="add")
    assert repr(OpPattern(RealOp, symbol="add")) == "OpPattern(RealOp, symbol='add')"


def test_the_first_that_fires_wins() -> None:
    to_sub = SubstitutionNodeRewriter(add, sub)
    to_mul = SubstitutionNodeRewriter(add, mul)
    assert show(in2out(to_sub, to_mul).rewrite(graph_of(add(x, y)))) == "sub(x, y)"
    assert show(in2out(to_mul, to_sub).rewrite(graph_of(add(x, y)))) == "mul(x, y)"


# What transform may return


def returning(result: Callable[[Apply[Any]], Any], *keys: Any) -> NodeRewriter:
    @node_rewriter(keys)
    def returns(fgraph: FunctionGraph, node: Apply[Any]) -> Any:
        return result(node)

    return returns


@walks
@pytest.mark.parametrize("nothing", [None, False])
def test_nothing_to_do(walk: Walk, nothing: bool | None) -> None:
    e = graph_of(add(x, y))
    assert walk(returning(lambda node: nothing, add)).rewrite(e) is e
    assert walk(returning(lambda node: node.outputs, add)).rewrite(e) is e
    assert walk(returning(lambda node: {node.outputs[0]: node.outputs[0]}, add)).rewrite(e) is e


@walks
def test_none_for_an_output_that_nobody_uses(walk: Walk) -> None:
    total, difference = pair(x, y)
    to_sub = returning(lambda node: [None, sub(*node.inputs)], pair)
    assert show(walk(to_sub).rewrite(graph_of(neg(difference)))) == "neg(sub(x, y))"
    # Where it is used after all, it stays.
    assert show(walk(to_sub).rewrite(graph_of(difference, total))) == "sub(x, y), Pair(x, y).0"


@walks
def test_a_mapping_of_the_nodes_own_outputs(walk: Walk) -> None:
    total, difference = pair(x, y)
    rewriter = returning(lambda node: dict(zip(node.outputs, [add(x, y), sub(x, y)], strict=True)), pair)
    assert show(walk(rewriter).rewrite(graph_of(mul(total, difference)))) == "mul(add(x, y), sub(x, y))"


@walks
def test_a_mapping_that_reaches_beyond_the_node(walk: Walk) -> None:
    """At ``log``, the exponential of its input is replaced wherever it is used, and what is built on it is built anew."""
    e = exp(neg(x))
    rewriter = returning(lambda node: {e: POSITIVE.make_constant(2.0)} if node.inputs[0] is y else None, log)
    graph = FunctionGraph([x, y], [add(e, identity(identity(e))), log(y)])
    assert show(walk(rewriter).rewrite(graph)) == "add(2.0, identity(identity(2.0))), log(y)"


@walks
def test_beyond_the_node_and_the_node_itself(walk: Walk) -> None:
    inner = neg(x)
    outer = neg(inner)
    rewriter = returning(lambda node: {inner: sub(0.0, x), outer: x} if node.inputs[0] is inner else None, neg)
    assert show(walk(rewriter).rewrite(graph_of(mul(inner, outer)))) == "mul(sub(0.0, x), x)"


@walks
def test_replacements_beyond_a_node_are_in_terms_of_the_rewritten_graph(walk: Walk) -> None:
    """The keys and values are given as Variables of the graph the pass began with, whose nodes have been rewritten since."""
    old = exp(identity(x))
    add_clients = returning(lambda node: {old: exp(neg(identity(x)))} if node.inputs[0] is y else None, log)
    graph = FunctionGraph([x, y], [add(old, old), log(y)])
    rewritten = walk(remove_identity, add_clients).rewrite(graph)
    assert (
        show(EquilibriumGraphRewriter([remove_identity]).rewrite(rewritten)) == "add(exp(neg(x)), exp(neg(x))), log(y)"
    )


@walks
def test_a_replacement_may_use_what_it_replaces_where_new_nodes_are_left_alone(walk: Walk) -> None:
    printed = returning(lambda node: [identity(node.outputs[0])], log)
    assert show(walk(printed, ignore_newtrees=True).rewrite(graph_of(neg(log(x)), log(x)))) == (
        "neg(identity(log(x))), identity(log(x))"
    )
    with pytest.raises(RewriteLoopError, match="returns undoes itself; a replacement of log"):
        walk(printed).rewrite(graph_of(neg(log(x))))


@walks
@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda node: [x, y], r"returns returned 2 replacements for the 1 outputs of exp\(x\)"),
        (lambda node: [], r"returned 0 replacements"),
        (lambda node: x, r"neither a sequence nor a mapping: a single replacement is returned as \[variable\]"),
        (lambda node: True, r"returned True for exp\(x\), which is neither"),
        (lambda node: [1.0], r"returned 1.0 as replacement of .*; both are Variables"),
        (lambda node: {"x": x}, r"as replacement of 'x'"),
        (
            lambda node: [add(x, y)],
            r"returns replaced .* of type positive, at exp\(x\), by .* of type real, which that type does not include",
        ),
        (lambda node: [Text()("t")], r"of type positive, at exp\(x\), by t of type Text"),
        (lambda node: {x: Text()("t")}, r"replaced x of type real, at exp\(x\), by t of type Text"),
    ],
)
def test_what_cannot_replace_is_refused(walk: Walk, result: Callable[[Apply[Any]], Any], message: str) -> None:
    with pytest.raises(RewriteError, match=message):
        walk(returning(result, exp)).rewrite(FunctionGraph([x, y], [neg(exp(x))]))


def test_a_narrower_type_is_handed_on() -> None:
    rewriter = returning(lambda node: [exp(log(x))], identity)
    rewritten = in2out(rewriter).rewrite(graph_of(neg(identity(x)), identity(x)))
    assert [v.type for v in rewritten.outputs] == [REAL, POSITIVE]


@walks
def test_an_exception_says_which_rewriter_and_which_node(walk: Walk) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        walk(returning(lambda node: 1 / 0, exp)).rewrite(graph_of(exp(x)))
    notes = "\n".join(caught.value.__notes__)
    assert "node: exp(x)" in notes
    assert "while the rewriter returns looked at this node" in notes


def _always(result: Any) -> Callable[[FunctionGraph, Apply[Any]], Any]:
    def always(fgraph: FunctionGraph, node: Apply[Any]) -> Any:
        return result

    return always


@walks
def test_a_root_that_is_no_input_says_which_rewriters_may_have_put_it_there(walk: Walk) -> None:
    stranger = POSITIVE("stranger")
    results: list[Any] = [[stranger], {exp(x): stranger, neg(exp(x)): stranger}]
    for result in results:
        puts = node_rewriter([exp])(_always(result))
        with pytest.raises(MissingInputError, match="stranger") as caught:
            walk(puts).rewrite(graph_of(neg(exp(x))))
        assert caught.value.__notes__ == ["a rewriter put it there; those that replaced something: always"]


@attrs.frozen(repr=False)
class Particular(RealOp):
    """Takes no exponentials."""

    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        raise ValueError("no exponentials here")


@walks
def test_a_node_that_cannot_be_applied_anew_is_named(walk: Walk) -> None:
    to_exp = returning(lambda node: [exp(*node.inputs)], identity)
    with pytest.raises(ValueError, match="no exponentials here") as caught:
        walk(to_exp).rewrite(graph_of(Particular("particular", abs)(identity(x))))
    notes = "\n".join(caught.value.__notes__)
    assert "node: particular(real)" in notes
    assert "while this node was applied anew to rewritten inputs" in notes


# Loops


@walks
def test_rewriters_that_undo_one_another_are_named(walk: Walk) -> None:
    forth = SubstitutionNodeRewriter(add, mul, name="forth")
    back = SubstitutionNodeRewriter(mul, add, name="back")
    with pytest.raises(RewriteLoopError, match="the rewriters back, forth undo one another; a replacement of add"):
        walk(remove_identity, forth, back).rewrite(graph_of(add(x, identity(y))))


def test_rewriters_that_undo_one_another_in_a_graph_that_grows() -> None:
    grow = returning(lambda node: [neg(add(neg(node.inputs[0]), y))], mul)
    back = returning(lambda node: [mul(neg(node.inputs[0]), y)], add)
    with pytest.raises(RewriteLoopError, match=r"was used 10\d\d times"):
        in2out(grow, back).rewrite(graph_of(mul(x, y)))


@pytest.mark.parametrize("walk", [in2out, out2in])
def test_a_loop_beyond_the_nodes_at_hand_is_an_error_that_names_both(walk: Any) -> None:
    @node_rewriter([add])
    def to_log(fgraph: FunctionGraph, node: Apply[Any]) -> dict[Variable[Any], Variable[Any]] | None:
        operand = node.inputs[0]
        return {operand: log(x)} if operand.owner and operand.owner.op == neg else None

    @node_rewriter([add])
    def to_neg(fgraph: FunctionGraph, node: Apply[Any]) -> dict[Variable[Any], Variable[Any]] | None:
        operand = node.inputs[0]
        return {operand: neg(x)} if operand.owner and operand.owner.op == log else None

    with pytest.raises(RewriteLoopError, match=r"was used 10\d\d times. The last ones used: to_log, to_neg"):
        walk(to_log, to_neg).rewrite(graph_of(add(neg(x), y)))


def test_a_long_expansion_of_one_node_is_no_loop() -> None:
    """One node may become as many as it takes: the bound on uses grows with the graph, and is large anyway."""
    many = RealOp("sum", max)(*[real(f"x{i}") for i in range(300)])

    @node_rewriter([RealOp("sum", max)])
    def peel(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        *rest, last = node.inputs
        return [add(node.op(*rest), last)] if rest else [last]

    rewritten = in2out(peel).rewrite(graph_of(many))
    assert len(rewritten.order) == 299
    assert all(node.op == add for node in rewritten.order)


# The graph that a rewriter is given


def counting_clients(op: RealOp, counts: list[int]) -> NodeRewriter:
    @node_rewriter([op])
    def counts_clients(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        counts.append(len(fgraph.get_clients(node.inputs[0])))

    return counts_clients


def test_clients_are_those_of_the_graph_the_pass_began_with() -> None:
    counts: list[int] = []
    shared = exp(x)
    in2out(counting_clients(log, counts)).rewrite(graph_of(log(shared), neg(shared)))
    assert counts == [2]


def test_clients_of_what_the_pass_made() -> None:
    counts: list[int] = []
    shared = exp(identity(x))
    in2out(remove_identity, counting_clients(log, counts)).rewrite(graph_of(log(shared), neg(shared)))
    assert counts == [2]  # `log` is applied anew to what stands for `shared`


def test_clients_of_what_a_rewriter_made() -> None:
    counts: list[int] = []
    rewriter = returning(lambda node: [log(neg(identity(node.inputs[0])))], sub)
    in2out(rewriter, counting_clients(log, counts), counting_clients(neg, counts)).rewrite(graph_of(sub(x, y)))
    assert counts == [1, 1]


def test_a_rewriter_that_does_not_look_at_the_graph_is_told_apart() -> None:
    @node_rewriter([exp])
    def uses(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]] | None:
        return None if fgraph.get_clients(node.outputs[0]) else [x]

    @node_rewriter([exp])
    def hands_on(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        (lambda: fgraph)()

    class ByClass(NodeRewriter):
        def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> None:
            return None

    assert uses.reads_graph
    assert hands_on.reads_graph
    assert not log_of_exp.reads_graph
    assert not ByClass().reads_graph
    assert not node_rewriter([exp], reads_graph=False)(uses.function).reads_graph
    assert SequentialNodeRewriter(log_of_exp, uses).reads_graph
    assert not SequentialNodeRewriter(log_of_exp).reads_graph


def test_an_equilibrium_asks_again_only_those_who_look_at_the_graph() -> None:
    met: dict[str, int] = {"looks": 0, "does not": 0}

    @node_rewriter([log])
    def looks(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        met["looks"] += len(fgraph.outputs)

    @node_rewriter([log])
    def does_not(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        met["does not"] += 1

    e = graph_of(neg(identity(log(x))))
    EquilibriumGraphRewriter([looks, does_not, remove_identity]).rewrite(e)
    assert met == {"looks": 2, "does not": 1}


# Inputs that are computed


class Remove(GraphRewriter):
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return in2out(log_of_exp).apply(fgraph)


@pytest.mark.parametrize("rewriter", [in2out(log_of_exp), out2in(log_of_exp), Remove()])
def test_nothing_behind_an_input_is_looked_at(rewriter: GraphRewriter) -> None:
    given = exp(x)
    e = FunctionGraph([given], [log(given)])
    assert rewriter.rewrite(e) == e
    inner = FunctionGraph([given], [add(log(exp(given)), given)])
    assert rewriter.rewrite(inner).outputs == (add(given, given),)


# Sequences on a node


def test_a_sequence_ends_with_the_first_that_fires_or_goes_on() -> None:
    steps = [
        SubstitutionNodeRewriter(add, mul),
        SubstitutionNodeRewriter(mul, sub),
        SubstitutionNodeRewriter(sub, true_div),
    ]
    e = graph_of(add(x, y))
    (node,) = e.order
    first = SequentialNodeRewriter(*steps).transform(e, node)
    everything = SequentialNodeRewriter(*steps, apply_all_rewrites=True).transform(e, node)
    assert first == mul(x, y).owner.outputs  # type: ignore[union-attr]  # computed
    assert everything == true_div(x, y).owner.outputs  # type: ignore[union-attr]  # computed
    alone = WalkingGraphRewriter(SequentialNodeRewriter(*steps, apply_all_rewrites=True), ignore_newtrees=True)
    assert show(alone.rewrite(e)) == "true_div(x, y)"


def test_a_sequence_joins_what_its_last_member_maps() -> None:
    to_mul = SubstitutionNodeRewriter(add, mul)
    beyond = returning(lambda node: {node.outputs[0]: sub(x, y), z: neg(x)}, mul)
    e = graph_of(add(x, y))
    joined = SequentialNodeRewriter(to_mul, beyond, apply_all_rewrites=True).transform(e, e.order[0])
    assert joined == {add(x, y): sub(x, y), z: neg(x)}


def test_a_sequence_tracks_what_its_members_track() -> None:
    assert SequentialNodeRewriter(neg_of_neg, remove_identity).tracks() == [neg, identity]
    assert SequentialNodeRewriter(neg_of_neg, returning(lambda node: None)).tracks() == [neg]
    assert SequentialNodeRewriter(neg_of_neg, node_rewriter(None)(lambda fgraph, node: None)).tracks() is None


def test_a_sequence_that_goes_round_ends() -> None:
    forth, back = SubstitutionNodeRewriter(add, mul), SubstitutionNodeRewriter(mul, add)
    e = graph_of(add(x, y))
    made = SequentialNodeRewriter(forth, back, apply_all_rewrites=True).transform(e, e.order[0])
    assert made == e.outputs


# Cost


def test_deep_graphs_cost_what_they_are_long() -> None:
    """Chains of which all nodes are rewritten or rebuilt: effort in proportion, and no recursion on 200 000 of them."""
    rewriter = EquilibriumGraphRewriter([remove_identity, neg_of_neg, PatternNodeRewriter((log, (exp, "x")), "x")])

    def chain(n: int) -> FunctionGraph:
        v = x
        for _ in range(n // 4):
            v = add(neg(identity(log(v))), y)
        return graph_of(v)

    few, many = [calls_made(rewriter.rewrite, chain(n)) for n in (2000, 20_000)]
    assert 5 * few < many < 11 * few
    deep = chain(200_000)
    assert len(deep.order) == 200_000
    assert len(rewriter.rewrite(deep).order) == 150_000


def test_a_pass_costs_what_it_changes() -> None:
    calls = 0

    @node_rewriter([exp, neg, add])
    def count(fgraph: FunctionGraph, node: Apply[Any]) -> None:
        nonlocal calls
        calls += 1

    v: Variable[Any] = exp(x)
    for _ in range(100):
        v = add(neg(v), exp(v))
    e = graph_of(identity(v))
    EquilibriumGraphRewriter([count, remove_identity]).rewrite(e)
    assert calls == 301


# Properties


terms = st.recursive(
    st.sampled_from([x, y, z]),
    lambda inner: st.one_of(
        st.builds(lambda op, a: op(a), st.sampled_from([neg, identity]), inner),
        st.builds(lambda op, a, b: op(a, b), st.sampled_from([add, sub, mul]), inner, inner),
    ),
    max_leaves=30,
)

sub_to_add = PatternNodeRewriter((sub, "x", "y"), (add, "x", (neg, "y")), name="sub_to_add")
neg_of_sum = PatternNodeRewriter((neg, (add, "x", "y")), (add, (neg, "x"), (neg, "y")), True, name="neg_of_sum")
rewriters = [neg_of_neg, remove_identity, sub_to_add, neg_of_sum]


@given(
    st.lists(terms, min_size=1, max_size=3),
    st.permutations(rewriters),
    st.lists(st.integers(-5, 5), min_size=3, max_size=3),
)
def test_rewriting_keeps_values_and_ends_in_normal_form(
    outputs: list[Variable[Any]], order: list[NodeRewriter], numbers: list[int]
) -> None:
    e = FunctionGraph([x, y, z], outputs)
    walks: list[GraphRewriter] = [
        EquilibriumGraphRewriter(order),
        in2out(*order),
        out2in(*order),
        in2out(*order, ignore_newtrees=True),
    ]
    for walk in walks:
        rewritten = walk.rewrite(e)
        assert value(rewritten, *map(float, numbers)) == value(e, *map(float, numbers))
    normal = EquilibriumGraphRewriter(order).rewrite(e)
    assert in2out(*order).rewrite(e) == normal
    assert {str(node.op) for node in normal.order} <= {"add", "neg", "mul"}
    for rewriter in order:
        for node in normal.order:
            if node.op in (rewriter.tracks() or ()):
                assert rewriter.transform(normal, node) in (None, False)
    assert EquilibriumGraphRewriter(order).rewrite(normal) is normal


@given(st.lists(terms, min_size=1, max_size=3))
def test_outputs_first_and_inputs_first_agree_in_equilibrium(outputs: list[Variable[Any]]) -> None:
    e = FunctionGraph([x, y, z], outputs)
    normal = EquilibriumGraphRewriter(rewriters).rewrite(e)
    again = e
    while (following := out2in(*rewriters).rewrite(again)) is not again:
        again = following
    assert again.outputs == normal.outputs


class RefusesTwoLogs:
    """A feature for tests: a graph may hold two logarithms at most."""

    def validate(self, fgraph: FunctionGraph) -> None:
        if sum(node.op == log for node in fgraph.order) > 2:
            raise InconsistencyError("too many logarithms")

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply[Any], list[Apply[Any]]]:
        return {}


@pytest.mark.parametrize("order", ["in_to_out", "out_to_in"])
def test_what_a_feature_refuses_is_left_out_and_all_else_is_done(order: Any) -> None:
    e = graph_of(*[neg(exp(add(x, float(i)))) for i in range(60)], log(y)).with_feature(RefusesTwoLogs())
    to_log = SubstitutionNodeRewriter(neg, log)
    to_identity = PatternNodeRewriter((exp, (add, "x", 7)), (exp, (identity, "x")))
    rewritten = WalkingGraphRewriter(SequentialNodeRewriter(to_log, to_identity), order).rewrite(e)
    ops = [str(node.op) for node in rewritten.order]
    assert ops.count("log") == 2
    assert ops.count("identity") == 1
    assert rewritten.features == e.features
    logged = WalkingGraphRewriter(to_log, order).rewrite_with_log(e)
    assert [step.rewriter for step in logged.log if step.rewriter] == [to_log.name]


def test_rewriters_that_look_at_clients_need_no_pass_per_node() -> None:
    """In a pass nearly all nodes are made anew; who uses them is known all the same, so that all that can go goes at once."""
    single_use = PatternNodeRewriter((neg, (neg, "x")), "x", name="single_use")
    v = x
    for _ in range(1000):
        v = log(neg(identity(neg(v))))
    profiled = profile_rewriting(EquilibriumGraphRewriter([single_use, remove_identity]), graph_of(v))
    assert len(profiled.fgraph.order) == 1000
    assert [dict(one.hits) for one in profiled.profile.passes] == [{"remove_identity": 1000, "single_use": 1000}, {}]
