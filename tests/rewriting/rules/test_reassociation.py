"""Sums and products of floats with several numbers, taken together."""

import numpy as np
import pytest

from lamella.ir import FLOAT_DTYPES, Apply, FunctionGraph, TensorType, interpret, lt
from lamella.rewriting import EquilibriumGraphRewriter, NodeRewriter, rewrite_graph
from lamella.rewriting.rules.reassociation import (
    float_multiples_collected,
    float_products_collected,
    float_sums_collected,
    nested_fold,
)
from tests.rewriting.rules.special_values import Expression, check_stays, rewritten, same_bits, special_values

LAWS: list[tuple[NodeRewriter, Expression, Expression]] = [
    (float_sums_collected, lambda x: (x + 1) + 2, lambda x: x + 3),
    (float_sums_collected, lambda x: -0.5 + (x + -0.25), lambda x: x + -0.75),
    (float_sums_collected, lambda x: (((x + 1) + 1) + 1) + 1, lambda x: x + 4),
    (float_products_collected, lambda x: (x * 2) * 3, lambda x: x * 6),
    (float_products_collected, lambda x: -0.5 * (x * 0.125), lambda x: x * -0.0625),
    (float_products_collected, lambda x: (x * 2) * -1, lambda x: x * -2),
    (float_sums_collected, lambda x: (x - 1) - 2, lambda x: x + -3.0),
    (float_sums_collected, lambda x: 2 - (x - 1), lambda x: 3.0 - x),
    (float_sums_collected, lambda x: (2 - x) + 1, lambda x: 3.0 - x),
    (float_sums_collected, lambda x: 2 - (-1 - x), lambda x: x + 3.0),
    (float_sums_collected, lambda x: (x + 1) + (2 + lt.square(x)), lambda x: (x + lt.square(x)) + 3),
    (float_products_collected, lambda x: (x / 3) / 7, lambda x: x / 21),
    (float_products_collected, lambda x: (x / 2) * 0.5, lambda x: x * 0.25),
    (float_products_collected, lambda x: (x * 5) / 0.5, lambda x: x * 10),
    (float_multiples_collected, lambda x: x * 2 + x * 3, lambda x: x * 5),
    (float_multiples_collected, lambda x: x + 3 * x, lambda x: x * 4),
    (float_multiples_collected, lambda x: x * -2 - x * 3, lambda x: x * -5),
]


@pytest.mark.parametrize(("rule", "before", "after"), LAWS)
@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_laws(rule: NodeRewriter, before: Expression, after: Expression, dtype: str) -> None:
    x = TensorType(dtype, (None,))("x")
    assert rewritten(before(x), rule) is after(x)
    old, new = interpret([x], [before(x), after(x)], [special_values(dtype)])
    assert same_bits(np.isnan(old), np.isnan(new))
    assert same_bits(np.isinf(old), np.isinf(new))
    finite = np.isfinite(old)
    np.testing.assert_array_max_ulp(old[finite], new[finite], 2)


STAY: list[tuple[NodeRewriter, Expression]] = [
    (float_sums_collected, lambda x: (x + 1) - 1),
    (float_sums_collected, lambda x: (x + 1e4) + -1e4),
    (float_sums_collected, lambda x: (x + 2.0**10) + 2.0**-14),  # exact, but not in float16
    (float_sums_collected, lambda x: (x + np.nan) + np.nan),
    (float_sums_collected, lambda x: (x + np.inf) + np.inf),
    (float_sums_collected, lambda x: (x + 0.0) + -0.0),
    (float_products_collected, lambda x: (x * 2) * 0.5),
    (float_products_collected, lambda x: (x * 0) * 0),
    (float_products_collected, lambda x: (x * np.nan) * 2),
    (float_products_collected, lambda x: (x * 1000) * 1000),  # too much for float16
    (float_sums_collected, lambda x: (x - 1) + 2),
    (float_sums_collected, lambda x: 2 - (x + 1)),
    (float_sums_collected, lambda x: (x + 1) + (lt.exp(x) - 2)),
    (float_sums_collected, lambda x: (x + 1e4) + (lt.exp(x) + 1e4)),
    (float_products_collected, lambda x: (x * 3) / 7),
    (float_products_collected, lambda x: (3 / x) * 7),
    (float_products_collected, lambda x: (x / 0.0) / 7),
    (float_multiples_collected, lambda x: x * 2 - x * 3),
    (float_multiples_collected, lambda x: x + x),
    (float_multiples_collected, lambda x: x * 2 + lt.exp(x) * 3),
    (float_multiples_collected, lambda x: x * np.inf + x),
]


@pytest.mark.parametrize(("rule", "expression"), STAY)
def test_what_would_hide_something_stays(rule: NodeRewriter, expression: Expression) -> None:
    check_stays(rule, expression, "float16")


def test_other_dtypes_stay() -> None:
    for dtype in ("complex64", "complex128", "int64"):
        check_stays(float_sums_collected, lambda x: (x + 1) + 2, dtype)
        check_stays(float_products_collected, lambda x: (x * 2) * 3, dtype)
    check_stays(float_products_collected, lambda x: (x * np.float32(2)) * np.float64(3), "float32")
    check_stays(float_products_collected, lambda x: (x * 1e200) * 1e200, "float64")
    check_stays(float_products_collected, lambda x: (x * 1e-200) * 1e-200, "float64")


def test_it_is_a_matter_of_one_word() -> None:
    x = TensorType("float64", (None,))("x")
    plain = (x * 2.0) * 3.0
    assert rewrite_graph(plain, include=("canonicalize",), exclude=("nan_unsafe",)) is x * 6.0
    assert rewrite_graph(plain, include=("canonicalize",), exclude=("nan_unsafe", "reassociates")) is plain


def test_sums_of_sums_are_added_up_in_their_order() -> None:
    w, x, y, z = [TensorType("float32", (None,))(name) for name in "wxyz"]
    for function, plain in ((lt.add, ((w + x) + y) + z), (lt.mul, ((w * x) * y) * z)):
        assert rewritten(plain, nested_fold) is function(w, x, y, z)
    values = [special_values("float32")[[i]] for i in (1, 5, 7, 3)]
    assert same_bits(*interpret([w, x, y, z], [((w + x) + y) + z, lt.add(w, x, y, z)], values))
    right = w + (x + y)
    assert rewritten(right, nested_fold) is right


def test_sums_that_are_needed_otherwise_or_smaller_are_no_part_of_others() -> None:
    x, y, z = [TensorType("float32", (None,))(name) for name in "xyz"]
    graph = FunctionGraph([x, y, z], [(x + y) + z, x + y])
    assert EquilibriumGraphRewriter([nested_fold]).rewrite(graph).outputs == graph.outputs
    row, matrix = TensorType("float32", (1, 3))("r"), TensorType("float32", (None, 3))("m")
    broadcast = (row + row) + matrix
    assert rewritten(broadcast, nested_fold) is broadcast


def test_long_sums_become_nodes_of_bounded_size() -> None:
    x = TensorType("float64", (None,))("x")
    total = x
    for i in range(200):
        total = total + lt.exp(x * (i + 0.5))
    found = rewritten(total, nested_fold)
    folds = [node for node in FunctionGraph([x], [found]).order if _is_sum(node)]
    assert len(folds) == 14
    values = [np.array([0.01, -0.25])]
    assert same_bits(*interpret([x], [total, found], values))


def _is_sum(node: Apply[TensorType]) -> bool:
    return str(node.op) == "Add"
