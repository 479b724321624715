"""Indexing by arrays and masks: values, placement of axes, shapes and errors are NumPy's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.errors import BroadcastError
from lamella.ir import (
    AdvancedSubtensor,
    AdvancedSubtensor1,
    ArrayEntry,
    CheckMask,
    IntegerEntry,
    TensorType,
    TensorVariable,
    constant,
    grad,
    lt,
    toposort,
)

from .agreement import (
    Array,
    agrees,
    arrays,
    check_derivatives,
    forgetful,
    inferred_lengths,
    numbered,
    only_node,
    run,
    shapes,
)
from .index_expressions import IndexCase, advanced_indices


def vector(length: int | None = None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, (length,))(name)


def indices(*shape: int | None, name: str = "i") -> TensorVariable:
    return TensorType("int64", shape)(name)


@settings(max_examples=200)
@given(st.data(), arrays(shapes()))
def test_any_advanced_index_means_what_numpy_says(data: st.DataObject, made: tuple[TensorVariable, Array]) -> None:
    x, value = made
    case: IndexCase = data.draw(advanced_indices(value.shape))
    agrees(x[case.symbolic], {x: value, **case.values}, value[case.plain])


@settings(max_examples=200)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_a_wrong_index_raises_numpys_error(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    x = data.draw(forgetful(shape))
    case: IndexCase = data.draw(advanced_indices(shape, wrong=True))
    try:
        expected = value[case.plain]
    except IndexError:
        with pytest.raises(IndexError):
            run([x[case.symbolic]], {x: value, **case.values})
    else:
        agrees(x[case.symbolic], {x: value, **case.values}, expected)


def test_nothing_is_out_of_bounds_where_nothing_is_selected() -> None:
    x, i = TensorType("float64", (0, 0, 0))("x"), indices(None)
    value, empty = np.zeros((0, 0, 0)), np.zeros(0, "int64")
    agrees(x[i, :, np.array([0])], {x: value, i: empty}, value[empty, :, np.array([0])])
    with pytest.raises(IndexError):
        run([x[i, :, np.array([0])]], {x: value, i: np.array([0])})
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 2 with size 0"):
        x[indices(1), :, np.array([0])]


@settings(max_examples=100)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_the_derivative_is_exact(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    case: IndexCase = data.draw(advanced_indices(shape))
    check_derivatives(lambda x: x[case.plain], data.draw(forgetful(shape)), value)


@st.composite
def masks(draw: st.DrawFn, shape: Sequence[int]) -> Array:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), "bool").reshape(tuple(shape))


@settings(max_examples=200)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_masks_of_some_axes(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    x = data.draw(forgetful(shape))
    first = data.draw(st.integers(0, len(shape) - 1))
    last = data.draw(st.integers(first + 1, len(shape)))
    mask = data.draw(masks(shape[first:last]))
    before = (slice(None),) * first
    after = tuple([data.draw(st.sampled_from([slice(None), slice(1, None), None])) for _ in shape[last:]])
    m = data.draw(forgetful(mask.shape, "bool"))
    for written in (m, mask, mask.tolist() if mask.size else mask, constant(mask)):
        given_values = {x: value, m: mask} if written is m else {x: value}
        agrees(x[(*before, written, *after)], given_values, value[(*before, mask, *after)])


@settings(max_examples=100)
@given(st.data(), st.integers(0, 2))
def test_flags(data: st.DataObject, ndim: int) -> None:
    """Booleans of no dimensions: each takes no axis, and broadcasts with arrays as a vector of length 0 or 1."""
    value = numbered((2, 3)[:ndim])
    x = TensorType("float64", (None,) * ndim)("x")
    parts: list[tuple[Any, Any]] = [(slice(None), slice(None)), ([1], [1]), (0, 0)]
    taken = [data.draw(st.sampled_from(parts)) for _ in range(data.draw(st.integers(0, ndim)))]
    for _ in range(data.draw(st.integers(1, 2))):
        flag = data.draw(st.booleans())
        written = data.draw(st.sampled_from([flag, np.bool_(flag), np.array(flag), constant(flag)]))
        taken.insert(data.draw(st.integers(0, len(taken))), (flag, written))
    plain, symbolic = zip(*taken, strict=True)
    agrees(x[symbolic], {x: value}, value[plain])


def test_a_symbolic_flag() -> None:
    x, flag = TensorType("float64", (None, 2))("x"), TensorType("bool", ())("flag")
    value = numbered((3, 2))
    for given_flag in (True, False):
        values = {x: value, flag: np.array(given_flag)}
        agrees(x[flag], values, value[given_flag])
        agrees(x[:, flag], values, value[:, given_flag])
        agrees(x[flag, [0]], values, value[given_flag, [0]])
        agrees(x[flag].set(9), values, np.full((3, 2), 9.0) if given_flag else value)
    with pytest.raises(BroadcastError, match="not known to be 1"):
        run([x[flag, [0, 1]]], {x: value, flag: np.array(True)})


def test_adjacent_indices_stay_in_place_and_others_go_first() -> None:
    """B62."""
    value = np.arange(72.0).reshape(3, 6, 4)
    i_value = np.array([[0, 1, 2, 5], [3, 2, 1, 0]])
    for v in (TensorType("float64", (None, None, None))("v"), TensorType("float64", (3, 6, 4))("v")):
        i, pair = indices(2, 4), indices(None, name="i1")
        together = v[:, i, np.arange(4)]
        assert together.type.shape == (v.type.shape[0], 2, 4)
        agrees(together, {v: value, i: i_value}, value[:, i_value, np.arange(4)])
        apart = v[pair, :, pair]
        agrees(apart, {v: value, pair: np.array([0, 1])}, value[[0, 1], :, [0, 1]])
        assert apart.ndim == 2
        agrees(apart.shape, {v: value, pair: np.array([0, 1])}, np.array([2, 6]))


def test_a_slice_with_an_index_array() -> None:
    """B63."""
    x = TensorType("float64", (None, None))("x")
    value = np.arange(100.0).reshape(10, 10)
    zeros = np.zeros((2, 3), "int64")
    agrees(x[1:, zeros], {x: value}, value[1:, zeros])
    assert [int(n) for n in run(inferred_lengths(x[1:, zeros]), {x: value})] == [9, 2, 3]
    assert TensorType("float64", (10, 10))()[1:, zeros].type.shape == (9, 2, 3)


def test_an_ellipsis_for_no_axis_still_separates() -> None:
    x = TensorType("float64", (3, 4, 5))("x")
    value = numbered((3, 4, 5))
    i = np.array([0, 1])
    agrees(x[:, i, ..., i], {x: value}, value[:, i, ..., i])
    assert x[:, i, ..., i].type.shape == (2, 3)
    assert x[:, i, i].type.shape == (3, 2)
    agrees(x[..., i, i].set(0), {x: value}, _with(value, (..., i, i), 0))
    agrees(x[:, i, ..., i].set(np.zeros((2, 3))), {x: value}, _with(value, (slice(None), i, ..., i), 0))


def _with(value: Array, index: Any, written: Any) -> Array:
    result = value.copy()
    result[index] = written
    return result


def test_a_constant_mask_is_not_the_positions_zero_and_one() -> None:
    """B09."""
    a, b, c = [TensorType("float64", ())(name) for name in "abc"]
    given_values = {a: np.array(1.0), b: np.array(2.0), c: np.array(3.0)}
    stacked = lt.stack([a, b, c])
    for mask in ([True, False, True], np.array([True, False, True]), constant(np.array([True, False, True]))):
        agrees(stacked[mask], given_values, np.array([1.0, 3.0]))
        assert stacked[mask].type.shape == (2,)


def test_a_wrong_mask_raises() -> None:
    x, m = vector(), vector(name="m", dtype="bool")
    for length in (0, 2, 4):
        with pytest.raises(IndexError, match="size of axis is 3 but size of corresponding boolean axis is"):
            run([x[m]], {x: np.arange(3.0), m: np.ones(length, "bool")})
        with pytest.raises(IndexError, match="boolean index did not match"):
            run([x[np.zeros(length, "bool")]], {x: np.arange(3.0)})
        with pytest.raises(IndexError, match="boolean index did not match"):
            vector(3)[np.zeros(length, "bool")]
        with pytest.raises(IndexError, match="boolean index did not match"):
            run([x[m].set(0)], {x: np.arange(3.0), m: np.ones(length, "bool")})
    with pytest.raises(IndexError, match="too many indices"):
        x[np.ones((3, 1), "bool")]


def test_a_mask_of_known_length_is_not_checked_again() -> None:
    x, m = vector(3), vector(3, "m", "bool")
    assert not any(isinstance(node.op, CheckMask) for node in toposort([x[m]]))
    assert any(isinstance(node.op, CheckMask) for node in toposort([vector()[m]]))


def test_index_arrays_of_unknown_length_do_not_broadcast() -> None:
    x, i, j = TensorType("float64", (None, None))("x"), indices(None), indices(None, name="j")
    value = numbered((3, 4))
    values = {x: value, i: np.array([1]), j: np.array([0, 3])}
    with pytest.raises(BroadcastError, match="never broadcast"):
        run([x[i, j]], values)
    one = lt.specify_shape(i, (1,))
    agrees(x[one, j], values, value[[1], [0, 3]])
    with pytest.raises(IndexError, match="shape mismatch"):
        run([x[i, j]], {x: value, i: np.array([0, 1, 2]), j: np.array([0, 3])})
    with pytest.raises(IndexError, match="shape mismatch"):
        x[[0, 1, 2], [0, 3]]
    # Nor when the length is found out later.
    found = indices(1, name="found")
    narrowed = only_node(x[i, j]).clone_with_new_inputs([x, found, j])
    with pytest.raises(BroadcastError):
        run([narrowed.out], {x: value, found: np.array([1]), j: np.array([0, 3])})


def test_indices_out_of_bounds() -> None:
    x, i = vector(), indices(None)
    for bad in (3, -4):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 3"):
            run([x[i]], {x: np.arange(3.0), i: np.array([0, bad])})
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 3"):
            vector(3)[[0, bad]]
    # Nothing is selected: NumPy asks no further.
    matrix = TensorType("float64", (2, 2))("m")
    agrees(matrix[[9], np.zeros(0, "int64")], {matrix: numbered((2, 2))}, np.zeros(0))


def test_the_dtype_of_an_index_array_does_not_matter() -> None:
    x = vector(5)
    value = numbered((5,))
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"):
        i = vector(2, "i", dtype)
        agrees(x[i], {x: value, i: np.array([4, 1], dtype)}, value[[4, 1]])
    nested = TensorType("int64", ())("n")
    agrees(x[[nested, 1]], {x: value, nested: np.array(3)}, value[[3, 1]])
    agrees(x[[[nested], [1]]], {x: value, nested: np.array(3)}, value[[[3], [1]]])
    agrees(x[[]], {x: value}, value[[]])
    agrees(x[[[]]], {x: value}, value[[[]]])
    agrees(x[(0, 1),], {x: value}, value[[0, 1]])


def test_one_vector_along_an_axis_has_an_op_of_its_own() -> None:
    x, i = TensorType("float64", (None, 4, None))("x"), indices(None)
    assert only_node(x[i]).op == AdvancedSubtensor1(0)
    assert only_node(x[:, i]).op == AdvancedSubtensor1(1)
    assert only_node(x[..., i]).op == AdvancedSubtensor1(2)
    assert only_node(x[i, 1:]).op != AdvancedSubtensor1(0)
    assert isinstance(only_node(x[i[None]]).op, AdvancedSubtensor)
    assert x[:, i].type.shape == (None, None, None)
    assert x[i].type.shape == (None, 4, None)
    assert x[[0, 1]].type.shape == (2, 4, None)
    value = numbered((2, 4, 3))
    op = AdvancedSubtensor1(1)
    agrees(op(x, [3, 0]), {x: value}, value[:, [3, 0]])  # type: ignore[arg-type]  # a list is taken too
    with pytest.raises(IndexError, match="a vector of integers is expected"):
        op(x, 1)
    with pytest.raises(IndexError, match="too many indices"):
        AdvancedSubtensor1(3)(x, i)


def test_an_op_of_ones_own() -> None:
    with pytest.raises(ValueError, match="has an array"):
        AdvancedSubtensor((IntegerEntry(1),))
    with pytest.raises(ValueError, match="0 dimensions"):
        AdvancedSubtensor((IntegerEntry(1), ArrayEntry(0)))
    op = AdvancedSubtensor((ArrayEntry(0), ArrayEntry(1)))
    x = TensorType("float64", (None, None))("x")
    agrees(op(x, np.array([0, 1]), np.array(1)), {x: numbered((2, 2))}, np.array([2.0, 4.0]))
    with pytest.raises(TypeError, match="takes 2 index inputs"):
        op(x, 1)
    with pytest.raises(IndexError, match="integer"):
        op(x, np.array([0.5]), 1)
    assert str(op) == "AdvancedSubtensor{i0, i1}"
    assert str(only_node(x[1:, [0, 1]]).op) == "AdvancedSubtensor{1:, i0}"


def test_a_result_is_a_copy() -> None:
    x, i = vector(), indices(None)
    value = np.arange(3.0)
    (result,) = run([x[i]], {x: value, i: np.array([0, 1, 2])})
    result[0] = 9
    np.testing.assert_array_equal(value, [0, 1, 2])


def test_duplicates_add_up_in_the_gradient() -> None:
    x, i = vector(), indices(None)
    (g,) = run([grad(lt.sum(x[i] * np.array([1.0, 2.0, 4.0])), x)], {x: np.zeros(3), i: np.array([2, 0, -1])})
    np.testing.assert_array_equal(g, [2, 0, 5])
