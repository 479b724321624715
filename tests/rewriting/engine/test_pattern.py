"""Patterns: names, repeated names, numbers, conditions, functions, and what they refuse."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import RewriteError
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import EquilibriumGraphRewriter, OpPattern, PatternNodeRewriter, in2out
from tests.rewriting.toys import (
    REAL,
    Exp,
    RealOp,
    add,
    as_real,
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


def rewritten(pattern: PatternNodeRewriter, *outputs: Variable[Any]) -> str:
    return show(in2out(pattern).rewrite(FunctionGraph([x, y, z], outputs)))


def test_names_stand_for_any_variable_the_same_one_when_repeated() -> None:
    pattern = PatternNodeRewriter((sub, (add, "x", "y"), "y"), "x")
    assert rewritten(pattern, sub(add(exp(x), log(y)), log(y))) == "exp(x)"
    assert rewritten(pattern, sub(add(x, y), z)) == "sub(add(x, y), z)"
    assert rewritten(pattern, sub(add(y, x), y)) == "sub(add(y, x), y)"


def test_the_right_side_is_built_from_what_the_names_stand_for() -> None:
    pattern = PatternNodeRewriter((mul, "x", (add, "y", "z")), (add, (mul, "x", "y"), (mul, "x", "z")))
    assert rewritten(pattern, mul(x, add(y, z))) == "add(mul(x, y), mul(x, z))"
    assert pattern.name == "mul(x, add(y, z)) -> add(mul(x, y), mul(x, z))"
    assert repr(pattern) == f"PatternNodeRewriter({pattern.name})"
    assert PatternNodeRewriter((neg, "x"), "x", name="named").name == "named"


def test_a_number_stands_for_constants_that_hold_it() -> None:
    """A constant is compared by its value: fault B19 is the pattern that took any constant for a 1."""
    sigmoid = PatternNodeRewriter((true_div, 1, (add, (exp, "x"), 1)), (RealOp("sigmoid", math.tanh), (neg, "x")))
    assert rewritten(sigmoid, true_div(1.0, add(exp(x), 1.0))) == "sigmoid(neg(x))"
    for other in (2.0, -1.0, math.nan):
        expression = true_div(1.0, add(exp(x), other))
        assert rewritten(sigmoid, expression) == f"true_div(1.0, add(exp(x), {other}))"
    assert rewritten(sigmoid, true_div(1.0, add(exp(x), y))) == "true_div(1.0, add(exp(x), y))"


@pytest.mark.parametrize(
    ("number", "held", "fits"),
    [
        (0, 0.0, True),
        (0.0, -0.0, False),
        (-0.0, -0.0, True),
        (-0.0, 0.0, False),
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (True, 1.0, True),
        (2 + 0j, 2.0, True),
        (2 + 1j, 2.0, False),
    ],
)
def test_numbers_fit_to_the_sign_of_zero(number: complex, held: float, fits: bool) -> None:
    pattern = PatternNodeRewriter((add, "x", number), "x")
    assert (rewritten(pattern, add(x, held)) == "x") == fits


def test_a_given_variable_or_constant() -> None:
    pattern = PatternNodeRewriter((add, x, as_real(1.0)), (neg, x))
    assert rewritten(pattern, add(x, 1.0)) == "neg(x)"
    assert rewritten(pattern, add(x, as_real(1.0).named("one"))) == "neg(x)"
    assert rewritten(pattern, add(y, 1.0)) == "add(y, 1.0)"
    assert rewritten(pattern, add(x, 2.0)) == "add(x, 2.0)"


def test_conditions_on_names_numbers_and_parts() -> None:
    def is_log(variable: Variable[Any]) -> bool:
        return variable.owner is not None and variable.owner.op == log

    on_name = PatternNodeRewriter((neg, {"pattern": "x", "constraint": is_log}), "x")
    assert rewritten(on_name, neg(log(x)), neg(exp(x))) == "log(x), neg(exp(x))"
    on_part = PatternNodeRewriter((neg, {"pattern": (identity, "x"), "constraint": lambda v: v.name == "n"}), "x")
    assert rewritten(on_part, neg(identity(x).named("n")), neg(identity(y))) == "x, neg(identity(y))"
    on_number = PatternNodeRewriter((add, "x", {"pattern": 1, "constraint": lambda v: v.name == "one"}), "x")
    assert rewritten(on_number, add(x, as_real(1.0).named("one")), add(x, 1.0)) == "x, add(x, 1.0)"
    on_all = PatternNodeRewriter({"pattern": (neg, "x"), "constraint": lambda v: v.name == "n"}, "x")
    assert rewritten(on_all, neg(x).named("n"), neg(y)) == "x, neg(y)"


def test_ops_are_named_by_classes_and_patterns_too() -> None:
    by_class = PatternNodeRewriter((log, (Exp, "x")), "x")
    assert rewritten(by_class, log(exp(x))) == "x"
    by_pattern = PatternNodeRewriter((OpPattern(RealOp, commutative=True), "x", "y"), (sub, "x", "y"))
    assert rewritten(by_pattern, add(mul(x, y), true_div(x, y))) == "sub(sub(x, y), true_div(x, y))"


def test_functions_on_the_right() -> None:
    def twice(variable: Variable[Any]) -> Variable[Any]:
        return add(variable, variable)

    inside = PatternNodeRewriter((exp, (log, "x")), (Exp(), (twice, "x")))
    assert rewritten(inside, exp(log(y))) == "exp(add(y, y))"
    assert inside.name == "exp(log(x)) -> exp(twice(x))"

    def choose(fgraph: FunctionGraph, node: Apply[Any], found: Any) -> Variable[Any] | None:
        assert node.op == neg
        return found["a"] if len(fgraph.outputs) == 1 else None

    whole = PatternNodeRewriter((neg, (identity, "a")), choose)
    assert rewritten(whole, neg(identity(x))) == "x"
    assert rewritten(whole, neg(identity(x)), y) == "neg(identity(x)), y"
    assert whole.name == "neg(identity(a)) -> choose"


def test_a_number_or_a_variable_on_the_right() -> None:
    assert rewritten(PatternNodeRewriter((sub, "x", "x"), 0), sub(y, y)) == "0.0"
    assert rewritten(PatternNodeRewriter((sub, "x", "x"), z), sub(y, y)) == "z"
    # 0 is not positive: a number that does not fit the type is not put in place
    assert rewritten(PatternNodeRewriter((exp, "x"), 0), exp(y)) == "exp(y)"


def test_a_replacement_of_another_type_is_not_made() -> None:
    assert rewritten(PatternNodeRewriter((exp, "x"), (neg, "x")), exp(x)) == "exp(x)"


def test_inner_parts_that_others_use_do_not_fit_unless_that_is_allowed() -> None:
    shared = exp(x)
    allows = PatternNodeRewriter((log, (exp, "x")), "x", allow_multiple_clients=True)
    forbids = PatternNodeRewriter((log, (exp, "x")), "x")
    assert rewritten(allows, log(shared), neg(shared)) == "x, neg(exp(x))"
    assert rewritten(forbids, log(shared), neg(shared)) == "log(exp(x)), neg(exp(x))"
    assert rewritten(forbids, log(shared), shared) == "log(exp(x)), exp(x)"
    assert rewritten(forbids, log(shared), y) == "x, y"
    # used twice, but both times inside the pattern
    square = PatternNodeRewriter((mul, (exp, "x"), (exp, "x")), (exp, (add, "x", "x")))
    assert rewritten(square, mul(shared, shared), y) == "exp(add(x, x)), y"


def test_a_node_with_several_outputs_does_not_fit() -> None:
    total, difference = pair(x, y)
    pattern = PatternNodeRewriter((neg, (pair, "x", "y")), "x")
    assert rewritten(pattern, neg(total), difference) == "neg(Pair(x, y).0), Pair(x, y).1"


def test_from_one_node_to_others() -> None:
    """What `get_nodes` finds is tried, and replaced wherever it is."""

    def inner(fgraph: FunctionGraph, node: Apply[Any]) -> list[Apply[Any]]:
        return [v.owner for v in node.inputs if v.owner is not None]

    pattern = PatternNodeRewriter((add, "x", 0), "x", tracks=[mul], get_nodes=inner)
    assert pattern.tracks() == (mul,)
    assert rewritten(pattern, mul(add(x, 0.0), y), add(x, 0.0), add(y, 0.0)) == "mul(x, y), x, add(y, 0.0)"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("x", "a pattern begins with an Op"),
        ((), r"\(\) is no pattern"),
        (("x", "y"), r"is no pattern: a pattern is a name"),
        ((add, "x", None), "None is no pattern"),
        ((add, "x", {"pattern": "y"}), r"\{'pattern': 'y'\} is no pattern"),
    ],
)
def test_what_is_no_pattern(pattern: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        PatternNodeRewriter(pattern, "x")


def test_wrong_uses() -> None:
    with pytest.raises(ValueError, match=r"the right side of neg\(x\) -> add\(x, y\) uses 'y', the left does not"):
        PatternNodeRewriter((neg, "x"), (add, "x", "y"))
    with pytest.raises(ValueError, match="tracks and get_nodes are given together"):
        PatternNodeRewriter((neg, "x"), "x", tracks=[add])
    wrong = PatternNodeRewriter((neg, "x"), lambda fgraph, node, found: 1)  # type: ignore[arg-type, return-value]  # a planted mistake
    with pytest.raises(RewriteError, match="the right side returned 1, which is no Variable"):
        in2out(wrong).rewrite(graph_of(neg(x)))


def test_a_pattern_tried_on_another_node_does_nothing() -> None:
    e = graph_of(add(x, y))
    assert PatternNodeRewriter((mul, "x", "y"), "x").transform(e, e.order[0]) is False


def test_a_pattern_is_a_value() -> None:
    one, other = (PatternNodeRewriter((mul, "x", 1), "x") for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != PatternNodeRewriter((mul, "x", 2), "x")


@given(st.lists(st.floats(-4, 4), min_size=3, max_size=3), st.integers(0, 2**20))
def test_a_system_of_patterns_keeps_values(numbers: list[float], bits: int) -> None:
    v: Variable[Any] = add(mul(x, 1.0), add(y, 0.0))
    for i in range(10):
        v = [sub(v, z), neg(identity(v)), mul(v, 1.0), neg(neg(v))][bits >> 2 * i & 3]
    system = EquilibriumGraphRewriter(
        [
            PatternNodeRewriter((mul, "x", 1), "x"),
            PatternNodeRewriter((neg, (neg, "x")), "x", allow_multiple_clients=True),
            PatternNodeRewriter((identity, "x"), "x"),
            PatternNodeRewriter((neg, (sub, "x", "y")), (sub, "y", "x")),
        ]
    )
    e = FunctionGraph([x, y, z], [v])
    normal = system.rewrite(e)
    assert value(normal, *numbers) == value(e, *numbers)
    assert "identity" not in show(normal)
    assert "neg(neg" not in show(normal)
    assert "neg(sub" not in show(normal)
    assert normal.outputs[0].type == REAL
