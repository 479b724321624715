"""Destruction: nothing is overwritten before it was read, and the obviously good graphs are accepted."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import InconsistencyError
from lamella.ir import Apply, FunctionGraph, toposort
from lamella.typing_layer import DestroyHandler, Supervisor, destruction_order, schedule
from tests.typing_layer.graphs import graphs
from tests.typing_layer.toys import (
    ARRAY,
    VIEW,
    Array,
    Toy,
    View,
    array,
    inplace,
    plain,
    run_aliased,
    run_like_a_linker,
    run_purely,
)


def some_values(fgraph: FunctionGraph) -> list[Array]:
    return [np.array([11, 23, 37, 41], dtype=np.int64) * (i + 2) for i in range(len(fgraph.inputs))]


def orders(fgraph: FunctionGraph) -> list[tuple[Apply[Any], ...]]:
    """Every topological order."""
    nodes = toposort(fgraph.outputs, fgraph.inputs)

    def topological(order: tuple[Apply[Any], ...]) -> bool:
        place = {node: i for i, node in enumerate(order)}
        return all(v.owner is None or place[v.owner] < place[node] for node in order for v in node.inputs)

    return [order for order in permutations(nodes) if topological(order)]


@given(graphs())
def test_an_accepted_graph_runs_in_place_as_it_runs_purely(fgraph: FunctionGraph) -> None:
    try:
        order = destruction_order(fgraph)
    except InconsistencyError:
        return
    assert sorted(map(id, order)) == sorted(map(id, toposort(fgraph.outputs, fgraph.inputs)))
    pure = run_purely(fgraph, some_values(fgraph))
    aliased = run_aliased(fgraph, order, some_values(fgraph))
    for expected, found in zip(pure, aliased, strict=True):
        np.testing.assert_array_equal(expected, found)


@given(graphs(), st.sets(st.integers(0, 1)))
def test_a_plan_keeps_what_is_needed(fgraph: FunctionGraph, protected: set[int]) -> None:
    try:
        scheduled = schedule(fgraph.with_feature(Supervisor([fgraph.inputs[i] for i in sorted(protected)])))
    except InconsistencyError:
        return
    values = some_values(fgraph)
    results = run_like_a_linker(scheduled, values)
    for expected, found in zip(run_purely(fgraph, some_values(fgraph)), results, strict=True):
        np.testing.assert_array_equal(expected, found)
    for i in protected:
        np.testing.assert_array_equal(values[i], some_values(fgraph)[i])
    theirs = [*values, *[v.stored_value() for v in fgraph.variables if v.is_constant]]
    for i, result in enumerate(results):
        for other in (*theirs, *results[:i]):
            assert not np.shares_memory(result, other)


@given(graphs(max_nodes=5, exact=True))
def test_a_refused_graph_has_no_right_order(fgraph: FunctionGraph) -> None:
    try:
        destruction_order(fgraph)
    except InconsistencyError as error:
        if "a constant" in str(error):
            return
        pure = run_purely(fgraph, some_values(fgraph))
        for order in orders(fgraph):
            found = run_aliased(fgraph, order, some_values(fgraph))
            assert any((a != b).any() for a, b in zip(pure, found, strict=True)), order


x, y = array("x"), array("y")


def test_a_reader_runs_before_the_destroyer() -> None:
    t = plain("t")(x)
    over, reader = inplace("over")(t), plain("reader")(t)
    assert [str(n.op) for n in destruction_order(FunctionGraph([x], [over, reader]))] == ["t", "reader", "over"]


def test_a_reader_of_a_view_of_a_view_runs_before_the_destroyer() -> None:
    t = plain("t")(x)
    reader = plain("reader")(View("outer")(View("inner")(t)))
    order = destruction_order(FunctionGraph([x], [inplace("over")(t), reader]))
    assert [str(n.op) for n in order] == ["t", "inner", "outer", "reader", "over"]


def test_the_order_changes_no_more_than_it_must() -> None:
    t = plain("t")(x)
    outputs = [plain("a")(y), inplace("over")(t), plain("b")(y), plain("reader")(t), plain("d")(y)]
    order = destruction_order(FunctionGraph([x, y], outputs))
    assert [str(n.op) for n in order] == ["a", "t", "b", "reader", "over", "d"]


def test_a_chain_in_one_buffer_is_fine() -> None:
    chain = inplace("third")(inplace("second")(inplace("first")(x)))
    assert len(destruction_order(FunctionGraph([x], [chain], [DestroyHandler()]))) == 3


def test_a_handler_orders_the_graph_that_carries_it() -> None:
    t = plain("t")(x)
    fgraph = FunctionGraph([x], [inplace("over")(t), plain("reader")(t)])
    assert [str(n.op) for n in fgraph.toposort()] == ["t", "over", "reader"]
    assert [str(n.op) for n in fgraph.with_feature(DestroyHandler()).toposort()] == ["t", "reader", "over"]


def test_a_refused_replacement_leaves_the_graph_alone() -> None:
    t = plain("t")(x)
    user = plain("user")(t)
    fgraph = FunctionGraph([x], [user, t], [DestroyHandler()])
    with pytest.raises(InconsistencyError):
        fgraph.replace(user, inplace("over")(t))
    assert fgraph.outputs == (user, t)


def message(fgraph: FunctionGraph) -> str:
    with pytest.raises(InconsistencyError) as caught:
        schedule(fgraph)
    return str(caught.value)


def test_a_cycle_is_told_link_by_link() -> None:
    t = plain("t")(x)
    over = inplace("over")(t)
    assert message(FunctionGraph([x], [plain("late")(over, VIEW(t))])) == (
        "the graph overwrites what it still needs:\n"
        "- no order satisfies all: "
        "late(over.0, view.0) must come before over(t.0), which overwrites `t.0`, whose memory `view.0` may share; "
        "over(t.0) must come before late(over.0, view.0), which uses `over.0`"
    )


def test_two_destroyers_are_named() -> None:
    t = plain("t")(x)
    assert "one(t.0) and two(t.0) both overwrite `t.0`" in message(
        FunctionGraph([x], [inplace("one")(t), inplace("two")(t)])
    )


def test_two_destroyers_are_found_through_views() -> None:
    t = plain("t")(x)
    assert "both overwrite `t.0`" in message(FunctionGraph([x], [inplace("one")(VIEW(t)), inplace("two")(t)]))


def test_a_constant_is_never_overwritten() -> None:
    c = ARRAY.make_constant([1, 2, 3, 4], "c")
    assert "over(view.0) overwrites `c` (through `view.0`), which is a constant" in message(
        FunctionGraph([], [inplace("over")(VIEW(c))])
    )


def test_a_protected_input_is_not_overwritten() -> None:
    over = inplace("over")(VIEW(x))
    assert schedule(FunctionGraph([x], [over])).storage.must_copy == (True,)
    with pytest.raises(InconsistencyError, match=r"overwrites `x` \(through `view.0`\), which is a protected input"):
        FunctionGraph([x], [over], [Supervisor([x])])


def test_the_memory_of_a_protected_view_is_not_overwritten() -> None:
    t = plain("t")(x)
    with pytest.raises(
        InconsistencyError, match=r"overwrites `t\.0`, which is the memory of `view\.0`, a protected input"
    ):
        FunctionGraph([x], [inplace("over")(t), plain("reader")(VIEW(t))], [Supervisor([VIEW(t)])])


def test_an_output_is_not_overwritten() -> None:
    t = plain("t")(x)
    assert "over(t.0) overwrites `t.0`, whose memory the output `view.0` of the graph shows" in message(
        FunctionGraph([x], [inplace("over")(t), VIEW(t)])
    )


def test_an_old_value_that_is_returned_keeps_an_update_from_working_in_place() -> None:
    assert "the output `x`" in message(FunctionGraph([x], [x, inplace("increment")(x)]))


def test_inputs_that_share_memory_with_an_overwritten_one_are_refused() -> None:
    t = plain("t")(x)
    assert "input 0, `t.0`, while its input 1, `view.0`, may share its memory" in message(
        FunctionGraph([x], [inplace("over")(t, VIEW(t))])
    )
    assert "input 0, `t.0`, while its input 1, `t.0`, is the same variable" in message(
        FunctionGraph([x], [inplace("over")(t, t)])
    )


def test_an_op_may_tolerate_that_inputs_are_the_same_or_share_memory() -> None:
    t = plain("t")(x)
    same = Toy("same", destroys=((0, (0,)),), destroyhandler_tolerate_same=((0, 1),))
    assert len(schedule(FunctionGraph([x], [same(t, t)])).order) == 2
    assert message(FunctionGraph([x], [same(t, VIEW(t))]))
    assert len(schedule(FunctionGraph([x], [inplace("any", 0, tolerate=True, n_in=2)(t, VIEW(t))])).order) == 3


def test_several_inputs_may_be_overwritten_for_one_output() -> None:
    t, u = plain("t")(x), plain("u")(x)
    both = inplace("both", 0, 1)(t, u)
    order = destruction_order(FunctionGraph([x], [both, plain("r")(t), plain("s")(u)]))
    assert [str(n.op) for n in order] == ["t", "u", "r", "s", "both"]
    assert "both overwrite `u.0`" in message(FunctionGraph([x], [both, inplace("other")(u)]))
    shared = message(FunctionGraph([x], [inplace("both", 0, 1)(t, VIEW(t))]))
    assert shared.count("may share its memory") == 1


def test_an_output_that_is_declared_a_view_and_overwritten_holds_new_contents() -> None:
    both = Toy("both", 1, ((0, (0,)),), ((0, (0,)),))
    t = plain("t")(x)
    assert [str(n.op) for n in destruction_order(FunctionGraph([x], [both(t), plain("r")(t)]))] == ["t", "r", "both"]


def test_a_view_of_one_of_two_inputs_may_show_either() -> None:
    t, u = plain("t")(x), plain("u")(x)
    either = View("either", n_in=2)(t, u)
    order = destruction_order(FunctionGraph([x], [inplace("over")(u), plain("reader")(either)]))
    assert str(order[-1].op) == "over"
    assert "both overwrite" in message(FunctionGraph([x], [inplace("over")(either), inplace("other")(u)]))


def test_outputs_written_over_one_input_lie_in_one_buffer() -> None:
    t = plain("t")(x)
    a, b = Toy("split", 2, destroys=((0, (0,)), (1, (0,))))(t)
    assert "whose memory the output `split.0`" in message(FunctionGraph([x], [inplace("over")(b), a]))


def test_a_long_chain_is_analysed() -> None:
    v = plain("t")(x)
    for i in range(50_000):
        v = (VIEW if i % 2 else inplace("over"))(v)
    scheduled = schedule(FunctionGraph([x], [v], [DestroyHandler(), Supervisor([x])]))
    assert len(scheduled.order) == 50_001
