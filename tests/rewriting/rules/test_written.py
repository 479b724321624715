"""Arrays written to several times at one index, or with what they hold."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FunctionGraph, IncSubtensor, Subtensor, interpret
from lamella.rewriting.rules.written import (
    inc_of_set,
    inc_of_zeros,
    set_of_increased,
    set_of_own_part,
    set_of_written,
    write_of_same_number,
)
from tests.rewriting.rules.before_and_after import after, applied, assert_same_meaning, body

x, i, j, v, w = lt.vector("x"), lt.lscalar("i"), lt.lvector("j"), lt.scalar("v"), lt.scalar("w")
known = lt.tensor("known", dtype="float64", shape=(4,))
X = np.array([1.0, -0.0, np.nan, 4.0])
RULES = (inc_of_set, inc_of_zeros, set_of_increased, set_of_own_part, set_of_written, write_of_same_number)


def _again(written: Any) -> Any:
    op, index = written.owner.op, written.owner.inputs[2:]
    return Subtensor(op.idx_list)(written, *index) if isinstance(op, IncSubtensor) else written[index[0]]


@pytest.mark.parametrize("index", [slice(1, None), i, j, slice(i, None)], ids=str)
@pytest.mark.parametrize("first", [lt.set_subtensor, lt.inc_subtensor])
def test_the_last_of_two_sets_stays(index: Any, first: Any) -> None:
    twice = lt.set_subtensor(_again(first(x[index], v)), w)
    text = after([x, i, j, v, w], twice, [X, 2, [0, 1, 0], 5.0, 6.0], set_of_written)
    assert text.count("Subtensor") == 1
    assert "%v" not in text


def test_what_others_read_is_written_to_as_it_was() -> None:
    """Else the array that was there before would have to be copied a second time."""
    once = lt.set_subtensor(x[1:], v)
    for value in (once[1:] * 2.0, lt.sum(once)):
        twice = lt.set_subtensor(_again(once), value)
        assert after([x, v], twice, [X, 5.0], set_of_written).count("SetSubtensor") == 2


def test_what_was_set_and_increased_is_set_to_the_sum() -> None:
    twice = lt.inc_subtensor(_again(lt.set_subtensor(x[i:], v)), w)
    assert after([x, i, v, w], twice, [X, 2, 5.0, 6.0], inc_of_set).count("Subtensor") == 1
    repeated = lt.inc_subtensor(_again(lt.set_subtensor(x[j], v)), w)
    assert after([x, j, v, w], repeated, [X, [0, 0], 5.0, 6.0], inc_of_set).count("Subtensor") == 2
    written = lt.set_subtensor(x[1:], v)
    shared = [written, lt.inc_subtensor(written[1:], w)]
    assert after([x, v, w], shared, [X, 5.0, 6.0], inc_of_set).count("Subtensor") == 2


def test_other_indices_are_other_places() -> None:
    for one, other in ((0, 1), (slice(1, None), slice(2, None)), (i, 0), (i, slice(1, None))):
        twice = lt.set_subtensor(lt.set_subtensor(x[one], v)[other], w)
        assert after([x, i, v, w], twice, [X, 2, 5.0, 6.0], *RULES).count("SetSubtensor") == 2


def test_zeros_are_set_where_the_sign_of_zero_is_the_same() -> None:
    zeros = lt.alloc(0.0, 4)
    assert "SetSubtensor" in after([v], lt.inc_subtensor(zeros[1], lt.exp(v)), [2.0], inc_of_zeros)
    assert "IncSubtensor" in after([v], lt.inc_subtensor(zeros[1], v), [-0.0], inc_of_zeros)
    assert "SetSubtensor" in after([v], lt.inc_subtensor(lt.alloc(-0.0, 4)[1], v), [-0.0], inc_of_zeros)
    assert "SetSubtensor" in after([i], lt.inc_subtensor(lt.zeros(4, "int64")[1:], i), [3], inc_of_zeros)
    assert "IncSubtensor" in after([i, j], lt.inc_subtensor(lt.zeros(4, "int64")[j], i), [3, [0, 0]], inc_of_zeros)


def test_a_sum_with_its_own_part_is_an_increase() -> None:
    for total in (x[1:] + v, v + x[1:]):
        text = after([x, v], lt.set_subtensor(x[1:], total), [X, 2.0], set_of_increased)
        assert "IncSubtensor{1:}(%x" in text
        assert "Add" not in text
    for total in (x[:-1] + v, x[1:] * v, x[1:] - v):
        assert "IncSubtensor" not in after([x, v], lt.set_subtensor(x[1:], total), [X, 2.0], set_of_increased)
    repeated = lt.set_subtensor(x[j], x[j] + 1.0)
    assert "Add" in after([x, j], repeated, [X, [0, 0]], set_of_increased)


def test_its_own_part_need_not_be_set() -> None:
    assert after([x], lt.set_subtensor(x[1::2], x[1::2]), [X], set_of_own_part) == "return %x"
    assert after([known], lt.set_subtensor(known[2], known[2]), [X], set_of_own_part) == "return %known"
    assert "Set" in after([x], lt.set_subtensor(x[2], x[2]), [X], set_of_own_part)  # may be out of bounds
    assert "Set" in after([x], lt.set_subtensor(x[1:], x[:-1]), [X], set_of_own_part)


def test_what_writing_does_not_change() -> None:
    zeros, minus = lt.alloc(0.0, 4), lt.alloc(-0.0, 4)
    nothing: list[Any] = [zeros[1:].set(0.0), zeros[2].inc(-0.0), zeros[::2].inc(0.0), minus[1:].inc(-0.0)]
    for written in nothing:
        assert "Subtensor" not in after([], written, [], write_of_same_number)
    changes: list[Any] = [zeros[1:].set(-0.0), minus[1:].inc(0.0), zeros[1:].inc(1.0), lt.alloc(0.0, 4)[1:].set(v)]
    for written in changes:
        assert "Subtensor" in after([v], written, [0.0], write_of_same_number)


BOUNDS = st.none() | st.integers(-5, 5)
INDICES = st.integers(-3, 3) | st.builds(slice, BOUNDS, BOUNDS, st.sampled_from([None, 1, -1, 2]))


@given(st.lists(st.tuples(INDICES, st.sampled_from(["set", "inc"]), st.integers(0, 5)), min_size=2, max_size=4))
def test_any_chain_of_writes(steps: list[Any]) -> None:
    for array in (x, known, lt.alloc(0.0, 4), lt.alloc(-0.0, lt.shape_i(x, 0))):
        written: Any = array
        for index, way, kind in steps:
            part = written[index]
            value = [v, 0.0, -0.0, part, part + v, lt.exp(v)][kind]
            written = getattr(lt, f"{way}_subtensor")(part, value) if part is not written else written
        old = FunctionGraph([x, known, v], [written])
        for number in (2.0, -0.0):
            assert_same_meaning(old, applied(old, *RULES), [X, X[::-1], number])


def test_errors_stay() -> None:
    wrong = lt.set_subtensor(_again(lt.set_subtensor(x[i], v)), w)
    new = applied(FunctionGraph([x, i, v, w], [wrong]), *RULES)
    assert body(new).count("SetSubtensor") == 1
    with pytest.raises(IndexError):
        interpret([x, i, v, w], new.outputs, [X, np.array(4), np.array(1.0), np.array(2.0)])
