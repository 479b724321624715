"""Basic indices whose numbers are known, that select everything, or that read what was just written."""

from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import FunctionGraph, Subtensor, interpret
from lamella.rewriting.rules.subtensor import inc_of_whole, index_of_known, set_of_whole, subtensor_of_written
from tests.rewriting.rules.before_and_after import after, applied

x, y, v = lt.matrix("x"), lt.vector("y"), lt.scalar("v")
known = lt.tensor("known", dtype="float64", shape=(3, None))
i, j = lt.lscalar("i"), lt.lscalar("j")
X, Y = np.arange(6.0).reshape(3, 2), np.array([1.0, -0.0, np.nan])


def _select(array: Any, entries: Any, *index: Any) -> Any:
    """Apply the Op as it stands, which an index expression would simplify."""
    return Subtensor(entries)(array, *index)


def _entries(part: Any) -> Any:
    return part.owner.op.idx_list


def test_an_index_that_is_a_constant_becomes_part_of_the_op() -> None:
    entries = _entries(x[i, j:])
    text = after([x], _select(x, entries, lt.constant(1), lt.constant(0)), [X], index_of_known)
    assert text == "%0: float64[?] = Subtensor{1}(%x)  # views %x\nreturn %0"
    written = lt.set_subtensor(_select(y, _entries(y[i:]), lt.constant(1)), v)
    assert (
        after([y, v], written, [Y, 7.0], index_of_known).splitlines()[-2] == "%1: float64[?] = SetSubtensor{1:}(%y, %0)"
    )


def test_a_constant_step_of_0_raises_when_the_graph_runs() -> None:
    old = FunctionGraph([y], [_select(y, _entries(y[::i]), lt.constant(0))])
    new = applied(old, index_of_known)
    for graph in (old, new):
        with pytest.raises(ValueError, match="zero"):
            interpret([y], graph.outputs, [Y])


def test_an_index_out_of_bounds_raises_when_the_graph_runs() -> None:
    old = FunctionGraph([known, i], [known[i]]).replace(i, lt.constant(5))
    for graph in (old, applied(old, index_of_known)):
        with pytest.raises(IndexError):
            interpret(graph.inputs, graph.outputs, [X, np.array(0)])


@pytest.mark.parametrize(
    "whole",
    [
        known[:],
        known[0:3],
        known[-3:],
        known[:3, :],
        known[: lt.shape_i(known, 0)],
        known[:, : lt.shape_i(known, 1)],
        known[0:7:1],
    ],
    ids=str,
)
def test_what_selects_everything_is_the_array(whole: Any) -> None:
    assert after([known], whole, [X], index_of_known) == "return %known"


def test_what_does_not_select_everything_stays() -> None:
    for part in (known[:2], known[::-1], known[0:3:2], known[:, : lt.shape_i(known, 0)], known[1:], x[:3]):
        assert "Subtensor" in after([known, x], part, [X, X], index_of_known)
    mixed = known[0:3, 1:]
    assert after([known], mixed, [X], index_of_known).startswith("%0: float64[3, ?] = Subtensor{:, 1:}(%known)")


def test_new_axes_are_added_by_moving_axes() -> None:
    assert after([known], known[None, 0:3, None], [X], index_of_known) == (
        "%0: float64[1, 3, 1, ?] = DimShuffle{order=[x,0,x,1]}(%known)  # views %known\nreturn %0"
    )


def test_writing_to_all_is_adding_or_repeating() -> None:
    rules = (index_of_known, inc_of_whole, set_of_whole)
    text = after([y, v], lt.inc_subtensor(y[: lt.shape_i(y, 0)], v), [Y, 2.0], *rules)
    assert text.splitlines()[-2] == "%1: float64[?] = Add(%y, %0)"
    text = after([y, v], lt.set_subtensor(y[:], v), [Y, 2.0], *rules)
    assert text.splitlines()[-2] == "%2: float64[?] = Alloc(%0, %1)"


def test_what_was_written_is_read_back() -> None:
    z = lt.vector("z")
    inputs, values = [y, z, v], [Y, [5.0, 6.0], 7.0]
    written = lt.set_subtensor(y[1:], z)
    assert after(inputs, written[1:], values, subtensor_of_written) == "return %z"
    increased = lt.inc_subtensor(y[1:], z)
    assert after(inputs, increased[1:], values, subtensor_of_written) == (
        "%0: float64[?] = Subtensor{1:}(%y)  # views %y\n%1: float64[?] = Add(%0, %z)\nreturn %1"
    )
    repeated = lt.set_subtensor(y[1:], v)[1:]
    assert "SetSubtensor" not in after(inputs, repeated, values, subtensor_of_written)
    row = lt.set_subtensor(known[2], v)
    assert "SetSubtensor" not in after([known, v], row[2], [X, 7.0], subtensor_of_written)


def test_what_may_be_out_of_bounds_or_is_another_part_is_not_read_back() -> None:
    pairs: list[tuple[Any, Any]] = [(2, 2), (i, i), (slice(1, None), slice(2, None)), (slice(i, None), slice(j, None))]
    for index, other in pairs:
        read = lt.set_subtensor(y[index], v)[other]
        assert "SetSubtensor" in after([y, v, i, j], read, [Y, 7.0, 1, 2], subtensor_of_written)
