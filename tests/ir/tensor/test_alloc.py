"""`Alloc`, `AllocEmpty` and the functions that make arrays."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir import (
    Alloc,
    AllocEmpty,
    FunctionGraph,
    TensorLike,
    TensorType,
    TensorVariable,
    constant,
    interpret,
    lt,
    substitute,
)
from tests.ir.tensor.agreement import Array, agrees, arrays, check_derivatives, numbered, only_node, run, shapes

N, M = TensorType("int64", ())("n"), TensorType("int64", ())("m")


@st.composite
def broadcasts(
    draw: st.DrawFn, dtypes: tuple[str, ...] = ("float64", "int8", "bool")
) -> tuple[TensorVariable, Array, tuple[int, ...]]:
    """A variable and a value for it, and a shape that the value broadcasts to."""
    target = draw(shapes(max_dims=4, max_side=3))
    kept = draw(st.integers(0, len(target)))
    shape = [draw(st.sampled_from([1, length])) for length in target[kept:]]
    # Only a length that is known to be 1 is broadcast.
    static = [
        1 if length == 1 != wanted else draw(st.sampled_from([length, None]))
        for length, wanted in zip(shape, target[kept:], strict=True)
    ]
    value = numbered(shape, draw(st.sampled_from(dtypes)))
    return TensorType(value.dtype, static)("x"), value, target


@given(broadcasts(), st.data())
def test_broadcasting_is_numpys(case: tuple[TensorVariable, Array, tuple[int, ...]], data: st.DataObject) -> None:
    x, value, target = case
    expected = np.broadcast_to(value, target)
    out = lt.broadcast_to(x, target)
    assert out.type.shape == target
    agrees(out, {x: value}, expected)
    agrees(lt.alloc(x, *target), {x: value}, expected)
    lengths = TensorType("int64", (len(target),))("lengths")
    symbolic: list[TensorLike] = [lengths[i] if data.draw(st.booleans()) else length for i, length in enumerate(target)]
    agrees(lt.broadcast_to(x, symbolic), {x: value, lengths: np.array(target, "int64")}, expected)
    agrees(lt.broadcast_to(x, lengths), {x: value, lengths: np.array(target, "int64")}, expected)


@given(broadcasts(("float64",)))
def test_derivatives_are_sums_over_what_is_repeated(case: tuple[TensorVariable, Array, tuple[int, ...]]) -> None:
    x, value, target = case
    check_derivatives(lambda v: lt.broadcast_to(v, target), x, value)


def test_impossible_targets_raise_when_built() -> None:
    # B58
    x = TensorType("float64", (3, 2))("x")
    for target in [(3, 4), (2,), (3, 2, 1), (1, 2)]:
        with pytest.raises(StaticShapeError):
            lt.broadcast_to(x, target)
    with pytest.raises(StaticShapeError, match="negative lengths"):
        lt.zeros((2, -1))
    with pytest.raises(TypeError, match="a length is an integer"):
        lt.zeros((2.0,))  # type: ignore[arg-type, unused-ignore]  # a float is a TensorLike to the type checker


def test_impossible_targets_raise_at_run_time() -> None:
    # B58
    x = TensorType("float64", (None,))("x")
    out = lt.broadcast_to(x, (3, 4))
    with pytest.raises(BroadcastError, match="length 3 along axis 0 is not 4"):
        out.eval({x: numbered((3,))})
    with pytest.raises(BroadcastError, match="use specify_shape to say that it is 1 along axis 0"):
        out.eval({x: numbered((1,))})
    agrees(out, {x: numbered((4,))}, np.broadcast_to(numbered((4,)), (3, 4)))
    with pytest.raises(ValueError, match="negative lengths"):
        lt.zeros((N,)).eval({N: -1})
    with pytest.raises(ValueError, match="negative lengths"):
        lt.empty((N,)).eval({N: -1})


def test_filling_from_a_view_of_length_one() -> None:
    # B122
    x = TensorType("float64", (None,))("x")
    out = lt.alloc(lt.specify_shape(x, (1,)), 5, N)
    agrees(out, {x: np.zeros(1), N: np.array(3)}, np.zeros((5, 3)))


def test_the_shape_of_an_alloc_of_lengths_of_its_own_value() -> None:
    # B64
    alpha, channel = TensorType("float64", (None,))("alpha"), TensorType("float64", (None,))("channel")
    out = lt.alloc(channel, lt.maximum(lt.shape(alpha)[0], lt.shape(channel)[0]))
    values = {alpha: numbered((3,)), channel: numbered((3,))}
    agrees(out, values, numbered((3,)))
    agrees(lt.shape(out), values, np.array([3]))


def test_a_value_that_turns_out_to_have_length_one_is_not_repeated() -> None:
    x, one = TensorType("float64", (None,))("x"), TensorType("float64", (1,))("one")
    outputs = substitute([Alloc()(x, N)], {x: one})
    (value,) = interpret([one, N], outputs, [numbered((1,)), np.array(1)])
    np.testing.assert_array_equal(value, [1.0])
    with pytest.raises(BroadcastError):
        interpret([one, N], outputs, [numbered((1,)), np.array(3)])


def test_no_dimensions_need_no_node() -> None:
    a = TensorType("float64", ())("a")
    assert lt.alloc(a) is a
    assert lt.zeros_like(a) is constant(0.0)
    agrees(Alloc()(a), {a: np.array(2.0)}, 2.0)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(lt.zeros_like, np.zeros_like), (lt.ones_like, np.ones_like)], ids=["zeros", "ones"]
)
def test_like(ours: Callable[..., TensorVariable], theirs: Callable[..., Array]) -> None:
    @given(arrays(shapes()), st.sampled_from([None, "float32", "int64", "bool"]))
    def check(case: tuple[TensorVariable, Array], dtype: str | None) -> None:
        x, value = case
        out = ours(x, dtype)
        assert out.type.shape == x.type.shape
        agrees(out, {x: value}, theirs(value, dtype))

    check()


@given(arrays(shapes()))
def test_full_like_and_fill(case: tuple[TensorVariable, Array]) -> None:
    x, value = case
    agrees(lt.full_like(x, 1), {x: value}, np.full_like(value, 1))
    agrees(lt.full_like(x, 2.5, "float32"), {x: value}, np.full_like(value, 2.5, "float32"))
    agrees(lt.fill(x, np.float32(2.5)), {x: value}, np.full(value.shape, 2.5, "float32"))
    assert lt.empty_like(x).type == x.type
    assert run([lt.empty_like(x)], {x: value})[0].shape == value.shape


def test_fill_takes_literals_weakly_and_broadcasts() -> None:
    x = TensorType("float32", (None, 3))("x")
    value = numbered((2, 3), "float32")
    agrees(lt.fill(x, 2), {x: value}, np.full((2, 3), 2, "float32"))
    agrees(x.fill(2.5), {x: value}, np.full((2, 3), 2.5, "float32"))
    row = TensorType("float64", (3,))("row")
    agrees(lt.fill(x, row), {x: value, row: numbered((3,))}, np.broadcast_to(numbered((3,)), (2, 3)))
    with pytest.raises(StaticShapeError, match="2 dimensions does not broadcast"):
        lt.fill(row, x)


def test_fill_never_broadcasts_what_gives_the_shape() -> None:
    one, three = TensorType("float64", (1,))("one"), TensorType("float64", (3,))("three")
    unknown = TensorType("float64", (None,))("unknown")
    with pytest.raises(StaticShapeError, match="cannot fill an array of shape"):
        lt.fill(one, three)
    out = lt.fill(one, unknown)
    assert out.type.shape == (1,)
    agrees(out, {one: numbered((1,)), unknown: np.array([5.0])}, [5.0])
    with pytest.raises(BroadcastError):
        out.eval({one: numbered((1,)), unknown: numbered((3,))})
    with pytest.raises(BroadcastError):
        lt.fill(unknown, three).eval({unknown: numbered((2,)), three: numbered((3,))})


def test_zeros_ones_full_empty() -> None:
    agrees(lt.zeros((2, 3)), {}, np.zeros((2, 3)))
    agrees(lt.zeros(3, "int8"), {}, np.zeros(3, "int8"))
    agrees(lt.ones((N, 2), "float32"), {N: np.array(3)}, np.ones((3, 2), "float32"))
    agrees(lt.full((2,), 7), {}, np.full((2,), 7))
    agrees(lt.full((2, N), np.array([1.5, 2.5, 3.5])), {N: np.array(3)}, np.full((2, 3), [1.5, 2.5, 3.5]))
    agrees(lt.full((2,), 2.7, "int64"), {}, np.full((2,), 2.7, "int64"))
    agrees(lt.zeros(()), {}, np.zeros(()))
    out = lt.empty((N, 2), "int16")
    assert out.type == TensorType("int16", (None, 2))
    assert out.eval({N: 3}).shape == (3, 2)


def test_checking_modes_see_the_same_wrong_value_in_empty_memory() -> None:
    out = AllocEmpty("float64")(3)
    storage: list[list[Array]] = [[np.zeros(0)]]
    only_node(out).op.debug_perform(only_node(out), [np.array(3)], storage)
    np.testing.assert_array_equal(storage[0][0], [-123456789.0] * 3)


def test_large_arrays_are_not_folded() -> None:
    for out, folds in [
        (lt.zeros((4,)), True),
        (lt.zeros((1000, 1000)), False),
        (lt.zeros((N,)), False),
        (lt.empty(3), False),
    ]:
        node = only_node(out)
        assert node.op.do_constant_folding(FunctionGraph([N], [out]), node) is folds


@given(st.integers(0, 3), st.integers(0, 3))
def test_zero_lengths_broadcast_against_one_only(a: int, b: int) -> None:
    # B52
    assume(a in (0, 1) or b in (0, 1))
    x, y = TensorType("float64", (a,))("x"), TensorType("float64", (b,))("y")
    if a != b and 1 not in (a, b):
        with pytest.raises(StaticShapeError):
            x + y
    else:
        out = x + y
        expected = np.zeros(a) + np.zeros(b)
        assert out.type.shape == expected.shape
        agrees(out, {x: np.zeros(a), y: np.zeros(b)}, expected)
