"""Walks over graphs."""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import (
    Apply,
    FunctionGraph,
    HasInnerGraph,
    Op,
    OutputStorage,
    SharedVariable,
    StorageCell,
    Variable,
    ancestors,
    apply_ancestors,
    apply_depends_on,
    applys_between,
    explicit_graph_inputs,
    get_var_by_name,
    graph_inputs,
    io_toposort,
    orphans_between,
    toposort,
    truncated_graph_inputs,
    variable_depends_on,
    vars_between,
    walk,
)
from tests.ir.graph.toys import NUMBER, NumberVariable, add, div_mod, double, graphs, number, square

Graph = tuple[list[NumberVariable], list[NumberVariable]]


def owner(variable: Variable[Any]) -> Apply[Any]:
    assert variable.owner is not None
    return variable.owner


def behind(variable: Variable[Any], blockers: Iterable[Variable[Any]] = ()) -> set[Variable[Any]]:
    """All that a Variable is computed from, and itself: the plain recursion."""
    if variable.owner is None or variable in set(blockers):
        return {variable}
    return {variable}.union(*[behind(i, blockers) for i in variable.owner.inputs])


x, y, z = number("x"), number("y"), number("z")
xy = add(x, y).named("xy")
zxy = add(z, xy).named("zxy")


def inputs_of(variable: Variable[Any]) -> Sequence[Variable[Any]] | None:
    return None if variable.owner is None else variable.owner.inputs


def test_walk() -> None:
    assert list(walk([zxy], inputs_of)) == [zxy, z, xy, x, y]
    assert list(walk([zxy], inputs_of, bfs=False)) == [zxy, xy, y, x, z]
    assert list(walk([zxy, z, zxy], inputs_of)) == [zxy, z, xy, x, y]
    assert list(walk([zxy], inputs_of, True, True)) == [(zxy, (z, xy)), (z, None), (xy, (x, y)), (x, None), (y, None)]
    assert list(walk([], inputs_of)) == []


def test_walk_expands_each_once_and_only_what_is_asked_for() -> None:
    expanded = []

    def expand(n: int) -> list[int]:
        expanded.append(n)
        return [n + 1, n + 1, n + 2]

    found = walk([0], expand)
    assert [next(found) for _ in range(4)] == [0, 1, 2, 3]
    assert expanded == [0, 1, 2]


