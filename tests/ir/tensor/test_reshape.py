"""`Reshape`, `flatten` and `ravel`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import StaticShapeError
from lamella.ir import Reshape, TensorLike, TensorType, TensorVariable, clone_replace, constant, lt
from lamella.typing_layer import static_shape
from tests.ir.tensor.agreement import Array, agrees, arrays, check_derivatives, forgetful, numbered, run, shapes

X = TensorType("float64", (None, 3, 4))("x")
V = {X: numbered((2, 3, 4))}
N = TensorType("int64", ())("n")


def factorings(size: int) -> st.SearchStrategy[list[int]]:
    """Shapes of arrays of `size` elements."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> list[int]:
        if size == 0:
            lengths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
            return [*lengths, 0]
        left, lengths = size, []
        while left > 1 and len(lengths) < 3:
            factor = draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0]))
            lengths.append(factor)
            left //= factor
        return draw(st.permutations([*lengths, left]))

    return draw_one()


@given(arrays(shapes(max_dims=3)), st.data())
def test_reshape_is_numpys(case: tuple[TensorVariable, Array], data: st.DataObject) -> None:
    x, value = case
    shape = data.draw(factorings(value.size))
    expected = value.reshape(shape)
    out = lt.reshape(x, shape)
    assert out.type.shape == tuple(shape)
    agrees(out, {x: value}, expected)
    lengths = TensorType("int64", (len(shape),))("lengths")
    agrees(lt.reshape(x, lengths), {x: value, lengths: np.array(shape)}, expected)
    unknown = TensorType("int64", (None,))("unknown")
    agrees(lt.reshape(x, unknown, ndim=len(shape)), {x: value, unknown: np.array(shape)}, expected)
    place = data.draw(st.integers(0, len(shape) - 1))
    if np.prod([n for i, n in enumerate(shape) if i != place]) != 0:
        missing = [-1 if i == place else n for i, n in enumerate(shape)]
        agrees(lt.reshape(x, missing), {x: value}, expected)
        agrees(lt.reshape(x, lengths), {x: value, lengths: np.array(missing)}, expected)
        agrees(lt.reshape(x, [lengths[i] for i in range(len(shape))]), {x: value, lengths: np.array(missing)}, expected)


@given(shapes(max_dims=3, max_side=3), st.data())
def test_derivatives(shape: tuple[int, ...], data: st.DataObject) -> None:
    x = data.draw(forgetful(shape))
    target = data.draw(factorings(int(np.prod(shape))))
    check_derivatives(lambda v: lt.reshape(v, target), x, numbered(shape))


@pytest.mark.parametrize(
    ("shape", "static"),
    [
        ((-1,), (None,)),
        ((lt.shape_i(X, 0), -1), (None, 12)),
        ((lt.shape(X)[0], -1), (None, 12)),
        ((-1, lt.shape(X)[0], 2), (6, None, 2)),
        ((lt.shape_i(X, 0), 3, 2, -1), (None, 3, 2, 2)),
        ((lt.shape_i(X, 0) * 3, -1), (None, None)),
        ((-1, 6), (None, 6)),
        ((N, 6), (None, 6)),
        ((2, N), (2, None)),
    ],
)
def test_lengths_follow_from_the_number_of_elements(
    shape: tuple[TensorLike, ...], static: tuple[int | None, ...]
) -> None:
    assert lt.reshape(X, shape).type.shape == static


def test_one_unknown_length_of_a_known_number_of_elements_is_known() -> None:
    x = TensorType("float64", (2, 6))("x")
    assert lt.reshape(x, (N, 3)).type.shape == (4, 3)
    assert lt.reshape(x, (-1, 3)).type.shape == (4, 3)
    assert lt.reshape(x, (N, -1)).type.shape == (None, None)
    assert lt.reshape(TensorType("float64", (2, 0))(), (N, 3)).type.shape == (0, 3)
    assert lt.reshape(TensorType("float64", (2, 0))(), (N, 0)).type.shape == (None, 0)


