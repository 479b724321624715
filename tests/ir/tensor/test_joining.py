"""`Join`, `concatenate`, `stack` and `Split`, `split`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import ShapeMismatchError, StaticShapeError
from lamella.ir import Join, Lop, MakeVector, Split, TensorType, TensorVariable, grad, hessian, lt, result_dtype
from tests.ir.tensor.agreement import (
    Array,
    Values,
    agrees,
    check_derivatives,
    forgetful,
    laid_out,
    numbered,
    only_node,
    run,
    shapes,
)

DTYPES = ["float64", "float32", "int64", "uint8", "bool", "complex64"]
N = TensorType("int64", ())("n")


@st.composite
def joinable(draw: st.DrawFn) -> tuple[dict[TensorVariable, Array], int]:
    """Variables and values that can be joined along an axis."""
    shape = draw(shapes(min_dims=1, max_dims=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    values: dict[TensorVariable, Array] = {}
    for _ in range(draw(st.integers(1, 3))):
        lengths = list(shape)
        lengths[axis] = draw(st.integers(0, 3))
        value = numbered(lengths, draw(st.sampled_from(DTYPES)))
        values[draw(forgetful(lengths, value.dtype)).named(f"x{len(values)}")] = draw(laid_out(value))
    return values, axis


@given(joinable())
def test_concatenate_is_numpys(case: tuple[dict[TensorVariable, Array], int]) -> None:
    values, axis = case
    expected = np.concatenate(list(values.values()), axis)
    agrees(lt.concatenate(list(values), axis), values, expected)
    agrees(lt.join(axis, *values), values, expected)
    agrees(lt.concatenate(list(values), None), values, np.concatenate(list(values.values()), None))


@given(joinable())
def test_known_lengths_are_added_and_others_agree(case: tuple[dict[TensorVariable, Array], int]) -> None:
    values, axis = case
    out = lt.concatenate(list(values), axis)
    for place in range(out.ndim):
        lengths = [x.type.shape[place] for x in values]
        known = [length for length in lengths if length is not None]
        if place == axis % out.ndim:
            assert out.type.shape[place] == (sum(known) if len(known) == len(lengths) else None)
        else:
            assert out.type.shape[place] == (known[0] if known else None)


@given(joinable(), st.data())
def test_derivatives_of_join(case: tuple[dict[TensorVariable, Array], int], data: st.DataObject) -> None:
    values, axis = case
    x = data.draw(st.sampled_from(sorted(values, key=lambda v: v.name or "")))
    y = TensorType("float64", x.type.shape)("y")
    check_derivatives(lambda v: lt.concatenate([v, 2 * v, v], axis), y, values[x].real.astype("float64"))


def test_each_part_gets_its_part_of_the_cotangent_in_its_dtype() -> None:
    a, b = TensorType("float32", (None,))("a"), TensorType("float64", (None,))("b")
    out = lt.concatenate([a, b])
    cotangent = TensorType("float64", (None,))("g")
    values: Values = {a: numbered((2,), "float32"), b: numbered((1,)), cotangent: np.array([1.0, 2.0, 3.0])}
    ga, gb = run(Lop(out, [a, b], cotangent), values)
    assert (ga.dtype, gb.dtype) == ("float32", "float64")
    assert (ga.tolist(), gb.tolist()) == ([1, 2], [3])


def test_lengths_that_differ() -> None:
    a, b = TensorType("float64", (None, 2))("a"), TensorType("float64", (None, 3))("b")
    with pytest.raises(StaticShapeError, match="along axis 1 differ: a is"):
        lt.concatenate([a, b])
    with pytest.raises(
        ShapeMismatchError, match=r"input 0 \(a\) has length 1 along axis 0, input 1 \(b\) has length 2"
    ):
        lt.concatenate([a, b], 1).eval({a: numbered((1, 2)), b: numbered((2, 3))})
    with pytest.raises(StaticShapeError, match="same number of dimensions"):
        lt.concatenate([a, b[0]])
    with pytest.raises(np.exceptions.AxisError):
        lt.concatenate([a, a], 2)
    for empty in (lt.concatenate, lt.stack, lt.vstack, lt.hstack):
        with pytest.raises(ValueError):
            empty([])
    with pytest.raises(TypeError, match="one array or more"):
        Join(0)()
    assert lt.concatenate([a]) is a


@given(st.integers(1, 3), shapes(max_dims=2, max_side=3), st.data())
def test_stack_is_numpys(count: int, shape: tuple[int, ...], data: st.DataObject) -> None:
    values: dict[TensorVariable, Array] = {}
    for i in range(count):
        value = numbered(shape, data.draw(st.sampled_from(DTYPES)))
        values[data.draw(forgetful(shape, value.dtype)).named(f"x{i}")] = value
    arrays = list(values.values())
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    agrees(lt.stack(list(values), axis), values, np.stack(arrays, axis))
    agrees(lt.vstack(list(values)), values, np.vstack(arrays))
    agrees(lt.hstack(list(values)), values, np.hstack(arrays))
    check_derivatives(lambda x: lt.stack([x, x * 2], axis), TensorType("float64", shape)("x"), numbered(shape))


def test_stacked_scalars_make_a_vector() -> None:
    a = TensorType("float32", ())("a")
    out = lt.stack([a, 1.0])
    assert isinstance(only_node(out).op, MakeVector)
    agrees(out, {a: np.array(3, "float32")}, np.stack([np.array(3, "float32"), 1.0]))
    with pytest.raises(StaticShapeError, match="arrays of one shape"):
        lt.stack([a, lt.zeros((2,))])


def test_hessian_through_stack() -> None:
    # B45
    a, b = TensorType("float64", (None,))("a"), TensorType("float64", (None,))("b")
    stacked = lt.stack([a, b])
    cost = lt.sum(stacked.T @ stacked)
    values: Values = {a: np.array([1.0, 2.0]), b: np.array([3.0, 4.0])}
    for x in (a, b):
        np.testing.assert_array_equal(hessian(cost, x).eval({**values}), np.full((2, 2), 2.0))


@st.composite
def splittings(draw: st.DrawFn) -> tuple[TensorVariable, Array, int, list[int]]:
    shape = list(draw(shapes(min_dims=1, max_dims=3)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    shape[axis] = sum(sizes)
    return draw(forgetful(shape)), draw(laid_out(numbered(shape))), axis, sizes


@given(splittings())
def test_split_gives_views_of_the_parts(case: tuple[TensorVariable, Array, int, list[int]]) -> None:
    x, value, axis, sizes = case
    expected = np.split(value, np.cumsum(sizes)[:-1], axis)
    vector = TensorType("int64", (None,))("sizes")
    values: Values = {x: value, vector: np.array(sizes)}
    for parts in (lt.split(x, sizes, axis=axis), lt.split(x, vector, len(sizes), axis)):
        assert len(parts) == len(sizes)
        for part, wanted in zip(parts, expected, strict=True):
            agrees(part, values, wanted)
            assert np.shares_memory(run([part], values)[0], value) or not wanted.size
    weights = [3.0, -1.0, 0.0, 2.0]
    check_derivatives(
        lambda v: lt.concatenate(
            [part * w for part, w in zip(lt.split(v, sizes, axis=axis), weights, strict=False)][::-1], axis
        ),
        x,
        value,
    )


def test_static_lengths_of_parts() -> None:
    # B53
    x = TensorType("float64", (6,))("x")
    assert [part.type.shape for part in lt.split(x, [2, 4])] == [(2,), (4,)]
    vector = TensorType("int64", (None,))("sizes")
    assert [part.type.shape for part in lt.split(x, vector, 2)] == [(None,), (None,)]
    assert [part.type.shape for part in lt.split(x, [2, N, 1])] == [(2,), (3,), (1,)]


def test_a_part_that_the_cost_does_not_depend_on_gets_zeros() -> None:
    x = TensorType("float64", (None,))("x")
    first, _, third = lt.split(x, [1, 2, 1])
    gradient = grad(lt.sum(first) * 2 + lt.sum(third) * 3, x)
    np.testing.assert_array_equal(gradient.eval({x: numbered((4,))}), [2.0, 0.0, 0.0, 3.0])


def test_wrong_sizes() -> None:
    x = TensorType("float64", (6,))("x")
    y = TensorType("float64", (None,))("y")
    vector = TensorType("int64", (None,))("sizes")
    for sizes in ([2, 3], [4, 4], [-1, 7]):
        with pytest.raises(StaticShapeError, match="cannot be split along axis 0"):
            lt.split(x, sizes)
        with pytest.raises(ShapeMismatchError, match="cannot be split into 2 parts"):
            lt.split(y, vector, 2)[0].eval({y: numbered((6,)), vector: sizes})
    with pytest.raises(ShapeMismatchError, match="into 2 parts"):
        lt.split(y, vector, 2)[0].eval({y: numbered((6,)), vector: [1, 2, 3]})
    with pytest.raises(TypeError, match="pass n_splits"):
        lt.split(x, vector)
    with pytest.raises(StaticShapeError, match="makes 3 parts; 2 sizes"):
        lt.split(x, [2, 4], 3)
    with pytest.raises(ValueError, match="one part or more"):
        Split(0, 0)(x, [])
    with pytest.raises(ValueError, match="has no axis 1"):
        Split(1, 1)(x, [6])


def test_dtypes_are_promoted_as_numpy_does() -> None:
    for a in DTYPES:
        for b in DTYPES:
            out = lt.concatenate([TensorType(a, (1,))(), TensorType(b, (1,))()])
            assert out.dtype == result_dtype(a, b) == np.concatenate([np.zeros(1, a), np.zeros(1, b)]).dtype
