"""Replacing Variables, and equality of computations."""

import math
import random
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import (
    Apply,
    Constant,
    NullType,
    SharedVariable,
    StorageCell,
    Type,
    Variable,
    clone_replace,
    equal_computations,
    evaluate,
    graph_inputs,
    graph_replace,
    rebuild_node,
    substitute,
)
from tests.ir.graph.toys import (
    NUMBER,
    POSITIVE,
    NumberVariable,
    Scale,
    add,
    div_mod,
    double,
    graphs,
    number,
    square,
)

Graph = tuple[list[NumberVariable], list[NumberVariable]]

x, y, z = number("x"), number("y"), number("z")


def test_what_depends_on_a_replaced_variable_is_rebuilt_and_all_else_shared() -> None:
    kept = double(z)
    total = add(add(x, y), kept)
    replaced = clone_replace(total, {x: z})
    assert replaced is add(add(z, y), kept)
    assert total is add(add(x, y), kept)
    assert clone_replace([total, kept], {x: z}) == [replaced, kept]


def test_nothing_to_replace_gives_the_same_graph() -> None:
    total = add(x, y)
    assert clone_replace(total) is total
    assert clone_replace([total], {}) == [total]
    assert graph_replace([total, x]) == [total, x]
    assert clone_replace([total], [(z, x)]) == [total]


def test_replacements_are_made_at_once() -> None:
    assert clone_replace(add(x, y), {x: y, y: x}) is add(y, x)
    assert clone_replace(double(x), {x: add(x, x)}) is double(add(x, x))
    assert clone_replace(x, [(x, y)]) is y


def test_a_replaced_variable_hides_what_it_was_computed_from() -> None:
    inner = double(x)
    outer = square(inner)
    assert graph_replace(outer, {x: y, inner: z}) is square(z)
    both = add(outer, x)
    assert graph_replace(both, {x: y, inner: z}) is add(square(z), y)


def test_one_output_of_a_node_is_replaced_and_the_other_rebuilt() -> None:
    quotient, remainder = div_mod(x, y)
    total = add(quotient, remainder)
    assert graph_replace(total, {quotient: z}) is add(z, remainder)
    assert graph_replace(total, {quotient: z, x: z}) is add(z, div_mod(z, y)[1])


def test_inputs_are_not_looked_behind() -> None:
    inner = double(x)
    assert substitute([square(inner)], {x: y}, inputs=[inner]) == [square(inner)]
    assert substitute([square(inner)], {x: y}) == [square(double(y))]


def test_names_and_lines_survive() -> None:
    total = add(x, y).named("total")
    replaced = clone_replace(total, {x: z})
    assert replaced.name == "total"
    assert replaced.owner is not None
    assert total.owner is not None
    assert replaced.owner.origin == total.owner.origin


def test_a_variable_that_takes_no_part_is_refused_when_strict() -> None:
    quotient, remainder = div_mod(x, y)
    total = double(quotient)
    for stranger in (z, square(x), remainder):
        with pytest.raises(ValueError, match=r"takes no part in computing the outputs.*strict=False passes over it"):
            graph_replace(total, {stranger: y})
        assert graph_replace([total], {stranger: y}, strict=False) == [total]


def test_types_have_to_fit() -> None:
    p = POSITIVE("p")
    assert clone_replace(double(x), {x: p}) is not double(x)
    with pytest.raises(TypeError, match=r"x has the type Number\{sign=any\}, which is no Number\{sign=positive\}"):
        clone_replace(square(p), {p: x})
    with pytest.raises(
        TypeError, match=r"x of type Number\{sign=any\} cannot replace p of type Number\{sign=positive\}"
    ):
        substitute([square(p)], {p: x})
    with pytest.raises(TypeError):
        substitute([square(p)], {p: NullType()()})


def test_a_plain_value_becomes_a_constant() -> None:
    replaced = clone_replace(double(x), {x: 3.0})  # type: ignore[arg-type]  # converted, as `filter_variable` does
    assert replaced is double(NUMBER.make_constant(3.0))


def test_rebuilding_narrows_types() -> None:
    p = POSITIVE("p")
    assert add(x, x).type == NUMBER
    assert clone_replace(add(x, x), {x: p}).type == POSITIVE
    assert clone_replace(square(add(x, x)), {x: p}).type == POSITIVE
    assert clone_replace(square(add(x, x)), {x: p}) is square(add(p, p))


def test_rebuild_node() -> None:
    node = add(x, y).owner
    assert node is not None
    assert rebuild_node(node, {z: x}) is node
    assert rebuild_node(node, {x: x}) is node
    assert rebuild_node(node, {x: z}) is add(z, y).owner


@given(graphs(), st.randoms(use_true_random=False))
def test_replacing_means_computing_with_the_replacements_value(graph: Graph, choice: random.Random) -> None:
    inputs, variables = graph
    values: dict[NumberVariable, float] = {v: float(choice.randint(-3, 3)) for v in inputs}
    replaced = choice.sample(variables, k=min(len(variables), choice.randint(1, 3)))
    pairs = {v: choice.choice([*variables, NUMBER.make_constant(5.0)]) for v in replaced}
    outputs = choice.sample(variables, k=choice.randint(1, len(variables)))
    found = evaluate(clone_replace(outputs, pairs), values)
    given_values = dict(zip(pairs, evaluate(list(pairs.values()), values), strict=True))
    expected = evaluate(outputs, values | given_values)
    assert found == expected


