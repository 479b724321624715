"""Basic indexing: values, dtypes, shapes and errors are NumPy's, with constant and with symbolic indices."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamella.ir import (
    DimShuffle,
    FromInput,
    IntegerEntry,
    SliceEntry,
    Subtensor,
    TensorType,
    TensorVariable,
    canonical_slice,
    constant,
    grad,
    lt,
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
from .index_expressions import IndexCase, basic_indices


def vector(length: int | None = None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, (length,))(name)


def integer(name: str = "i", dtype: str = "int64") -> TensorVariable:
    return TensorType(dtype, ())(name)


@settings(max_examples=250)
@given(st.data(), arrays(shapes()))
def test_any_basic_index_means_what_numpy_says(data: st.DataObject, made: tuple[TensorVariable, Array]) -> None:
    x, value = made
    case: IndexCase = data.draw(basic_indices(value.shape))
    agrees(x[case.symbolic], {x: value, **case.values}, value[case.plain])


@settings(max_examples=200)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_a_wrong_index_raises_numpys_error(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    x = data.draw(forgetful(shape))
    case: IndexCase = data.draw(basic_indices(shape, wrong=True))
    try:
        expected = value[case.plain]
    except IndexError:
        with pytest.raises(IndexError):
            run([x[case.symbolic]], {x: value, **case.values})
    else:
        agrees(x[case.symbolic], {x: value, **case.values}, expected)


@settings(max_examples=50)
@given(st.data(), shapes(min_dims=1, max_dims=3))
def test_the_derivative_is_exact(data: st.DataObject, shape: tuple[int, ...]) -> None:
    value = numbered(shape)
    case: IndexCase = data.draw(basic_indices(shape))
    # Derivatives are checked with the indices as constants.
    check_derivatives(lambda x: x[case.plain], data.draw(forgetful(shape)), value)


@settings(max_examples=200)
@given(
    st.integers(0, 9),
    st.lists(
        st.one_of(st.none(), st.integers(-12, 12), st.sampled_from([-(2**63), -(2**63) + 1, 2**63 - 1])),
        min_size=3,
        max_size=3,
    ).filter(lambda bounds: bounds[2] != 0),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_the_length_of_a_slice_is_inferred(length: int, bounds: list[int | None], is_symbolic: list[bool]) -> None:
    """With bounds at the ends of int64 too: nothing may overflow on the way."""
    x, value = vector(), np.arange(length, dtype="float64")
    names = [integer(name) for name in ("start", "stop", "step")]
    parts: list[Any] = [n if s and b is not None else b for n, s, b in zip(names, is_symbolic, bounds, strict=True)]
    values = {n: np.array(b) for n, p, b in zip(names, parts, bounds, strict=True) if p is n}
    agrees(x[slice(*parts)], {x: value, **values}, value[slice(*bounds)])


def test_bounds_beyond_int64_are_the_ends() -> None:
    x, value = vector(), np.arange(3.0)
    for index in (
        slice(10**30),
        slice(10**30, None),
        slice(-(10**30), None),
        slice(None, None, 10**30),
        slice(10**30, None, -1),
    ):
        agrees(x[index], {x: value}, value[index])
    stop = integer("stop", "uint64")
    agrees(x[:stop], {x: value, stop: np.array(2**64 - 1, "uint64")}, value)


def test_static_lengths_are_known_where_they_can_be() -> None:
    x = TensorType("float64", (None, 6))("x")
    i = integer()
    assert x[:, 1:].type.shape == (None, 5)
    assert x[0, ::-2].type.shape == (3,)
    assert x[:, i].type.shape == (None,)
    assert x[:, i:].type.shape == (None, None)
    assert x[:, None].type.shape == (None, 1, 6)
    assert x[..., 2:4].type.shape == (None, 2)
    # Empty, whatever the length is.
    for index in (slice(0), slice(3, 3), slice(-1, -2), slice(0, 4, -1), slice(None, -1, -1), slice(5, 2)):
        assert x[index].type.shape == (0, 6)
    for index in (slice(1), slice(1, -1), slice(-2, 2), slice(None, 0, -1)):
        assert x[index].type.shape == (None, 6)
    assert vector(0)[i:].type.shape == (0,)
    assert x[:, : constant(2) + 1].type.shape == (None, 3)


def test_equal_constant_indices_make_equal_graphs() -> None:
    """B94: an index given as a number, as an array, or as a symbolic constant."""
    m = TensorType("float64", (None, None))("m")
    for one in (np.int8(1), np.array(1), constant(1), np.uint64(1), True + np.int64(0)):
        assert m[:, one] is m[:, 1]
        assert m[one:] is m[1:]
        assert m[:, one].set(0) is m[:, 1].set(0)
    assert m[1, :] is m[1]
    assert m[1, ...] is m[1]
    assert m[0:] is m[:]
    assert m[::1] is m[:]
    assert m[-1::-1] is m[::-1]
    assert m[: 2**70] is m[:]
    assert m[np.array([0, 1]), :] is m[[0, 1]]
    assert m[constant([0, 1])] is m[[0, 1]]
    assert m[np.array([0, 1], "uint8")] is m[[0, 1]]
    assert m[[True, False]] is m[np.array([True, False])]
    assert m[0:] is not m[0:-1]


def test_the_default_of_a_slice_depends_on_the_sign_of_its_step() -> None:
    """B01."""
    x, stop, step = vector(dtype="int64"), integer("stop"), integer("step")
    values = {x: np.array([4, 9])}
    agrees(x[0:-3:-1], values, np.array([4]))
    agrees(x[x.shape[0] - 1 :: -1], values, np.array([9, 4]))
    agrees(x[:0:-1], values, np.array([9]))
    agrees(x[0:stop:step], {**values, stop: np.array(-3), step: np.array(-1)}, np.array([4]))
    agrees(x[0:stop:step], {**values, stop: np.array(1), step: np.array(1)}, np.array([4]))


def test_indexing_what_a_negative_step_selected() -> None:
    """B20: with constant and with symbolic bounds; an inner index out of bounds raises."""
    value = np.arange(10.0)
    x, a, b, s = vector(), integer("a"), integer("b"), integer("s")
    for start, stop, step in ((7, 2, -2), (None, None, -1), (7, 2, -1)):
        names = [None if v is None else n for v, n in zip((start, stop, step), (a, b, s), strict=True)]
        given = {n: np.array(v) for v, n in zip((start, stop, step), (a, b, s), strict=True) if v is not None}
        for part in (x[start:stop:step], x[slice(*names)]):
            values = {x: value, **given} if part is not x[start:stop:step] else {x: value}
            agrees(part[1], values, value[start:stop:step][1])
            agrees(part[1:3], values, value[start:stop:step][1:3])
            with pytest.raises(IndexError):
                run([part[len(value[start:stop:step])]], values)
            with pytest.raises(IndexError):
                run([part[-len(value[start:stop:step]) - 1]], values)


def test_an_index_after_squeezing() -> None:
    """B18."""
    value = np.arange(6.0).reshape(1, 1, 2, 1, 3)
    x = TensorType("float64", (1, 1, None, 1, None))("x")
    agrees(x.squeeze((0, 1, -2))[:, 0], {x: value}, np.array([0.0, 3.0]))


@pytest.mark.parametrize(
    "index", [1.0, "a", np.array(1.5), [0.5], np.float64(2), {}, object(), [[1.5]], ["a"], np.array([])]
)
def test_what_is_no_index_is_refused(index: Any) -> None:
    x = TensorType("float64", (None, 3))("x")
    with pytest.raises(IndexError, match="integer"):
        x[index]
    with pytest.raises(IndexError):
        np.zeros((4, 3))[index]


def test_a_float_variable_is_no_index() -> None:
    x, f = vector(), TensorType("float64", ())("f")
    with pytest.raises(IndexError, match="valid indices"):
        x[f]
    with pytest.raises(TypeError, match="slice indices"):
        x[f:]
    with pytest.raises(TypeError, match="slice indices"):
        x[1.0:]
    with pytest.raises(TypeError, match="slice indices"):
        x[np.array([1]) :]
    with pytest.raises(TypeError, match="slice indices"):
        x[vector(dtype="int64") :]


def test_errors_that_show_while_the_graph_is_built() -> None:
    x = TensorType("float64", (3, None))("x")
    with pytest.raises(IndexError, match="too many indices for array: array is 2-dimensional, but 3 were indexed"):
        x[0, 0, 0]
    with pytest.raises(IndexError, match="single ellipsis"):
        x[..., ...]
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        x[3]
    with pytest.raises(IndexError, match="index -4 is out of bounds for axis 0 with size 3"):
        x[-4]
    with pytest.raises(IndexError, match="out of bounds"):
        x[:, 2**64]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        x[::0]
    assert x[:, 100].type.shape == (3,)


def test_errors_at_run_time() -> None:
    x, i, step = vector(), integer(), integer("step")
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        run([x[i]], {x: np.arange(3.0), i: np.array(3)})
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        run([x[::step]], {x: np.arange(3.0), step: np.array(0)})
    with pytest.raises(IndexError, match="out of bounds"):
        run([x[10]], {x: np.arange(3.0)})


def test_a_length_that_becomes_known_does_not_fail_the_build() -> None:
    """An index out of bounds may stand in a branch that is never taken."""
    x, three = vector(), vector(3)
    narrowed = only_node(x[5]).clone_with_new_inputs([three])
    with pytest.raises(IndexError):
        run([narrowed.out], {three: np.arange(3.0)})


def test_better_static_types_narrow_the_result() -> None:
    x, y = vector(), vector(7)
    assert only_node(x[1:-1]).clone_with_new_inputs([y]).outputs[0].type.shape == (5,)


def test_only_new_axes_make_a_dimshuffle() -> None:
    x = TensorType("float64", (None, 3))("x")
    assert x[:, None] is x.dimshuffle(0, "x", 1)
    assert x[None, ..., None] is x.dimshuffle("x", 0, 1, "x")
    assert isinstance(only_node(x[None]).op, DimShuffle)
    assert isinstance(only_node(x[None, 1:]).op, Subtensor)


def test_an_index_of_nothing_is_a_view() -> None:
    x, value = vector(), np.arange(3.0)
    agrees(x[()], {x: value}, value)
    assert x[...] is x[()]
    assert x[:] is x[()]
    scalar = TensorType("float64", ())("s")
    agrees(scalar[()], {scalar: np.array(2.0)}, np.array(2.0))
    agrees(scalar[None, ..., None], {scalar: np.array(2.0)}, np.array([[2.0]]))


def test_iteration_and_unpacking() -> None:
    x = vector(3)
    a, b, c = x
    assert (a, b, c) == (x[0], x[1], x[2])
    with pytest.raises(TypeError, match="not known"):
        list(vector())


def test_an_op_prints_as_its_index() -> None:
    x = TensorType("float64", (None, None, None))("x")
    i = integer()
    assert str(only_node(x[1, i:, ::-1]).op) == "Subtensor{1, i0:, ::-1}"
    assert str(only_node(x[i, None, :, i:2:i]).op) == "Subtensor{i0, None, :, i1:2:i2}"


def test_ops_survive_pickling() -> None:
    x, i = TensorType("float64", (None, None))("x"), integer()
    for out in (x[1, i:], x[None, i], x[[0, 1], 1:], x[i:].set(0), x[:, [0]].inc(1), x[i, [0]].set(1)):
        op = only_node(out).op
        assert pickle.loads(pickle.dumps(op)) == op


def test_an_op_of_ones_own() -> None:
    x, i = vector(), integer()
    op = Subtensor((SliceEntry(FromInput(0), None, FromInput(1)),))
    agrees(op(x, i, 2), {x: np.arange(7.0), i: np.array(1)}, np.array([1.0, 3.0, 5.0]))
    assert op == Subtensor((SliceEntry(FromInput(0), step=FromInput(1)),))
    assert Subtensor((IntegerEntry(1),)) != Subtensor((IntegerEntry(True + 1),))
    with pytest.raises(ValueError, match="in order"):
        Subtensor((IntegerEntry(FromInput(1)),))
    with pytest.raises(TypeError, match="takes 2 index inputs"):
        op(x, i)
    with pytest.raises(IndexError, match="0 dimensions"):
        op(x, x, 1)
    with pytest.raises(TypeError):
        SliceEntry(1.5)  # type: ignore[arg-type]  # wrong on purpose
    assert canonical_slice(0, None, FromInput(0)) == SliceEntry(0, None, FromInput(0))


def test_the_gradient_with_symbolic_indices() -> None:
    x, i, n = vector(), integer(), integer("n")
    cost = lt.sum(x[i : i + n] ** 2) + x[i]
    (g,) = run([grad(cost, x)], {x: np.arange(5.0), i: np.array(1), n: np.array(2)})
    np.testing.assert_array_equal(g, [0, 3, 4, 0, 0])


def test_the_gradient_of_integers_is_zero() -> None:
    x = vector(dtype="int64")
    (g,) = run([grad(lt.sum(x[1:] * 2.0), x)], {x: np.arange(3)})
    np.testing.assert_array_equal(g, np.zeros(3))
    assert g.dtype == "float64"


def test_the_known_elements_of_a_shape_are_seen_through_an_index() -> None:
    x = TensorType("float64", (None, 4, 5))("x")
    assert lt.zeros(x.shape[1:]).type.shape == (4, 5)
    assert lt.zeros((x.shape[-1],)).type.shape == (5,)


def test_inferred_lengths_of_whole_axes_need_no_computation() -> None:
    x = TensorType("float64", (None, None))("x")
    lengths = inferred_lengths(x[::-1, :])
    assert lengths == lt.shape_tuple(x)
