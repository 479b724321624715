"""Sums with zeros that were written to."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, grad
from lamella.rewriting import rewrite_graph
from lamella.rewriting.rules.written_sums import sum_with_written_zeros
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

x, v, w, n = lt.vector("x"), lt.scalar("v"), lt.scalar("w"), lt.lscalar("n")
known = lt.tensor("known", dtype="float64", shape=(4,))
X = np.array([1.0, -0.0, np.nan, 4.0])


def _sum(zeros: Any, *others: Any) -> Any:
    return lt.add(lt.inc_subtensor(zeros[1:], v), lt.inc_subtensor(zeros[0], w), *others)


def test_what_was_written_to_the_same_zeros_is_written_in_turn() -> None:
    text = after([v, w, n], _sum(lt.alloc(0.0, n)), [-0.0, 3.0, 4], sum_with_written_zeros)
    assert "Add" not in text
    assert text.count("Alloc") == 1
    first, second = [line for line in text.splitlines() if "IncSubtensor" in line]
    assert "IncSubtensor{1:}(%0, " in first
    assert f"IncSubtensor{{0}}({first.split(':')[0]}, %w)" in second


def test_of_others_the_shape_must_be_known() -> None:
    part = lt.inc_subtensor(lt.alloc(0.0, 4)[1:], v)
    for total in (lt.square(known) + part, part + lt.square(known)):
        assert "Add" not in after([known, v], total, [X, -0.0], sum_with_written_zeros)
    assert "Add" in after([x, v], lt.square(x) + part, [X, -0.0], sum_with_written_zeros)
    assert "Add" in after([v, w], part + lt.inc_subtensor(lt.alloc(0.0, 1)[0], w), [2.0, 3.0], sum_with_written_zeros)
    assert "Add" in after([n, v], part + lt.alloc(lt.exp(v), n), [4, 1.0], sum_with_written_zeros)


def test_a_negative_zero_plus_zero_is_zero() -> None:
    """Only to negative zeros it may be added without becoming another."""
    for zero, stays in ((0.0, True), (-0.0, False)):
        total = known + lt.inc_subtensor(lt.alloc(zero, 4)[2:], v)
        assert ("Add" in after([known, v], total, [X, -0.0], sum_with_written_zeros)) == stays
    zeros = lt.alloc(0.0, 4)
    for value, stays in ((v, True), (lt.exp(v), False)):
        total = lt.set_subtensor(zeros[1], value) + lt.set_subtensor(zeros[2:], v)
        assert ("Add" in after([v], total, [-0.0], sum_with_written_zeros)) == stays


def test_what_others_need_is_made_anyway() -> None:
    part = lt.inc_subtensor(lt.alloc(0.0, 4)[1:], v)
    outputs = [part, lt.add(lt.square(known), part)]
    assert "Add" in after([known, v], outputs, [X, 2.0], sum_with_written_zeros)


def test_gradients_of_slices_need_one_array() -> None:
    """It is written to in place."""
    q = lt.vector("q")
    cost = lt.sum(lt.sin(q[1:4])) * q[0] + lt.sum(lt.exp(q[4:]))
    new = rewrite_graph(FunctionGraph([q], [grad(cost, q)]), include=("fast_run",))
    assert body(new).count("Alloc") == 1
    assert body(new).count("inplace}(") >= 3


BOUNDS = st.none() | st.integers(-5, 5)
INDICES = st.integers(-3, 3) | st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, 1, -1, 2]))
TERMS = st.tuples(INDICES, st.sampled_from(["set", "inc"]), st.integers(0, 3), st.sampled_from([0.0, -0.0]))


@given(st.lists(TERMS, min_size=2, max_size=4), st.integers(0, 3))
def test_any_sum(terms: list[Any], others: int) -> None:
    written: list[Any] = []
    for index, way, kind, zero in terms:
        zeros: Any = lt.alloc(zero, 4)
        part = zeros[index]
        value = [v, -0.0, known[1], lt.exp(v)][kind]
        written.append(getattr(lt, f"{way}_subtensor")(part, value) if part is not zeros else zeros)
    more: list[Any] = [[], [known], [lt.square(known)], [lt.exp(v)]][others]
    old = FunctionGraph([known, v], [lt.add(*more, *written), lt.add(*written, *more)])
    for number in (2.0, -0.0):
        assert_same_meaning(old, applied(old, sum_with_written_zeros), [X, number])
