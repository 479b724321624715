"""Random graphs with and without the rewrites of structure: the same values, or the same refusal."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lamella.config import config
from lamella.ir import FunctionGraph, to_text
from lamella.rewriting import EquilibriumGraphRewriter, GraphRewriter, SequentialGraphRewriter, rewrite_graph
from lamella.rewriting.database.builtin import SPECIALIZE, STRUCTURE, Builtin
from lamella.rewriting.rules.fill import second_to_alloc
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.inplace import InplaceElementwise
from lamella.rewriting.rules.inplace_subtensor import InplaceIncSubtensor
from tests.rewriting.rules.before_and_after import Array, assert_same_meaning, computed
from tests.rewriting.rules.random_graphs import RandomGraph, random_graphs


def _tidying(*without: str, table: tuple[Builtin, ...] = STRUCTURE) -> GraphRewriter:
    rules = [rewrite.rewriter for rewrite in table if not set(rewrite.tags) & set(without)]
    return SequentialGraphRewriter(
        EquilibriumGraphRewriter(rules),
        EquilibriumGraphRewriter(rules if "shape_unsafe" in without else [*rules, second_to_alloc]),
        ElementwiseFusion(),
        InplaceIncSubtensor(),
        InplaceElementwise(),
    )


TIDY = _tidying()
TIDY_AND_CHECK_SHAPES = _tidying("shape_unsafe")
SPECIAL = _tidying("nan_unsafe", table=SPECIALIZE)


def _rewritten(graph: RandomGraph, rewriter: GraphRewriter) -> tuple[FunctionGraph, FunctionGraph]:
    old = FunctionGraph(graph.inputs, [variable for variable, _ in graph.made[-3:]])
    with config.override(check_rewrites=True):
        new = rewriter.rewrite(old)
    note(to_text(old))
    note(to_text(new))
    return old, new


def _of_other_shape(data: st.DataObject, graph: RandomGraph) -> list[Array]:
    """Values whose lengths are others where the types of the inputs leave them open."""
    values = []
    for variable, value in zip(graph.inputs, graph.values, strict=True):
        lengths = zip(variable.type.shape, value.shape, strict=True)
        shape = [data.draw(st.sampled_from([b, b, 1, 2, 3])) if a is None else b for a, b in lengths]
        values.append(np.resize(value, shape) if value.size else np.ones(shape, value.dtype))
    return values


@given(random_graphs(), st.data())
def test_tidying_keeps_values(graph: RandomGraph, data: st.DataObject) -> None:
    old, new = _rewritten(graph, TIDY)
    assert_same_meaning(old, new, graph.values)
    values = _of_other_shape(data, graph)
    try:
        computed(old, values)
    except (ArithmeticError, LookupError, ValueError):
        return  # the error of a wrong shape may go
    assert_same_meaning(old, new, values)


@given(random_graphs(), st.data())
def test_errors_stay_where_nothing_shape_unsafe_is_done(graph: RandomGraph, data: st.DataObject) -> None:
    old, new = _rewritten(graph, TIDY_AND_CHECK_SHAPES)
    values = _of_other_shape(data, graph)
    try:
        computed(old, values)
    except (ArithmeticError, LookupError, ValueError):
        with pytest.raises((ArithmeticError, LookupError, ValueError)):
            computed(new, values)
    else:
        assert_same_meaning(old, new, values)


@given(random_graphs())
def test_special_operations_compute_the_same_up_to_rounding(graph: RandomGraph) -> None:
    old, new = _rewritten(graph, SPECIAL)
    for found, expected in zip(computed(new, graph.values), computed(old, graph.values), strict=True):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if expected.dtype.kind in "fc":
            tolerance = 100 * float(np.finfo(expected.dtype).eps)
            np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            np.testing.assert_array_equal(found, expected)


@given(random_graphs())
def test_all_rewrites_together_keep_types_and_shapes(graph: RandomGraph) -> None:
    """The values may differ by rounding here, and where there was an overflow."""
    old = FunctionGraph(graph.inputs, [variable for variable, _ in graph.made[-3:]])
    with config.override(check_rewrites=True):
        new = rewrite_graph(old, include=["fast_run"], exclude=["nan_unsafe"])
    note(to_text(old))
    note(to_text(new))
    for variable, was, expected in zip(
        new.outputs, computed(old, graph.values), computed(new, graph.values), strict=True
    ):
        assert was.shape == expected.shape
        assert was.dtype == expected.dtype
        variable.type.filter(expected, strict=True)
