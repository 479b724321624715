"""Depth does not matter: nothing recurses over a graph."""

import copy
import gc
import os
import pickle
import subprocess
import sys

import cloudpickle
import pytest

from lamella.ir import (
    FunctionGraph,
    ancestors,
    apply_ancestors,
    clone_replace,
    equal_computations,
    explicit_graph_inputs,
    get_var_by_name,
    interned_nodes,
    toposort,
    truncated_graph_inputs,
    variable_depends_on,
    vars_between,
)
from tests.ir.graph.toys import NUMBER, NumberVariable, add, chain, number

LENGTH = 200_000
SHORTER = 20_000  # deep enough for any recursion to fail


@pytest.fixture(scope="module")
def x() -> NumberVariable:
    return number("x")


@pytest.fixture(scope="module")
def one() -> NumberVariable:
    return NUMBER.make_constant(1.0)


@pytest.fixture(scope="module")
def deep(x: NumberVariable, one: NumberVariable) -> NumberVariable:
    return chain(LENGTH, x, one)


def test_building_again_finds_every_node(deep: NumberVariable, x: NumberVariable, one: NumberVariable) -> None:
    assert chain(LENGTH, x, one) is deep


def test_walks(deep: NumberVariable, x: NumberVariable, one: NumberVariable) -> None:
    assert len(toposort([deep])) == LENGTH
    assert len(list(ancestors([deep]))) == LENGTH + 2
    assert len(list(apply_ancestors([deep]))) == LENGTH
    assert len(list(vars_between([x], [deep]))) == LENGTH + 2
    assert list(explicit_graph_inputs(deep)) == [x]
    assert get_var_by_name([deep], "x") == (x,)
    assert variable_depends_on(deep, x)
    assert truncated_graph_inputs([deep], [x]) == [one, x]


def test_evaluation(deep: NumberVariable, x: NumberVariable) -> None:
    assert deep.eval({x: 0.5}) == LENGTH + 0.5


def test_replacement_and_equality(deep: NumberVariable, x: NumberVariable, one: NumberVariable) -> None:
    y = number("y")
    moved = clone_replace(deep, {x: y})
    assert moved is chain(LENGTH, y, one)
    assert equal_computations([deep], [moved], [x], [y])
    assert not equal_computations([deep], [moved])


def test_pickling(deep: NumberVariable, x: NumberVariable) -> None:
    data = pickle.dumps(deep)
    assert len(data) < 60 * LENGTH
    restored = pickle.loads(data)
    (root,) = explicit_graph_inputs(restored)
    assert root is not x
    assert equal_computations([restored], [deep], [root], [x])


def test_other_ways_of_pickling(x: NumberVariable, one: NumberVariable) -> None:
    deep = chain(SHORTER, x, one)
    node = pickle.loads(pickle.dumps(deep.owner))
    assert node.op == add
    by_value = cloudpickle.loads(cloudpickle.dumps(deep))
    assert len(toposort([by_value])) == SHORTER
    fgraph = FunctionGraph([x], [deep])
    restored = pickle.loads(pickle.dumps(fgraph))
    assert equal_computations(restored.outputs, fgraph.outputs, restored.inputs, fgraph.inputs)
    y = number("y")
    assert len(FunctionGraph([x, y], [deep]).replace(x, y).order) == SHORTER


def test_copying(deep: NumberVariable) -> None:
    assert copy.deepcopy([deep, deep.owner]) == [deep, deep.owner]


def test_function_graphs(deep: NumberVariable, x: NumberVariable) -> None:
    fgraph = FunctionGraph([x], [deep])
    assert len(fgraph.order) == LENGTH
    assert len(fgraph.clients) == LENGTH + 2


def test_text_is_short(deep: NumberVariable) -> None:
    assert str(deep) == "Add.0"
    assert repr(deep.owner) == "Add(Number{sign=any}, Number{sign=any})"


def test_a_dropped_chain_goes_at_once() -> None:
    gc.collect()
    before = interned_nodes()
    start = number()
    long = chain(SHORTER, start, start)
    assert interned_nodes() == before + SHORTER
    del long
    gc.collect()
    assert interned_nodes() <= before


def test_a_process_ends_quietly_with_a_graph_in_its_hands() -> None:
    code = """
from tests.ir.graph.toys import chain, number
x = number()
deep = chain(1000, x, x)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
