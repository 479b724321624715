"""Merging: what differs only in names, or in the order of commuting inputs, becomes one."""

from typing import Any

import attrs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, Variable
from lamella.rewriting import MergeOptimizer, merge
from tests.rewriting.toys import (
    POSITIVE,
    REAL,
    RealOp,
    add,
    as_real,
    exp,
    graph_of,
    mul,
    neg,
    pair,
    real,
    show,
    sub,
    value,
)

x, y, z = real("x"), real("y"), real("z")


def test_nodes_that_differ_in_names_only() -> None:
    e = graph_of(mul(add(x, y).named("s"), add(x, y)), neg(add(x, y).named("t")))
    merged = merge.rewrite(e)
    assert len(e.order) == 5
    assert len(merged.order) == 3
    assert {v.owner for node in merged.order for v in node.inputs if v.owner} == {merged.order[0]}
    assert merge.rewrite(merged) is merged


def test_the_order_of_two_commuting_inputs() -> None:
    e = graph_of(sub(add(x, y), add(y, x)), sub(sub(x, y), sub(y, x)))
    assert show(merge.rewrite(e)) == "sub(add(x, y), add(x, y)), sub(sub(x, y), sub(y, x))"
    # of three, an exchange would change how the sum is rounded
    three = graph_of(sub(add(x, y, z), add(y, x, z)))
    assert merge.rewrite(three) is three


def test_what_is_built_on_merged_nodes_merges_too() -> None:
    e = graph_of(sub(neg(mul(add(x, y), z)), neg(mul(z, add(y, x)))))
    assert show(merge.rewrite(e)) == "sub(neg(mul(add(x, y), z)), neg(mul(add(x, y), z)))"


def test_constants_that_differ_in_names_only() -> None:
    e = graph_of(add(x, as_real(2.0).named("two")), add(x, 2.0), add(x, as_real(-0.0)), add(x, 0.0))
    merged = merge.rewrite(e)
    assert merged.outputs[0] is merged.outputs[1]
    assert merged.outputs[2] is not merged.outputs[3]
    both = graph_of(as_real(2.0).named("two"), as_real(2.0))
    assert len(set(merge.rewrite(both).outputs)) == 1


def test_nan_constants_merge() -> None:
    e = graph_of(add(x, as_real(float("nan")).named("a")), add(x, float("nan")))
    assert len(merge.rewrite(e).order) == 1


def test_several_outputs() -> None:
    one, two = pair(x, add(y, z)), pair(x, add(z, y))
    merged = merge.rewrite(graph_of(one[0], two[1]))
    assert len(merged.order) == 2


def test_a_node_whose_type_says_more_takes_the_place_of_another_but_not_the_reverse() -> None:
    wide, narrow = (Apply(exp, [x], [t]).out for t in (REAL, POSITIVE))
    assert set(merge.rewrite(FunctionGraph([x], [narrow, wide])).outputs) == {narrow}
    assert [v.type for v in merge.rewrite(FunctionGraph([x], [wide, narrow])).outputs] == [REAL, POSITIVE]


def test_unequal_ops_do_not_merge() -> None:
    @attrs.frozen(repr=False)
    class AddK(RealOp):
        k: float = 0.0

    e = graph_of(
        AddK("add_k", float, k=1.0)(x), AddK("add_k", float, k=2.0)(x), AddK("add_k", float, k=1.0)(x).named("n")
    )
    assert len(merge.rewrite(e).order) == 2


def test_elementwise_operations_commute_as_their_functions_do() -> None:
    a, b = lt.dvector("a"), lt.dvector("b")
    e = FunctionGraph([a, b], [a + b, b + a, a - b, b - a, a * b, b * a])
    assert len(merge.rewrite(e).order) == 4


def test_the_rewriter_is_a_value_with_a_name() -> None:
    assert merge == MergeOptimizer()
    assert (merge.name, MergeOptimizer("merge1").name) == ("merge", "merge1")


def named(variable: Variable[Any], name: str) -> Variable[Any]:
    return variable if variable in (x, y) else variable.named(name)


terms = st.recursive(
    st.one_of(st.sampled_from([x, y]), st.builds(as_real, st.sampled_from([0.0, -0.0, 1.0]))),
    lambda inner: st.one_of(
        st.builds(lambda op, a, b: op(a, b), st.sampled_from([add, sub, mul]), inner, inner),
        st.builds(named, inner, st.sampled_from(["p", "q"])),
    ),
    max_leaves=20,
)


@given(st.lists(terms, min_size=1, max_size=3), st.floats(-8, 8), st.floats(-8, 8))
def test_merging_changes_no_value_and_leaves_nothing_to_merge(outputs: list[Variable[Any]], a: float, b: float) -> None:
    e = FunctionGraph([x, y], outputs)
    merged = merge.rewrite(e)
    np.testing.assert_array_equal(value(merged, a, b), value(e, a, b))
    assert np.signbit(value(merged, a, b)).tolist() == np.signbit(value(e, a, b)).tolist()
    keys = []
    for node in merged.order:
        places = [id(v) for v in node.inputs]
        keys.append((node.op, *(places if node.op == sub else sorted(places))))
    assert len(keys) == len(set(keys))
