"""Terms and factors, each once: without regard to rounding, NaN or infinities."""

import numpy as np
import pytest

from lamella.ir import FunctionGraph, TensorType, TensorVariable, interpret, lt
from lamella.rewriting import EquilibriumGraphRewriter, NodeRewriter, rewrite_graph
from lamella.rewriting.rules.canonical_products import factors_collected
from lamella.rewriting.rules.canonical_sums import terms_collected
from tests.rewriting.rules.special_values import Expression, rewritten, same_bits, special_values, variables

LAWS: list[tuple[NodeRewriter, Expression, Expression]] = [
    (terms_collected, lambda x, y: (x + y) - x, lambda x, y: y),
    (terms_collected, lambda x, y: (x + y) - y, lambda x, y: x),
    (terms_collected, lambda x, y: x - (x + y), lambda x, y: y * -1.0),
    (terms_collected, lambda x, y: x - (y + x) + y * 2, lambda x, y: y),
    (terms_collected, lambda x: (x + 1) - 2, lambda x: x + -1.0),
    (terms_collected, lambda x: (x + 1) - (x + 1), lambda x: lt.second(x + 1, 0.0)),
    (terms_collected, lambda x: x * 2 + x / 2 - x, lambda x: x * 1.5),
    (terms_collected, lambda x, y: (x + 1) + (y + 2), lambda x, y: (x + y) + 3.0),
    (terms_collected, lambda x, y: -x + (y + 2 * x), lambda x, y: x + y),
    (terms_collected, lambda x: x + (1 - x), lambda x: lt.second(x, 1.0)),
    (factors_collected, lambda x, y: (x * y) / y, lambda x, y: x),
    (factors_collected, lambda x, y: x * (y / x), lambda x, y: y),
    (factors_collected, lambda x, y: (x / y) / x, lambda x, y: lt.true_divide(1.0, y)),
    (factors_collected, lambda x: (x * 2) * 0.5, lambda x: x),
    (factors_collected, lambda x: (x * 3) / 6, lambda x: x * 0.5),
    (factors_collected, lambda x, y: (x * 2) / (y * 4), lambda x, y: (x / y) * 0.5),
    (factors_collected, lambda x, y: x * -lt.reciprocal(x * y), lambda x, y: lt.true_divide(-1.0, y)),
    (factors_collected, lambda x, y: (x * y) * lt.reciprocal(x), lambda x, y: y),
    (factors_collected, lambda x: 2 * (3 / x), lambda x: lt.true_divide(6.0, x)),
    (factors_collected, lambda x: x * lt.reciprocal(x), lambda x: lt.second(x, 1.0)),
]


@pytest.mark.parametrize(("rule", "before", "after"), LAWS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtype: str) -> None:
    inputs, _ = variables(before, dtype)
    found = rewritten(before(*inputs), rule)
    expected = after(*inputs)
    values = [np.array([-3.0, 0.5, 2.0], dtype), np.array([0.25, -1.5, 7.0], dtype)][: len(inputs)]
    old, new, wanted = interpret(inputs, [before(*inputs), found, expected], values)
    np.testing.assert_allclose(new, old, rtol=1e-6)
    np.testing.assert_array_equal(new, wanted)
    assert found.type == before(*inputs).type
    graph = FunctionGraph(inputs, [found])
    assert len(graph.order) <= len(FunctionGraph(inputs, [expected]).order)
    assert EquilibriumGraphRewriter([rule]).rewrite(graph).outputs == graph.outputs


@pytest.mark.parametrize(("rule", "before"), [law[:2] for law in LAWS])
def test_by_default_nothing_is_cancelled(rule: NodeRewriter, before: Expression) -> None:
    inputs, _ = variables(before, "float64")
    special = special_values("float64")
    values = [a.ravel() for a in np.meshgrid(*[special] * len(inputs))]
    plain = before(*inputs)
    faithful = rewrite_graph(
        plain, include=("fast_run",), exclude=("nan_unsafe", "reassociates", "stabilize", "inplace")
    )
    assert same_bits(*interpret(inputs, [plain, faithful], values))


STAY: list[tuple[NodeRewriter, Expression]] = [
    (terms_collected, lambda x, y: (x + y) - lt.exp(x)),
    (terms_collected, lambda x: (x + 1) * 2 - lt.exp(x)),
    (terms_collected, lambda x: (x + np.inf) - 1),
    (factors_collected, lambda x, y: (x * y) / lt.exp(y)),
    (factors_collected, lambda x: (x * 0.0) * 2),
    (factors_collected, lambda x: (x * np.nan) * 2),
]


@pytest.mark.parametrize(("rule", "expression"), STAY)
def test_what_occurs_once_stays(rule: NodeRewriter, expression: Expression) -> None:
    inputs, _ = variables(expression, "float64")
    plain = expression(*inputs)
    assert rewritten(plain, rule) is plain


@pytest.mark.parametrize(("rule", "before"), [law[:2] for law in LAWS])
@pytest.mark.parametrize("dtype", ["int64", "complex128"])
def test_other_dtypes_stay(rule: NodeRewriter, before: Expression, dtype: str) -> None:
    inputs, _ = variables(before, dtype)
    plain = before(*inputs)
    if dtype != "int64" or plain.dtype == "int64":
        assert rewritten(plain, rule) is rewritten(plain)


def test_what_others_need_is_not_computed_again() -> None:
    x, y = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("y")
    inner = (x + y) + lt.exp(y)
    total = (inner + x) - lt.exp(x)
    kept = FunctionGraph([x, y], [total + 1, inner * 2])
    new = EquilibriumGraphRewriter([terms_collected]).rewrite(kept)
    assert len(new.order) <= len(kept.order)


def test_they_are_asked_for_by_one_word() -> None:
    x, y = TensorType("float64", (None,))("x"), TensorType("float64", (None,))("y")
    for plain in ((x * y) / y, (x + y) - y, (x * 2) * 0.5, y * (x / y)):
        asked = rewrite_graph(plain, include=("canonicalize",))
        assert asked is x
        assert rewrite_graph(plain, include=("canonicalize",), exclude=("nan_unsafe",)) is not x


def test_long_sums_end() -> None:
    x = TensorType("float64", (None,))("x")
    total: TensorVariable = x
    for _ in range(100):
        total = total + x
    found = rewritten(total, terms_collected)
    (value,) = interpret([x], [found], [np.array([2.0])])
    assert value.tolist() == [202.0]
