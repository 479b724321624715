"""`FunctionGraph`: a graph as a value."""

import pickle
import random
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import InconsistencyError, MissingInputError
from lamella.ir import (
    Apply,
    Feature,
    FunctionGraph,
    SharedVariable,
    StorageCell,
    equal_computations,
    evaluate,
    substitute,
    variable_depends_on,
)
from tests.ir.graph.toys import NUMBER, POSITIVE, NumberVariable, add, div_mod, double, graphs, number, square

Graph = tuple[list[NumberVariable], list[NumberVariable]]

x, y, z = number("x"), number("y"), number("z")


@attrs.frozen
class AtMost:
    """A feature: refuses graphs of more than `count` nodes."""

    count: int

    def validate(self, fgraph: FunctionGraph) -> None:
        if len(fgraph.apply_nodes) > self.count:
            raise InconsistencyError(f"more than {self.count} nodes")

    def orderings(self, fgraph: FunctionGraph) -> Mapping[Apply[Any], Sequence[Apply[Any]]]:
        return {}


@attrs.frozen
class Before:
    """A feature: the nodes of one Variable come before those of another."""

    first: Any
    second: Any

    def validate(self, fgraph: FunctionGraph) -> None:
        pass

    def orderings(self, fgraph: FunctionGraph) -> Mapping[Apply[Any], Sequence[Apply[Any]]]:
        return {self.second.owner: [self.first.owner]}


def test_everything_is_derived_from_inputs_and_outputs() -> None:
    doubled = double(x)
    total = add(doubled, y)
    fgraph = FunctionGraph([x, y], [total, doubled])
    assert fgraph.inputs == (x, y)
    assert fgraph.outputs == (total, doubled)
    assert fgraph.order == (doubled.owner, total.owner)
    assert fgraph.toposort() == [doubled.owner, total.owner]
    assert fgraph.apply_nodes == {doubled.owner, total.owner}
    assert fgraph.variables == (x, y, doubled, total)
    assert fgraph.clients == {
        x: ((doubled.owner, 0),),
        doubled: ((total.owner, 0), (None, 1)),
        y: ((total.owner, 1),),
        total: ((None, 0),),
    }
    assert fgraph.get_clients(doubled) == ((total.owner, 0), (None, 1))
    assert fgraph.get_clients(z) == ()
    assert repr(fgraph) == "FunctionGraph([x, y] -> [Add.0, Scale{factor=2.0}.0])"


def test_graphs_are_values() -> None:
    total = add(x, y)
    assert FunctionGraph([x, y], [total]) == FunctionGraph((x, y), iter([add(x, y)]))
    assert hash(FunctionGraph([x, y], [total])) == hash(FunctionGraph([x, y], [total]))
    assert FunctionGraph([x, y], [total]) != FunctionGraph([y, x], [total])
    assert FunctionGraph([x, y], [total]) != FunctionGraph([x, y], [total], [AtMost(3)])


def test_unused_inputs_and_constants_are_all_right() -> None:
    one = NUMBER.make_constant(1.0)
    fgraph = FunctionGraph([x, z], [add(x, one), one])
    assert fgraph.get_clients(z) == ()
    assert fgraph.variables == (x, z, one, add(x, one))


def test_a_variable_may_be_used_twice() -> None:
    fgraph = FunctionGraph([x], [add(x, x), x, x])
    assert fgraph.get_clients(x) == ((add(x, x).owner, 0), (add(x, x).owner, 1), (None, 1), (None, 2))
    assert FunctionGraph([], []).order == ()


def test_the_graph_is_not_looked_at_behind_its_inputs() -> None:
    doubled = double(x)
    fgraph = FunctionGraph([doubled], [square(doubled)])
    assert fgraph.order == (square(doubled).owner,)
    assert x not in fgraph.variables
    quotient, remainder = div_mod(x, y)
    fgraph = FunctionGraph([quotient, x, y], [add(quotient, remainder)])
    assert fgraph.order == (quotient.owner, add(quotient, remainder).owner)


def test_a_missing_input_is_named_with_who_needs_it() -> None:
    x, y = number("x"), number("y")
    total = add(x, y)
    with pytest.raises(MissingInputError) as caught:
        FunctionGraph([x], [double(total)])
    message = str(caught.value)
    assert message.startswith("y of type Number{sign=any} is needed by Add(x, y) (built at ")
    assert message.endswith("in test_a_missing_input_is_named_with_who_needs_it), but is no input of the graph")
    with pytest.raises(MissingInputError, match=r"the output y of type Number.* is neither computed nor an input"):
        FunctionGraph([x], [y])
    shared = SharedVariable(NUMBER, StorageCell(1.0), "s")
    with pytest.raises(MissingInputError, match="s of type"):
        FunctionGraph([x], [add(x, shared)])


def test_an_input_is_given_once() -> None:
    with pytest.raises(ValueError, match="the input x is given twice"):
        FunctionGraph([x, y, x], [add(x, y)])


