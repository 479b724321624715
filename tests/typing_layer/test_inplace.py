"""In-place rewriting: what is accepted holds together, what is good is accepted, and it stays cheap."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import InconsistencyError
from lamella.ir import FunctionGraph, Variable, toposort
from lamella.typing_layer import (
    DestroyHandler,
    InplaceDecision,
    InplaceProposal,
    Supervisor,
    accept_inplace,
    apply_inplace,
    destruction_order,
    fast_inplace_check,
    schedule,
)
from tests.typing_layer.graphs import graphs
from tests.typing_layer.test_destruction import some_values
from tests.typing_layer.toys import ARRAY, VIEW, Toy, View, array, inplace, plain, run_like_a_linker, run_purely

Var = Variable[Any]
x, y = array("x"), array("y")


def in_place(variable: Var, *places: int) -> InplaceProposal:
    """The proposal that the plain node of a Variable overwrite some of its inputs."""
    node = variable.owner
    assert node is not None
    return InplaceProposal(node, Toy(str(node.op), len(node.outputs), (), ((0, places),)))


def names(decision: InplaceDecision) -> list[str]:
    return [f"{p.op}{p.op.destroy_map[0]}" for p in decision.accepted]


@given(graphs(max_nodes=10), st.data())
def test_what_is_accepted_computes_the_same(fgraph: FunctionGraph, data: st.DataObject) -> None:
    try:
        fgraph = fgraph.with_feature(Supervisor(fgraph.inputs[:1]))
        schedule(fgraph)
    except InconsistencyError:
        return
    before = run_purely(fgraph, some_values(fgraph))
    proposals = []
    for node in data.draw(st.permutations(toposort(fgraph.outputs, fgraph.inputs))):
        if isinstance(node.op, Toy) and not node.op.views and not node.op.destroys:
            places = st.sets(st.integers(0, len(node.inputs) - 1), min_size=1, max_size=2)
            proposals += [in_place(node.outputs[0], *sorted(p)) for p in data.draw(st.lists(places, max_size=3))]
    decision = accept_inplace(fgraph, proposals)
    new, replaced = apply_inplace(fgraph, decision.accepted)
    assert set(replaced) >= {p.node.outputs[0] for p in decision.accepted}
    values = some_values(fgraph)
    results = run_like_a_linker(schedule(new), values)
    for expected, found in zip(before, results, strict=True):
        np.testing.assert_array_equal(expected, found)
    np.testing.assert_array_equal(values[0], some_values(fgraph)[0])

    # Each refusal was right: no one of the refused can be added to what was accepted.
    taken = {p.node for p in decision.accepted}
    for proposal, _ in decision.refused:
        if proposal.node not in taken:
            with pytest.raises(InconsistencyError):
                schedule(apply_inplace(fgraph, [*decision.accepted, proposal])[0])


def test_a_wrong_candidate_does_not_block_a_right_one() -> None:
    t, u = plain("t")(x), plain("u")(x)
    v = plain("v")(t, u)
    fgraph = FunctionGraph([x], [plain("late")(v, t)], [DestroyHandler(), Supervisor([x])])
    decision = accept_inplace(fgraph, [in_place(v, 0, 1), in_place(v, 0), in_place(v, 1)])
    assert names(decision) == ["v(1,)"]
    assert [reason for _, reason in decision.refused] == [
        "late(v.0, t.0) reads `t.0` and cannot run before v(t.0, u.0)",
        "late(v.0, t.0) reads `t.0` and cannot run before v(t.0, u.0)",
    ]


def test_one_wrong_step_among_many_corrupts_nothing() -> None:
    v = plain("start")(x)
    proposals = []
    for i in range(500):
        v = plain(f"step{i}")(v)
        proposals.append(in_place(v, 0))
    kept = proposals[250].node.inputs[0]
    fgraph = FunctionGraph([x], [v, kept], [DestroyHandler(), Supervisor([x])])
    decision = accept_inplace(fgraph, proposals)
    assert [(str(p.op), reason) for p, reason in decision.refused] == [
        ("step250", "the output `step249.0` of the graph shows `step249.0`")
    ]
    new, _ = apply_inplace(fgraph, decision.accepted)
    assert sum(bool(node.op.destroy_map) for node in new.order) == 499
    for expected, found in zip(
        run_purely(fgraph, some_values(fgraph)), run_like_a_linker(schedule(new), some_values(fgraph)), strict=True
    ):
        np.testing.assert_array_equal(expected, found)


def test_writing_over_one_end_of_what_is_read_at_the_other_is_refused() -> None:
    head, tail = View("head")(x), View("tail")(x)
    first, second = plain("first")(x, head), plain("second")(x, tail)
    fgraph = FunctionGraph([x], [first, second])
    decision = accept_inplace(fgraph, [in_place(first, 0), in_place(second, 0)])
    assert not decision.accepted
    assert all("may share its memory" in reason for _, reason in decision.refused)


def test_readers_are_moved_before_the_destroyer() -> None:
    t = plain("t")(x)
    early, reader = plain("early")(t), plain("reader")(VIEW(t))
    fgraph = FunctionGraph([x], [plain("more")(early), reader])
    new, _ = apply_inplace(fgraph, accept_inplace(fgraph, [in_place(early, 0)]).accepted)
    assert [str(n.op) for n in destruction_order(new)] == ["t", "view", "reader", "early", "more"]


def test_demands_of_several_proposals_are_seen_together() -> None:
    t, u = plain("t")(x), plain("u")(x)
    a, b = plain("a")(t, u), plain("b")(u, t)
    decision = accept_inplace(FunctionGraph([x], [a, b]), [in_place(a, 0), in_place(b, 0)])
    assert names(decision) == ["a(0,)"]
    assert decision.refused[0][1] == "a(t.0, u.0) reads `u.0` and cannot run before b(u.0, t.0)"


def test_a_refused_proposal_leaves_no_demand_behind() -> None:
    t, u = plain("t")(x), plain("u")(x)
    v, r = plain("v")(t, u), plain("r")(t)
    fgraph = FunctionGraph([x], [r, plain("late")(v, u)])
    assert names(accept_inplace(fgraph, [in_place(v, 0, 1), in_place(r, 0)])) == ["r(0,)"]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_deeper_reader_that_does_not_depend_on_the_destroyer_is_moved_before_it(swapped: bool) -> None:
    t, deep = plain("t")(x), plain("c")(plain("b")(plain("a")(y)))
    over, reader = plain("over")(t), plain("reader")(deep, t)
    outputs = [reader, plain("end")(over)] if swapped else [plain("end")(over), reader]
    fgraph = FunctionGraph([x, y], outputs)
    decision = accept_inplace(fgraph, [in_place(over, 0)])
    assert names(decision) == ["over(0,)"]
    order = [str(n.op) for n in destruction_order(apply_inplace(fgraph, decision.accepted)[0])]
    assert order.index("reader") < order.index("over")


@pytest.mark.parametrize(
    ("proposed", "reason"),
    [
        (in_place(plain("p")(x), 0), "`x` is a protected input (it was not declared mutable)"),
        (in_place(plain("p")(VIEW(x)), 0), "`x` is a protected input (it was not declared mutable)"),
        (in_place(plain("p")(ARRAY.make_constant([1, 2, 3, 4], "c")), 0), "`c` is a constant"),
        (in_place(plain("p")(y), 1), "the destroy_map of p names an input that p(y) does not have"),
        (InplaceProposal(plain("p")(y).owner, View("p")), "p views other inputs than p does"),
    ],
)
def test_a_refusal_says_why(proposed: InplaceProposal, reason: str) -> None:
    fgraph = FunctionGraph([x, y], [plain("end")(proposed.node.outputs[0])], [Supervisor([x])])
    assert accept_inplace(fgraph, [proposed]).refused == ((proposed, reason),)


def test_a_node_of_another_graph_is_refused() -> None:
    stranger = in_place(plain("stranger")(y), 0)
    decision = accept_inplace(FunctionGraph([x], [plain("t")(x)]), [stranger])
    assert decision.refused == ((stranger, "stranger(y) is no node of the graph"),)


def test_what_would_take_too_long_is_refused() -> None:
    t = plain("t")(x)
    early, reader = plain("early")(t), plain("reader")(plain("deep")(VIEW(t)), t)
    fgraph = FunctionGraph([x], [plain("more")(early), reader])
    proposal = in_place(early, 0)
    assert accept_inplace(fgraph, [proposal]).accepted == (proposal,)
    decision = accept_inplace(fgraph, [proposal], effort=0)
    assert decision.accepted == ()
    assert "would take too long to find out" in decision.refused[0][1]


def test_what_the_graph_overwrites_already_is_refused() -> None:
    t = plain("t")(x)
    u = plain("u")(t)
    fgraph = FunctionGraph([x], [inplace("over")(t), u])
    decision = accept_inplace(fgraph, [in_place(u, 0)])
    assert decision.refused[0][1] == "over(t.0) overwrites `t.0` already"


def test_what_an_accepted_proposal_overwrites_is_refused() -> None:
    t = plain("t")(x)
    u, v = plain("u")(t), plain("v")(t)
    decision = accept_inplace(FunctionGraph([x], [u, v]), [in_place(u, 0), in_place(v, 0)])
    assert decision.refused[0][1] == "u(t.0) overwrites `t.0` already"


def test_names_types_and_features_are_kept() -> None:
    middle = plain("middle")(plain("t")(x)).named("loss")
    fgraph = FunctionGraph([x], [plain("end")(middle)], [DestroyHandler()])
    new, replaced = apply_inplace(fgraph, accept_inplace(fgraph, [in_place(middle, 0)]).accepted)
    assert replaced[middle].name == "loss"
    assert new.features == fgraph.features
    old_node, new_node = middle.owner, replaced[middle].owner
    assert old_node is not None
    assert new_node is not None
    assert new_node.origin == old_node.origin


def test_an_input_that_the_changed_node_could_compute_stays_an_input() -> None:
    first, second = plain("pair", 2)(plain("t")(x))
    kept = plain("kept")(first)
    fgraph = FunctionGraph([x, first], [kept, plain("changed")(second)])
    proposal = in_place(second, 0)
    new, replaced = apply_inplace(fgraph, accept_inplace(fgraph, [proposal]).accepted)
    assert new.outputs[0] is kept
    assert first not in replaced
    assert second in replaced


def test_the_fast_check_leaves_out_what_can_never_be_overwritten() -> None:
    t, u, v, w = [plain(name)(x) for name in "tuvw"]
    c = ARRAY.make_constant([1, 2, 3, 4])
    outputs = [inplace("over")(t), VIEW(u), plain("end")(v, w, c)]
    fgraph = FunctionGraph([x, y], outputs, [Supervisor([x])])
    assert fast_inplace_check(fgraph, [x, y, t, u, v, VIEW(v), w, c]) == [y, v, VIEW(v), w]


def chain_with_gradient(length: int) -> tuple[FunctionGraph, list[InplaceProposal]]:
    """Each value has a reader in the next step and one at the far end of the way back."""
    forward = [plain("start")(x)]
    for i in range(length):
        forward.append(plain(f"f{i % 7}")(forward[-1]))
    back = forward[-1]
    proposals = [in_place(v, 0) for v in forward[1:]]
    for i in range(length):
        back = plain(f"b{i % 5}")(back, forward[length - i])
        proposals += [in_place(back, 0), in_place(back, 1)]
    return FunctionGraph([x], [back]), proposals


def sums_beside_a_chain(length: int) -> tuple[FunctionGraph, list[InplaceProposal]]:
    """Two long sums, in which each of many values is used; the first in place, so that all of the second must come first."""
    values = [plain(f"v{i}")(x) for i in range(length)]
    one = two = plain("zero")(x)
    proposals = []
    for value in values:
        term = plain("term")(value)
        proposals.append(in_place(term, 0))
        one = plain("one")(one, term)
        two = plain("two")(two, plain("other")(value))
    return FunctionGraph([x], [one, two]), proposals


def shared_weight(length: int) -> tuple[FunctionGraph, list[InplaceProposal]]:
    """A recurrence in which every step reads one weight and would like to overwrite it."""
    weight, state = plain("weight")(x), plain("state")(x)
    proposals = []
    for _ in range(length):
        state = plain("step")(weight, state)
        proposals += [in_place(state, 0), in_place(state, 1)]
    return FunctionGraph([x], [state]), proposals


@pytest.mark.parametrize(
    ("make", "accepted"), [(chain_with_gradient, 5_000), (sums_beside_a_chain, 5_000), (shared_weight, 5_000)]
)
def test_many_proposals_cost_little(make: Any, accepted: int) -> None:
    fgraph, proposals = make(5_000)
    decision = accept_inplace(fgraph, proposals)
    # The effort allowed is in proportion to the graph; were it used up, the others would have been refused.
    assert len(decision.accepted) >= accepted
    schedule(apply_inplace(fgraph, decision.accepted)[0])
