"""Aliasing and liveness: whose memory is whose, and until when."""

import pickle
from typing import Any

import numpy as np
from hypothesis import given

from lamella.errors import InconsistencyError
from lamella.ir import FunctionGraph, Variable
from lamella.typing_layer import ScheduledGraph, schedule
from tests.typing_layer.graphs import graphs
from tests.typing_layer.test_destruction import some_values
from tests.typing_layer.toys import ARRAY, VIEW, Toy, View, array, inplace, plain, value_of

Var = Variable[Any]
x, y = array("x"), array("y")


def scheduled(*outputs: Var) -> ScheduledGraph:
    return schedule(FunctionGraph([x, y], outputs))


def test_roots_are_followed_through_views_and_overwriting() -> None:
    t = plain("t")(x)
    u = inplace("u")(View("v")(t))
    aliases = scheduled(u).aliases
    assert aliases.roots(u) == (t,)
    assert aliases.roots(t) == (t,)
    assert aliases.sources(u) == (View("v")(t),)
    assert aliases.viewers(t) == (View("v")(t), u)
    assert aliases.takers(t) == (View("v")(t),)
    assert aliases.is_fresh(t)
    assert not aliases.is_fresh(u)
    assert aliases.may_alias(t, u)
    assert not aliases.may_alias(x, u)


def test_a_view_of_several_inputs_has_several_roots() -> None:
    t = plain("t")(x)
    either = View("either", n_in=2)(t, VIEW(y))
    aliases = scheduled(either).aliases
    assert aliases.roots(either) == (t, y)
    assert aliases.may_alias(either, y)
    assert aliases.may_alias(either, t)
    assert not aliases.may_alias(t, y)


@given(graphs())
def test_what_shares_memory_may_alias(fgraph: FunctionGraph) -> None:
    try:
        found = schedule(fgraph)
    except InconsistencyError:
        return
    computed: dict[Var, Any] = dict(zip(fgraph.inputs, some_values(fgraph), strict=True))
    for node in found.order:
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.perform(node, [value_of(v, computed) for v in node.inputs], cells)
        computed.update({v: cell[0] for v, cell in zip(node.outputs, cells, strict=True)})
    for a in fgraph.variables:
        for b in fgraph.variables:
            if np.shares_memory(value_of(a, computed), value_of(b, computed)):
                assert found.aliases.may_alias(a, b)
            assert found.aliases.may_alias(a, b) == found.aliases.may_alias(b, a)
            assert (b in found.aliases.viewers(a)) <= found.aliases.may_alias(a, b)


def test_memory_lives_as_long_as_any_view_of_it() -> None:
    t = plain("t")(x)
    view = VIEW(t)
    u = plain("u")(view)
    storage = scheduled(plain("end")(u)).storage
    assert storage.last_read_after == ((), (t,), (view,), (u,))
    assert storage.dies_after == ((), (), (t, view), (u,))


def test_a_view_does_not_die_before_what_it_views() -> None:
    t = plain("t")(x)
    view = VIEW(t)
    first = plain("first")(view)
    storage = scheduled(plain("end")(first, t)).storage
    assert storage.last_read_after == ((), (), (view,), (t, first))
    assert storage.dies_after == ((), (), (), (t, view, first))


def test_what_shares_the_memory_of_a_returned_array_escapes() -> None:
    t = plain("t")(x)
    view = VIEW(t)
    end = plain("end")(view)
    storage = scheduled(t, end).storage
    assert storage.escaping == {t, view, end}
    assert storage.dies_after == ((), (), ())
    assert storage.last_read_after == ((), (), (view,))
    assert view not in storage.recyclable


def test_what_lies_in_an_input_never_dies() -> None:
    view = VIEW(x)
    c = ARRAY.make_constant([1, 2, 3, 4])
    t = plain("t")(view, c)
    storage = scheduled(plain("end")(t)).storage
    assert storage.dies_after == ((), (), (t,))
    assert storage.kept == {x, y, c}
    assert storage.recyclable == {t}


def test_an_output_that_nobody_uses_dies_at_once() -> None:
    first, second = plain("two", 2)(x)
    assert scheduled(plain("end")(first)).storage.dies_after == ((second,), (first,))


def test_returned_arrays_are_the_callers_own() -> None:
    t = plain("t")(x)
    c = ARRAY.make_constant([1, 2, 3, 4])
    outputs = [x, VIEW(x), t, VIEW(t), t, c, inplace("over")(y), plain("u")(x)]
    storage = scheduled(*outputs).storage
    assert storage.must_copy == (True, True, False, True, True, True, True, False)
    assert storage.output_aliases == ((x,), (x,), (), (t,), (t,), (c,), (y,), ())


def test_what_is_copied_before_it_is_returned_does_not_escape() -> None:
    t = plain("t")(x)
    assert scheduled(VIEW(x), VIEW(t)).storage.escaping == {t, VIEW(t)}


def test_two_outputs_written_over_one_input_share_memory() -> None:
    a, b = Toy("split", 2, destroys=((0, (0,)), (1, (0,))))(plain("t")(x))
    assert scheduled(a, b).storage.must_copy == (False, True)


def test_an_input_that_a_node_could_compute_is_an_input() -> None:
    t = plain("t")(x)
    found = schedule(FunctionGraph([t], [VIEW(t), plain("u")(t)]))
    assert [str(node.op) for node in found.order] == ["view", "u"]
    assert found.storage.kept == {t}
    assert found.storage.must_copy == (True, False)


def test_a_scheduled_graph_survives_pickling() -> None:
    found = scheduled(inplace("over")(plain("t")(x)))
    restored = pickle.loads(pickle.dumps(found))
    assert [str(node) for node in restored.order] == [str(node) for node in found.order]
    assert restored.storage.must_copy == found.storage.must_copy
    assert schedule(found.fgraph) == found