def test_replacing_returns_a_new_graph() -> None:
    doubled = double(x)
    fgraph = FunctionGraph([x, y], [add(doubled, y)], [AtMost(3)])
    replaced = fgraph.replace(doubled, square(x))
    assert replaced == FunctionGraph([x, y], [add(square(x), y)], [AtMost(3)])
    assert fgraph == FunctionGraph([x, y], [add(double(x), y)], [AtMost(3)])
    assert fgraph.replace_all({x: y, y: x}).outputs == (add(double(y), x),)
    assert fgraph.replace(z, x) == fgraph


def test_a_replacement_has_to_fit() -> None:
    p = POSITIVE("p")
    fgraph = FunctionGraph([x, p], [add(x, p)])
    with pytest.raises(
        TypeError, match=r"x of type Number\{sign=any\} cannot replace p of type Number\{sign=positive\}"
    ):
        fgraph.replace(p, x)
    with pytest.raises(MissingInputError, match="y of type"):
        fgraph.replace(x, y)
    assert fgraph.replace(x, p).outputs[0].type == POSITIVE


def test_a_feature_refuses_graphs() -> None:
    fgraph = FunctionGraph([x], [double(x)], [AtMost(1)])
    with pytest.raises(InconsistencyError, match="more than 1 nodes"):
        fgraph.replace(x, square(x))
    assert fgraph.outputs == (double(x),)
    with pytest.raises(InconsistencyError):
        FunctionGraph([x], [double(square(x))], [AtMost(5), AtMost(1)])
    with pytest.raises(InconsistencyError):
        FunctionGraph([x], [double(square(x))]).with_feature(AtMost(1))


def test_features_come_and_go() -> None:
    assert isinstance(AtMost(1), Feature)
    fgraph = FunctionGraph([x], [double(x)])
    bounded = fgraph.with_feature(AtMost(1))
    assert bounded.features == (AtMost(1),)
    assert bounded.with_feature(AtMost(1)) is bounded
    assert bounded.with_feature(AtMost(2)).features == (AtMost(1), AtMost(2))
    assert bounded.without_feature(AtMost(1)) == fgraph
    assert fgraph.without_feature(AtMost(1)) == fgraph
    assert bounded.with_outputs([x]) == FunctionGraph([x], [x], [AtMost(1)])


def test_features_order_the_nodes() -> None:
    a, b = double(x), square(x)
    total = add(a, b)
    assert FunctionGraph([x], [total]).order == (a.owner, b.owner, total.owner)
    fgraph = FunctionGraph([x], [total], [Before(b, a)])
    assert fgraph.order == (b.owner, a.owner, total.owner)
    assert fgraph.toposort() == [b.owner, a.owner, total.owner]
    impossible = FunctionGraph([x], [total], [Before(b, a), Before(a, b)])
    with pytest.raises(InconsistencyError, match="cycle"):
        _ = impossible.order


def test_pickles() -> None:
    doubled = double(x)
    fgraph = FunctionGraph([doubled, y], [add(doubled, y).named("total"), doubled], [AtMost(3)])
    restored = pickle.loads(pickle.dumps(fgraph))
    assert isinstance(restored, FunctionGraph)
    assert restored.features == (AtMost(3),)
    assert restored.outputs[1] is restored.inputs[0]
    assert restored.outputs[0].name == "total"
    assert [v.name for v in restored.inputs] == [None, "y"]
    assert equal_computations(restored.outputs, fgraph.outputs, restored.inputs, fgraph.inputs)
    assert evaluate(restored.outputs, dict(zip(restored.inputs, [1.0, 2.0], strict=True))) == [3.0, 1.0]


@given(graphs(), st.randoms(use_true_random=False))
def test_graphs_survive_pickling(graph: Graph, choice: random.Random) -> None:
    inputs, variables = graph
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    cut = [v for v in variables if v not in inputs and choice.random() < 0.2]
    fgraph = FunctionGraph([*inputs, *cut], outputs)
    restored = pickle.loads(pickle.dumps(fgraph))
    assert len(restored.order) == len(fgraph.order)
    assert equal_computations(restored.outputs, fgraph.outputs, restored.inputs, fgraph.inputs)
    assert [v.name for v in restored.variables] == [v.name for v in fgraph.variables]
    assert [v.type for v in restored.outputs] == [v.type for v in fgraph.outputs]


@given(graphs(), st.randoms(use_true_random=False))
def test_what_is_derived_is_consistent(graph: Graph, choice: random.Random) -> None:
    inputs, variables = graph
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    fgraph = FunctionGraph(inputs, outputs)
    assert set(fgraph.order) == fgraph.apply_nodes
    assert len(set(fgraph.variables)) == len(fgraph.variables)
    for variable, users in fgraph.clients.items():
        assert variable in fgraph.variables
        for node, place in users:
            assert (node.inputs if node is not None else fgraph.outputs)[place] is variable
    assert sum(map(len, fgraph.clients.values())) == sum(node.nin for node in fgraph.order) + len(outputs)


@given(graphs(), st.randoms(use_true_random=False))
def test_replacing_is_substituting(graph: Graph, choice: random.Random) -> None:
    inputs, variables = graph
    fgraph = FunctionGraph(inputs, [variables[-1]])
    old = choice.choice(variables)
    new = choice.choice([v for v in variables if not variable_depends_on(v, old)] or [old])
    assert fgraph.replace(old, new).outputs == tuple(substitute(fgraph.outputs, {old: new}))
    assert fgraph.replace(old, old) == fgraph
