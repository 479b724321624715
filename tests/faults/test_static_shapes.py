"""Shapes and static types."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir import TensorLike, TensorVariable
from lamella.typing_layer import static_shape, symbolic_shape
from tests.faults.three_ways import Values, check, check_error

NO_FIT = r"broadcast|shape|length|dimensions"


def tensor(name: str, *shape: int | None, dtype: str = "float64") -> TensorVariable:
    return lt.tensor(name, dtype=dtype, shape=shape)


def check_shape(values: Values, output: TensorVariable, expected: tuple[int, ...]) -> None:
    """Check a shape in every form in which it can be asked for: the array's own, the graph of it, and what is inferred."""
    wanted = np.array(expected, np.int64)
    inferred = lt.stack(list(symbolic_shape(output))) if expected else lt.constant(np.zeros(0, np.int64))
    check(values, (output.shape, wanted), (inferred, wanted), (lt.shape(output * 1), wanted))
    assert output.eval({v: np.asarray(a, v.dtype) for v, a in values.items()}).shape == expected
    for known, length in zip(static_shape(output), expected, strict=True):
        assert known in (None, length)


def test_an_array_as_the_left_operand_of_a_product() -> None:
    a, x = np.ones((20, 19)), tensor("x", 19, 19)
    assert (a @ x).type.shape == (20, 19)
    assert (x @ a.T).type.shape == (19, 20)
    assert (a[0] @ x).type.shape == (19,)
    assert (a[0] @ a.T[:, 0] * x).type.shape == (19, 19)
    assert np.matmul(a, x).type.shape == (20, 19)
    product: Any = np.dot(a, x)
    assert product.type.shape == (20, 19)
    assert (np.ones((4, 1, 20, 19)) @ tensor("y", 3, 19, 2)).type.shape == (4, 3, 20, 2)
    assert (a @ tensor("z", None, 2)).type.shape == (20, 2)
    assert (a.astype(np.float32) @ x).dtype == "float64"
    assert (np.float64(2) * x).type.shape == (19, 19)
    assert (a[0] - x).type.shape == (19, 19)
    with pytest.raises(StaticShapeError):
        a @ tensor("w", 20, 19)
    check({x: np.eye(19)}, (a @ x, a), (a[:, :19].T[0] @ lt.constant(np.ones(20)) * x, 20 * np.eye(19)))


def test_differences_of_a_vector_of_fixed_length() -> None:
    assert lt.diff(lt.constant([1, 2, 3])).type.shape == (2,)
    assert lt.diff(lt.constant([1, 2, 3]), n=2).type.shape == (1,)
    assert lt.diff(lt.constant([1, 2, 3]), n=5).type.shape == (0,)
    assert lt.diff(tensor("x", 3, None), axis=0).type.shape == (2, None)
    assert lt.diff(tensor("x", 3, None)).type.shape == (3, None)
    assert tensor("x", 3)[1:].type.shape == (2,)
    assert tensor("x", 3)[::-2].type.shape == (2,)
    assert lt.concatenate([tensor("x", 3), tensor("y", 2)]).type.shape == (5,)
    assert lt.concatenate([tensor("x", 3), tensor("y", None)]).type.shape == (None,)
    assert lt.arange(5).type.shape == (5,)
    assert lt.repeat(tensor("x", 3), 2).type.shape == (6,)
    x = lt.dvector("x")
    check({x: [1.0, 4.0, 9.0]}, (lt.diff(x), np.array([3.0, 5.0])), (lt.diff(x, n=4), np.zeros(0)))
    check({x: [1.0]}, (lt.diff(x), np.zeros(0)))


def test_a_length_of_zero_broadcasts_against_one() -> None:
    none, one, three = tensor("none", 0), tensor("one", 1), tensor("three", 3)
    assert (none + one).type.shape == (0,)
    assert (one + none).type.shape == (0,)
    assert lt.switch(one > 0, none, one).type.shape == (0,)
    builds: list[Callable[[], TensorVariable]] = [
        lambda: none + three,
        lambda: three * none,
        lambda: lt.maximum(three, none),
        lambda: none[None] + three,
    ]
    for build in builds:
        with pytest.raises(StaticShapeError):
            build()
    x, y = lt.dvector("x"), lt.dvector("y")
    assert (x + none).type.shape == (0,)
    check(
        {none: np.zeros(0), one: [1.0], x: np.zeros(0)},
        (none + one, np.zeros(0)),
        (x + one, np.zeros(0)),
        (lt.sum(x + one), np.float64(0)),
        (lt.prod(none), np.float64(1)),
        (lm.grad(lt.sum(none + one), one), np.zeros(1)),
        (lt.outer(none, one), np.zeros((0, 1))),
        (one[:0] + none, np.zeros(0)),
    )
    check_error({x: np.zeros(0), y: np.zeros(3)}, x + y, BroadcastError)
    check_error({x: np.zeros(0), y: np.zeros(1)}, x + y, BroadcastError, "specify_shape|declare")
    check_error({x: np.zeros(0)}, lt.max(x), ValueError)