def test_an_empty_array_may_have_other_lengths_than_the_symbols_suggest() -> None:
    # With no rows the second length is free: nothing may be concluded from the first.
    x = TensorType("float64", (None, 12))("x")
    out = lt.reshape(x, (lt.shape_i(x, 0), N))
    assert out.type.shape == (None, None)
    agrees(out, {x: numbered((0, 12)), N: np.array(5)}, np.zeros((0, 5)))


def test_a_length_that_becomes_known_is_that_of_the_result() -> None:
    empty = TensorType("float64", (0, 1, 2))("empty")
    out = clone_replace(lt.reshape(empty, [0, N, 2]), {N: constant(1)})
    assert out.type.shape == (0, None, 2)
    assert static_shape(out) == (0, 1, 2)


def test_unknown_axes_are_not_taken_for_each_other() -> None:
    # B28
    x = TensorType("float64", (None, None, None))("x")
    value = numbered((2, 2, 3))
    agrees(lt.reshape(x, [lt.shape(x)[0], 3, 2]), {x: value}, value.reshape(2, 3, 2))
    ones = TensorType("float64", (None, None))("ones")
    agrees(lt.reshape(ones, (1, 1, 1)), {ones: np.ones((1, 1))}, np.ones((1, 1, 1)))


@pytest.mark.parametrize(
    ("static", "shape", "message"),
    [
        ((2, 3), (4,), "has 6 elements: it cannot have the shape"),
        ((2, 3), (-1, 4), "has 6 elements"),
        ((2, 3), (-1, -1), "one may be -1"),
        ((2, 3), (-2, 3), "lengths are 0 or more"),
        ((0, 3), (0, -1), "has 0 elements"),
        ((2, 3), (0, N), "has 6 elements"),
        ((None, 3), (lt.shape_i(TensorType("float64", (None, 3))(), 0), -2), "lengths are 0 or more"),
    ],
)
def test_impossible_shapes_raise_when_built(
    static: tuple[int | None, ...], shape: tuple[TensorLike, ...], message: str
) -> None:
    with pytest.raises(StaticShapeError, match=message):
        lt.reshape(TensorType("float64", static)("x"), shape)


def test_other_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="pass ndim"):
        lt.reshape(X, TensorType("int64", (None,))("shape"))
    with pytest.raises(TypeError, match="a length is an integer"):
        lt.reshape(X, (2.0, 12))
    with pytest.raises(StaticShapeError, match="takes a shape of 2 lengths"):
        Reshape(2)(X, [1, 2, 3])
    with pytest.raises(ValueError, match="cannot be flattened to 4"):
        lt.flatten(X, 4)


@pytest.mark.parametrize("wrong", [[5, 5], [-1, 7], [-1, -1], [-2, 12], [0, -1], [1, 2, 12]])
def test_impossible_shapes_raise_at_run_time(wrong: list[int]) -> None:
    lengths = TensorType("int64", (None,))("lengths")
    with pytest.raises(ValueError):
        lt.reshape(X, lengths, ndim=2).eval({**V, lengths: wrong})


def test_it_is_a_view_where_numpy_makes_one() -> None:
    value = V[X]
    assert np.shares_memory(run([lt.reshape(X, (2, 12))], V)[0], value)
    transposed = value.transpose(0, 2, 1)
    y = TensorType("float64", (2, 4, 3))("y")
    assert not np.shares_memory(run([lt.reshape(y, (24,))], {y: transposed})[0], transposed)


@given(arrays(shapes(max_dims=4)), st.integers(1, 4))
def test_flatten_joins_the_last_axes(case: tuple[TensorVariable, Array], ndim: int) -> None:
    x, value = case
    agrees(lt.ravel(x), {x: value}, value.ravel())
    agrees(x.ravel(), {x: value}, value.ravel())
    if ndim <= max(x.ndim, 1):
        kept = value.shape[: ndim - 1]
        agrees(x.flatten(ndim), {x: value}, value.reshape(*kept, int(np.prod(value.shape[ndim - 1 :]))))


def test_a_single_length_is_a_shape() -> None:
    agrees(X.reshape(24), V, V[X].reshape(24))
    agrees(X.reshape(N), {**V, N: np.array(-1)}, V[X].ravel())
    assert lt.reshape(TensorType("float64", (1,))("x"), ()).type.shape == ()
