"""Lazy Ops: what only their unneeded inputs need is not computed; what nodes overwrite stays right."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import Apply, Op, OutputStorage, Variable, evaluate
from tests.ir.graph.toys import NUMBER, NumberVariable, add, number


class Choose(Op[[NumberVariable, NumberVariable, NumberVariable], NumberVariable]):
    """The second input where the first is positive, else the third."""

    __props__ = ()
    itypes = [NUMBER] * 3
    otypes = [NUMBER]

    def required_inputs(self, node: Apply[Any], known: Mapping[int, Any]) -> Collection[int]:
        if not known:
            return [0]
        return [1 if known[0] > 0 else 2]

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        taken = 1 if inputs[0] > 0 else 2
        assert inputs[3 - taken] is None or node.inputs[3 - taken] is node.inputs[taken]
        output_storage[0][0] = inputs[taken]


class Counted(Op[[NumberVariable], NumberVariable]):
    """The input; says that it was computed."""

    __props__ = ("name",)
    not_identity = frozenset({"log"})
    itypes = [NUMBER]
    otypes = [NUMBER]

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        self.log.append(self.name)
        output_storage[0][0] = inputs[0]


choose = Choose()


def test_only_the_input_that_is_needed_is_computed() -> None:
    log: list[str] = []
    c, x = number("c"), number("x")
    result = choose(c, Counted("then", log)(x), Counted("else", log)(x))
    assert (result.eval({c: 1.0, x: 5.0}), log) == (5.0, ["then"])
    log.clear()
    assert (result.eval({c: -1.0, x: 5.0}), log) == (5.0, ["else"])


def test_what_is_needed_elsewhere_is_computed_once() -> None:
    log: list[str] = []
    c, x = number("c"), number("x")
    shared = Counted("shared", log)(x)
    evaluate([choose(c, add(shared, x), x), add(shared, shared)], {c: -1.0, x: 5.0})
    assert log == ["shared"]


def test_the_condition_of_a_choice_that_is_not_needed_is_not_computed() -> None:
    log: list[str] = []
    c, x = number("c"), number("x")
    inner = choose(Counted("condition", log)(x), Counted("a", log)(x), x)
    assert choose(c, inner, x).eval({c: 0.0, x: 2.0}) == 2.0
    assert log == []


def test_a_long_chain_of_choices_needs_no_recursion() -> None:
    c, x = number("c"), number("x")
    log: list[str] = []
    result: NumberVariable = x
    for i in range(20_000):
        result = choose(c, add(result, x), Counted(str(i), log)(result))
    assert result.eval({c: 1.0, x: 1.0}) == 20_001.0
    assert log == []


def choices(draw: st.DrawFn, log: list[str]) -> tuple[list[NumberVariable], list[NumberVariable]]:
    inputs = [number(f"x{i}") for i in range(3)]
    variables: list[NumberVariable] = [*inputs]
    for i in range(draw(st.integers(1, 15))):
        picked = [draw(st.sampled_from(variables)) for _ in range(3)]
        kind = draw(st.sampled_from(["add", "choose", "counted"]))
        if kind == "add":
            variables.append(add(*picked[:2]))
        elif kind == "choose":
            variables.append(choose(*picked))
        else:
            variables.append(Counted(str(i), log)(picked[0]))
    return inputs, variables


@given(st.data())
def test_values_and_what_runs_are_those_of_the_definition(data: st.DataObject) -> None:
    log: list[str] = []
    inputs, variables = data.draw(st.composite(choices)(log))
    outputs = data.draw(st.lists(st.sampled_from(variables), min_size=1, max_size=3))
    values = [data.draw(st.sampled_from([-1.0, 1.0, 2.0])) for _ in inputs]
    given_values = dict(zip(inputs, values, strict=True))
    expected_log: set[str] = set()
    known: dict[Variable[Any], float] = dict(given_values)

    def meaning(v: Variable[Any]) -> float:
        if v not in known:
            assert v.owner is not None
            operands = v.owner.inputs
            if isinstance(v.owner.op, Choose):
                known[v] = meaning(operands[1]) if meaning(operands[0]) > 0 else meaning(operands[2])
            elif isinstance(v.owner.op, Counted):
                expected_log.add(v.owner.op.name)
                known[v] = meaning(operands[0])
            else:
                known[v] = meaning(operands[0]) + meaning(operands[1])
        return known[v]

    expected = [meaning(v) for v in outputs]
    assert evaluate(outputs, given_values) == expected
    assert sorted(log) == sorted(expected_log)