def test_lengths_of_the_parts_of_a_split() -> None:
    x, n = tensor("x", 6), lt.lscalar("n")
    assert [part.type.shape for part in lt.split(x, [2, 4], axis=0)] == [(2,), (4,)]
    assert [part.type.shape for part in lt.split(x, [n, 6 - n], axis=0)] == [(None,), (None,)]
    assert [part.type.shape for part in lt.split(x, [2, n], axis=0)] == [(2,), (4,)]  # or it is an error
    assert [part.type.shape for part in lt.split(tensor("y", None, 3), [0, 3], axis=1)] == [(None, 0), (None, 3)]
    a = np.arange(6.0)
    both_symbolic: list[TensorLike] = [n, 6 - n]
    one_symbolic: list[TensorLike] = [2, n + 2]
    for sizes in (both_symbolic, one_symbolic):
        first, second = lt.split(x, sizes, axis=0)
        check({x: a, n: 2}, (first, a[:2]), (second, a[2:]), (second.shape, np.array([4])))
        check_shape({x: a, n: 2}, second, (4,))
    check_error({x: a, n: 3}, lt.split(x, [n, n + 1], axis=0)[0], ValueError)
    check_error({x: a, n: -1}, lt.split(x, [n, 6 - n], axis=0)[1], ValueError)
    with pytest.raises(ValueError, match="6"):
        lt.split(x, [2, 3], axis=0)


def test_broadcasting_to_an_impossible_shape() -> None:
    for source, target in (
        (np.zeros((3, 2)), (3, 4)),
        (np.zeros(3), (3, 4)),
        (np.zeros((2, 1)), (3, 4)),
        (np.zeros(2), ()),
    ):
        with pytest.raises(ValueError, match=NO_FIT):
            lt.broadcast_to(lt.constant(source), target)
    with pytest.raises(ValueError, match=NO_FIT):
        lt.alloc(lt.constant(np.zeros((3, 2))), 3, 4)
    x, n = lt.dvector("x"), lt.lscalar("n")
    check_error({x: np.zeros(3)}, lt.broadcast_to(x, (3, 4)), ValueError)
    check_error({x: np.zeros(1)}, lt.broadcast_to(x, (3, 4)), ValueError)  # its length was not known to be 1
    check_error({x: np.zeros(3), n: 4}, lt.broadcast_to(x, (2, n)), ValueError)
    check_error({x: np.zeros(3), n: -1}, lt.broadcast_to(lt.constant(1.0), (n, 2)) + x[0], ValueError)
    check_error({x: np.zeros(3), n: 4}, lt.alloc(x, n), ValueError)
    a = np.arange(4.0)
    check({x: a, n: 4}, (lt.broadcast_to(x, (2, n)), np.stack([a, a])), (lt.broadcast_to(x, (0, 4)), np.zeros((0, 4))))
    check({x: a}, (lt.broadcast_to(x, (3, 4)), np.stack([a] * 3)), (lt.broadcast_to(x, x.shape), a))
    assert lt.broadcast_to(tensor("row", 1, 4), (3, 4)).type.shape == (3, 4)


def test_the_length_of_a_shared_vector_is_not_constant() -> None:
    state = lm.shared(np.array([1.0, 2.0, 3.0]), name="state")
    assert state.type.shape == (None,)
    assert static_shape(state) == (None,)
    with pytest.raises(TypeError, match="length"):
        len(state)
    modes = ("FAST_COMPILE", "FAST_RUN")
    asked = [
        lm.function([], [state.shape, state.shape[0], lt.sum(lt.ones_like(state)), state.size], mode=m) for m in modes
    ]
    for values in (np.zeros(3), np.zeros(5), np.zeros(0)):
        state.set_value(values)
        for ask in asked:
            shape, length, total, size = ask()
            assert shape.tolist() == [len(values)]
            assert length == total == size == len(values)
    fixed = lm.shared(np.zeros(3), shape=(3,))
    assert fixed.type.shape == (3,)
    with pytest.raises(TypeError):
        fixed.set_value(np.zeros(5))