# -- equal computations


def test_equal_computations() -> None:
    assert equal_computations([x], [x])
    assert not equal_computations([x], [y])
    assert equal_computations([add(x, y), x], [add(x, y), x])
    assert not equal_computations([add(x, y)], [add(y, x)])
    assert not equal_computations([double(x)], [Scale(3.0)(x)])
    assert not equal_computations([double(x)], [x])
    assert not equal_computations([x], [double(x)])
    assert equal_computations(div_mod(x, y), div_mod(x, y))
    assert not equal_computations(div_mod(x, y), div_mod(x, y)[::-1])
    assert equal_computations([], [])


def test_names_do_not_matter() -> None:
    assert equal_computations([double(double(x).named("a")).named("b")], [double(double(x))])
    one, uno = NUMBER.make_constant(1.0, "one"), NUMBER.make_constant(1.0, "uno")
    assert one is not uno
    assert equal_computations([double(one)], [double(uno)])


def test_given_variables_are_taken_to_be_equal() -> None:
    assert not equal_computations([double(x)], [double(y)])
    assert equal_computations([double(x)], [double(y)], [x], [y])
    assert equal_computations([x], [y], [x], [y])
    assert not equal_computations([double(x)], [double(z)], [x], [y])
    assert equal_computations([add(double(x), z)], [add(y, z)], [double(x)], [y])
    assert not equal_computations([double(x)], [double(y)], [x], [NullType()()])


def test_types_of_outputs_matter_in_kind_only() -> None:
    p = POSITIVE("p")
    assert equal_computations([double(x)], [Apply(double, [x], [POSITIVE]).out])
    assert equal_computations([double(p)], [double(x)], [p], [x])
    assert not equal_computations([NullType()()], [x])


def test_values_are_compared_with_constants() -> None:
    two = NUMBER.make_constant(2.0)
    assert equal_computations([2.0], [two])
    assert equal_computations([two, x], [2.0, x])
    assert not equal_computations([two], [3.0])
    assert not equal_computations([2.0, x], [two, y])
    assert equal_computations([np.array([1.0, math.nan])], [np.array([1.0, math.nan])])
    assert not equal_computations([np.array([1, 2])], [np.array([1, 3])])
    assert not equal_computations([2.0], [x])
    assert not equal_computations([x], [2.0])
    shared = SharedVariable(NUMBER, StorageCell(2.0))
    assert not equal_computations([shared], [2.0])


def test_constants_are_compared_by_type_and_bits() -> None:
    constant = NUMBER.make_constant
    assert equal_computations([double(constant(math.nan))], [double(constant(math.nan))])
    assert not equal_computations([double(constant(0.0))], [double(constant(-0.0))])
    two, positive_two = constant(2.0), POSITIVE.make_constant(2.0)
    assert not equal_computations([double(two)], [double(positive_two)])
    assert equal_computations([double(two)], [double(positive_two)], strict_dtype=False)
    assert not equal_computations([double(two)], [double(constant(3.0))], strict_dtype=False)


def test_constants_without_a_key_equal_themselves() -> None:
    @attrs.frozen
    class Anything(Type[object]):
        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> object:
            return value

    held = object()
    constants: list[Constant[Any]] = [Anything().make_constant(held), Anything().make_constant(held)]
    assert equal_computations(constants[:1], constants[1:])
    assert not equal_computations(constants[:1], [Anything().make_constant(object())])


def test_lists_of_different_lengths_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="as many on both sides: 1 and 2 outputs, 0 and 0 inputs"):
        equal_computations([x], [x, y])
    with pytest.raises(ValueError, match="1 and 1 outputs, 1 and 0 inputs"):
        equal_computations([x], [x], [x])


def test_a_graph_with_much_sharing_is_compared_once() -> None:
    def doubled(variable: Variable[Any], name: str) -> Variable[Any]:
        for i in range(200):  # 2^200 paths
            variable = add(variable, variable).named(f"{name}{i}")
        return variable

    assert equal_computations([doubled(x, "a")], [doubled(x, "b")])
    assert equal_computations([doubled(x, "a")], [doubled(y, "b")], [x], [y])
    assert not equal_computations([doubled(x, "a")], [doubled(y, "b")])


@given(graphs())
def test_a_graph_on_other_inputs_is_equal_when_these_are(graph: Graph) -> None:
    inputs, variables = graph
    others = [number() for _ in inputs]
    moved = clone_replace(variables, dict(zip(inputs, others, strict=True)))
    assert equal_computations(variables, moved, inputs, others)
    for variable, other in zip(variables, moved, strict=True):
        uses_inputs = any(root in inputs for root in graph_inputs([variable]))
        assert equal_computations([variable], [other]) is not uses_inputs