def test_walk_goes_through_any_kind_of_thing() -> None:
    assert list(walk([12], lambda n: [n // 2] if n else None)) == [12, 6, 3, 1, 0]


def test_ancestors() -> None:
    assert list(ancestors([zxy])) == [zxy, z, xy, x, y]
    assert list(ancestors([zxy], blockers=[xy])) == [zxy, z, xy]
    assert list(ancestors([xy, zxy])) == [xy, x, y, zxy, z]
    assert list(ancestors([])) == []
    lazily = ancestors([zxy])
    assert xy in lazily
    assert list(lazily) == [x, y]


def test_graph_inputs() -> None:
    assert list(graph_inputs([zxy])) == [z, x, y]
    assert list(graph_inputs([zxy], blockers=[xy])) == [z]
    assert list(graph_inputs([z])) == [z]


def test_explicit_graph_inputs() -> None:
    shared = SharedVariable(NUMBER, StorageCell(1.0), "s")
    result = add(add(x, shared), NUMBER.make_constant(2.0))
    assert list(graph_inputs([result])) == [x, shared, NUMBER.make_constant(2.0)]
    assert list(explicit_graph_inputs([result])) == [x]
    assert list(explicit_graph_inputs(result)) == [x]


def test_apply_ancestors() -> None:
    assert list(apply_ancestors([zxy])) == [zxy.owner, xy.owner]
    assert list(apply_ancestors([zxy], blockers=[xy])) == [zxy.owner]
    assert list(apply_ancestors([zxy], blockers=[zxy])) == []
    quotient, remainder = div_mod(x, y)
    assert list(apply_ancestors([quotient, remainder])) == [quotient.owner]


def test_between() -> None:
    assert list(vars_between([x, y], [zxy])) == [zxy, z, xy, x, y]
    assert list(vars_between([xy], [zxy])) == [zxy, z, xy]
    assert list(applys_between([x, y], [zxy])) == [xy.owner, zxy.owner]
    assert list(applys_between([xy], [zxy])) == [zxy.owner]
    assert list(orphans_between([x, y], [zxy])) == [z]
    assert list(orphans_between([xy], [zxy])) == [z]
    assert list(orphans_between([], [zxy])) == [z, x, y]


def test_variables_between_include_unused_outputs() -> None:
    quotient, remainder = div_mod(x, y)
    assert set(vars_between([x, y], [quotient])) == {quotient, remainder, x, y}


def test_dependence() -> None:
    assert variable_depends_on(zxy, x)
    assert variable_depends_on(zxy, [x])
    assert variable_depends_on(zxy, zxy)
    assert not variable_depends_on(xy, [z, zxy])
    assert variable_depends_on(xy, (v for v in (z, x)))
    assert apply_depends_on(owner(zxy), owner(xy))
    assert apply_depends_on(owner(zxy), owner(zxy))
    assert not apply_depends_on(owner(xy), [owner(zxy)])
    quotient, remainder = div_mod(x, y)
    assert not variable_depends_on(double(quotient), remainder)
    assert apply_depends_on(owner(double(quotient)), owner(remainder))


def test_a_variable_that_can_be_iterated_over_is_one_variable() -> None:
    class Rows(Variable[Any]):
        __slots__ = ()

        def __iter__(self) -> Iterator[Variable[Any]]:
            return iter([y])

    rows = Rows(NUMBER)
    assert variable_depends_on(rows, rows)
    assert not variable_depends_on(y, rows)
    assert list(explicit_graph_inputs(rows)) == [rows]


# -- topological order


def test_order_is_deterministic_and_goes_from_left_to_right() -> None:
    a, b, c = double(x), square(x), double(y)
    result = add(add(a, b), c)
    assert [node.outputs[0] for node in toposort([result])] == [a, b, add(a, b), c, result]
    assert toposort([c, a]) == [c.owner, a.owner]


def test_order_stops_at_inputs() -> None:
    assert io_toposort([xy], [zxy]) == [zxy.owner]
    assert io_toposort([x, xy], [xy, zxy]) == [zxy.owner]
    assert io_toposort([zxy], [zxy]) == []
    assert toposort([zxy], [xy]) == [zxy.owner]
    assert toposort([x]) == []


def test_a_node_is_needed_if_any_output_is() -> None:
    (q0, r0), (q1, r1) = div_mod(x, y), div_mod(y, x)
    v0 = double(r0)
    v1 = square(v0)
    out = add(r1, v1)
    rest = {v0.owner, v1.owner, out.owner}
    assert set(io_toposort([], [out])) == rest | {r0.owner, r1.owner}
    assert set(io_toposort([r0], [out])) == rest | {r1.owner}
    assert set(io_toposort([r1], [out])) == rest | {r0.owner}
    assert set(io_toposort([r0, r1], [out])) == rest
    assert set(io_toposort([q0, q1], [out])) == rest | {r0.owner, r1.owner}


def test_more_orderings() -> None:
    a, b = double(x), square(x)
    result = add(a, b)
    assert toposort([result]) == [a.owner, b.owner, result.owner]
    assert toposort([result], (), {owner(a): [owner(b)]}) == [b.owner, a.owner, result.owner]
    with pytest.raises(ValueError, match="cycle through"):
        toposort([result], (), {owner(a): [owner(b)], owner(b): [owner(a)]})
    with pytest.raises(ValueError, match=r"cycle through Add\(Scale\{factor=2.0\}.0, Power\{exponent=2\}.0\)"):
        toposort([result], (), {owner(a): [owner(result)]})
    with pytest.raises(ValueError, match="cycle"):
        toposort([result], (), {owner(a): [owner(a)]})


@given(graphs(), st.randoms(use_true_random=False))
def test_order_is_topological_and_complete(graph: Graph, choice: random.Random) -> None:
    _, variables = graph
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    blockers = choice.sample(variables, k=choice.randint(0, len(variables)))
    order = io_toposort(blockers, outputs)
    needed = set().union(*[behind(v, blockers) for v in outputs])
    assert len(order) == len(set(order))
    assert set(order) == {v.owner for v in needed if v not in set(blockers)} - {None}
    known = set(blockers)
    for node in order:
        assert all(v in known or v.owner is None for v in node.inputs)
        known.update(node.outputs)
    assert order == io_toposort(blockers, outputs)


@given(graphs(), st.randoms(use_true_random=False))
def test_order_respects_orderings_that_can_be_respected(graph: Graph, choice: random.Random) -> None:
    _, variables = graph
    nodes = toposort(variables)
    # Any order that exists already gives constraints without a cycle.
    orderings = {later: choice.sample(nodes[:i], k=choice.randint(0, i)) for i, later in enumerate(nodes)}
    order = toposort(list(reversed(variables)), (), orderings)
    assert set(order) == set(nodes)
    place = {node: i for i, node in enumerate(order)}
    assert all(place[before] < place[later] for later, befores in orderings.items() for before in befores)


@given(graphs(), st.randoms(use_true_random=False))
def test_walks_agree_with_plain_recursion(graph: Graph, choice: random.Random) -> None:
    _, variables = graph
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    blockers = choice.sample(variables, k=choice.randint(0, len(variables)))
    expected = set().union(*[behind(v, blockers) for v in outputs])
    found = list(ancestors(outputs, blockers))
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert set(graph_inputs(outputs, blockers)) == {v for v in expected if v.owner is None}
    assert set(orphans_between(blockers, outputs)) == {v for v in expected if v.owner is None and v not in blockers}
    assert set(apply_ancestors(outputs, blockers)) == set(applys_between(blockers, outputs))
    for v in outputs:
        assert variable_depends_on(v, blockers) == bool(behind(v) & set(blockers))


# -- truncated inputs


def test_truncated_inputs() -> None:
    x2 = double(x)
    y2 = add(y, x2)
    o = double(y2)
    o2 = square(o)
    assert truncated_graph_inputs([o]) == [o]
    assert truncated_graph_inputs([o, o]) == [o]
    assert truncated_graph_inputs([o2], [y2]) == [y2]
    assert truncated_graph_inputs([o], [y2, o]) == [o, y2]
    assert truncated_graph_inputs([o2], [y2, o]) == [o, y2]
    assert truncated_graph_inputs([o], [y]) == [y, x2]
    assert truncated_graph_inputs([o2], [y2, z]) == [y2]
    assert truncated_graph_inputs([o2, z], [y2]) == [z, y2]
    assert truncated_graph_inputs([add(x, NUMBER.make_constant(1.0))], [x]) == [x, NUMBER.make_constant(1.0)]


def test_truncated_inputs_are_not_repeated() -> None:
    first, second = add(x, y), add(y, x)
    o = add(add(first, first), add(second, second))
    assert truncated_graph_inputs([o], [first]) == [add(second, second), first]
    nested = add(add(first, first), add(x, first))
    assert truncated_graph_inputs([nested], [first]) == [first, x]


@given(graphs(), st.randoms(use_true_random=False))
def test_truncated_inputs_suffice_and_are_independent(graph: Graph, choice: random.Random) -> None:
    _, variables = graph
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    wanted = choice.sample(variables, k=choice.randint(1, len(variables)))
    found = truncated_graph_inputs(outputs, wanted)
    assert len(found) == len(set(found))
    assert set(orphans_between(found, outputs)) == set()
    present = set().union(*[behind(v) for v in outputs])
    assert set(found) >= set(wanted) & present
    for variable in set(found) - set(wanted):
        assert not (behind(variable) - {variable}) & set(found)
        assert not behind(variable) & set(wanted)


# -- names


class Inner(Op[..., Any]):
    __props__ = ("fgraph",)

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def make_node(self, *args: Variable[Any]) -> Apply[Any]:
        return Apply(self, args, [out.type for out in self.fgraph.outputs])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        given = dict(zip(self.fgraph.inputs, inputs, strict=True))
        output_storage[0][0] = self.fgraph.outputs[0].eval(given)


def test_variables_are_found_by_name() -> None:
    assert get_var_by_name([zxy], "none") == ()
    assert get_var_by_name([zxy], "xy") == (xy,)
    again = add(y, x).named("xy")
    assert get_var_by_name([zxy, again], "xy") == (again, xy)


def test_variables_of_inner_graphs_are_found_too() -> None:
    inner = Inner(FunctionGraph([x, y], [xy]))
    assert isinstance(inner, HasInnerGraph)
    assert not isinstance(add, HasInnerGraph)
    result = inner(number("a"), number("b"))
    assert get_var_by_name([result], "xy") == (xy,)
    assert get_var_by_name([result], "x") == (x,)
    assert result.eval({"a": 1.0, "b": 2.0}) == 3.0