def test_advanced_indices_next_to_and_apart_from_each_other() -> None:
    v, i, i1 = lt.dtensor3("v"), lt.lmatrix("i"), lt.lvector("i1")
    a = np.arange(72.0).reshape(3, 6, 4)
    index, one = np.array([[0, 1, 2, 3], [5, 4, 3, -1]]), np.array([0, 1])
    steps = np.arange(4)
    values: Values = {v: a, i: index, i1: one}
    pairs = [
        (v[:, i, steps], a[:, index, steps]),
        (v[i1, :, i1], a[one, :, one]),
        (v[i1, i1], a[one, one]),
        (v[i1, 1:, 0], a[one, 1:, 0]),
        (v[:, i1, 0], a[:, one, 0]),
        (v[0, :, i1], a[0, :, one]),
        (v[0, i1], a[0, one]),
        (v[i1, None, i1], a[one, None, one]),
        (v[None, i1], a[None, one]),
        (v[..., i1], a[..., one]),
        (v[i1, ..., i1], a[one, ..., one]),
        (v[lt.reshape(i1, (2, 1)), :, i1], a[one.reshape(2, 1), :, one]),
        (v[:, i1].T, a[:, one].T),
    ]
    check(values, *pairs)
    for output, expected in pairs:
        check_shape(values, output, expected.shape)
    assert tensor("w", 3, 6, 4)[:, np.zeros((2, 4), int), steps].type.shape == (3, 2, 4)
    assert tensor("w", 3, 6, 4)[one, :, one].type.shape == (2, 6)
    assert tensor("w", 3, None, 4)[0, :, one].type.shape == (2, None)


def test_a_slice_with_an_advanced_index() -> None:
    x, n, j = lt.dmatrix("x"), lt.lscalar("n"), lt.lmatrix("j")
    a, zeros = np.arange(100.0).reshape(10, 10), np.zeros((2, 3), int)
    values: Values = {x: a, n: 1, j: zeros}
    pairs = [
        (x[1:, zeros], a[1:, zeros]),
        (x[n:, zeros], a[1:, zeros]),
        (x[1:, j], a[1:, zeros]),
        (x[j, 1:], a[zeros, 1:]),
        (x[n::2, j], a[1::2, zeros]),
        (x[::-1, j], a[::-1, zeros]),
        (x[20:, j], a[20:, zeros]),
        (x[-n:, j], a[-1:, zeros]),
    ]
    check(values, *pairs)
    for output, expected in pairs:
        check_shape(values, output, expected.shape)
    known = tensor("known", 10, 10)
    assert known[1:, zeros].type.shape == (9, 2, 3)
    assert known[zeros, 1:].type.shape == (2, 3, 9)
    assert known[::-3, zeros].type.shape == (4, 2, 3)


def test_the_shape_of_what_is_made_as_long_as_something_else() -> None:
    channel, alpha = lt.dvector("channel"), lt.dvector("alpha")
    longest = lt.maximum(alpha.shape[0], channel.shape[0])
    repeated = lt.alloc(channel, longest)
    values: Values = {channel: [1.0, 2.0, 3.0], alpha: [4.0, 5.0, 6.0]}
    check_shape(values, repeated, (3,))
    check_shape(values, repeated + alpha, (3,))
    check_shape(values, lt.alloc(repeated, repeated.shape[0]), (3,))
    check_shape(values, lt.alloc(0.0, (repeated + alpha).shape[0], longest), (3, 3))
    check_shape(values, lt.reshape(repeated, alpha.shape), (3,))
    check_shape(values, lt.specify_shape(channel, (lt.shape_i(alpha, 0),)), (3,))
    check_shape(values, lt.arange(repeated.shape[0])[alpha.shape[0] - 2 :], (2,))
    grown = channel
    for _ in range(50):
        grown = lt.alloc(grown, lt.maximum(grown.shape[0], alpha.shape[0]))
    check_shape(values, grown, (3,))
    check_error({channel: [1.0, 2.0], alpha: [1.0, 2.0, 3.0]}, repeated, ValueError)
