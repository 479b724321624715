"""Elements that are read and added at an index by what computes with them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, IndexedElemwise, Variable, ancestors, grad, ifelse
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.fusion import ElementwiseFusion
from lamella.rewriting.rules.indexing_fusion import IndexingFusion
from lamella.rewriting.rules.reduction_fusion import ReductionFusion
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, computed

x, v, z, i = lt.vector("x"), lt.vector("v"), lt.vector("z"), lt.lvector("i")
X, V, Z, AT = np.array([1.0, -0.0, 4.0]), np.arange(4.0), np.array([0.5, -2.0]), np.array([0, 1, -1, 0])
fusion = IndexingFusion()


def _fused(graph: FunctionGraph) -> FunctionGraph:
    for rewriter in (ElementwiseFusion(), ReductionFusion(), fusion):
        graph = applied(graph, rewriter)
    return graph


def _loops(graph: FunctionGraph) -> list[Apply[Any]]:
    return [node for node in graph.order if isinstance(node.op, IndexedElemwise)]


def test_the_law() -> None:
    read = after([x, i], lt.exp(x[i]), [X, AT], fusion)
    assert read == "%0: float64[?] = Exp{i0 at 0; 0}(%x, %i)\nreturn %0"
    added = after([z, v, i], lt.inc_subtensor(z[i], lt.exp(v)), [Z, V, AT % 2], fusion)
    assert added == "%0: float64[?] = Exp{0 added at 0}(%v, %i, %z)\nreturn %0"


def test_a_value_and_its_gradient_are_one_loop() -> None:
    value = lt.sum(lt.square(x[i]))
    outputs = rewrite_graph([value, grad(value, x)], include=["fast_run"])
    graph = FunctionGraph([x, i], outputs)
    assert len(_loops(graph)) == 1
    assert [str(node.op) for node in graph.order][-1].endswith(
        "{i0 at 0; Sum{axis=(0,)} of 0, 1 added at 0, inplace=[(1, 2)]}"
    )
    assert_same_meaning(FunctionGraph([x, i], [value, grad(value, x)]), graph, [X, AT])


def test_debug_mode_finds_nothing() -> None:
    value = lt.sum(lt.exp(x[i]) * v)
    f = lm.function([x, v, i], [value, grad(value, x)], mode="DebugMode")
    assert _loops(f.fgraph)
    np.testing.assert_allclose(f(X, V, AT)[1], [3.0 * np.e, 1.0, 2.0 * np.exp(4.0)], rtol=1e-12)


def test_what_is_needed_elsewhere_is_still_made() -> None:
    taken = x[i]
    e = lt.exp(taken)
    old = FunctionGraph([x, z, i], [e, lt.inc_subtensor(z[i % 2], e), taken])
    new = _fused(old)
    (loop,) = _loops(new)
    assert isinstance(loop.op, IndexedElemwise)
    assert (loop.op.gathers, loop.op.scatters) == ((None,), (None, 0))
    assert_same_meaning(old, new, [X, Z, AT])


def test_an_index_that_is_computed_later() -> None:
    e = lt.exp(lt.exp(x)[i])
    old = FunctionGraph([x, z, i], [lt.inc_subtensor(z[(i + 2) % 2], e)])
    new = _fused(old)
    (loop,) = _loops(new)
    assert isinstance(loop.op, IndexedElemwise)
    assert (loop.op.gathers, loop.op.scatters) == ((0,), (1,))
    assert_same_meaning(old, new, [X, Z, AT])


@pytest.mark.parametrize(
    "output",
    [
        x[i],
        lt.inc_subtensor(z[i], v),
        lt.set_subtensor(z[i], lt.exp(v)),
        lt.inc_subtensor(lt.exp(v)[i], v),
        lt.exp(lt.matrix("m")[:, i]),
        lt.exp(x[lt.constant([1])]) * lt.constant([2.0]),
    ],
)
def test_what_is_no_such_loop_stays_as_it_is(output: Any) -> None:
    graph = FunctionGraph(_inputs(output), [output])
    assert not _loops(_fused(graph))


def _inputs(output: Variable[Any]) -> list[Variable[Any]]:
    return [v for v in ancestors([output]) if v.owner is None and not v.is_constant]


def test_what_is_added_to_may_depend_on_nothing_that_is_computed() -> None:
    e = lt.exp(v)
    later = lt.zeros([lt.shape_i(v, 0)]) + lt.sum(e)
    graph = FunctionGraph([v, i], [lt.inc_subtensor(later[i], e)])
    new = _fused(graph)
    assert not [node for node in _loops(new) if node.op.scatters != (None,) * len(node.outputs)]  # type: ignore[attr-defined]  # it is an IndexedElemwise
    assert_same_meaning(graph, new, [V, AT])


def test_two_loops_that_add_to_what_the_other_computes() -> None:
    w = lt.vector("w")
    e, f = lt.exp(v), lt.cos(w)
    first = lt.inc_subtensor(lt.specify_shape(f, (4,))[i], e)
    second = lt.inc_subtensor(lt.specify_shape(e, (4,))[i], f)
    graph = FunctionGraph([v, w, i], [first, second])
    assert_same_meaning(graph, _fused(graph), [V, V + 1, AT])


def test_only_a_branch_that_is_taken_reads_and_adds() -> None:
    c, e = lt.bscalar("c"), lt.exp(v)
    graph = FunctionGraph([c, v, z, i], [ifelse(c, lt.inc_subtensor(z[i], e), z), e])
    assert not _loops(_fused(graph))


def test_negative_exponents_are_still_errors() -> None:
    n, e = lt.lvector("n"), lt.lvector("e")
    graph = FunctionGraph([n, e, i], [n[i] ** e])
    assert not _loops(_fused(graph))


@pytest.mark.parametrize("word", ["fusion", "indexing_fusion"])
def test_words_of_a_query_switch_it(word: str) -> None:
    expression: Any = lt.exp(x[i])
    assert isinstance(rewrite_graph(expression, include=["fast_run"]).owner.op, IndexedElemwise)
    assert not isinstance(rewrite_graph(expression, include=["fast_run"], exclude=[word]).owner.op, IndexedElemwise)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=16))
def test_any_graph(steps: list[tuple[int, int, int]]) -> None:
    # All vectors are of length 4.
    made: list[Any] = [v, lt.square(v), lt.zeros([4])]
    indices = [i, lt.constant([3, 3, 1, -2]), lt.constant([0, 0, 0, 0])]
    unary: list[Any] = [lt.exp, lt.neg, lt.cos]
    for kind, a, b in steps:
        first, second = made[-1 - a % len(made)], made[-1 - b % len(made)]
        if kind < 3:
            made.append(unary[kind](first))
        elif kind < 5:
            made.append(first + second if kind == 3 else first * second)
        elif kind < 7:
            made.append(first[indices[b % 3]])
        elif kind < 9:
            made.append(lt.inc_subtensor(first[indices[b % 3]], second))
        else:
            made.append(first * lt.sum(second))
    old = FunctionGraph([v, i], [made[-1], made[len(made) // 2]])
    with np.errstate(all="ignore"):
        for found, expected in zip(computed(_fused(old), [V, AT]), computed(old, [V, AT]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
