"""Basic indexing: views, and parts of arrays written."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import FromInput, IncSubtensor, IntegerEntry, SliceEntry, Subtensor, TensorType, TensorVariable
from tests.codegen.agreement import compiled
from tests.ir.tensor.index_expressions import basic_indices
from tests.ir.tensor.written_values import written_values

from .against_perform import (
    DTYPE_OF_EACH_SIZE,
    DTYPES,
    Array,
    assert_same_as_perform,
    assert_same_error,
    bits,
    is_in_c,
    numbers,
    same,
    variable,
)

LARGEST = 2**63 - 1


@pytest.mark.parametrize("dtype", DTYPE_OF_EACH_SIZE)
def test_parts_of_elements_of_each_size(dtype: str) -> None:
    x, v = TensorType(dtype, (None, None))("x"), TensorType(dtype, (None,))("v")
    i = lt.lscalar("i")
    parts = [x[i], x[::-1, i], x[i:, None], x[..., -1], x[1:, ::2], x[i, i], x[i, i, None]]
    outputs = [*parts, *[lt.set_subtensor(part, v[0]) for part in parts], lt.set_subtensor(x[:, 1], v)]
    assert is_in_c([x, i, v], outputs)
    for index in (1, -1):
        assert_same_as_perform([x, i, v], outputs, [bits((3, 4), dtype), np.array(index), bits((3,), dtype, 1)])


@pytest.mark.parametrize("dtype", DTYPES)
def test_adding(dtype: str) -> None:
    x, v = TensorType(dtype, (None, None))("x"), TensorType(dtype, (None,))("v")
    outputs = [lt.inc_subtensor(part, v[0]) for part in (x[1:], x[::2, ::-1], x[0, 0], x[0, 0, None])]
    outputs.append(lt.inc_subtensor(x[:, 1], v))
    assert is_in_c([x, v], outputs)
    assert_same_as_perform([x, v], outputs, [numbers((3, 4), dtype), numbers((3,), dtype, 1)], bitwise=False)


@settings(max_examples=10, deadline=None)
@given(st.data(), st.lists(st.integers(0, 4), max_size=4).map(tuple))
def test_any_index(data: st.DataObject, shape: tuple[int, ...]) -> None:
    x = TensorType("int32", [n if data.draw(st.booleans()) else None for n in shape])("x")
    values: dict[TensorVariable, Array] = {x: numbers(shape, "int32")}
    outputs: list[TensorVariable] = []
    for _ in range(8):
        case = data.draw(basic_indices(shape))
        written, value = data.draw(written_values(numbers(shape, "int32")[case.plain].shape, "int32"))
        values |= {**case.values, written: value}
        part = x[case.symbolic]
        outputs += [part, lt.set_subtensor(part, written), lt.inc_subtensor(part, written)]
    assert_same_as_perform(list(values), outputs, list(values.values()), layouts=["contiguous", "fortran", "reversed"])


def test_every_slice_with_symbolic_bounds() -> None:
    x = lt.vector("x", dtype="int16")
    bounds = [lt.lscalar(name) for name in ("start", "stop", "step")]
    parts = [x[slice(*_chosen(bounds, which))] for which in range(8)]
    function = compiled([x, *bounds], parts)
    array = np.arange(5, dtype="int16")
    ends = [-LARGEST - 1, -LARGEST, -7, -6, -5, -1, 0, 1, 4, 5, 6, LARGEST]
    for start in ends:
        for stop in ends:
            for step in (-LARGEST - 1, -LARGEST, -6, -2, -1, 1, 2, 6, LARGEST):
                found = function([array, *[np.array(bound) for bound in (start, stop, step)]])
                for which, got in enumerate(found):
                    chosen = _chosen((start, stop, step), which)
                    same(got, array[slice(*chosen)], chosen)


def _chosen(bounds: Sequence[Any], which: int) -> list[Any]:
    """Some of the bounds; the others left out."""
    return [bound if which & 1 << k else None for k, bound in enumerate(bounds)]


def test_constant_bounds_beyond_all_lengths() -> None:
    x = lt.vector("x", dtype="int8")
    parts = [
        Subtensor((SliceEntry(start, stop, step),))(x)
        for start in (-(2**70), 2**70)
        for stop in (None, 2**70)
        for step in (1, -(2**70), 2**70)
    ]
    assert_same_as_perform([x], parts, [np.arange(4, dtype="int8")], [np.array([], dtype="int8")])


def test_views_lie_in_the_same_memory() -> None:
    x, i = lt.dmatrix("x"), lt.lscalar("i")
    parts = [x[i], x[i:, ::-1], x[None], x[i, i], x[i:1:-1]]
    array = np.arange(12.0).reshape(3, 4)
    for got in compiled([x, i], parts)([array, np.array(2)]):
        assert np.shares_memory(got, array)


def test_errors() -> None:
    x, i, v = lt.dmatrix("x"), lt.lscalar("i"), lt.dvector("v")
    array = np.ones((3, 4))
    for part in (x[i], x[:, i], x[1:][i]):
        outputs = [part, lt.set_subtensor(part, 0.0), lt.inc_subtensor(part, 1.0)]
        for output in outputs:
            wrong = [4, -5, LARGEST, -LARGEST - 1]
            assert_same_error([x, i], [output], *[[array, np.array(n)] for n in wrong])
    assert_same_error([x, i], [x[::i]], [array, np.array(0)])
    assert_same_error([x, i], [lt.set_subtensor(x[::i], 0.0)], [array, np.array(0)])
    assert_same_error([x], [Subtensor((IntegerEntry(3),))(x)], [array])
    assert_same_error(
        [x, v], [lt.set_subtensor(x[1], v)], [array, np.ones(3)], [array, np.ones(1)], [array, np.ones(0)]
    )


@pytest.mark.parametrize("set_instead_of_inc", [True, False])
def test_written_in_place(set_instead_of_inc: bool) -> None:
    x, v, i = lt.dmatrix("x"), lt.dvector("v"), lt.lscalar("i")
    entries = (SliceEntry(), IntegerEntry(FromInput(0)))
    output = IncSubtensor(entries, True, set_instead_of_inc)(x, v, i)
    assert is_in_c([x, v, i], [output])
    function = compiled([x, v, i], [output])
    array, value = numbers((3, 4), "float64"), numbers((3,), "float64", 1)
    wanted = array.copy()
    wanted[:, -1] = value if set_instead_of_inc else wanted[:, -1] + value
    for given_array in (array.copy(), np.asfortranarray(array), array.copy()[::-1, ::-1][::-1, ::-1]):
        (got,) = function([given_array, value, np.array(-1)])
        same(got, wanted)
        assert np.shares_memory(got, given_array)
    kept = array.copy()
    for wrong in ([kept, value, np.array(4)], [kept, value[:2], np.array(0)]):
        with pytest.raises((IndexError, ValueError)):
            function(wrong)
    same(kept, array)


@pytest.mark.parametrize("set_instead_of_inc", [True, False])
def test_values_that_share_the_memory_that_is_written(set_instead_of_inc: bool) -> None:
    x, v = lt.dvector("x"), lt.dvector("v")
    function = compiled([x, v], [IncSubtensor((SliceEntry(1),), True, set_instead_of_inc)(x, v)])
    memory = np.arange(6.0)
    wanted = memory.copy()
    wanted[1:] = memory[:-1] if set_instead_of_inc else memory[1:] + memory[:-1]
    same(function([memory, memory[:-1]])[0], wanted)
    same(memory, np.arange(6.0))
    # Nor is an input overwritten that another one lies in.
    memory = np.arange(6.0)
    same(function([memory[:5], memory[1:5]])[0], np.concatenate([memory[:1], wanted_tail(memory, set_instead_of_inc)]))
    same(memory, np.arange(6.0))


def wanted_tail(memory: Array, set_instead_of_inc: bool) -> Array:
    tail: Array = memory[1:5] if set_instead_of_inc else 2 * memory[1:5]
    return tail


def test_known_lengths() -> None:
    x = variable(np.zeros((1, 3)), known=[0, 1])
    i = lt.lscalar("i")
    outputs: list[Any] = [x[i], x[0, i], x[:, i:], x[::-1, ::-1], lt.set_subtensor(x[0, i], 5.0), lt.sum(x[0, i:])]
    assert_same_as_perform([x, i], outputs, [numbers((1, 3), "float64"), np.array(0)])
    assert_same_error([x, i], outputs[:1], [numbers((1, 3), "float64"), np.array(1)])
